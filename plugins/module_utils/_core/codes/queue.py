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
