# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""MachineConfigPools of GPU nodes, paused before an update of the cluster and released after it."""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name, number_of
from .._core.ownership import POOL
from .._nodes.labels import has_nvidia_pci, labels
from .._tuning import machine_config, paused, pool_judge, rollout
from .._tuning.rollout import Reboot
from .._tuning.selectors import selects
from . import release
from .rollout import ORDER, under_way

# The order in which pools are released: all at once, or one after the other after the rest of the cluster.
TOGETHER, LAST = "together", "last"
_MASTER: t.Final = "master"
_BECAUSE: t.Final = "the cluster was updated while their MachineConfigPool was paused"


class Member(t.NamedTuple):
    """A MachineConfigPool with GPU nodes. others: its nodes without GPUs."""

    pool: KubeObject
    gpus: list[KubeObject]
    others: list[str]

    @property
    def object_name(self) -> str:
        """Return the name of the MachineConfigPool."""
        return name(self.pool)

    @property
    def is_paused(self) -> bool:
        """Return True if somebody paused the pool."""
        return paused.is_paused(self.pool)

    @property
    def is_marked(self) -> bool:
        """Return True if a run paused the pool for an update."""
        return bool(version(self))

    @property
    def order(self) -> str:
        """Return when the pool is released, as its mark says."""
        return pool_judge.annotation(self.pool, ORDER) or TOGETHER


def version(one: Member) -> str:
    """Return the release that the pool waits for, or "" if no run paused it."""
    return pool_judge.annotation(one.pool, paused.UPDATE)


def members(pools: t.Sequence[KubeObject], nodes: t.Sequence[KubeObject]) -> list[Member]:
    """Return the MachineConfigPools that have GPU nodes, by name."""
    found = {name(pool): Member(pool, [], []) for pool in sorted(pools, key=name)}
    for node in sorted(nodes, key=name):
        pool = pool_of(pools, labels(node))
        if pool is not None and _has_gpus(node):
            found[name(pool)].gpus.append(node)
        elif pool is not None:
            found[name(pool)].others.append(name(node))
    return [one for one in found.values() if one.gpus]


def _has_gpus(node: KubeObject) -> bool:
    return has_nvidia_pci(labels(node)) or POOL in labels(node)


def pool_of(pools: t.Iterable[KubeObject], marks: t.Mapping[str, str]) -> KubeObject | None:
    """Return the pool of a node: master for the control plane, else a custom pool, else worker.

    A Windows node has none.
    """
    if marks.get("kubernetes.io/os") == "windows":
        return None
    mine = [one for one in pools if selects((one.get("spec") or {}).get("nodeSelector"), marks)]
    order = {_MASTER: 0, machine_config.WORKER: 2}
    return min(mine, key=lambda one: (order.get(name(one), 1), name(one)), default=None)


def to_pause(found: t.Iterable[Member]) -> list[Member]:
    """Return the pools to pause: those that nobody paused.

    Raises AcceleratorError for the pool of the control plane, for one that also has other nodes, and for one
    whose rollout is under way.
    """
    wanted = [one for one in found if not one.is_paused]
    for one in wanted:
        if one.object_name == _MASTER:
            raise AcceleratorError("UPDATE-CONTROL-PLANE", gpus=number_of(len(one.gpus), "GPU node"))
        if one.others:
            others = f"{number_of(len(one.others), 'other node')} ({', '.join(one.others[:5])})"
            raise AcceleratorError(
                "UPDATE-SHARED",
                pool=one.object_name,
                gpus=number_of(len(one.gpus), "GPU node"),
                others=others,
                evidence=[f"{one.object_name}: {text}" for text in one.others],
            )
        if conditions.is_true(one.pool, "Updating"):
            raise under_way(one.pool, ", and would stop in the middle. Nothing was changed")
    return wanted


def to_mark(found: t.Iterable[Member], release_of_update: str, order: str) -> list[Member]:
    """Return the paused pools whose mark names another release or another order than this run."""
    return [
        one
        for one in found
        if one.is_paused and one.is_marked and (version(one), one.order) != (release_of_update, order)
    ]


def refuse_unfinished(cluster: KubeObject | None) -> None:
    """Raise UPDATE-CLUSTER while the cluster is being updated."""
    going = conditions.find(cluster, "Progressing")
    if going.get("status") == "True":
        raise AcceleratorError(
            "UPDATE-CLUSTER",
            f"The cluster is being updated: {going.get('message') or 'it gives no reason'}. Nothing was "
            "changed.",
            "Run the playbook again when `oc adm upgrade` says that the update is complete.",
        )


def refuse_not_begun(found: t.Iterable[Member], cluster: KubeObject | None) -> None:
    """Raise UPDATE-NOT-BEGUN if the cluster is older than the release that paused pools wait for."""
    now = release.current(cluster or {})
    early = [one for one in found if one.is_paused and release.is_before(now, version(one))]
    if early:
        raise AcceleratorError(
            "UPDATE-NOT-BEGUN",
            pools=", ".join(pool.object_name for pool in early),
            release=version(early[0]),
            current=now,
        )


def reboots(found: t.Iterable[Member], pods: t.Sequence[KubeObject]) -> list[Reboot]:
    """Return the nodes that reboot when these pools are released."""
    return [
        rollout.reboot(one.object_name, "gpu_update_pools", _BECAUSE, going, one.pool, pods)
        for one in found
        if one.is_paused and (going := rollout.behind(one.gpus, one.pool))
    ]


def as_result(found: t.Iterable[Member], paused: t.Container[str]) -> list[dict[str, t.Any]]:
    """Return the pools with their GPU nodes. paused: the pools that are paused after the task."""
    return [
        {
            "name": one.object_name,
            "nodes": sorted(name(node) for node in one.gpus),
            "paused": one.object_name in paused,
            "version": version(one),
            "order": one.order,
        }
        for one in found
    ]


def table(found: t.Iterable[t.Mapping[str, t.Any]]) -> list[str]:
    """Return a line for each pool of the result."""
    return [
        f"{'paused' if one['paused'] else 'rolls out'}  MachineConfigPool {one['name']}: "
        f"{', '.join(one['nodes'])}"
        for one in found
    ]
