# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""HyperConverged: which devices virtual machines may have, as entries of this collection among others.

Each list is merged on the server by the selector of its entries, so an apply keeps the entries of others.
"""

from __future__ import annotations

import json
import typing as t

from .._core.diff import managed_fields
from .._core.objects import KubeObject, at, name
from .._core.ownership import MANAGER

GROUP: t.Final = "hco.kubevirt.io"
_PCI: t.Final = "pciHostDevices"
_MDEV: t.Final = "mediatedDevices"
# List of the object -> the field by which its entries are told apart.
_KEYS: t.Final = {_PCI: "pciDeviceSelector", _MDEV: "mdevNameSelector"}


class Permit(t.NamedTuple):
    """A device that virtual machines may have.

    selector: the PCI id as VENDOR:DEVICE, or the name of the type of a vGPU. resource: under which the nodes
    offer it. is_external: a device plugin of others offers it, and not that of KubeVirt.
    """

    selector: str
    resource: str
    is_mediated: bool = False
    is_external: bool = True

    @property
    def key(self) -> tuple[bool, str]:
        """Return what two entries for the same device have in common: KubeVirt ignores upper case."""
        return self.is_mediated, self.selector.upper()


def of_resource(resource: str) -> Permit:
    """Return the entry of a vGPU: its resource is the name of its type with underscores."""
    return Permit(resource.partition("/")[2].replace("_", " "), resource, is_mediated=True)


def permits(live: KubeObject) -> list[Permit]:
    """Return every entry that counts, whoever wrote it."""
    devices = at(live, f"{_place(live['apiVersion'])}permittedHostDevices") or {}
    return [
        Permit(
            str(entry.get(key) or ""),
            str(entry.get("resourceName") or ""),
            field == _MDEV,
            bool(entry.get("externalResourceProvider")),
        )
        for field, key in _KEYS.items()
        for entry in devices.get(field) or []
        if not entry.get("disabled")
    ]


def ours(live: KubeObject) -> list[Permit]:
    """Return the entries that this collection wrote and nobody else has."""
    entries = live["metadata"].get("managedFields") or []
    others = {
        key
        for entry in entries
        if entry.get("manager") != MANAGER
        for key in _selectors(entry.get("fieldsV1") or {})
    }
    own = _selectors(managed_fields(live)) - others
    return [permit for permit in permits(live) if permit.key in own]


def _selectors(fields: t.Mapping[str, t.Any]) -> set[tuple[bool, str]]:
    """Return the keys of the entries among the fields of a manager, which may be those of either version."""
    spec = fields.get("f:spec") or {}
    return {
        (field == _MDEV, str(json.loads(mark[2:])[key]).upper())
        for part in (spec, spec.get("f:virtualization") or {})
        for field, key in _KEYS.items()
        for mark in (part.get("f:permittedHostDevices") or {}).get(f"f:{field}") or {}
        if mark.startswith("k:")
    }


def is_touched(live: KubeObject) -> bool:
    """Return whether this collection owns a field of the object."""
    return bool(managed_fields(live))


def makes_mediated(live: KubeObject) -> bool:
    """Return whether KubeVirt itself makes mediated devices, as somebody asked it to."""
    asked = at(live, f"{_place(live['apiVersion'])}mediatedDevicesConfiguration") or {}
    return any(
        asked.get(key) for key in ("mediatedDeviceTypes", "mediatedDevicesTypes", "nodeMediatedDeviceTypes")
    )


def manifest(live: KubeObject, wanted: t.Sequence[Permit], *, has_manager: bool) -> KubeObject:
    """Return the fields of this collection in the object; without an entry it has none.

    has_manager: the vGPU device manager of the GPU operator makes the devices, so KubeVirt must not.
    """
    spec: KubeObject = {}
    if wanted:
        lists: KubeObject = {}
        for permit in sorted(wanted):
            field = _MDEV if permit.is_mediated else _PCI
            entry = {_KEYS[field]: permit.selector, "resourceName": permit.resource}
            more = {"externalResourceProvider": True} if permit.is_external else {}
            lists.setdefault(field, []).append({**entry, **more})
        spec["permittedHostDevices"] = lists
    is_new = _is_new(live["apiVersion"])
    if has_manager and is_new:
        spec["mediatedDevicesConfiguration"] = {"enabled": False}
    elif has_manager:
        spec["featureGates"] = {"disableMDevConfiguration": True}
    whole = {"virtualization": spec} if is_new and spec else spec
    metadata = {"name": name(live), "namespace": live["metadata"]["namespace"]}
    found = {"apiVersion": live["apiVersion"], "kind": "HyperConverged", "metadata": metadata}
    return {**found, "spec": whole} if whole else found


def _is_new(api_version: str) -> bool:
    return api_version == f"{GROUP}/v1"


def _place(api_version: str) -> str:
    """Return the path of what is about virtual machines: version v1 has it one level deeper."""
    return "spec.virtualization." if _is_new(api_version) else "spec."
