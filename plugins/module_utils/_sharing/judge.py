# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether every node offers its shares; find the pods that read a profile, and what a change ends."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU_COUNT, PLUGIN_CONFIG
from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, name, number_of
from .._core.readiness import Readiness, pending, ready, worst
from .._impact.impact import Question
from .._nodes import devices
from .._nodes.labels import labels
from .._nodes.taints import matches
from . import profile
from .options import Shared

HOSTNAME: t.Final = "kubernetes.io/hostname"
PLUGIN: t.Final = "nvidia-device-plugin-daemonset"
# The value of the label app of every pod that reads a profile.
READERS: t.Final = (PLUGIN, "gpu-feature-discovery", "nvidia-device-plugin-mps-control-daemon")


def pool_of(node: KubeObject, pools: t.Iterable[Shared]) -> Shared | None:
    """Return the pool of a node, or None."""
    return next((pool for pool in pools if matches(pool.label, labels(node))), None)


def readers(pods: t.Iterable[KubeObject], object_name: str) -> list[KubeObject]:
    """Return the pods that read the ConfigMap."""
    return [
        pod
        for pod in pods
        if labels(pod).get("app") in READERS
        and any(
            (volume.get("configMap") or {}).get("name") == object_name
            for volume in pod["spec"].get("volumes") or []
        )
    ]


def stale(pods: t.Iterable[KubeObject], since: str) -> list[KubeObject]:
    """Return the pods as old as a ConfigMap's content, or older. since: its time, by the API server."""
    return [pod for pod in pods if str(pod["metadata"].get("creationTimestamp")) <= since]


def questions(
    nodes: t.Iterable[KubeObject], pools: t.Sequence[Shared], before: t.Mapping[str, str]
) -> list[Question]:
    """Return what to find out before the writes: MPS servers that stop or start end the pods' CUDA contexts.

    Time-slicing ends no pod. before: the profiles of the ConfigMap as it is.
    """
    found: dict[str, list[str]] = {}
    for node in nodes:
        pool = pool_of(node, pools)
        if pool is None:
            continue
        old = before.get(labels(node).get(PLUGIN_CONFIG, ""), "")
        new = pool.profile if pool.is_shared else ""
        if old.strip() != new.strip() and (profile.uses_mps(old) or profile.uses_mps(new)):
            found.setdefault(pool.name, []).append(labels(node).get(HOSTNAME) or name(node))
    return [
        Question(
            f"the GPUs of pool {pool} get another way of sharing, and one of the two is MPS: its servers "
            "stop or start, and the CUDA contexts of running pods end",
            "the MPS control daemon",
            f"{HOSTNAME} in ({','.join(sorted(hosts))})",
            order="all nodes of the pool at once",
        )
        for pool, hosts in found.items()
    ]


class Judge:
    """Judge the nodes of pools that share: each offers its shares, and is labelled with them.

    object_name: the ConfigMap. A node without a pod that reads it is left out: its stack is not there yet.
    """

    def __init__(self, pools: t.Sequence[Shared], object_name: str) -> None:
        self._pools, self._object_name = [pool for pool in pools if pool.is_shared], object_name

    def __call__(self, snapshot: Snapshot) -> Readiness:
        verdicts = [judge_node(node, pool) for node, pool in self.at_work(snapshot)]
        return of_all(verdicts, "Shared", "with shared GPUs")

    def at_work(self, snapshot: Snapshot) -> list[tuple[KubeObject, Shared]]:
        """Return the nodes whose device plugin reads the ConfigMap, each with its pool."""
        hosts = {pod["spec"].get("nodeName") for pod in readers(snapshot["pods"], self._object_name)}
        found = [(node, pool_of(node, self._pools)) for node in snapshot["nodes"] if name(node) in hosts]
        return [(node, pool) for node, pool in found if pool is not None]


def of_all(verdicts: t.Sequence[Readiness], reason: str, what: str) -> Readiness:
    """Return the worst verdict about nodes, with a line for each node that is not ready.

    reason, what: of the verdict if all nodes are ready.
    """
    verdict = worst([ready(), *verdicts])
    if verdict.is_ready:
        return ready(reason, f"{number_of(len(verdicts), 'node')} {what}")
    lines = tuple(part.message for part in verdicts if not part.is_ready)
    return Readiness(verdict.verdict, verdict.reason, verdict.message, verdict.code, verdict.remedy, lines)


def judge_node(node: KubeObject, pool: Shared) -> Readiness:
    """Return ready if the node offers as many shares as its pool wants, under the right name."""
    where, marks, wanted = name(node), labels(node), shares(node, pool)
    short = [
        f"{resource} {devices.offered(node, resource)} of {number}"
        for resource, number in wanted.items()
        if devices.offered(node, resource) != number
    ]
    if short or not (wanted or pool.is_cut):
        state = f"offers {', '.join(short) or 'no GPU'}"
        text = text_of("GPU-SHARING-SHARES", node=where, pool=pool.name, state=state)
        return pending(f"node {where}", **text._asdict())
    strategy = profile.STRATEGIES[profile.way_of(pool.sharing)]
    for device in pool.devices_of(node):
        keys = (f"{device}.replicas", f"{device}.sharing-strategy")
        values = tuple(marks.get(key) for key in keys)
        if values != (str(profile.replicas(pool.sharing)), strategy):
            state = f"is labelled {keys[0]}={values[0]}, {keys[1]}={values[1]}"
            text = text_of("GPU-SHARING-SHARES", node=where, pool=pool.name, state=state)
            return pending(f"node {where}", **text._asdict())
    return ready("Shared", f"node {where} offers its shares")


def shares(node: KubeObject, pool: Shared) -> dict[str, int]:
    """Return what the node has to offer: as the pool expects, else by the GPUs that are discovered there."""
    cut = pool.partition_of(node)
    if cut or pool.expected:
        return dict(cut.expected if cut else pool.expected)
    gpus = devices.count(labels(node).get(GPU_COUNT, 0))
    return {profile.resource(pool.sharing): gpus * profile.replicas(pool.sharing)} if gpus else {}


def summarize(pool: Shared, nodes: t.Iterable[KubeObject]) -> dict[str, t.Any]:
    """Return the pool's part of the module's result."""
    return {
        "name": pool.name,
        "profile": pool.key if pool.is_shared else "",
        "replicas": profile.replicas(pool.sharing),
        "resource": profile.resource(pool.sharing),
        "nodes": [
            {"name": name(node), "ready": not pool.is_shared or judge_node(node, pool).is_ready}
            for node in nodes
            if matches(pool.label, labels(node))
        ],
    }
