# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who needs a shared part: why the driver stack, an operator or Node Feature Discovery stays."""

from __future__ import annotations

import json
import typing as t

from .._catalogue.well_known import FEATURE
from .._core.adoption import keeper
from .._core.objects import KubeObject, name, number_of
from .._core.ownership import owned
from . import queues
from .cluster import GPU, KUEUE, NETWORK, NFD, STACKS, TITLES, Cluster, GoingPool, other_nodes, other_pools

# Labels of a node that do not come from Node Feature Discovery.
_PLAIN: t.Final = (
    "kubernetes.io/",
    "node-role.kubernetes.io/",
    "node.kubernetes.io/",
    "accelerators.openshift/",
)
_NFD_GROUPS: t.Final = ("nfd.openshift.io", "nfd.k8s-sigs.io")
_SHOWN: t.Final = 5
OPERATORS: t.Final = {
    GPU: "the GPU operator",
    NETWORK: "the NVIDIA network operator",
    KUEUE: "the operator of the Red Hat build of Kueue",
}
OPERATOR: t.Final = "operator"
ALL: t.Final = "all"


class Stay(t.NamedTuple):
    """A shared part that stays.

    keeps: C(all), or C(operator) if only the operator stays and our objects of it go. needed_by: phrases.
    """

    part: str
    keeps: str
    needed_by: list[str]

    @property
    def what(self) -> str:
        """Return the part in words."""
        return OPERATORS[self.part] if self.keeps == OPERATOR else TITLES[self.part]

    def as_result(self) -> dict[str, t.Any]:
        """Return the part as the module returns it."""
        who, what = ", ".join(self.needed_by), f"{self.what[0].upper()}{self.what[1:]}"
        return {**self._asdict(), "what": self.what, "message": f"{what} stays. It is needed by {who}."}


class Request(t.NamedTuple):
    """What is to be removed. parts: shared parts. nodes: those of the pools and their Machines.

    queues: names of queues. waits: the removal waits for what uses GPUs.
    """

    pools: list[GoingPool]
    parts: t.Collection[str]
    nodes: t.Collection[str]
    queues: t.Collection[str] = ()
    waits: bool = False


def stays(cluster: Cluster, asked: Request) -> list[Stay]:
    """Return the shared parts that were to be removed and stay, with everything that needs each of them."""
    found = {
        part: stay
        for part in (GPU, NETWORK)
        if part in asked.parts and cluster.has(part) and (stay := _of_stack(cluster, asked, part))
    }
    if NFD in asked.parts and cluster.has(NFD) and (needs := _of_nfd(cluster, asked, found)):
        found[NFD] = Stay(NFD, ALL, needs)
    if KUEUE in asked.parts and cluster.has(KUEUE) and (stay := _of_kueue(cluster, asked)):
        found[KUEUE] = stay
    return list(found.values())


def _of_stack(cluster: Cluster, asked: Request, part: str) -> Stay | None:
    """Return why the stack or its operator stays, or None if both go."""
    needs = [*other_pools(cluster, asked.pools), *_nodes(cluster, asked, part)]
    foreign = [obj for obj in cluster.customs.get(part, ()) if not owned(obj)]
    clusters = [obj for obj in foreign if obj["kind"] == "GPUCluster"]
    named = [_foreign(obj) for obj in foreign]
    if needs or (clusters and _has_drivers(cluster)):
        return Stay(part, ALL, [*needs, *named])
    return Stay(part, OPERATOR, named) if named else None


def _has_drivers(cluster: Cluster) -> bool:
    """Return True if a foreign GPUCluster may use NVIDIADriver objects of ours."""
    return any(obj["kind"] == "NVIDIADriver" and owned(obj) for obj in cluster.customs.get(GPU, ()))


def _nodes(cluster: Cluster, asked: Request, part: str) -> list[str]:
    nodes = other_nodes(cluster, part, asked.nodes)
    if not nodes:
        return []
    shown = ", ".join(nodes[:_SHOWN]) + (", …" if nodes[_SHOWN:] else "")
    return [f"{number_of(len(nodes), 'node')} in no pool of this removal ({shown})"]


