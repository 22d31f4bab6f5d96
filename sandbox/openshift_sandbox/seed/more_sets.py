# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MachineSets that somebody added to the installer's: another architecture, Windows, or GPUs.

An entry of `more_machine_sets` is {name, zone, instance_type, replicas, image_id, os, labels}.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed import names
from openshift_sandbox.seed.nodes import Object, machine, machine_set, node_manifest
from openshift_sandbox.seed.platforms.registry import platform

WINDOWS: t.Final = "Windows"
OS_ID: t.Final = "machine.openshift.io/os-id"
USER_DATA: t.Final = "windows-user-data"
WORKER: t.Final = {"node-role.kubernetes.io/worker": ""}
TAINT: t.Final = {"key": "os", "value": WINDOWS, "effect": "NoSchedule"}
BUILD: t.Final = "10.0.20348"
FIRST_ADDRESS: t.Final = 40


def machine_sets(cluster: Object) -> list[Object]:
    """Return the MachineSets."""
    return [_machine_set(cluster, one) for one in cluster.get("more_machine_sets", [])]


def members(cluster: Object, sets: t.Mapping[str, Object]) -> list[tuple[Object, Object]]:
    """Return their Nodes with their Machines."""
    wanted = [
        (one, name)
        for one in cluster.get("more_machine_sets", [])
        for name in names.members(cluster, one["name"], one.get("replicas", 1))
    ]
    return [
        _member(cluster, one, name, FIRST_ADDRESS + number, sets[one["name"]])
        for number, (one, name) in enumerate(wanted)
    ]


def secrets(cluster: Object) -> list[str]:
    """Return the names of the Secrets that only these sets refer to."""
    return [USER_DATA] if any(map(_is_windows, cluster.get("more_machine_sets", []))) else []


def linux(cluster: Object) -> int:
    """Return how many of their nodes the machine-config operator manages: those without Windows."""
    return sum(one.get("replicas", 1) for one in cluster.get("more_machine_sets", []) if not _is_windows(one))


def _is_windows(one: Object) -> bool:
    return bool(one.get("os") == WINDOWS)


def _provider_spec(cluster: Object, one: Object) -> Object:
    shape = cluster | ({"image_id": one["image_id"]} if "image_id" in one else {})
    made = platform(cluster).provider_spec(shape, "worker", one["zone"], one["instance_type"])
    return made | ({"userDataSecret": {"name": USER_DATA}} if _is_windows(one) else {})


def _machine_set(cluster: Object, one: Object) -> Object:
    value, replicas = _provider_spec(cluster, one), one.get("replicas", 1)
    made = machine_set(cluster, one["name"], value, one["instance_type"], replicas)
    if _is_windows(one):
        made["spec"]["template"]["metadata"]["labels"][OS_ID] = WINDOWS
        made["spec"]["template"]["spec"]["metadata"] = {"labels": dict(WORKER)}
    return made


def _member(cluster: Object, one: Object, name: str, number: int, owner: Object) -> tuple[Object, Object]:
    where, zone, kind = platform(cluster), one["zone"], one["instance_type"]
    address = where.address(cluster, zone, number)
    node = node_manifest(
        cluster,
        name=where.host_name(cluster, name, address),
        instance_type_name=kind,
        zone=zone,
        address=address,
        provider_id=where.provider_id(cluster, zone, name),
        machine=name,
    )
    made = machine(cluster, name, "worker", zone, kind, node, owner)
    made["spec"] |= {"providerSpec": {"value": _provider_spec(cluster, one)}}
    node["metadata"]["labels"] |= one.get("labels", {})
    if not _is_windows(one):
        return node, made
    made["metadata"]["labels"][OS_ID] = WINDOWS
    made["spec"]["metadata"] = {"labels": dict(WORKER)}
    return _with_windows(node), made


def _with_windows(node: Object) -> Object:
    """Return a Node as the Windows Machine Config Operator sets it up."""
    labels = {
        key: value
        for key, value in node["metadata"]["labels"].items()
        if key not in {"beta.kubernetes.io/os", "node.openshift.io/os_id"}
    }
    windows = {
        "kubernetes.io/os": "windows",
        "node.kubernetes.io/windows-build": BUILD,
        "node.openshift.io/os_id": WINDOWS,
    }
    info = {
        "kernelVersion": f"{BUILD}.2700",
        "operatingSystem": "windows",
        "osImage": "Windows Server 2022 Datacenter",
        "containerRuntimeVersion": "containerd://1.7.24",
    }
    annotations = {
        key: value
        for key, value in node["metadata"]["annotations"].items()
        if not key.startswith("machineconfiguration.openshift.io/")
    }
    return node | {
        "metadata": node["metadata"] | {"labels": labels | windows, "annotations": annotations},
        "spec": node["spec"] | {"taints": [TAINT]},
        "status": node["status"] | {"nodeInfo": node["status"]["nodeInfo"] | info},
    }
