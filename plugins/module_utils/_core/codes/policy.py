# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the policy of the pools."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "POLICY-FOREIGN",
        "An object with the name of a policy, or of a Deployment for spare devices, was not made by this "
        "collection. Nothing was changed.",
        "Delete the object that the message names, or leave `gpu_policy_admission` out, or set "
        "`gpu_policy_spare_namespace`.",
    ),
    Code(
        "POLICY-NOT-ACTIVE",
        "The policy is written, but the API server says nothing about a pod without the toleration.",
        "Run `oc get validatingadmissionpolicy accelerators-openshift-gpu-pods -o yaml`: its status names "
        "what is wrong.",
    ),
    Code(
        "POLICY-NOT-SERVED",
        "The cluster serves no ValidatingAdmissionPolicy, which OpenShift has from 4.17 on.",
        "Leave `gpu_policy_admission` out (module option `admission`).",
    ),
    Code(
        "POLICY-PREEMPTION",
        "A pod of the high priority class did not push out the pod of the low class, or another pod ended.",
        "Run `oc get priorityclass LOW HIGH`: values and preemption policies decide.",
    ),
)
