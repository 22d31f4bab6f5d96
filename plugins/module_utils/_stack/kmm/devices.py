# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices of a KMM Module: allocatable of its device plugin, or ResourceSlices of its DRA driver."""

from __future__ import annotations

import typing as t

from ..._core.errors import InputError
from ..._core.objects import KubeObject, at, name as name_of
from ..._core.readiness import Readiness, about_node, at_node
from ..._nodes import devices as node_devices, dra, pool_nodes
from ..params import StackParams, StackPool

Expected = t.Mapping[str, t.Any]


def driver(params: StackParams) -> str:
    """Return the name of the DRA driver; empty with a device plugin."""
    return str(at(params.kmm, "dra.driver_name") or at(params.spec, "dra.driverName") or "")


def check(params: StackParams) -> None:
    """Raise InputError if a pool expects something that is no device resource and not the DRA driver."""
    name = driver(params)
    for index, pool in enumerate(params.pools):
        strange = sorted(key for key in pool.get("expected") or {} if "/" not in key and key != name)
        if strange:
            message = (
                f"pools[{index}].expected has {strange[0]!r}, which is neither a device resource nor the "
                f"driver of kmm.dra{f' ({name})' if name else ''}."
            )
            remedy = (
                "Name device resources as example.com/card, and devices of a DRA driver by the driver's name."
            )
            raise InputError("INPUT-VALUE", message, remedy)


def split(pool: StackPool) -> tuple[StackPool, Expected]:
    """Return the pool with the resources that nodes allocate, and what ResourceSlices must offer."""
    expected = pool.get("expected") or {}
    resources = {key: value for key, value in expected.items() if "/" in key}
    return {**pool, "expected": resources}, {k: v for k, v in expected.items() if "/" not in k}


def judge(
    nodes: t.Iterable[KubeObject], pool: StackPool, name: str, slices: t.Sequence[KubeObject]
) -> list[Readiness]:
    """Return what the nodes of the pool lack. name: of the DRA driver, empty with a device plugin."""
    nodes = list(nodes)
    if not name:
        return pool_nodes.judge_devices(nodes, pool)
    plain, wanted = split(pool)
    parts = pool_nodes.judge_devices(nodes, plain)
    for node in pool_nodes.nodes_of(nodes, pool):
        where = name_of(node)
        what = lacking(where, name, wanted, slices)
        if what:
            parts.append(
                at_node(where, "Slices", *about_node("GPU-DRA-SLICES", node=where, wrong_slices=what))
            )
    return parts


def lacking(node: str, name: str, wanted: Expected, slices: t.Sequence[KubeObject]) -> str:
    """Return what the driver's slices of a node lack, or an empty text.

    Without a number one device is enough.
    """
    offer = dra.offer(node, slices, name)
    there, number = len(offer.devices), node_devices.count(wanted[name]) if name in wanted else None
    if not offer.complete:
        return f"the ResourceSlices of driver {name} are incomplete"
    if number is None:
        return "" if there else f"driver {name} offers no device in ResourceSlices"
    return "" if there == number else f"driver {name} offers {there} of {number} devices in ResourceSlices"


def summarize(
    nodes: t.Sequence[KubeObject], pools: t.Sequence[StackPool], name: str, slices: t.Sequence[KubeObject]
) -> list[dict[str, t.Any]]:
    """Return the nodes of the pools as results; with a DRA driver each device with its attributes too."""
    if not name:
        return pool_nodes.summarize_nodes(nodes, pools)
    found = []
    for pool in pools:
        for one in pool_nodes.summarize_nodes(nodes, [split(pool)[0]]):
            devices = dra.offer(one["name"], slices, name).devices
            shown = [{"name": device["name"], "attributes": _plain(device)} for device in devices]
            expected = {key: node_devices.count(one) for key, one in (pool.get("expected") or {}).items()}
            found.append({**one, "expected": expected, "offered": {name: len(devices)}, "devices": shown})
    return found


def _plain(device: dict[str, t.Any]) -> dict[str, str]:
    return {key: dra.attribute(device, key) for key in sorted(device.get("attributes") or {})}


def pools_of(node: str, name: str, slices: t.Iterable[KubeObject]) -> set[str]:
    """Return the names of the driver's ResourceSlice pools on a node: allocations name them."""
    specs = [one["spec"] for one in slices]
    return {
        spec["pool"]["name"] for spec in specs if spec.get("driver") == name and spec.get("nodeName") == node
    }


def claims_on(
    node: str, name: str, slices: t.Iterable[KubeObject], claims: t.Iterable[KubeObject]
) -> list[str]:
    """Return `namespace/name` of the claims in use that hold devices of the node."""
    pools = pools_of(node, name, slices)
    here = [
        claim
        for claim in claims
        if any(one.get("pool") in pools for one in dra.results(claim) if one.get("driver") == name)
    ]
    return dra.claims_in_use(here, name)
