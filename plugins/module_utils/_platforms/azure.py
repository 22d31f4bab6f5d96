# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform Azure, with provider values of kind AzureMachineProviderSpec."""

from __future__ import annotations

import re
import typing as t

from .._core.input import Field, Problems
from .._core.quantity import canonical
from . import azure_shape
from .platform import Paths, Reports, Wanted, known_fields, merged

KEY: t.Final = "azure"
NAME: t.Final = "Azure"
OWN_TYPE: t.Final = ""
HAS_TYPE_LABEL: t.Final = True
NO_IMAGE: t.Final = ""
REPORTS: t.Final[Reports] = "all"
# Some regions have no zones.
ZONED: t.Final = False
_ULTRA: t.Final = "UltraSSD_LRS"
_OS_DISKS: t.Final = ("Premium_LRS", "StandardSSD_LRS", "Standard_LRS")
_DATA_DISKS: t.Final = (*_OS_DISKS, _ULTRA)


def _suffix_fault(text: str) -> str:
    return (
        ""
        if re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,30}[A-Za-z0-9_])?", text)
        else "cannot end a disk's name (letters, digits, _ . -; at most 32)"
    )


OPTIONS: t.Final[dict[str, Field]] = {
    "accelerated_networking": Field("flag"),
    "ultra_disks": Field("flag"),
    "data_disks": Field(
        "list",
        fields={
            "name": Field("text", required=True, fault=_suffix_fault),
            "size_gib": Field("integer", required=True, low=4, high=65536),
            "type": Field("text", choices=_DATA_DISKS),
        },
    ),
}
SHAPE: t.Final[dict[str, t.Any]] = azure_shape.SHAPE
# Fields for joining the cluster (the load balancer is the route out of it) and for booting, not those for
# the reference's market, availability set or security.
COPIED: t.Final = (
    "apiVersion",
    "kind",
    "userDataSecret",
    "credentialsSecret",
    "location",
    "image",
    "sshPublicKey",
    "publicIP",
    "tags",
    "securityGroup",
    "applicationSecurityGroups",
    "subnet",
    "publicLoadBalancer",
    "managedIdentity",
    "vnet",
    "networkResourceGroup",
    "resourceGroup",
    "diagnostics",
    "acceleratedNetworking",
)
IMAGE: t.Final = "image"
CHOSEN: t.Final = {
    "spotVMOptions": "market",
    "capacityReservationGroupID": "market.reservation",
    "ultraSSDCapability": "azure.ultra_disks",
    "dataDisks": "azure.data_disks",
    "acceleratedNetworking": "azure.accelerated_networking",
}
_LEAST_DISK: t.Final = 128
_MOST_DISK: t.Final = 32767
_GROUP: t.Final = re.compile(
    r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Compute/capacityReservationGroups/[^/]+",
    re.IGNORECASE,
)
# These sizes have no accelerated networking; the creation of a machine with it fails.
_PLAIN_NETWORK: t.Final = re.compile(r"Standard_(NC\d+r?s_v3|NV\d+s_v[23])")

_FOR_OS: t.Final = "for an OS disk of Azure"


def zone(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("zone") or "")


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("vmSize", ""))


