# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform Google Cloud, with provider values of kind GCPMachineProviderSpec."""

from __future__ import annotations

import typing as t

from .._core.input import Field, Problems
from .platform import Paths, Reports, Wanted, known_fields

KEY: t.Final = "gcp"
NAME: t.Final = "GCP"
OWN_TYPE: t.Final = ""
HAS_TYPE_LABEL: t.Final = True
NO_IMAGE: t.Final = ""
REPORTS: t.Final[Reports] = "all"
ZONED: t.Final = True
OPTIONS: t.Final[dict[str, Field]] = {
    "gpus": Field(
        "map", fields={"type": Field("text", required=True), "count": Field("integer", low=1, high=16)}
    ),
    "preemptible": Field("flag"),
    "restart_policy": Field("text", choices=("Always", "Never")),
    "shielded": Field(
        "map", fields={key: Field("flag") for key in ("secure_boot", "vtpm", "integrity_monitoring")}
    ),
}
_KMS_KEY: t.Final = {"name": None, "keyRing": None, "projectID": None, "location": None}
# The known fields in release 4.22, which has none for a reservation.
SHAPE: t.Final[dict[str, t.Any]] = {
    "apiVersion": None,
    "kind": None,
    "metadata": {"creationTimestamp": None},
    "userDataSecret": {"name": None},
    "credentialsSecret": {"name": None},
    "canIPForward": None,
    "deletionProtection": None,
    "disks": [
        {
            "autoDelete": None,
            "boot": None,
            "sizeGb": None,
            "type": None,
            "image": None,
            "labels": None,
            "encryptionKey": {"kmsKey": _KMS_KEY, "kmsKeyServiceAccount": None},
        }
    ],
    "labels": None,
    "gcpMetadata": [{"key": None, "value": None}],
    "networkInterfaces": [{"publicIP": None, "network": None, "projectID": None, "subnetwork": None}],
    "serviceAccounts": [{"email": None, "scopes": None}],
    "tags": None,
    "targetPools": None,
    "machineType": None,
    "region": None,
    "zone": None,
    "projectID": None,
    "gpus": [{"count": None, "type": None}],
    "preemptible": None,
    "provisioningModel": None,
    "onHostMaintenance": None,
    "restartPolicy": None,
    "shieldedInstanceConfig": {
        "secureBoot": None,
        "virtualizedTrustedPlatformModule": None,
        "integrityMonitoring": None,
    },
    "confidentialCompute": None,
    "resourceManagerTags": [{"parentID": None, "key": None, "value": None}],
}
# Fields for joining the cluster, not those for the reference's market, load balancer, deletion protection
# or host maintenance.
COPIED: t.Final = (
    "apiVersion",
    "kind",
    "userDataSecret",
    "credentialsSecret",
    "canIPForward",
    "labels",
    "gcpMetadata",
    "networkInterfaces",
    "serviceAccounts",
    "tags",
    "region",
    "projectID",
    "resourceManagerTags",
)
IMAGE: t.Final = "disks"
CHOSEN: t.Final = {
    "preemptible": "gcp.preemptible",
    "provisioningModel": "market: spot without gcp.preemptible: true, which older releases know",
    "restartPolicy": "gcp.restart_policy",
}
_LEAST_DISK: t.Final = 128
_HYPERDISK: t.Final = "hyperdisk-balanced"
_DISKS: t.Final = ("pd-ssd", "pd-balanced", "pd-standard", _HYPERDISK)
# Series that boot only from a hyperdisk, and series that cannot boot from one.
_HYPERDISK_ALONE: t.Final = ("a3-ultragpu-", "a4-", "a4x-", "g4-")
_NO_HYPERDISK: t.Final = ("n1-", "a2-", "g2-")
_SHIELDED: t.Final = {
    "secure_boot": "secureBoot",
    "vtpm": "virtualizedTrustedPlatformModule",
    "integrity_monitoring": "integrityMonitoring",
}
# Fields that a patch must not set -> the option of the pool that sets them.
_NOT_PATCHED: t.Final = {
    "gpus": "gcp.gpus",
    "machineType": "instance_type",
    "provisioningModel": "market: spot",
    "preemptible": "market: spot (and gcp.preemptible where the API knows no Spot)",
}


def zone(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("zone", ""))


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    """Return the catalogue's name of the machine, with its attached GPUs."""
    gpus = "".join(f"+{gpu.get('type')}:{gpu.get('count') or 1}" for gpu in provider.get("gpus") or [])
    return f"{provider.get('machineType', '')}{gpus}"


