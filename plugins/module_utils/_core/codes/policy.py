# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the policy of the pools."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "POLICY-FOREIGN",
        "{object|An object with the name of a policy, or of a Deployment for spare devices,} was not made "
        "by this collection. Nothing was changed.",
        "Delete the object that the message names, or leave `gpu_policy_admission` out, or set "
        "`gpu_policy_spare_namespace`.",
    ),
    Code(
        "POLICY-NO-PROFILES",
        "The cluster serves neither HardwareProfile nor AcceleratorProfile, which OpenShift AI reads. "
        "Nothing was changed.",
        "Install OpenShift AI (package rhods-operator), or set `gpu_hardware_profiles: false`.",
    ),
    Code(
        "POLICY-NOT-ACTIVE",
        "ValidatingAdmissionPolicy {policy} is written, but the API server said nothing about a pod in "
        "namespace {namespace} that does not tolerate the taints of the GPU nodes.",
        "Run `oc get validatingadmissionpolicy {policy} -o yaml`: its status names what is wrong.",
    ),
    Code(
        "POLICY-NOT-SERVED",
        "The cluster serves no ValidatingAdmissionPolicy (admissionregistration.k8s.io/v1), which "
        "OpenShift has from 4.17 on. Nothing was changed.",
        "Leave `gpu_policy_admission` out (module option `admission`).",
    ),
    Code(
        "POLICY-PREEMPTION",
        "Pool {pool}: {what}.",
        "Run `oc get priorityclass {low} {high}`: values and preemption policies decide.",
    ),
    Code(
        "POLICY-PROFILE-CLAIMS",
        "Pods claim the GPUs of these pools as devices (DRA), and a hardware profile requests resources.",
        "Set `gpu_hardware_profiles: false`, or choose another `gpu_backend`.",
    ),
    Code(
        "POLICY-PROFILE-FOREIGN",
        "{kind} {name} in namespace {namespace} was not made by this collection. Nothing was changed.",
        "Rename the pool or the queue, or run `oc delete {kind} {name} -n {namespace}`: no pod ends.",
    ),
    Code(
        "POLICY-PROFILE-NAMESPACE",
        "Namespace {namespace} of the profiles of OpenShift AI does not exist. Nothing was changed.",
        "Set `gpu_policy_hardware_profile_namespace` (module option `namespace`) to the namespace of its "
        "dashboard.",
    ),
)
