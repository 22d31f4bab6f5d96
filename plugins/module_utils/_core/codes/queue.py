# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of queues."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "QUEUE-BUSY",
        "Workloads hold GPUs of queues that are to be removed.",
        "Set `gpu_on_busy: wait` or `gpu_on_busy: drain` (module option `on_busy`). `drain` ends them.",
    ),
    Code(
        "QUEUE-CLAIMS",
        "Pods claim the GPUs of these pools as devices (DRA), and the queues of this module count "
        "resources that pods request.",
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
        "{object} exists, was created by {owner}, and differs in {fields}. Nothing was changed.",
        "Set `gpu_policy_adopt: take` (module option `adopt`), or give the queue or the pool another name.",
    ),
    Code(
        "QUEUE-INACTIVE",
        "Kueue does not use a ClusterQueue: a flavor, a topology or an admission check is missing.",
        "Run `oc describe clusterqueues.kueue.x-k8s.io NAME`.",
    ),
    Code(
        "QUEUE-LOCAL-QUEUE",
        "{path}: LocalQueue {namespace}/{name} leads to ClusterQueue {queue}, and Kueue does not let "
        "anybody change that. Nothing was changed.",
        "Set {path}.local_queue to another name, or run `oc delete localqueues.kueue.x-k8s.io {name} -n "
        "{namespace}` when its Jobs have ended.",
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
        "Red Hat's operator of Kueue needs cert-manager, and the cluster does not serve it ({version}). "
        "Nothing was changed.",
        "Run `ansible localhost -m accelerators.openshift.olm_operator -a "
        "'name=openshift-cert-manager-operator namespace=cert-manager-operator source=redhat-operators'`.",
    ),
    Code(
        "QUEUE-NO-KUEUE",
        "The cluster does not serve Kueue ({group}), so there are no queues. Nothing was changed.",
        "Set `gpu_policy_queue_operator: true`, which installs the Red Hat build of Kueue, or remove "
        "`gpu_queues` (module option `queues`).",
    ),
    Code(
        "QUEUE-NO-TOPOLOGY",
        "This release of Kueue serves no Topology ({group}). Nothing was changed.",
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
        "gpu_queues: node {node} belongs to the pools {pools}, so two queues would count its GPUs. "
        "Nothing was changed.",
        "Set `node_selector` of pool {pool} so that it selects other nodes.",
    ),
    Code(
        "QUEUE-TWO-KUEUES",
        "Another Kueue runs in namespace {namespaces} (Deployment {deployment}), and Red Hat's operator "
        "would bring a second one. Nothing was changed.",
        "Remove that Kueue, or set `gpu_policy_queue_operator: false` (module option `instance`) to use it.",
    ),
    Code(
        "QUEUE-TWO-QUOTAS",
        "{path}.namespaces: pool {pool} of gpu_pools limits namespace {namespace} to {limit}, and "
        "{queues}: Kueue would admit Jobs whose pods the quota refuses. Nothing was changed.",
        "Remove {namespace} from `quota` of pool {pool}: the queue limits its Jobs. Or take {namespace} "
        "out of `gpu_queues`.",
    ),
)
