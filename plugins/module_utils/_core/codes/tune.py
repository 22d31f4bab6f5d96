# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of node tuning."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "TUNE-DEGRADED",
        "TuneD reports errors with the pool's profile on a node. The message has TuneD's own words.",
        "Correct or remove in `tuning` of the pool the setting that the message names.",
    ),
    Code(
        "TUNE-FOREIGN",
        "Tuned {name} exists, and this collection did not make it. Nothing was changed.",
        "Run `oc delete tuned {name} -n openshift-cluster-node-tuning-operator`, or give the pool another"
        " name. No pod ends, unless the profile has kernel arguments: then the nodes reboot, and all pods"
        " there end.",
    ),
    Code(
        "TUNE-INVALID",
        "Tuned {name} is not valid: {answer}",
        "Correct `tuning` of the pool, or remove the other Tuned object that the message names.",
    ),
    Code(
        "TUNE-LEFT",
        "Nodes still have the profile of a pool whose Tuned object is deleted.",
        "Run `oc get pods -n openshift-cluster-node-tuning-operator`.",
    ),
    Code(
        "TUNE-NO-PROFILE",
        "The node tuning operator has made no Profile for a node of the pool within `wait_timeout`.",
        "Run `oc get pods -n openshift-cluster-node-tuning-operator`.",
    ),
    Code(
        "TUNE-NOT-APPLIED",
        "TuneD has not applied the pool's profile on a node within `wait_timeout`.",
        "Run `oc get pods -n openshift-cluster-node-tuning-operator -o wide`.",
    ),
    Code(
        "TUNE-OTHER-PROFILE",
        "A rule of another Tuned object chooses the profile of a node of the pool.",
        "Run `oc get tuned -n openshift-cluster-node-tuning-operator` to find the rule.",
    ),
    Code(
        "TUNE-RIVAL",
        "{path}: the nodes of pool {pool} would keep another profile than {profile}, which has priority "
        "{priority}: {rivals}. Nothing was changed.",
        "Set a priority above {priority} in that Tuned object, or remove `tuning` of the pool.",
    ),
    Code(
        "TUNE-SYSCTL",
        "{node}: profile {profile} is degraded: {answer}",
        "Remove that sysctl from `tuning` of the pool, or from the file that sets it on the node.",
    ),
)
