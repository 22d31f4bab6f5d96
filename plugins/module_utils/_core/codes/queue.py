# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of queues."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "QUEUE-BUSY",
        "GPUs of the queues are held by {count}: {names}.{also}",
        "Set `gpu_on_busy: wait` (module option `on_busy`) to remove the queues when these have ended, or "
        "`gpu_on_busy: drain`, with which Kueue ends them now.",
    ),
    Code(
        "QUEUE-CLAIMS",
        "Pods claim the GPUs of these pools as devices (DRA), and the queues of this module count "
        "resources that pods request.",
        "Remove `gpu_queues` (module option `queues`), or choose another `gpu_backend`.",
    ),
    Code(
        "QUEUE-COHORT",
        "{path} is {number}, and must be {wanted}.",
        "Set `{path}` to {wanted}, or remove it.",
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
        "QUEUE-NOT-ACTIVE",
        "ClusterQueue {queue} is not active ({condition}): {answer}",
        "Run `oc describe clusterqueues.kueue.x-k8s.io {queue}`, and mend what is missing.",
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
        "{path}: {name} {fault}.",
        "Set `{path}` to another name.",
    ),
    Code(
        "QUEUE-NAMESPACE",
        "{path}: {fault}, and Jobs use a queue in the namespaces of teams.",
        "Set `{path}` to such namespaces, each once, for example `namespaces: [team-a]`.",
    ),
    Code(
        "QUEUE-NO-CERT-MANAGER",
        "Red Hat's operator of Kueue needs cert-manager, and the cluster does not serve it ({version}). "
        "Nothing was changed.",
        "Run `ansible localhost -m accelerators.openshift.olm_operator -a "
        "'name=openshift-cert-manager-operator namespace=cert-manager-operator source=redhat-operators'`.",
    ),
    Code(
        "QUEUE-NO-COHORT",
        "{path}: the queue is in no cohort, so nobody borrows from it or lends to it.",
        "Set `cohort` of {queue}, or remove {path}.",
    ),
    Code(
        "QUEUE-NO-KUEUE",
        "The cluster does not serve Kueue ({group}), so there are no queues. Nothing was changed.",
        "Set `gpu_policy_queue_operator: true`, which installs the Red Hat build of Kueue, or remove "
        "`gpu_queues` (module option `queues`).",
    ),
    Code(
        "QUEUE-NO-LENDER",
        "{path}: no other queue of cohort {cohort} has GPUs of pool {pool}, so {queue} would borrow from "
        "itself. Nothing was changed.",
        "Remove {path}, or give another queue of the cohort a part of the pool in its `pools`.",
    ),
    Code(
        "QUEUE-NO-TOPOLOGY",
        "This release of Kueue serves no Topology ({group}). Nothing was changed.",
        "Remove `gpu_queue_topology` (module option `topology`), or install a newer release of Kueue.",
    ),
    Code(
        "QUEUE-PENDING",
        "{object} is not active: {why}",
        "Run `oc get pods -A -l control-plane=controller-manager,app.kubernetes.io/name=kueue` and `oc logs "
        "-n openshift-kueue-operator deployment/kueue-controller-manager`.",
    ),
    Code(
        "QUEUE-NOT-AVAILABLE",
        "Kueue {name} is not available: {why}.",
        "Run `oc logs -n {namespace} deployment/openshift-kueue-operator`.",
    ),
    Code(
        "QUEUE-QUOTA",
        "The part of a pool that a queue gets is missing, is no quantity, or names a resource that the pool "
        "does not offer.",
        "Set `gpus` or `resources` of the pool in the queue, as the message says.",
    ),
    Code(
        "QUEUE-RECLAIM",
        "{path}.borrowing: a queue that never reclaims may not end Jobs to borrow.",
        "Set `reclaim: LowerPriority` in {path}.",
    ),
    Code(
        "QUEUE-TOPOLOGY",
        "{path}: {level} {fault}.",
        "Set `gpu_queue_topology` (module option `topology`) to labels of nodes, such as "
        "topology.kubernetes.io/zone, each once and kubernetes.io/hostname last.",
    ),
    Code(
        "QUEUE-TOPOLOGY-FIXED",
        "{object}: Kueue lets nobody change {fields} of a topology that exists. Nothing was changed.",
        "Give `gpu_queue_topology` (module option `topology`) and the pool their values back, or remove the "
        "queues first (`state: absent`; it asks before Workloads end), and make them again.",
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
