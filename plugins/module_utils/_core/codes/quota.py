# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of quotas."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
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
        "QUOTA-EMPTY",
        "`hard` is empty: a quota without a resource limits nothing.",
        "Set `gpus: 8`, or `hard: {'requests.nvidia.com/gpu': 8}`.",
    ),
    Code(
        "QUOTA-FORCES",
        "A quota of the namespace counts cpu or memory, so the API server refuses GPU pods that do not "
        "request it, and no LimitRange has a default.",
        "Set `limit_range` of the quota, for example with cpu 500m and memory 2Gi.",
    ),
    Code(
        "QUOTA-FOREIGN",
        "ClusterResourceQuota {quota} was not made by this collection. Nothing was changed.",
        "Choose another name in gpu_cluster_quotas, or set `gpu_policy_adopt: take` (module option `adopt`).",
    ),
    Code(
        "QUOTA-KEY",
        "A key of `hard` is no resource, or one that the API accepts and never enforces (`nvidia.com/gpu`, "
        "`limits.nvidia.com/gpu`).",
        "Write the key in `hard` as the message shows, with the prefix requests.",
    ),
    Code(
        "QUOTA-LIMIT-RANGE",
        "A value in `limit_range` is no quantity above 0, or a LimitRange of that name exists that this "
        "collection did not create.",
        "Set `limit_range` of the quota, for example with cpu 500m and memory 2Gi, or remove the LimitRange "
        "that the message names.",
    ),
    Code(
        "QUOTA-NAMESPACE",
        "The namespace belongs to Kubernetes or OpenShift (`default`, `kube-*`, `openshift-*`): a quota "
        "there can stop pods of the platform.",
        "Set the namespace of a team in `quota` of the pool (module option `namespace`).",
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
        "option create_namespace: true).",
    ),
    Code(
        "QUOTA-NOT-COUNTED",
        "The quota controller did not count usage within `wait_timeout`.",
        "Run `oc get clusteroperator kube-controller-manager`.",
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
        "A limit is negative, is not a quantity, or is not a whole number of devices.",
        "Set a whole number in `gpus` or `hard`.",
    ),
    Code(
        "QUOTA-SCOPE",
        "A name in `priority_classes` is not valid, or `hard` has a key that cannot be limited for some "
        "priority classes only.",
        "Correct the name, remove `priority_classes`, or put the key into a quota of its own.",
    ),
    Code(
        "QUOTA-STRICTER",
        "Another quota of the namespace allows less of the same resource, so it decides.",
        "Raise the other quota, or lower `gpus` or `hard` of this one.",
    ),
    Code(
        "QUOTA-TOO-SMALL",
        "A quota in namespace {namespace} is smaller than the validation needs: {answer}",
        "Raise the quota in namespace {namespace}, or set `gpu_validation_namespace` (module option "
        "`namespace`).",
    ),
)
