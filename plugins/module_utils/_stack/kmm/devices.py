# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What the nodes of a KMM Module offer: allocatable of its device plugin, ResourceSlices of its DRA driver."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness, pending
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    devices as node_devices,
    pool_nodes,
    slices as node_slices,
)

Data = dict[str, t.Any]
Snapshot = t.Mapping[str, t.Sequence[Data]]


def driver(params: Data) -> str:
    """Name of the DRA driver; empty with a device plugin."""
    asked = (params["kmm"] or {}).get("dra") or {}
    return str(asked.get("driver_name") or (params["spec"].get("dra") or {}).get("driverName") or "")


def check(params: Data) -> None:
    """A device resource has a slash in its name, a DRA driver has none; so nothing is looked for where it cannot be."""
    name = driver(params)
    for index, pool in enumerate(params["pools"]):
        strange = sorted(key for key in pool.get("expected") or {} if "/" not in key and key != name)
        if strange:
            message = f"pools[{index}].expected has {strange[0]!r}, which is neither a device resource nor the driver of kmm.dra{f' ({name})' if name else ''}."
            raise InputError(
                "INPUT-VALUE",
                message,
                "Name device resources as example.com/card, and devices of a DRA driver by the driver's name alone.",
            )


def split(pool: Data, name: str) -> tuple[Data, Data]:
    """The pool as far as allocatable tells of it, and what slices have to offer."""
    expected = pool.get("expected") or {}
    return {**pool, "expected": {key: value for key, value in expected.items() if "/" in key}}, {
        k: v for k, v in expected.items() if "/" not in k
    }


def judge(nodes: t.Iterable[Data], pool: Data, name: str, slices: t.Sequence[Data]) -> list[Readiness]:
    nodes = list(nodes)
    if not name:
        return pool_nodes.judge_devices(nodes, pool)
    plain, wanted = split(pool, name)
    parts = pool_nodes.judge_devices(nodes, plain)
    for node in pool_nodes.nodes_of(nodes, pool):
        what = lacking(node["metadata"]["name"], name, wanted, slices)
        if what:
            where = node["metadata"]["name"]
            remedy = f"Look at `oc get resourceslices --field-selector spec.nodeName={where} -o yaml` and at the log of the DRA driver's pod on it."
            parts.append(
                pending(
                    f"Slices:{where}",
                    f"Node {where}: {what}.",
                    code="GPU-DRA-SLICES",
                    remedy=remedy,
                    details=(f"{where}: {what}",),
                )
            )
    return parts


def lacking(node: str, name: str, wanted: Data, slices: t.Sequence[Data]) -> str:
    """Without a number one device is enough."""
    offer = node_slices.offer(node, slices, name)
    there, number = len(offer.devices), node_devices.count(wanted[name]) if name in wanted else None
    if not offer.complete:
        return f"the ResourceSlices of driver {name} are not all there"
    if number is None:
        return "" if there else f"driver {name} offers no device in ResourceSlices"
    return "" if there == number else f"driver {name} offers {there} of {number} devices in ResourceSlices"


def summarize(
    nodes: t.Sequence[Data], pools: t.Sequence[Data], name: str, slices: t.Sequence[Data]
) -> list[Data]:
    """As for every backend; with a DRA driver also each device with its attributes."""
    if not name:
        return pool_nodes.summarize_nodes(nodes, pools)
    found = []
    for pool in pools:
        for one in pool_nodes.summarize_nodes(nodes, [split(pool, name)[0]]):
            devices = node_slices.offer(one["name"], slices, name).devices
            shown = [{"name": device["name"], "attributes": _plain(device)} for device in devices]
            expected = {
                key: node_devices.count(number) for key, number in (pool.get("expected") or {}).items()
            }
            found.append({**one, "expected": expected, "offered": {name: len(devices)}, "devices": shown})
    return found


def _plain(device: Data) -> dict[str, str]:
    return {key: node_slices.attribute(device, key) for key in sorted(device.get("attributes") or {})}


def pools_of(node: str, name: str, slices: t.Iterable[Data]) -> set[str]:
    """Names of the driver's pools on a node, by which allocations name it."""
    specs = [one["spec"] for one in slices]
    return {
        spec["pool"]["name"] for spec in specs if spec.get("driver") == name and spec.get("nodeName") == node
    }


def claims_on(node: str, name: str, slices: t.Iterable[Data], claims: t.Iterable[Data]) -> list[str]:
    """Claims in use that were given devices of the node."""
    pools = pools_of(node, name, slices)
    here = [
        claim
        for claim in claims
        if any(one.get("pool") in pools for one in _results(claim) if one.get("driver") == name)
    ]
    return node_slices.held(here, name)


def _results(claim: Data) -> list[Data]:
    found: list[Data] = (((claim.get("status") or {}).get("allocation") or {}).get("devices") or {}).get(
        "results"
    ) or []
    return found
