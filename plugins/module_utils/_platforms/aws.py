# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform AWS, with provider values of kind AWSMachineProviderConfig."""

from __future__ import annotations

import re
import typing as t

from .._core.input import Field, Problems
from .platform import Paths, Reports, Wanted, known_fields, merged

KEY: t.Final = "aws"
NAME: t.Final = "AWS"
OWN_TYPE: t.Final = ""
HAS_TYPE_LABEL: t.Final = True
NO_IMAGE: t.Final = ""
REPORTS: t.Final[Reports] = "all"
ZONED: t.Final = True
OPTIONS: t.Final[dict[str, Field]] = {
    "efa": Field("flag"),
    "placement_group": Field("text"),
    "placement_partition": Field("integer", low=1, high=7),
    "tenancy": Field("text", choices=("default", "dedicated")),
}

_REFERENCE: t.Final[dict[str, t.Any]] = {"id": None, "arn": None, "filters": [{"name": None, "values": None}]}
# The known fields. The Machine API accepts other fields too, and only warns that it ignores them.
SHAPE: t.Final[dict[str, t.Any]] = {
    "apiVersion": None,
    "kind": None,
    "metadata": {"creationTimestamp": None},
    "ami": _REFERENCE,
    "instanceType": None,
    "tags": [{"name": None, "value": None}],
    "iamInstanceProfile": _REFERENCE,
    "userDataSecret": {"name": None},
    "credentialsSecret": {"name": None},
    "keyName": None,
    "deviceIndex": None,
    "publicIp": None,
    "networkInterfaceType": None,
    "securityGroups": [_REFERENCE],
    "subnet": _REFERENCE,
    "placement": {"region": None, "availabilityZone": None, "tenancy": None, "host": None},
    "loadBalancers": [{"name": None, "type": None}],
    "blockDevices": [
        {
            "deviceName": None,
            "noDevice": None,
            "virtualName": None,
            "ebs": {
                "deleteOnTermination": None,
                "encrypted": None,
                "kmsKey": _REFERENCE,
                "iops": None,
                "throughputMib": None,
                "volumeSize": None,
                "volumeType": None,
            },
        }
    ],
    "spotMarketOptions": {"maxPrice": None},
    "marketType": None,
    "metadataServiceOptions": {"authentication": None},
    "placementGroupName": None,
    "placementGroupPartition": None,
    "capacityReservationId": None,
    "cpuOptions": {"confidentialCompute": None},
}
# Fields for joining the cluster and for booting, not those for the reference's market, placement group or
# load balancer.
COPIED: t.Final = (
    "apiVersion",
    "kind",
    "ami",
    "tags",
    "iamInstanceProfile",
    "userDataSecret",
    "credentialsSecret",
    "keyName",
    "deviceIndex",
    "publicIp",
    "securityGroups",
    "subnet",
    "metadataServiceOptions",
)
IMAGE: t.Final = "ami"
CHOSEN: t.Final = {
    "spotMarketOptions": "market",
    "marketType": "market",
    "capacityReservationId": "market.reservation",
    "placementGroupName": "aws.placement_group",
    "placementGroupPartition": "aws.placement_partition",
    "networkInterfaceType": "aws.efa",
}
_DISK: t.Final = {
    "size_gib": "volumeSize",
    "type": "volumeType",
    "iops": "iops",
    "throughput_mib": "throughputMib",
}
_LEAST_DISK: t.Final = 120
_LEAST_IOPS: t.Final = 3000
_RESERVATION: t.Final = re.compile(r"cr-[0-9a-f]{17}")
_MARKETS: t.Final = ("OnDemand", "Spot", "CapacityBlock")
_VOLUMES: t.Final = ("gp2", "gp3", "io1", "io2", "standard")


def zone(provider: t.Mapping[str, t.Any]) -> str:
    return str((provider.get("placement") or {}).get("availabilityZone", ""))


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("instanceType", ""))


