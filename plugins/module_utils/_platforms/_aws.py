# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""AWS: AWSMachineProviderConfig."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._platforms._shape import known
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms._wanted import Paths, Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_fields import Field
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_problems import Problems

Data = dict[str, t.Any]
KEY: t.Final = "aws"
ZONED: t.Final = True
OPTIONS: t.Final[dict[str, Field]] = {}

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
_VOLUMES: t.Final = ("gp2", "gp3", "io1", "io2", "standard")


def zone(provider: t.Mapping[str, t.Any]) -> str:
    return str((provider.get("placement") or {}).get("availabilityZone", ""))


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("instanceType", ""))


def check(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    _check_disk(wanted.disk, paths.disk, problems)


def _check_disk(disk: Data, path: str, problems: Problems) -> None:
    kind = disk.get("type", "gp3")
    if kind not in _VOLUMES:
        problems.add("POOL-DISK", f"{path}.type", f"{kind!r} is no volume type of AWS.", f"Allowed: {', '.join(_VOLUMES)}.")
        return
    if "iops" in disk and kind not in ("gp3", "io1", "io2"):
        problems.add("POOL-DISK", f"{path}.iops", f"a {kind} volume takes no iops.", "Use type gp3, io1 or io2.")
    if "throughput_mib" in disk and kind != "gp3":
        problems.add("POOL-DISK", f"{path}.throughput_mib", f"a {kind} volume takes no throughput.", "Use type gp3.")
    if kind in ("io1", "io2") and "iops" not in disk:
        problems.add("POOL-DISK", f"{path}.iops", f"is required for {kind}.", "Set iops.")


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> Data:
    source = known(source, SHAPE)
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
