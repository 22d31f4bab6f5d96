# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of validated nodes: a later run validates only nodes that changed since."""

from __future__ import annotations

import typing as t
import zlib

from .._core.objects import KubeObject
from .._nodes import devices as node_devices, startup
from .options import GpuWorkloadParams

NAME: t.Final = "gpu-validation-fingerprints"
# The ConfigMap of the proofs of sharing.
PROOFS: t.Final = "gpu-sharing-proof"
# The annotation of the first ConfigMap that says how many there are.
PARTS: t.Final = "accelerators.openshift/parts"
# Bytes of one ConfigMap, of which the API server takes 1 MiB, with our share of its managedFields.
LARGEST: t.Final = 450 * 1024


def fingerprint(node: KubeObject, *programs: str) -> str:
    """Return what a validation holds for: the programs that passed, the node's boot, driver and geometry."""
    return f"benchmark={','.join(sorted(programs))} {_devices(node)}"


def proven(node: KubeObject, stored: str | None) -> set[str]:
    """Return the programs that passed on the node as it is now. stored: its fingerprint."""
    programs, _space, devices = (stored or "").removeprefix("benchmark=").partition(" ")
    return set(programs.split(",")) if devices == _devices(node) else set()


class Memory(t.NamedTuple):
    """The fingerprints of validated nodes, by their names.

    maps: the ConfigMaps that hold them, by their names. Most clusters have one.
    """

    data: dict[str, str]
    maps: dict[str, KubeObject]


def read(get: t.Callable[[str], KubeObject | None], first_name: str = NAME) -> Memory:
    """Return what is stored by the names of nodes. get: returns the ConfigMap with this name, or None."""
    first = get(first_name)
    if first is None:
        return Memory({}, {})
    found = {first_name: first}
    for name in _names(first_name, _parts(first))[1:]:
        if (one := get(name)) is not None:
            found[name] = one
    data = {key: value for one in found.values() for key, value in (one.get("data") or {}).items()}
    return Memory(data, found)


def changed(nodes: t.Iterable[KubeObject], program: str, memory: Memory, repeat: bool) -> list[KubeObject]:
    """Return the nodes to validate: those on which the program has not passed as they are now, or all.

    A node that is still closed by the startup taint has not passed.
    """
    return [
        node
        for node in nodes
        if repeat
        or startup.is_closed(node)
        or program not in proven(node, memory.data.get(node["metadata"]["name"]))
    ]


def build(
    namespace: str,
    memory: Memory,
    validated: t.Iterable[tuple[GpuWorkloadParams, t.Iterable[KubeObject]]],
    existing: t.Iterable[KubeObject],
) -> list[KubeObject]:
    """Return the ConfigMaps of all fingerprints, in the order in which they are written.

    validated: the nodes that passed, by the program. existing: metadata of the nodes after the validation:
    the label of the driver can come during it. With claims the driver is that of the slices, which
    `validated` has in the label's place. Nodes that are gone leave the ConfigMaps; nodes of other pools stay
    in them. The ConfigMap that says how many there are is written last.
    """
    now = {node["metadata"]["name"]: node["metadata"] for node in existing}
    data = {name: value for name, value in memory.data.items() if name in now}
    for params, nodes in validated:
        for node in nodes:
            name = node["metadata"]["name"]
            labelled = node if params.claims else {**node, "metadata": now.get(name, node["metadata"])}
            programs = proven(labelled, data.get(name)) | {params.program.label}
            data[name] = fingerprint(labelled, *programs)
    return maps(NAME, namespace, data, memory)


def maps(first_name: str, namespace: str, data: t.Mapping[str, str], memory: Memory) -> list[KubeObject]:
    """Return the ConfigMaps that hold the data, in the order in which they are written."""
    parts = _parts(memory.maps.get(first_name) or {})
    while max(map(_size, shared := _share(data, parts))) > LARGEST:
        parts *= 2
    names = _names(first_name, parts)
    made = [_map(namespace, name, one) for name, one in zip(names, shared, strict=True)]
    if parts > 1:
        made[0]["metadata"]["annotations"] = {PARTS: str(parts)}
    return made[::-1]


def proofs(namespace: str, data: t.Mapping[str, str]) -> KubeObject:
    """Return the ConfigMap of the proofs of sharing. data: the name of a pool -> what its proof holds for."""
    return _map(namespace, PROOFS, data)


def _map(namespace: str, name: str, data: t.Mapping[str, str]) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": dict(sorted(data.items())),
    }


def _share(data: t.Mapping[str, str], parts: int) -> list[dict[str, str]]:
    """Return the data of each ConfigMap. The name of a node decides where it is."""
    shared: list[dict[str, str]] = [{} for _part in range(parts)]
    for name, value in data.items():
        shared[zlib.crc32(name.encode()) % parts][name] = value
    return shared


def _size(data: t.Mapping[str, str]) -> int:
    """Return about how many bytes the data take as JSON."""
    return sum(len(name) + len(value) + 8 for name, value in data.items())


def _parts(first: KubeObject) -> int:
    text = ((first.get("metadata") or {}).get("annotations") or {}).get(PARTS) or "1"
    return max(1, int(text)) if text.isdigit() else 1


def _names(first: str, parts: int) -> list[str]:
    return [first, *(f"{first}-{number}" for number in range(1, parts))]


def _devices(node: dict[str, t.Any]) -> str:
    """Return a text that changes with every reboot, driver change or new partitioning of the devices."""
    return f"boot={node.get('status', {}).get('nodeInfo', {}).get('bootID', '')} {hardware(node)}"


def hardware(node: dict[str, t.Any]) -> str:
    """Return a text that changes with the driver, and with the partitioning of the devices."""
    geometry = ",".join(f"{name}={number}" for name, number in node_devices.resources(node).items())
    return f"driver={node_devices.driver_version(node) or 'unknown'} geometry={geometry or 'none'}"
