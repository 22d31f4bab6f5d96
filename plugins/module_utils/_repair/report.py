# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a repair, with the form for the vendor of the GPU: what is not known has its reason."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, name
from .._nodes import devices, formatting as node_formatting, node as node_facts
from . import record as records
from .seen import Seen

_NO_SERIAL: t.Final = (
    "nothing in the cluster tells the serial number of a GPU; `nvidia-smi --query-gpu=uuid,serial "
    "--format=csv` in the driver's pod of the node does, while the GPU answers"
)
_NO_DEVICE: t.Final = "neither logs, events, conditions nor ResourceSlices name a GPU of this node"
_NO_SERVER: t.Final = "the machine has no BareMetalHost that was inspected"


def form(seen: Seen) -> dict[str, t.Any]:
    """Return what the form of a vendor asks for. C(unknown) has a reason for each key that is empty."""
    info = (seen.node.get("status") or {}).get("nodeInfo") or {}
    machine = seen.machine or {}
    gpus = _gpus(seen)
    found = {
        "node": seen.name,
        "machine": name(machine) if machine else "",
        "provider_id": _provider_id(seen.node, machine),
        "instance_type": node_formatting.instance_type(seen.node),
        "driver_version": devices.driver_version(seen.node),
        "gpu_model": devices.product(seen.node),
        "kernel": str(info.get("kernelVersion") or ""),
        "os_image": str(info.get("osImage") or ""),
        "boot_id": records.boot_of(seen.node),
        "gpus": gpus,
        "server": _server(seen.host),
    }
    why = {
        "machine": "the node has no Machine",
        "provider_id": "neither node nor Machine has a provider id",
        "instance_type": "the node has no label node.kubernetes.io/instance-type",
        "driver_version": "the node has no label of GPU feature discovery",
        "gpu_model": "the node has no label nvidia.com/gpu.product",
        "gpus": _NO_DEVICE,
        "server": _NO_SERVER,
    }
    unknown = {key: why.get(key, "the node does not tell it") for key, value in found.items() if not value}
    unknown |= seen.unknown
    unknown["gpus.serial"] = _NO_SERIAL
    if any(gpu["uuid"] == "" for gpu in gpus):
        unknown["gpus.uuid"] = "the text that names the Xid names no UUID"
    return {**found, "unknown": unknown}


def result(seen: Seen, done: str, **more: t.Any) -> dict[str, t.Any]:
    """Return the result of the module. done: what the run did, or would do in check mode."""
    return {
        "node": seen.name,
        "machine": name(seen.machine) if seen.machine else "",
        "action": done,
        "faults": list(seen.faults),
        "xids": [report.as_result() for report in seen.reports],
        "rebooted_with": "",
        "cordoned": node_facts.is_cordoned(seen.node),
        "new_machines": [],
        "form": form(seen),
        **more,
    }


def line(seen: Seen) -> str:
    """Return one sentence about what is wrong."""
    xids = [f"Xid {one.number} on {one.device or 'a GPU without name'} ({one.seen})" for one in seen.reports]
    return "; ".join([*seen.faults, *xids]) or "nothing is wrong"


def _gpus(seen: Seen) -> list[dict[str, t.Any]]:
    """Return the GPUs with an Xid; without one, all that are known by their UUID."""
    if seen.reports:
        return [{"uuid": report.device, "serial": "", **report.as_result()} for report in seen.reports]
    return [{"uuid": one, "serial": ""} for one in seen.uuids]


def _provider_id(node: KubeObject, machine: KubeObject) -> str:
    of_node = (node.get("spec") or {}).get("providerID")
    return str(of_node or (machine.get("spec") or {}).get("providerID") or "")


def _server(host: KubeObject | None) -> dict[str, str]:
    """Return maker, model and serial number of the server, as the inspection of its host found them."""
    vendor = (((host or {}).get("status") or {}).get("hardware") or {}).get("systemVendor") or {}
    keys = {"manufacturer": "manufacturer", "product": "productName", "serial": "serialNumber"}
    found = {key: str(vendor.get(field) or "") for key, field in keys.items()}
    return {"host": name(host), **found} if host and any(found.values()) else {}
