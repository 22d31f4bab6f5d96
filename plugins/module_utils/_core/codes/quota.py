# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes about quotas, and about queues of Kueue."""

from __future__ import annotations

import typing as t

from .code import Code

QUOTA: t.Final = (
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
        "The quota has no limit.",
        "Set `gpus`, or `hard` with at least one resource.",
    ),
    Code(
        "QUOTA-KEY",
        "A key of `hard` is no resource, or one that the API accepts and never enforces (`nvidia.com/gpu`, "
        "`limits.nvidia.com/gpu`).",
        "Write the key in `hard` as the message shows, with the prefix requests.",
    ),
    Code(
        "QUOTA-FORCES",
        "A quota of the namespace counts cpu or memory, so the API server refuses GPU pods that do not "
        "request it, and no LimitRange has a default.",
        "Set `limit_range` of the quota, for example with cpu 500m and memory 2Gi.",
    ),
    Code(
        "QUOTA-FOREIGN",
        "A ClusterResourceQuota of that name exists, and this collection did not create it.",
        "Choose another name, or set `gpu_policy_adopt: take` (module option `adopt`).",
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
        "QUOTA-NEW-NAMESPACE",
        "The namespace does not exist, and its name is near to an existing one, or is not in the list of "
        "namespaces that may be created.",
        "Correct the name; if it is right, set `gpu_policy_namespaces: [NAME]` (module option `namespaces`).",
    ),
    Code(
        "QUOTA-NO-NAMESPACE",
        "The namespace for the quota does not exist.",
        "Run `oc create namespace NAME`, or set `create_namespace: true` (role variable "
        "`gpu_policy_create_namespaces`).",
    ),
    Code(
        "QUOTA-NOT-COUNTED",
        "The quota controller did not count usage within `wait_timeout`.",
        "Run `oc get clusteroperator kube-controller-manager`.",
    ),
    Code(
        "QUOTA-NOT-ENFORCED",
        "The API would admit a pod or a claim over the limit.",
        "Run `oc get resourcequota NAME -n NAMESPACE -o yaml` to check that the quota has no scopes, and "
        "that the admission plugin ResourceQuota is on.",
    ),
    Code(
        "QUOTA-NOT-SERVED",
        "The cluster serves no ClusterResourceQuota, which OpenShift has.",
        "Remove `gpu_cluster_quotas` (module option `cluster_quotas`), and set `quota` of the pools.",
    ),
    Code(
        "QUOTA-PROOF",
        "`prove: true` needs an extended resource or a device class in `hard`, and there is none.",
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
        "A quota in the validation namespace is smaller than the validation needs. The message has the "
        "API's own text.",
        "Raise the quota, or set `gpu_validation_namespace` (module option `namespace`).",
    ),
)
POLICY: t.Final = (
    Code(
        "POLICY-PREEMPTION",
        "A pod of the high priority class did not push out the pod of the low class, or another pod ended.",
        "Run `oc get priorityclass LOW HIGH`: values and preemption policies decide.",
    ),
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
)
QUEUE: t.Final = (
    Code(
        "QUEUE-BUSY",
        "Workloads hold GPUs of queues that are to be removed.",
        "Set `gpu_on_busy: wait` or `gpu_on_busy: drain` (module option `on_busy`). `drain` ends them.",
    ),
    Code(
        "QUEUE-CLAIMS",
        "The pods of these pools claim devices (DRA), which the queues cannot count.",
        "Remove `gpu_queues` (module option `queues`), or choose another `gpu_backend`.",
    ),
    Code(
        "QUEUE-COHORT",
        "A queue borrows or lends without a cohort, borrows where only it has GPUs, or lends more than it "
        "has.",
        "Correct `cohort`, `borrow` or `lend` of the queue, as the message says.",
    ),
    Code(
        "QUEUE-FLAVOR",
        "A queue has no pool, a pool that does not exist or has no labels, or a pool twice.",
        "Correct `pools` of the queue, as the message says.",
    ),
    Code(
        "QUEUE-FOREIGN",
        "A ResourceFlavor, ClusterQueue or LocalQueue of that name exists, and this collection did not "
        "create it.",
        "Choose another name, or set `gpu_policy_adopt: take` (module option `adopt`).",
    ),
    Code(
        "QUEUE-INACTIVE",
        "Kueue does not use a ClusterQueue: a flavor, a topology or an admission check is missing.",
        "Run `oc describe clusterqueues.kueue.x-k8s.io NAME`.",
    ),
    Code(
        "QUEUE-LOCAL-QUEUE",
        "A LocalQueue of that name leads to another ClusterQueue, which cannot be changed.",
        "Set `local_queue` of the queue to another name.",
    ),
    Code(
        "QUEUE-NAME",
        "The name of a queue, LocalQueue or cohort is not valid, or is there twice.",
        "Set another `name`, `local_queue` or `cohort`, as the message says.",
    ),
    Code(
        "QUEUE-NAMESPACE",
        "A queue has no namespace, or one that belongs to the platform.",
        "Set `namespaces` of the queue to namespaces of teams.",
    ),
    Code(
        "QUEUE-NO-CERT-MANAGER",
        "Red Hat's operator of Kueue needs cert-manager, and the cluster does not serve it.",
        "Run `ansible localhost -m accelerators.openshift.olm_operator -a "
        "'name=openshift-cert-manager-operator namespace=cert-manager-operator source=redhat-operators'`.",
    ),
    Code(
        "QUEUE-NO-KUEUE",
        "The cluster does not serve Kueue.",
        "Set `gpu_policy_queue_operator: true`, which installs the Red Hat build of Kueue, or remove "
        "`gpu_queues` (module option `queues`).",
    ),
    Code(
        "QUEUE-NO-TOPOLOGY",
        "The release of Kueue serves no Topology.",
        "Remove `gpu_queue_topology` (module option `topology`), or install a newer release of Kueue.",
    ),
    Code(
        "QUEUE-NOT-ACTIVE",
        "Kueue did not look at the queues within `wait_timeout`.",
        "Run `oc logs -n openshift-kueue-operator deployment/kueue-controller-manager`.",
    ),
    Code(
        "QUEUE-NOT-AVAILABLE",
        "Red Hat's operator did not make Kueue available within `wait_timeout`.",
        "Run `oc logs -n openshift-kueue-operator deployment/openshift-kueue-operator`.",
    ),
    Code(
        "QUEUE-QUOTA",
        "The part of a pool that a queue gets is missing, is no quantity, or names a resource that the pool "
        "does not offer.",
        "Set `gpus` or `resources` of the pool in the queue, as the message says.",
    ),
    Code(
        "QUEUE-TOPOLOGY",
        "A level of the topology is not a label, is there twice or in the wrong place; or a topology that "
        "exists would change.",
        "Correct `gpu_queue_topology` (module option `topology`), as the message says.",
    ),
    Code(
        "QUEUE-TWO-FLAVORS",
        "A node belongs to two pools of the queues, so its GPUs would be given away twice.",
        "Set `node_selector` of one of the pools so that it selects other nodes.",
    ),
    Code(
        "QUEUE-TWO-KUEUES",
        "Another Kueue runs in the cluster, and Red Hat's operator would bring a second one.",
        "Remove that Kueue, or set `gpu_policy_queue_operator: false` (module option `instance`) to use it.",
    ),
    Code(
        "QUEUE-TWO-QUOTAS",
        "A pool has a quota for a namespace whose queues admit more.",
        "Remove the namespace from `quota` of the pool, or from `gpu_queues`.",
    ),
)
