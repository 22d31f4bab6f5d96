# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of node tuning."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "TUNE-DEGRADED",
        "{node}: profile {profile} is degraded: {answer}",
        "Correct or remove the setting that the message names in `tuning` of the pool.",
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
        "{number} still tuned: {nodes}",
        "Run `oc get pods -n openshift-cluster-node-tuning-operator -o wide`: a pod of TuneD runs on each "
        "node.",
    ),
    Code(
        "TUNE-NO-PROFILE",
        "{node}: the operator has made no Profile yet",
        "Run `oc get pods -n openshift-cluster-node-tuning-operator -o wide`: a pod of TuneD runs on each "
        "node.",
    ),
    Code(
        "TUNE-NOT-APPLIED",
        "{node}: {what}",
        "Run `oc get pods -n openshift-cluster-node-tuning-operator -o wide`: a pod of TuneD runs on each "
        "node.",
    ),
    Code(
        "TUNE-OTHER-PROFILE",
        "{node}: the operator chooses profile {other}, not {profile}",
        "Run `oc get tuned -n openshift-cluster-node-tuning-operator` for the rule that chooses {other}.",
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
