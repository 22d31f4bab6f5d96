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
        "A Tuned object has the name that the pool's object would have, and the collection did not make it. "
        "Nothing was changed.",
        "Run `oc delete tuned NAME -n openshift-cluster-node-tuning-operator`, or rename the pool. No pod"
        " ends, unless the profile has kernel arguments: then the nodes reboot, and all pods there end.",
    ),
    Code(
        "TUNE-INVALID",
        "The operator refuses the pool's Tuned object, for example because another one has a profile of the "
        "same name.",
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
        "A Tuned object of others would win on nodes of the pool: its rule has the priority 21 or a lower "
        "number. Nothing was changed.",
        "Set a priority above 21 in that Tuned object, or remove `tuning` of the pool.",
    ),
    Code(
        "TUNE-SYSCTL",
        "A file on the node sets a sysctl of the pool's profile to another value.",
        "Remove that sysctl from `tuning` of the pool, or from the file on the node.",
    ),
)