def check(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    for name in wanted.zones:
        if not name.isdigit():
            problems.add(
                "POOL-ZONE",
                f"{paths.candidate}.zones",
                f"{name!r} is not a zone of Azure: zones are numbers.",
                'Write ["1"], ["2"] or ["3"].',
            )
    _check_market(wanted, paths, problems)
    _check_os_disk(wanted.disk, paths.disk, problems)
    _check_data_disks(wanted, paths, problems)
    if wanted.options.get("accelerated_networking") and _PLAIN_NETWORK.fullmatch(wanted.instance_type):
        where = f"{paths.options}.accelerated_networking"
        fabric = "accelerated networking"
        problems.add("POOL-FABRIC", where, instance_type=wanted.instance_type, fabric=fabric)


def _check_market(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    kind, group = wanted.market.get("type"), wanted.market.get("reservation")
    if kind == "capacity_block":
        problems.add(
            "POOL-MARKET",
            f"{paths.market}.type",
            what="a capacity block",
            where="on Azure",
            allowed="use on_demand with a reservation",
        )
        return
    asked = wanted.patch.get("capacityReservationGroupID") or group
    where = paths.of("capacityReservationGroupID", f"{paths.market}.reservation", wanted.patch)
    if asked and not _GROUP.fullmatch(str(asked)):
        group = "/subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.Compute"
        problems.add(
            "POOL-MARKET",
            where,
            what=repr(asked),
            where="as the id of a capacity reservation group",
            allowed=f"write {group}/capacityReservationGroups/NAME",
        )
    elif asked and (kind == "spot" or "spotVMOptions" in wanted.patch) and not problems.at(where):
        problems.add("POOL-CONFLICT", where, other="market spot")


def _check_os_disk(disk: t.Mapping[str, t.Any], path: str, problems: Problems) -> None:
    kind, size = disk.get("type"), disk.get("size_gib")
    if kind is not None and kind not in _OS_DISKS:
        hint = "; an ultra disk can be one of azure.data_disks" if kind == _ULTRA else ""
        allowed = f"allowed are {', '.join(_OS_DISKS)}{hint}"
        problems.add("POOL-DISK", f"{path}.type", what=repr(kind), where=_FOR_OS, allowed=allowed)
    if size is not None and size > _MOST_DISK:
        allowed = f"set at most {_MOST_DISK}"
        problems.add("POOL-DISK", f"{path}.size_gib", what=str(size), where=_FOR_OS, allowed=allowed)
    for key in sorted({"iops", "throughput_mib"} & set(disk)):
        allowed = "remove it, or make the disk larger, which makes it faster"
        problems.add("POOL-DISK", f"{path}.{key}", what=key, where=_FOR_OS, allowed=allowed)


def _check_data_disks(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    disks = wanted.options.get("data_disks") or []
    ultra = bool(wanted.options.get("ultra_disks")) or any(disk.get("type") == _ULTRA for disk in disks)
    if ultra and not wanted.zones:
        where = f"{paths.options}.{'ultra_disks' if wanted.options.get('ultra_disks') else 'data_disks'}"
        problems.add(
            "POOL-DISK",
            where,
            what="an ultra disk",
            where="with a machine without a zone",
            allowed="set zones of the candidate, or use Premium_LRS",
        )
    if len({disk.get("name") for disk in disks}) < len(disks):
        remedy = "Give each disk its own name."
        problems.add(
            "POOL-DUPLICATE", f"{paths.options}.data_disks", remedy=remedy, name="the name of a disk"
        )


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> dict[str, t.Any]:
    source = known_fields(source, SHAPE)
    provider: dict[str, t.Any] = {key: source[key] for key in COPIED if key in source}
    if wanted.image:
        provider["image"] = _image(wanted.image)
    provider |= {"vmSize": wanted.instance_type, "osDisk": _os_disk(source.get("osDisk") or {}, wanted.disk)}
    if wanted.zone:
        provider["zone"] = wanted.zone
    fast = wanted.options.get(
        "accelerated_networking",
        bool(source.get("acceleratedNetworking")) and not _PLAIN_NETWORK.fullmatch(wanted.instance_type),
    )
    # The Machine API omits false.
    provider = merged(provider, {"acceleratedNetworking": True if fast else None})
    if (source.get("securityProfile") or {}).get("encryptionAtHost"):
        provider["securityProfile"] = {"encryptionAtHost": True}
    if wanted.options.get("ultra_disks"):
        provider["ultraSSDCapability"] = "Enabled"
    if wanted.options.get("data_disks"):
        provider["dataDisks"] = [
            _data_disk(number, disk) for number, disk in enumerate(wanted.options["data_disks"])
        ]
    return {**provider, **_market(wanted.market)}


def _image(text: str) -> dict[str, t.Any]:
    """Return the image field. text: an image id, or PUBLISHER:OFFER:SKU:VERSION of the marketplace."""
    publisher, offer, sku, version = text.split(":") if text.count(":") == 3 else ("", "", "", "")
    return {
        "publisher": publisher,
        "offer": offer,
        "sku": sku,
        "version": version,
        "resourceID": "" if publisher else text,
    }


def _os_disk(disk: t.Mapping[str, t.Any], wanted: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the reference's OS disk with its encryption, large enough to build drivers.

    Do not copy an ephemeral disk: its place depends on the reference's size.
    """
    managed = disk.get("managedDisk") or {}
    is_local = (disk.get("diskSettings") or {}).get("ephemeralStorageLocation")
    caching = {"cachingType": disk["cachingType"]} if disk.get("cachingType") and not is_local else {}
    kept = {key: managed[key] for key in ("diskEncryptionSet",) if managed.get(key)}
    storage = wanted.get("type") or managed.get("storageAccountType") or "Premium_LRS"
    size = wanted.get("size_gib") or max(int(disk.get("diskSizeGB") or 0), _LEAST_DISK)
    return {
        "osType": disk.get("osType") or "Linux",
        "diskSizeGB": size,
        **caching,
        "managedDisk": {**kept, "storageAccountType": storage},
    }


def _data_disk(number: int, disk: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    storage = disk.get("type") or "Premium_LRS"
    caching = "None" if storage == _ULTRA else "ReadOnly"
    fields = {
        "nameSuffix": disk["name"],
        "diskSizeGB": disk["size_gib"],
        "lun": number,
        "cachingType": caching,
    }
    return {**fields, "managedDisk": {"storageAccountType": storage}, "deletionPolicy": "Delete"}


def _market(market: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    if market["type"] == "spot":
        # Every run would find a change if the format were not the API server's.
        return {
            "spotVMOptions": {"maxPrice": canonical(market["max_price"])} if market.get("max_price") else {}
        }
    return {"capacityReservationGroupID": market["reservation"]} if market.get("reservation") else {}
