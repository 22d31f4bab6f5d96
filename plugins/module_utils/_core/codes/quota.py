# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of quotas."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "QUOTA-CLASS",
        "priority_classes[{index}]: {name} is not the name of a PriorityClass.",
        "Set names that `oc get priorityclasses` lists, such as gpu-training.",
    ),
    Code(
        "QUOTA-CLUSTER",
        "A quota of several namespaces has a bad name, no labels and no annotations, or a limit that it "
        "cannot count.",
        "Correct the entry of `gpu_cluster_quotas` (module option `cluster_quotas`) that the message names.",
    ),
    Code(
        "QUOTA-COUNTS-NOTHING",
        "The quota counts nothing: no node and no pool has the resource, its scopes exclude every pod with a "
        "device, or the API server never enforces its key.",
        "Correct the key in `hard`; if another manager set scopes, set `gpu_policy_adopt: take` (module "
        "option `adopt`). `oc get resourcequota NAME -n NAMESPACE -o yaml` shows them.",
    ),
    Code(
        "QUOTA-DEFAULTS-FOREIGN",
        "LimitRange {namespace}/{name} was not made by this collection.",
        "Run `oc delete limitrange {name} -n {namespace}`, or remove `limit_range` of the quota.",
    ),
    Code(
        "QUOTA-EMPTY",
        "`hard` is empty: a quota without a resource limits nothing.",
        "Set `gpus: 8`, or `hard: {'requests.nvidia.com/gpu': 8}`.",
    ),
    Code(
        "QUOTA-EXCEEDED",
        "Quota {quota} of namespace {namespace} refuses pod {pod}: it asks for {asked}; used are {used} of "
        "{hard}.{also}",
        "Run `oc patch {object} --type merge -p '{patch}'` to raise the limit, which ends no pod, or wait.",
    ),
    Code(
        "QUOTA-FORCES",
        "Quota {quota} counts {key}: the API server refuses GPU pods without it, and no LimitRange of the "
        "namespace has a default.",
        "Set `limit_range` of quota {ours}, such as {{default}}.",
    ),
    Code(
        "QUOTA-FOREIGN",
        "ClusterResourceQuota {quota} was not made by this collection. Nothing was changed.",
        "Choose another name in gpu_cluster_quotas, or set `gpu_policy_adopt: take` (module option `adopt`).",
    ),
    Code(
        "QUOTA-KEY",
        "{path}: a quota cannot limit {name}: {why}.",
        "Write `{known}` in place of this key.",
    ),
    Code(
        "QUOTA-LIMIT-RANGE",
        "{path}: a LimitRange needs a quantity above 0 of cpu or memory, and {why}.",
        "Set `limit_range: {cpu: 500m, memory: 2Gi}`.",
    ),
    Code(
        "QUOTA-NAMESPACE",
        "{path}: namespace {namespace} belongs to the platform: a quota there can stop its pods.",
        "Set `{path}` to the namespace of a team, such as team-a.",
    ),
    Code(
        "QUOTA-NEARLY-USED",
        "A namespace has used most of its quota of GPUs.",
        "Raise `quota` of the pool, or `gpu_monitoring_limits: {quota: 95}`.",
    ),
    Code(
        "QUOTA-NEW-NAMESPACE",
        "Namespace {namespace} does not exist, and {why}. Nothing was changed.",
        "Correct the name; if it is right, set `gpu_policy_namespaces: [{namespace}]` (module option "
        "`namespaces`).",
    ),
    Code(
        "QUOTA-NO-NAMESPACE",
        "Namespace {namespace} does not exist.",
        "Run `oc create namespace {namespace}`, or set `gpu_policy_create_namespaces: true` (module "
        "option create_namespaces: true).",
    ),
    Code(
        "QUOTA-NOT-COUNTED",
        "The quota controller has not yet counted {keys} of quota {quota}: the API server refuses pods that "
        "request it (status unknown for quota).",
        "Run `oc get clusteroperator kube-controller-manager`: this component counts the usage.",
    ),
    Code(
        "QUOTA-NOT-ENFORCED",
        "The API server would admit a pod or a claim over the limit of quota {quota} in namespace "
        "{namespace}.",
        "Run `oc get resourcequota {quota} -n {namespace} -o yaml` to check that the quota has no scopes,"
        " and that the admission plugin ResourceQuota is on.",
    ),
    Code(
        "QUOTA-NOT-SERVED",
        "The cluster serves no ClusterResourceQuota ({version}), which OpenShift has.",
        "Remove `gpu_cluster_quotas` (module option `cluster_quotas`), and set `quota` of the pools.",
    ),
    Code(
        "QUOTA-PROOF",
        "prove: needs an extended resource in hard, such as requests.nvidia.com/gpu, or devices of a "
        "class, such as {key}.",
        "Add one to `hard`, or set `gpu_policy_prove: false` (module option `prove`).",
    ),
    Code(
        "QUOTA-QUANTITY",
        "{path}: {value} is not {wanted}.",
        "Set `{path}` to a number such as 8; memory also takes quantities such as 64Gi, and cpu 500m.",
    ),
    Code(
        "QUOTA-SCOPE",
        "hard[{key}]: a quota of some priority classes cannot limit this: {why}.",
        "Remove `priority_classes`, or put {key} into another quota.",
    ),
    Code(
        "QUOTA-STRICTER",
        "Quota {quota} ({key}: {limit}) of the same namespace leaves less; quota {ours} is never reached.",
        "Raise quota {quota}, or lower `gpus` or `hard` of quota {ours}.",
    ),
    Code(
        "QUOTA-TOO-SMALL",
        "A quota in namespace {namespace} is smaller than the validation needs: {answer}",
        "Raise the quota in namespace {namespace}, or set `gpu_validation_namespace` (module option "
        "`namespace`).",
    ),
)
