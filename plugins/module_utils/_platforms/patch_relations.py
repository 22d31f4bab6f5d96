# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of the Machine API's webhook about combinations of fields."""

from __future__ import annotations

import typing as t

from .patch_values import Broken, broken as broken_values

Data = t.Mapping[str, t.Any]
_IMAGE: t.Final = ("publisher", "offer", "sku", "version")


def broken(cloud: str, patch: Data) -> list[Broken]:
    """Return the broken rules of a patch: those of single fields, or else those of combinations."""
    values = broken_values(cloud, patch)
    relations = _RELATIONS.get(cloud)
    # Rules of several fields expect a valid value in each field.
    return values if values or relations is None else list(relations(patch))


def _aws(patch: Data) -> t.Iterator[Broken]:
    for index, device in enumerate(patch.get("blockDevices") or []):
        ebs = device.get("ebs") or {}
        if ebs.get("throughputMib") is not None and ebs.get("volumeType") not in (None, "gp3"):
            yield Broken(
                f"blockDevices[{index}].ebs.throughputMib",
                f"is not supported by a {ebs['volumeType']} volume.",
                "Remove it, or use gp3.",
            )
    placement = patch.get("placement") or {}
    host = placement.get("host")
    if host is None:
        return
    if placement.get("tenancy") != "host":
        yield Broken(
            "placement.host",
            "works only with tenancy host.",
            "Set placement.tenancy: host, or remove it.",
        )
    if not host.get("affinity"):
        yield Broken("placement.host.affinity", "is required.", "Set it to AnyAvailable or DedicatedHost.")
    dedicated = host.get("dedicatedHost")
    if host.get("affinity") == "DedicatedHost" and dedicated is None:
        yield Broken(
            "placement.host.dedicatedHost",
            "is required with affinity DedicatedHost.",
            "Name the host: dedicatedHost: {id: h-...}.",
        )
    elif (
        dedicated is not None
        and (dedicated.get("allocationStrategy") or "UserProvided") == "UserProvided"
        and not dedicated.get("id")
    ):
        yield Broken(
            "placement.host.dedicatedHost.id", "is required.", "Name the host: dedicatedHost: {id: h-...}."
        )


def _azure(patch: Data) -> t.Iterator[Broken]:
    pair = [key for key in ("vnet", "subnet") if key in patch and not patch[key]]
    if len(pair) == 1:
        yield Broken(
            pair[0],
            "is empty, but the worker machine set has both.",
            "Set it, or leave both vnet and subnet empty.",
        )
    image = patch.get("image")
    if image is not None:
        named = [key for key in _IMAGE if image.get(key)]
        if not (image.get("resourceID") and not named) and not (
            not image.get("resourceID") and len(named) == len(_IMAGE)
        ):
            yield Broken(
                "image",
                "describes an image incompletely or twice.",
                f"Set only resourceID, or an empty resourceID and {', '.join(_IMAGE)}.",
            )
    disk = patch.get("osDisk") or {}
    if (disk.get("diskSettings") or {}).get("ephemeralStorageLocation") == "Local" and disk.get(
        "cachingType"
    ) != "ReadOnly":
        yield Broken(
            "osDisk.cachingType", "must be ReadOnly for an ephemeral disk.", "Set cachingType: ReadOnly."
        )
    numbers: set[int] = set()
    for index, one in enumerate(patch.get("dataDisks") or []):
        where, lun = f"dataDisks[{index}]", one.get("lun") or 0
        if lun in numbers:
            yield Broken(
                f"{where}.lun",
                f"{lun} is already the number of another disk.",
                "Give each disk its own number.",
            )
        numbers.add(lun)
        ultra = (one.get("managedDisk") or {}).get("storageAccountType") == "UltraSSD_LRS"
        if ultra and (one.get("cachingType") or "None") != "None":
            yield Broken(f"{where}.cachingType", "cannot be set for ultra disks.", "Remove it, or set None.")


def _gcp(patch: Data) -> t.Iterator[Broken]:
    shielded = patch.get("shieldedInstanceConfig") or {}
    if (
        shielded.get("virtualizedTrustedPlatformModule") == "Disabled"
        and shielded.get("integrityMonitoring") != "Disabled"
    ):
        where = "shieldedInstanceConfig.virtualizedTrustedPlatformModule"
        yield Broken(
            where,
            "cannot be off while integrityMonitoring is on.",
            "Set integrityMonitoring: Disabled too.",
        )


def _vsphere(patch: Data) -> t.Iterator[Broken]:
    workspace = patch.get("workspace") or {}
    folder, center = str(workspace.get("folder") or ""), workspace.get("datacenter")
    parts = folder.split("/")
    if folder and not (len(parts) > 3 and parts[0] == "" and parts[2] == "vm" and center in (None, parts[1])):
        yield Broken(
            "workspace.folder",
            f"is {folder!r}, which is not an absolute path.",
            f"Begin it with /{center or 'DATACENTER'}/vm/.",
        )


def _nutanix(patch: Data) -> t.Iterator[Broken]:
    subnets = patch.get("subnets") or []
    for index, one in enumerate(subnets):
        if one in subnets[:index]:
            yield Broken(f"subnets[{index}]", "repeats an earlier entry.", "Name each subnet once.")


_RELATIONS: t.Final[dict[str, t.Callable[[Data], t.Iterator[Broken]]]] = {
    "aws": _aws,
    "azure": _azure,
    "gcp": _gcp,
    "vsphere": _vsphere,
    "nutanix": _nutanix,
}