def _foreign(obj: KubeObject) -> str:
    place = obj["metadata"].get("namespace")
    object_name = f"{obj['kind']} {place}/{name(obj)}" if place else f"{obj['kind']} {name(obj)}"
    return f"{object_name} (made by {keeper(obj)})"


def _of_kueue(cluster: Cluster, asked: Request) -> Stay | None:
    """Return why Kueue or its operator stays: nobody else takes the finalizers of queues and Workloads."""
    gone = queues.going(cluster.queues, asked.queues, {pool.name for pool in asked.pools})
    needs = queues.needed_by(cluster.queues, cluster.workloads, {name(queue) for queue in gone}, asked.waits)
    theirs = [_foreign(obj) for obj in cluster.customs.get(KUEUE, ()) if not owned(obj)]
    if needs:
        return Stay(KUEUE, ALL, [*needs, *theirs])
    return Stay(KUEUE, OPERATOR, theirs) if theirs else None


def _of_nfd(cluster: Cluster, asked: Request, stacks: t.Mapping[str, Stay]) -> list[str]:
    """Return everything that reads labels of Node Feature Discovery and is not removed."""
    needs = other_pools(cluster, asked.pools)
    for part in (GPU, NETWORK):
        stay = stacks.get(part)
        left = [
            obj
            for obj in cluster.customs.get(part, ())
            if obj["kind"] in STACKS[part]
            and (part not in asked.parts or not owned(obj) or (stay is not None and stay.keeps == ALL))
        ]
        needs += [f"{obj['kind']} {name(obj)}" if owned(obj) else _foreign(obj) for obj in left]
        # Another team that asks for the operator makes its policy next, and that selects nodes by the labels.
        needs += [_foreign(obj) for obj in cluster.subscriptions.get(part, ()) if not owned(obj)]
    needs += [
        f"Module {obj['metadata']['namespace']}/{name(obj)}" for obj in cluster.modules if _selects(obj)
    ]
    needs += [_foreign(obj) for obj in cluster.customs.get(NFD, ()) if not owned(obj)]
    needs += [
        f"operator {csv['metadata']['namespace']}/{name(csv)}" for csv in cluster.csvs if requires_nfd(csv)
    ]
    return needs + [f"DaemonSet {obj['metadata']['namespace']}/{name(obj)}" for obj in cluster.daemonsets]


def _selects(module: KubeObject) -> bool:
    """Return True unless the Module selects nodes only by labels that Kubernetes or this collection sets."""
    keys = (module.get("spec") or {}).get("selector") or {}
    return not keys or not all(key.startswith(_PLAIN) for key in keys)


def requires_nfd(csv: KubeObject) -> bool:
    """Return True if the operator declares that it needs Node Feature Discovery."""
    spec = csv.get("spec") or {}
    required = (spec.get("customresourcedefinitions") or {}).get("required") or []
    if any(str(crd.get("name", "")).endswith(_NFD_GROUPS) for crd in required):
        return True
    annotations = csv["metadata"].get("annotations") or {}
    return any(
        _is_nfd(entry)
        for key in ("olm.properties", "operatorframework.io/properties")
        for entry in _properties(annotations.get(key))
    )


def _properties(text: str | None) -> list[t.Any]:
    """Return the properties in the annotation of a CSV, which is JSON: a list, or a map that holds one."""
    try:
        found = json.loads(text or "[]")
    except ValueError:
        return []
    found = found.get("properties") if isinstance(found, dict) else found
    return [entry for entry in found or [] if isinstance(entry, dict)]


def _is_nfd(definition: t.Mapping[str, t.Any]) -> bool:
    value: t.Any = definition.get("value")
    if not isinstance(value, dict):
        return False
    if definition.get("type") == "olm.package.required":
        return bool(value.get("packageName") == "nfd")
    return definition.get("type") == "olm.gvk.required" and value.get("group") in _NFD_GROUPS


def selects_features(daemonset: KubeObject) -> bool:
    """Return True if the DaemonSet chooses nodes by labels of Node Feature Discovery."""
    spec = ((daemonset.get("spec") or {}).get("template") or {}).get("spec") or {}
    return FEATURE in json.dumps([spec.get("nodeSelector"), (spec.get("affinity") or {}).get("nodeAffinity")])