def check(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    _check_machine(wanted, paths, problems)
    _check_market(wanted, paths, problems)
    _check_disk(wanted.disk, wanted.instance_type, paths.disk, problems)
    shielded = wanted.options.get("shielded") or {}
    if shielded.get("vtpm") is False and shielded.get("integrity_monitoring") is not False:
        where = f"{paths.options}.shielded.integrity_monitoring"
        other = "vtpm: false, which turns off the virtual TPM that it needs"
        problems.add("POOL-CONFLICT", where, remedy="Set both to false, or neither.", other=other)
    if (wanted.patch.get("confidentialCompute") or "Disabled") != "Disabled":
        where = f"{paths.patch}.confidentialCompute"
        other = "machines with GPUs, which the Machine API does not create as confidential ones"
        problems.add("POOL-CONFLICT", where, remedy="Remove it.", other=other)


def _check_machine(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    machine, _plus, attached = wanted.instance_type.partition("+")
    if (
        wanted.options.get("gpus")
        and not attached
        and wanted.kind
        and not problems.at(f"{paths.options}.gpus")
    ):
        other = f"{machine}, which is not an N1 machine: its GPUs are built in"
        problems.add("POOL-CONFLICT", f"{paths.options}.gpus", remedy="Remove gcp.gpus.", other=other)
    if wanted.patch.get("onHostMaintenance", "Terminate") != "Terminate":
        where = f"{paths.patch}.onHostMaintenance"
        other = "machines with GPUs, which cannot be moved to another host while they run"
        problems.add("POOL-CONFLICT", where, remedy="Remove it: it is always Terminate.", other=other)
    for field in sorted(set(_NOT_PATCHED) & set(wanted.patch)):
        problems.add("POOL-PROVIDER-VALUE", f"{paths.patch}.{field}", option=_NOT_PATCHED[field])


def _check_market(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    market, is_spot = wanted.market, wanted.market.get("type") == "spot"
    if market.get("type") == "capacity_block":
        problems.add(
            "POOL-MARKET",
            f"{paths.market}.type",
            what="a capacity block",
            where="on Google Cloud",
            allowed="use on_demand, or spot",
        )
    elif "reservation" in market and not problems.at(f"{paths.market}.reservation"):
        problems.add(
            "POOL-MARKET",
            f"{paths.market}.reservation",
            what="a named reservation",
            where="on Google Cloud, because the Machine API has no field for it",
            allowed="remove it, because a machine uses an open reservation for the same machine type, GPUs "
            "and zone without this option",
        )
    if is_spot and "max_price" in market:
        problems.add(
            "POOL-MARKET",
            f"{paths.market}.max_price",
            what="a maximum price",
            where="with spot machines of Google Cloud",
            allowed="remove it",
        )
    if is_spot and wanted.options.get("restart_policy") == "Always":
        where, also = f"{paths.options}.restart_policy", ": Google Cloud never restarts a spot machine"
        problems.add(
            "POOL-CONFLICT", where, remedy="Remove it, or set Never.", other="market spot", also=also
        )
    if wanted.options.get("preemptible") and not is_spot:
        where, other = f"{paths.options}.preemptible", f"market {market.get('type', 'on_demand')}"
        also = ": it chooses a kind of spot machine"
        problems.add("POOL-CONFLICT", where, remedy="Set market: spot.", other=other, also=also)


def _check_disk(disk: t.Mapping[str, t.Any], machine: str, path: str, problems: Problems) -> None:
    kind, boot = disk.get("type"), f"as the boot disk of {machine}"
    if kind is not None and kind not in _DISKS:
        allowed = f"allowed are {', '.join(_DISKS)}"
        problems.add("POOL-DISK", f"{path}.type", what=repr(kind), where="on Google Cloud", allowed=allowed)
    elif kind == _HYPERDISK and machine.startswith(_NO_HYPERDISK):
        allowed = "use pd-ssd or pd-balanced"
        problems.add("POOL-DISK", f"{path}.type", what=repr(kind), where=boot, allowed=allowed)
    elif kind not in (None, _HYPERDISK) and machine.startswith(_HYPERDISK_ALONE):
        allowed = f"use {_HYPERDISK}, or leave type out"
        problems.add("POOL-DISK", f"{path}.type", what=repr(kind), where=boot, allowed=allowed)
    for key in sorted({"iops", "throughput_mib"} & set(disk)):
        allowed = "remove it, or make the disk larger"
        where = "with the Machine API on Google Cloud"
        problems.add("POOL-DISK", f"{path}.{key}", what=key, where=where, allowed=allowed)


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> dict[str, t.Any]:
    source = known_fields(source, SHAPE)
    provider = {key: source[key] for key in COPIED if key in source}
    machine, _plus, attached = wanted.instance_type.partition("+")
    provider |= {"machineType": machine, "zone": wanted.zone, "onHostMaintenance": "Terminate"}
    if attached:
        kind, _colon, count = attached.partition(":")
        provider["gpus"] = [{"type": kind, "count": int(count)}]
    provider["disks"] = [_boot_disk(source.get("disks") or [], machine, wanted)]
    # Do not copy the reference's secure boot: it refuses the unsigned modules that are built on the node.
    shielded = {
        key: value
        for key, value in (source.get("shieldedInstanceConfig") or {}).items()
        if key != "secureBoot"
    }
    asked = {
        _SHIELDED[key]: "Enabled" if value else "Disabled"
        for key, value in (wanted.options.get("shielded") or {}).items()
        if key in _SHIELDED
    }
    if shielded | asked:
        provider["shieldedInstanceConfig"] = shielded | asked
    if wanted.options.get("restart_policy"):
        provider["restartPolicy"] = wanted.options["restart_policy"]
    if wanted.market["type"] == "spot":
        provider |= (
            {"preemptible": True} if wanted.options.get("preemptible") else {"provisioningModel": "Spot"}
        )
    return provider


def _boot_disk(disks: t.Sequence[t.Mapping[str, t.Any]], machine: str, wanted: Wanted) -> dict[str, t.Any]:
    """Return the reference's boot disk, of a type that can boot, large enough to build drivers."""
    boot = next((disk for disk in disks if disk.get("boot")), next(iter(disks), {}))
    kind = boot.get("type") or "pd-ssd"
    if machine.startswith(_HYPERDISK_ALONE):
        kind = _HYPERDISK
    elif kind == _HYPERDISK and machine.startswith(_NO_HYPERDISK):
        kind = "pd-ssd"
    size = wanted.disk.get("size_gib") or max(int(boot.get("sizeGb") or 0), _LEAST_DISK)
    kept = {key: boot[key] for key in ("image", "labels", "encryptionKey") if boot.get(key)}
    disk = {**kept, "autoDelete": True, "boot": True, "sizeGb": size, "type": wanted.disk.get("type") or kind}
    return {**disk, "image": wanted.image} if wanted.image else disk
