# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that look at a node: its machine and host, its devices, and the Xids that the cluster tells."""

from __future__ import annotations

import contextlib
import dataclasses
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from .._kube.client import Api
from .._kube.kinds import known
from .._machines.steps import nodes as node_steps
from .._nodes import claims as gpu_claims, devices, dra
from .._nodes.drain import on
from .._stack.operands import pod_is_ready
from . import findings, reboot
from .findings import Report
from .options import GpuNodeRepairParams
from .seen import Seen

SLICE: t.Final = known("ResourceSlice")
_GPU_LABEL: t.Final = "nvidia.com/gpu.present"
_PCI_LABEL: t.Final = "feature.node.kubernetes.io/pci-10de.present"


def look(api: Api, params: GpuNodeRepairParams) -> Seen:
    """Return what is known about the node. Raise AcceleratorError if it does not exist or has no GPUs."""
    node, machine = node_steps.find(api, params["name"], params["namespace"])
    if node is None and machine is None:
        raise node_steps.absent(api, params["name"], params["namespace"])
    if node is None:
        raise AcceleratorError("REPAIR-NO-NODE", machine=params["name"])
    return see(api, node, machine, params)


def see(api: Api, node: KubeObject, machine: KubeObject | None, params: GpuNodeRepairParams) -> Seen:
    """Return what is known about this node. Raise REPAIR-NO-GPUS if it has none."""
    offered, uuids, claims = _offering(api, node)
    seen = Seen(node, machine, _host(api, machine, params["namespace"]), uuids=uuids, claims=claims)
    expected = dict(seen.record.expected) if seen.record else findings.wanted(offered)
    labels = node["metadata"].get("labels") or {}
    if not expected and "true" not in (labels.get(_GPU_LABEL), labels.get(_PCI_LABEL)):
        raise AcceleratorError("REPAIR-NO-GPUS", node=seen.name)
    faults = findings.faults(offered, expected) or ([] if expected else ["no device is allocatable"])
    with contextlib.suppress(AcceleratorError):
        faults += findings.unnoticed(node, _events(api, seen.name))
    seen = dataclasses.replace(seen, faults=faults, expected=expected)
    return _explained(api, seen) if faults or seen.is_under_repair else seen


def _offering(api: Api, node: KubeObject) -> tuple[KubeObject, list[str], bool]:
    """Return the node with its devices, their UUIDs, and whether they are claimed through ResourceSlices."""
    if devices.resources(node) or not api.served(SLICE):
        return node, [], False
    slices = [one for one in api.list(SLICE) if (one.get("spec") or {}).get("nodeName") == name(node)]
    uuids = [
        str(found)
        for resource_slice in slices
        for device in resource_slice["spec"].get("devices") or []
        if (found := dra.attribute(device, "uuid"))
    ]
    return (gpu_claims.offering(node, slices), uuids, True) if slices else (node, [], False)


def _host(api: Api, machine: KubeObject | None, namespace: str) -> KubeObject | None:
    """Return the BareMetalHost of the machine; None if it has none, or if it cannot be read."""
    link = ((machine or {}).get("metadata", {}).get("annotations") or {}).get(reboot.HOST, "")
    place, _slash, object_name = str(link).rpartition("/")
    if not object_name:
        return None
    with contextlib.suppress(AcceleratorError):
        return api.get(known("BareMetalHost"), object_name, place or namespace)
    return None


def _explained(api: Api, seen: Seen) -> Seen:
    """Return what was seen, with the Xids that logs, conditions and events name."""
    unknown: dict[str, str] = {}
    with _noting(unknown, "xids.log"):
        pods = api.list(known("Pod"), fields=on(seen.name))
        plugins = [pod for pod in pods if findings.is_plugin(pod)]
        seen = dataclasses.replace(seen, has_plugin=seen.claims or any(map(pod_is_ready, plugins)))
        if not plugins:
            unknown["xids.log"] = f"no pod of the device plugin runs on {seen.name}"
        reports = [found for plugin in plugins for found in _of_log(api, plugin)]
        seen = dataclasses.replace(seen, reports=reports)
    found = [*seen.reports, *findings.of_conditions(seen.node)]
    with _noting(unknown, "xids.events"):
        found += findings.of_events(_events(api, seen.name))
    if seen.record and not found:
        found = [Report(number, device, "an earlier run") for number, device in seen.record.xids]
    unique: dict[tuple[int, str], Report] = {}
    for one in found:
        unique.setdefault((one.number, one.device), one)
    return dataclasses.replace(seen, reports=list(unique.values()), unknown=unknown)


def _events(api: Api, node: str) -> list[KubeObject]:
    return api.list(known("Event"), fields=f"involvedObject.kind=Node,involvedObject.name={node}")


def _of_log(api: Api, plugin: KubeObject) -> list[Report]:
    place, object_name = plugin["metadata"]["namespace"], name(plugin)
    log = api.log(place, object_name, plugin["spec"]["containers"][0]["name"])
    return findings.of_log(log, f"log of {place}/{object_name}")


@contextlib.contextmanager
def _noting(unknown: dict[str, str], source: str) -> t.Iterator[None]:
    """Note why a source could not be read, and go on without it."""
    try:
        yield
    except AcceleratorError as exc:
        unknown[source] = f"{exc.code}: {exc.message}"
