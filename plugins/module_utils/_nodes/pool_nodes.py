# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of a pool, for every backend: their names, whether they are enough, and the devices they offer."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import PLUGIN_CONFIG
from .._core.errors import InputError, text_of
from .._core.objects import KubeObject, name
from .._core.ownership import POOL
from .._core.readiness import Readiness, about_node, at_node, pending, ready
from .._core.syntax import resource_fault
from . import devices
from .labels import labels
from .node import is_ready
from .taints import matches

# A pool: its name, its node_selector, and the devices that it expects of its nodes.
Pool = t.Mapping[str, t.Any]
# What to do about missing nodes of a pool with the collection's label, and of any other.
_MACHINES: t.Final = ", and check the pool's Machines: `oc get machines -n openshift-machine-api`"
_OTHERS: t.Final = ", and add nodes with this label with the tool that makes them"
# Required key of a pool -> a value of it.
_REQUIRED: t.Final = {"name": "training", "node_selector": "{accelerators.openshift/pool: training}"}


def check_pools(pools: t.Sequence[Pool]) -> None:
    """Raise InputError if a pool lacks `name` or `node_selector`, or has one of the wrong type."""
    for index, pool in enumerate(pools):
        for key, example in _REQUIRED.items():
            if not pool.get(key):
                raise InputError("INPUT-REQUIRED", option=f"pools[{index}].{key}", example=example)
        if not isinstance(pool["node_selector"], dict) or not isinstance(pool.get("expected") or {}, dict):
            message = f"pools[{index}].node_selector and .expected are maps."
            raise InputError("INPUT-TYPE", message, "Write {label: value} and {resource: number}.")
        check_resources(pool.get("expected") or {}, f"pools[{index}].expected")


def check_resources(names: t.Iterable[str], path: str) -> None:
    """Raise InputError for a device that no node can offer. A name without `/` may be a class of devices."""
    for device in map(str, names):
        if fault := resource_fault(device) if "/" in device else "":
            raise InputError("INPUT-VALUE", f"{path}: {device!r} {fault}.", f"Correct the name in {path}.")


def nodes_of(nodes: t.Iterable[KubeObject], pool: Pool) -> list[KubeObject]:
    """Return the nodes of the pool, sorted by name."""
    found = [node for node in nodes if matches(pool["node_selector"], labels(node))]
    return sorted(found, key=name)


def names_of(nodes: t.Collection[KubeObject], pools: t.Iterable[Pool]) -> set[str]:
    """Return the names of the nodes of all pools."""
    return {name(node) for pool in pools for node in nodes_of(nodes, pool)}


def least(pool: Pool) -> int:
    """Return how many nodes the pool has at least; an autoscaled one may have none."""
    return next((int(pool[key]) for key in ("min_nodes", "min_replicas", "replicas") if key in pool), 1)


def judge_size(nodes: t.Iterable[KubeObject], pool: Pool) -> Readiness:
    """Return ready if the pool has its least number of nodes, else pending with GPU-NODES."""
    found = len(nodes_of(nodes, pool))
    wanted = least(pool)
    if found >= wanted:
        return ready()
    selector = ",".join(f"{key}={value}" for key, value in pool["node_selector"].items())
    also = _MACHINES if POOL in pool["node_selector"] else _OTHERS
    text = text_of("GPU-NODES", pool=pool["name"], number=found, wanted=wanted, selector=selector, also=also)
    line = f"pool {pool['name']}: {found} of {wanted} nodes match {selector}"
    return pending("NodesMissing", **text._asdict(), details=(line,))


def judge_devices(nodes: t.Iterable[KubeObject], pool: Pool) -> list[Readiness]:
    """Return a pending entry for each node that is not Ready, and for each that lacks expected devices."""
    parts: list[Readiness] = []
    for node in nodes_of(nodes, pool):
        object_name = name(node)
        wanted = devices.expected(node, pool["expected"]) if pool.get("expected") else {}
        if not is_ready(node):
            parts.append(
                at_node(object_name, "NotReady", *about_node("GPU-NODE-NOT-READY", node=object_name))
            )
        if short := devices.short(node, wanted):
            what = f"offers {', '.join(short)}"
            parts.append(at_node(object_name, "Allocatable", what, "GPU-ALLOC", _remedy(node)))
    return parts


def _remedy(node: KubeObject) -> str:
    if labels(node).get(PLUGIN_CONFIG):
        return f"{devices.reading_again(node)} If that does not help, read its log."
    where = f"--field-selector spec.nodeName={name(node)}"
    return f"Run `oc get pods -A {where}`, and read the log of the device plugin."


def summarize_nodes(nodes: t.Sequence[KubeObject], pools: t.Iterable[Pool]) -> list[dict[str, t.Any]]:
    return [
        {
            "name": name(node),
            "pool": pool["name"],
            "expected": {one: devices.count(number) for one, number in (pool.get("expected") or {}).items()},
            "allocatable": {one: devices.offered(node, one) for one in pool.get("expected") or {}},
        }
        for pool in pools
        for node in nodes_of(nodes, pool)
    ]
