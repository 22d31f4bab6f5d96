# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of quotas of others or of many namespaces, of topologies and of Kueue end the failures."""

from __future__ import annotations

import typing as t

from unit.queue.builders import World as Kueue, pools as planned
from unit.quota import test_steps_scopes as scopes
from unit.quota.builders import GPU
from unit.quota.test_cluster_quota import VERSION, Cluster
from unit.quota.test_steps import World
from unit.remedies.case import LEFT_OUT, Case, Cases, Options, ensured

RESEARCH: t.Final = {"name": "research", "pools": [{"name": "training"}], "namespaces": ["team-a"]}
ONE: t.Final = {"name": "research", "labels": {"team": "x"}, "gpus": 8}
WANTED: t.Final = "[{name: research, labels: {team: x}, gpus: 8}]"
LEVEL: t.Final = "topology.kubernetes.io/zone"


def foreign(options: Options) -> str | None:
    """Limit namespaces where others have a ClusterResourceQuota of that name."""
    world = Cluster()
    spec = {"selector": {"labels": {"matchLabels": {"a": "b"}}}, "quota": {"hard": {GPU: "1"}}}
    kind = {"apiVersion": VERSION, "kind": "ClusterResourceQuota", "metadata": {"name": "research"}}
    world.server.put({**kind, "spec": spec})
    return ensured("gpu_quota", world.api(), {"cluster_quotas": [ONE], **options})


def of_namespaces(world: World, options: Options) -> str | None:
    quota = {"namespace": "team-a", "gpus": 1}
    return ensured("gpu_quota", world.api(), {"quotas": [quota], **options})


def voided(options: Options) -> str | None:
    """Prove a quota that somebody gave scopes which no pod has."""
    world = scopes.world()
    given = {"quotas": [{"namespace": "team-a", "gpus": 8}]}
    assert ensured("gpu_quota", world.api(), given) is None
    scopes.edit(world, scopes.NEVER)
    return ensured("gpu_quota", world.api(), {**given, "prove": True, **options})


def queue(options: Options, is_served: bool = True) -> str | None:
    world = Kueue()
    if not is_served:
        del world.server.served[world.version, "topologies"]
    return ensured("gpu_queue", world.api(), {"pools": planned(), "queues": [RESEARCH], **options})


def retopologized(options: Options) -> str | None:
    """Give queues another topology than they have."""
    world, given = Kueue(), {"pools": planned(), "queues": [RESEARCH]}
    assert ensured("gpu_queue", world.api(), {**given, "topology": [LEVEL]}) is None
    return ensured("gpu_queue", world.api(), {**given, **options})


def brought(options: Options) -> str | None:
    """Make a queue where Red Hat's operator is installed, and has no object."""
    world = Kueue(red_hat=True, has_kueue=False)
    return ensured("gpu_queue", world.api(), {"pools": planned(), "queues": [RESEARCH], **options})


def upstreams(options: Options) -> str | None:
    """Make a queue where upstream's release of Kueue runs."""
    metadata = {"name": "kueue-controller-manager", "namespace": "kueue-system"}
    world = Kueue({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}, red_hat=True)
    return ensured("gpu_queue", world.api(), {"pools": planned(), "queues": [RESEARCH], **options})


CASES: t.Final[Cases] = {
    ("QUEUE-NO-KUEUE", "gpu_policy_queue_operator"): Case("gpu_queue", brought),
    ("QUEUE-TWO-KUEUES", "gpu_policy_queue_operator"): Case("gpu_queue", upstreams, before="true"),
    ("QUOTA-FOREIGN", "gpu_policy_adopt"): Case("gpu_quota", foreign),
    ("QUOTA-COUNTS-NOTHING", "gpu_policy_adopt"): Case("gpu_quota", voided),
    ("QUOTA-CLUSTER", "gpu_cluster_quotas"): Case(
        "gpu_quota",
        lambda options: of_namespaces(Cluster("team-a"), options),
        before="[{name: research, gpus: 8}]",
        value=WANTED,
        where="gpu_policy",
    ),
    ("QUOTA-NOT-SERVED", "gpu_cluster_quotas"): Case(
        "gpu_quota",
        lambda options: of_namespaces(World("team-a"), options),
        before=WANTED,
        value=LEFT_OUT,
        where="gpu_policy",
    ),
    ("QUEUE-TOPOLOGY", "gpu_queue_topology"): Case(
        "gpu_queue", queue, before="[not a label]", value=f"[{LEVEL}]", where="gpu_policy"
    ),
    ("QUEUE-TOPOLOGY-FIXED", "gpu_queue_topology"): Case(
        "gpu_queue", retopologized, before="[a/rack]", value=f"[{LEVEL}]", where="gpu_policy"
    ),
    ("QUEUE-NO-TOPOLOGY", "gpu_queue_topology"): Case(
        "gpu_queue",
        lambda options: queue(options, is_served=False),
        before=f"[{LEVEL}]",
        value=LEFT_OUT,
        where="gpu_policy",
    ),
}