def check(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    _check_disk(wanted.disk, paths.disk, problems)
    asked = merged({**_market(wanted.market), **_placed(wanted.options)}, wanted.patch)
    _check_market(asked, wanted, paths, problems)
    if asked.get("placementGroupPartition") and not asked.get("placementGroupName"):
        where = paths.of("placementGroupPartition", f"{paths.options}.placement_partition", wanted.patch)
        problems.add(
            "POOL-PLACEMENT",
            where,
            "a partition needs a placement group, and none is set.",
            "Set aws.placement_group too.",
        )
    kind = wanted.known
    if asked.get("networkInterfaceType") == "EFA" and kind and kind.fabric != "efa":
        where = paths.of("networkInterfaceType", f"{paths.options}.efa", wanted.patch)
        problems.add("POOL-FABRIC", where, instance_type=kind.name, fabric="Elastic Fabric Adapter")


def _check_market(asked: dict[str, t.Any], wanted: Wanted, paths: Paths, problems: Problems) -> None:
    """Add a problem if the Machine API's webhook refuses the market or the patch."""
    reservation = asked.get("capacityReservationId")
    if wanted.market.get("type") == "capacity_block" and not reservation:
        problems.add(
            "POOL-MARKET",
            f"{paths.market}.reservation",
            what="a capacity block",
            where="without its reservation",
            allowed="set reservation to the id of the block (cr-...)",
        )
    if reservation and not _RESERVATION.fullmatch(str(reservation)):
        where = paths.of("capacityReservationId", f"{paths.market}.reservation", wanted.patch)
        problems.add(
            "POOL-MARKET",
            where,
            what=repr(reservation),
            where="as the id of a capacity reservation",
            allowed="write cr- and 17 hexadecimal digits, as the EC2 console shows it",
        )
    if {"marketType", "spotMarketOptions", "capacityReservationId"} & set(wanted.patch):
        field = "marketType" if "marketType" in wanted.patch else "spotMarketOptions"
        if fault := _market_fault(asked):
            what, where, allowed = fault
            problems.add("POOL-MARKET", f"{paths.patch}.{field}", what=what, where=where, allowed=allowed)


def _market_fault(asked: dict[str, t.Any]) -> tuple[str, str, str] | None:
    """Return what does not work where, and what is allowed, for fields that exclude each other, or None."""
    reservation, market = asked.get("capacityReservationId"), asked.get("marketType")
    is_spot = "spotMarketOptions" in asked
    if market and market not in _MARKETS:
        return f"market {market!r}", "on AWS", f"allowed are {', '.join(_MARKETS)}; or set market instead"
    if is_spot and market in ("OnDemand", "CapacityBlock"):
        allowed = "set market of the pool, and leave both out of the patch"
        return "spotMarketOptions", f"with marketType {market}", allowed
    if (is_spot or market == "Spot") and reservation:
        return "a capacity reservation", "with a spot instance", "remove one of the two"
    if market == "CapacityBlock" and not reservation:
        allowed = "set market of the pool instead, with its type and reservation"
        return "a capacity block", "without its reservation", allowed
    return None


def _check_disk(disk: t.Mapping[str, t.Any], path: str, problems: Problems) -> None:
    kind, iops = disk.get("type", "gp3"), disk.get("iops")
    if kind not in _VOLUMES:
        allowed = f"allowed are {', '.join(_VOLUMES)}"
        problems.add("POOL-DISK", f"{path}.type", what=repr(kind), where="on AWS", allowed=allowed)
        return
    where = f"with a {kind} volume"
    if iops is not None and kind not in ("gp3", "io1", "io2"):
        allowed = "leave it out, or use type gp3, io1 or io2"
        problems.add("POOL-DISK", f"{path}.iops", what="iops", where=where, allowed=allowed)
    if "throughput_mib" in disk and kind != "gp3":
        allowed = "leave it out, or use type gp3"
        problems.add(
            "POOL-DISK", f"{path}.throughput_mib", what="throughput_mib", where=where, allowed=allowed
        )
    if kind in ("io1", "io2") and iops is None:
        problems.add("POOL-DISK", f"{path}.iops", what=f"type {kind}", where="without iops", allowed="set it")
    if kind == "gp3" and iops is not None and iops < _LEAST_IOPS:
        allowed = f"set at least {_LEAST_IOPS}, or leave it out"
        problems.add("POOL-DISK", f"{path}.iops", what=str(iops), where=where, allowed=allowed)


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> dict[str, t.Any]:
    source = known_fields(source, SHAPE)
    provider = {key: source[key] for key in COPIED if key in source}
    if wanted.image:
        provider["ami"] = {"id": wanted.image}
    provider["instanceType"] = wanted.instance_type
    region = {key: value for key, value in (source.get("placement") or {}).items() if key == "region"}
    provider["placement"] = {**region, "availabilityZone": wanted.zone}
    provider["blockDevices"] = [_root_disk(source.get("blockDevices") or [], wanted.disk)]
    return t.cast(dict[str, t.Any], merged(provider, {**_market(wanted.market), **_placed(wanted.options)}))


def _placed(options: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the fields for placement and network interface."""
    fields = {
        "placementGroupName": options.get("placement_group"),
        "placementGroupPartition": options.get("placement_partition"),
    }
    placed: dict[str, t.Any] = {key: value for key, value in fields.items() if value is not None}
    if options.get("efa"):
        placed["networkInterfaceType"] = "EFA"
    return {**placed, "placement": {"tenancy": options["tenancy"]}} if options.get("tenancy") else placed


def _root_disk(devices: t.Sequence[t.Mapping[str, t.Any]], disk: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the reference's root device, with its encryption and key, large enough to build drivers."""
    root = next((device for device in devices if not device.get("deviceName")), next(iter(devices), {}))
    ebs = dict(root.get("ebs") or {"encrypted": True})
    if "type" in disk and disk["type"] != ebs.get("volumeType"):
        # The figures of one volume type are not valid for another.
        ebs = {key: value for key, value in ebs.items() if key not in ("iops", "throughputMib")}
    ebs.setdefault("volumeType", "gp3")
    ebs["volumeSize"] = max(int(ebs.get("volumeSize") or 0), _LEAST_DISK)
    ebs |= {_DISK[key]: value for key, value in disk.items() if key in _DISK and value is not None}
    return {**({"deviceName": root["deviceName"]} if root.get("deviceName") else {}), "ebs": ebs}


def _market(market: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    reservation = {"capacityReservationId": market["reservation"]} if market.get("reservation") else {}
    if market.get("type") == "spot":
        return {"spotMarketOptions": {"maxPrice": market["max_price"]} if market.get("max_price") else {}}
    return (
        {"marketType": "CapacityBlock", **reservation}
        if market.get("type") == "capacity_block"
        else reservation
    )
