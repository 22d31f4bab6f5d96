# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions between the wanted tuning and the cluster, found before the first write."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.codes.code import Code
from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject, name, named
from .._core.ownership import owned
from .._core.quantity import parse
from .._nodes.labels import labels
from .._nodes.taints import matches
from . import machine_config, paused
from .options import Tuning
from .selectors import selects

_WORKER_NODE: t.Final = "node-role.kubernetes.io/worker"
# Labels that every node of a GPU pool has: a pool without nodes is judged by them.
_GPU_NODE: t.Final = {_WORKER_NODE: "", "node-role.kubernetes.io/gpu": ""}
_CONTROL_PLANE: t.Final = ("master", "arbiter")


@dataclass(frozen=True)
class Cluster:
    """What a task sees before it writes.

    served: the cluster serves PerformanceProfiles. configs: the MachineConfigs with the names of ours.
    """

    pools: list[KubeObject]
    kubelets: list[KubeObject]
    profiles: list[KubeObject]
    configs: list[KubeObject]
    nodes: list[KubeObject]
    served: bool = False

    def nodes_of(self, label: t.Mapping[str, str]) -> list[KubeObject]:
        """Return the nodes with these labels, by name."""
        return sorted((node for node in self.nodes if matches(label, labels(node))), key=name)

    def pool(self, pool: str) -> KubeObject | None:
        """Return the MachineConfigPool of a GPU pool, or None."""
        return named(self.pools, machine_config.pool_name(pool)) or None

    def named(self, kind: str, wanted: str) -> KubeObject | None:
        """Return the object of this kind and name, or None."""
        lists = {
            "MachineConfigPool": self.pools,
            "KubeletConfig": self.kubelets,
            "PerformanceProfile": self.profiles,
            "MachineConfig": self.configs,
        }
        return named(lists[kind], wanted) or None


@dataclass
class Found:
    """The contradictions of one task."""

    troubles: list[Code] = field(default_factory=list)

    def add(self, trouble: Code) -> None:
        """Add a contradiction unless it is there already."""
        if trouble not in self.troubles:
            self.troubles.append(trouble)

    def raise_if_any(self) -> None:
        """Raise AcceleratorError with the code and remedy of the first, and all messages."""
        if self.troubles:
            first = self.troubles[0]
            text = " ".join(trouble.message for trouble in self.troubles)
            lines = [f"{trouble.code}: {trouble.message}" for trouble in self.troubles]
            raise AcceleratorError(first.code, f"{text} Nothing was changed.", first.remedy, lines)


def check(cluster: Cluster, tunings: t.Sequence[Tuning]) -> None:
    """Raise AcceleratorError if a tuning contradicts another one or the cluster."""
    found = Found()
    _two_pools(cluster, tunings, found)
    for tuning in tunings:
        _foreign_objects(cluster, tuning, found)
        _other_pools(cluster, tuning, found)
        _other_kubelets(cluster, tuning, found)
        _cpus(cluster, tuning, found)
    check_paused(cluster, [one.name for one in tunings], found)
    found.raise_if_any()


def check_paused(cluster: Cluster, names: t.Iterable[str], found: Found) -> None:
    """Add the pool worker and pools of these names that a run may not unpause.

    Their nodes would keep the old configuration, or get only a part. A pool that a tuning left paused does
    not count.
    """
    titles = [machine_config.WORKER, *map(machine_config.pool_name, names)]
    for object_name in titles:
        pool = cluster.named("MachineConfigPool", object_name)
        if pool and paused.is_paused(pool) and not paused.is_left(pool):
            why, remedy = paused.explain(pool)
            found.add(text_of("REBOOT-PAUSED", pool=object_name, why=why)._replace(remedy=remedy))


def _two_pools(cluster: Cluster, tunings: t.Sequence[Tuning], found: Found) -> None:
    for index, one in enumerate(tunings):
        for other in tunings[:index]:
            both = [name(node) for node in cluster.nodes_of(one.label) if matches(other.label, labels(node))]
            if both:
                pools = f"{other.name} and {one.name}"
                found.add(text_of("REBOOT-TWO-POOLS", path=one.path, pools=pools, nodes=", ".join(both[:5])))


def _foreign_objects(cluster: Cluster, tuning: Tuning, found: Found) -> None:
    object_name = machine_config.pool_name(tuning.name)
    names = {"MachineConfig": machine_config.kernel_name(tuning.name)}
    for kind in ("MachineConfigPool", "KubeletConfig", "PerformanceProfile", "MachineConfig"):
        live = cluster.named(kind, names.get(kind, object_name))
        if live and not owned(live):
            found.add(text_of("REBOOT-FOREIGN", path=tuning.path, kind=kind, name=name(live)))


def _other_pools(cluster: Cluster, tuning: Tuning, found: Found) -> None:
    own = machine_config.pool_name(tuning.name)
    marks = [(name(node), labels(node)) for node in cluster.nodes_of(tuning.label)]
    marks = marks or [("its future nodes", {**_GPU_NODE, **tuning.label})]
    for pool in cluster.pools:
        object_name = name(pool)
        if object_name in (own, machine_config.WORKER):
            continue
        hit = [node for node, have in marks if selects(pool["spec"].get("nodeSelector"), have)]
        if not hit:
            continue
        code = "REBOOT-CONTROL-PLANE" if object_name in _CONTROL_PLANE else "REBOOT-FOREIGN-POOL"
        found.add(text_of(code, path=tuning.path, nodes=", ".join(hit[:5]), pool=object_name))


def _other_kubelets(cluster: Cluster, tuning: Tuning, found: Found) -> None:
    """Find a KubeletConfig or PerformanceProfile of others for the pool: only one of both would win."""
    if tuning.isolate is None and not tuning.topology:
        return
    own = machine_config.pool(tuning)
    have, object_name = labels(own), name(own)
    for kind, objects in (("KubeletConfig", cluster.kubelets), ("PerformanceProfile", cluster.profiles)):
        for one in objects:
            spec = one.get("spec") or {}
            given = spec.get("machineConfigPoolSelector")
            selector = {"matchLabels": given or {}} if kind == "PerformanceProfile" else given
            chosen = {"matchLabels": spec.get("nodeSelector")} if kind == "PerformanceProfile" else None
            hit = any(selects(chosen, labels(node)) for node in cluster.nodes_of(tuning.label))
            if owned(one) or not (hit or selects(selector, have)) or _is_made(one, cluster):
                continue
            found.add(
                text_of("REBOOT-KUBELET-TWICE", path=tuning.path, kind=kind, name=name(one), pool=object_name)
            )


def _is_made(config: KubeObject, cluster: Cluster) -> bool:
    """Return True for a KubeletConfig that the controller made for a PerformanceProfile of ours."""
    ours = {name(profile) for profile in cluster.profiles if owned(profile)}
    return name(config) in {f"performance-{one}" for one in ours}


def _cpus(cluster: Cluster, tuning: Tuning, found: Found) -> None:
    """Find nodes with another number of CPUs than the one by which CPUs are reserved."""
    if tuning.isolate is None or not tuning.vcpus:
        return
    for node in cluster.nodes_of(tuning.label):
        have = ((node.get("status") or {}).get("capacity") or {}).get("cpu")
        if have is not None and parse(have) != tuning.vcpus:
            path, wanted = f"{tuning.path}.isolate", tuning.vcpus
            found.add(text_of("REBOOT-CPUS", path=path, node=name(node), have=have, wanted=wanted))
