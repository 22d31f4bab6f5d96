# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""AWS: AWSMachineProviderConfig."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._platforms._wanted import Wanted

Data = dict[str, t.Any]

_REFERENCE: t.Final[Data] = {"id": None, "arn": None, "filters": [{"name": None, "values": None}]}
# The known shape: the Machine API keeps any field of a provider's value, and only warns about those that it will ignore.
SHAPE: t.Final[Data] = {
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
# How a machine reaches the cluster and what it boots; not how the reference is bought (spot, reservations), grouped or balanced.
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
_DISK: t.Final = {"size_gib": "volumeSize", "type": "volumeType", "iops": "iops", "throughput_mib": "throughputMib"}
_LEAST_DISK: t.Final = 120


def zone(provider: t.Mapping[str, t.Any]) -> str:
    return str((provider.get("placement") or {}).get("availabilityZone", ""))


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("instanceType", ""))


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> Data:
    source = _known(source, SHAPE)
    provider = {key: source[key] for key in COPIED if key in source}
    if wanted.image:
        provider["ami"] = {"id": wanted.image}
    provider["instanceType"] = wanted.instance_type
    placement = source.get("placement") or {}
    provider["placement"] = {**{key: placement[key] for key in ("region", "tenancy") if key in placement}, "availabilityZone": wanted.zone}
    provider["blockDevices"] = [_root_disk(source.get("blockDevices") or [], wanted.disk)]
    return {**provider, **_market(wanted.market)}


def _root_disk(devices: t.Sequence[t.Mapping[str, t.Any]], disk: t.Mapping[str, t.Any]) -> Data:
    """The reference's root device (encryption and key stay), at least as large as a driver build and its images need."""
    root = next((device for device in devices if not device.get("deviceName")), next(iter(devices), {}))
    ebs = dict(root.get("ebs") or {"encrypted": True})
    if "type" in disk and disk["type"] != ebs.get("volumeType"):
        # The figures of one volume type mean nothing to another.
        ebs = {key: value for key, value in ebs.items() if key not in ("iops", "throughputMib")}
    ebs.setdefault("volumeType", "gp3")
    ebs["volumeSize"] = max(int(ebs.get("volumeSize") or 0), _LEAST_DISK)
    ebs |= {_DISK[key]: value for key, value in disk.items() if key in _DISK and value is not None}
    return {**({"deviceName": root["deviceName"]} if root.get("deviceName") else {}), "ebs": ebs}


def _market(market: t.Mapping[str, t.Any]) -> Data:
    reservation = {"capacityReservationId": market["reservation"]} if market.get("reservation") else {}
    if market["type"] == "spot":
        return {"spotMarketOptions": {"maxPrice": market["max_price"]} if market.get("max_price") else {}}
    return {"marketType": "CapacityBlock", **reservation} if market["type"] == "capacity_block" else reservation


def _known(value: t.Any, shape: t.Any) -> t.Any:
    """A copy of the part of a value that is of the known shape."""
    if isinstance(shape, dict) and isinstance(value, dict):
        return {key: _known(inner, shape[key]) for key, inner in value.items() if key in shape}
    if isinstance(shape, list) and isinstance(value, list):
        return [_known(item, shape[0]) for item in value]
    return value


def unknown(provider: t.Mapping[str, t.Any]) -> list[str]:
    return sorted(_unknown(provider, SHAPE, ""))


def _unknown(value: t.Any, shape: t.Any, path: str) -> t.Iterator[str]:
    if isinstance(shape, dict) and isinstance(value, dict):
        for key, inner in value.items():
            where = f"{path}.{key}" if path else key
            if key not in shape:
                yield where
            else:
                yield from _unknown(inner, shape[key], where)
    elif isinstance(shape, list) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(item, shape[0], f"{path}[{index}]")
