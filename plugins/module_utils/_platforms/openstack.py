# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform OpenStack: a flavor's extra specs have an alias for the GPUs."""

from __future__ import annotations

import typing as t

from .._core.input import Field, Problems
from .platform import Paths, Reports, Wanted, known_fields, merged, refuse_disk, refuse_markets

KEY: t.Final = "openstack"
NAME: t.Final = "OpenStack"
OWN_TYPE: t.Final = "a flavor"
HAS_TYPE_LABEL: t.Final = True
NO_IMAGE: t.Final = ""
REPORTS: t.Final[Reports] = "size"
CHOSEN: t.Final[dict[str, str]] = {}
# Nova chooses the zone if none is set.
ZONED: t.Final = False
OPTIONS: t.Final[dict[str, Field]] = {"server_group": Field("text"), "config_drive": Field("flag")}

_TAGGED: t.Final = {"tags": None, "tagsAny": None, "notTags": None, "notTagsAny": None}
_FILTER: t.Final = {
    "id": None,
    "name": None,
    "description": None,
    "tenantId": None,
    "projectId": None,
    **_TAGGED,
}
_SUBNET: t.Final = dict.fromkeys(
    ("networkId", "ipVersion", "gateway_ip", "cidr", "ipv6AddressMode", "ipv6RaMode", "subnetpoolId")
)
_PORT: t.Final = (
    "networkID",
    "nameSuffix",
    "description",
    "adminStateUp",
    "macAddress",
    "tenantID",
    "projectID",
    "securityGroups",
    "tags",
    "vnicType",
    "trunk",
)
SHAPE: t.Final[dict[str, t.Any]] = {
    "apiVersion": None,
    "kind": None,
    "metadata": {"creationTimestamp": None},
    "cloudsSecret": {"name": None, "namespace": None},
    "cloudName": None,
    "flavor": None,
    "image": None,
    "keyName": None,
    "sshUserName": None,
    "networks": [
        {
            "uuid": None,
            "fixedIp": None,
            "filter": _FILTER,
            "subnets": [
                {"uuid": None, "filter": {**_FILTER, **_SUBNET}, "portTags": None, "portSecurity": None}
            ],
            "noAllowedAddressPairs": None,
            "portTags": None,
            "vnicType": None,
            "profile": None,
            "portSecurity": None,
        }
    ],
    "ports": [
        {
            **dict.fromkeys(_PORT),
            "fixedIPs": [{"subnetID": None, "ipAddress": None}],
            "allowedAddressPairs": [{"ipAddress": None, "macAddress": None}],
            "profile": None,
            "portSecurity": None,
        }
    ],
    "floatingIP": None,
    "availabilityZone": None,
    "securityGroups": [{"uuid": None, "name": None, "filter": _FILTER}],
    "userDataSecret": {"name": None, "namespace": None},
    "trunk": None,
    "tags": None,
    "serverMetadata": None,
    "configDrive": None,
    "rootVolume": {"sourceUUID": None, "volumeType": None, "diskSize": None, "availabilityZone": None},
    "additionalBlockDevices": [
        {
            "name": None,
            "sizeGiB": None,
            "storage": {"type": None, "volume": {"type": None, "availabilityZone": None}},
        }
    ],
    "serverGroupID": None,
    "serverGroupName": None,
    "primarySubnet": None,
}
# Fields for joining the cluster, booting and the server group, not the reference's own addresses and disks.
COPIED: t.Final = (
    "apiVersion",
    "kind",
    "cloudsSecret",
    "cloudName",
    "image",
    "keyName",
    "sshUserName",
    "networks",
    "ports",
    "securityGroups",
    "userDataSecret",
    "trunk",
    "tags",
    "serverMetadata",
    "configDrive",
    "rootVolume",
    "serverGroupID",
    "serverGroupName",
    "primarySubnet",
)
IMAGE: t.Final = "image"
_DISK: t.Final = {"size_gib": "diskSize", "type": "volumeType"}


def zone(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("availabilityZone") or "")


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("flavor") or "")


def check(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    refuse_markets(wanted, "OpenStack", paths, problems)
    refuse_disk(wanted, tuple(_DISK), "OpenStack", paths, problems)


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> dict[str, t.Any]:
    source = known_fields(source, SHAPE)
    provider = {key: source[key] for key in COPIED if source.get(key) is not None}
    if wanted.options.get("server_group"):
        # The reference's serverGroupID is the id of another group.
        provider = {
            **{key: value for key, value in provider.items() if key != "serverGroupID"},
            "serverGroupName": wanted.options["server_group"],
        }
    asked = {
        "image": wanted.image or None,
        "availabilityZone": wanted.zone or None,
        "configDrive": wanted.options.get("config_drive"),
        "rootVolume": {_DISK[key]: value for key, value in wanted.disk.items() if key in _DISK} or None,
    }
    given = {key: value for key, value in asked.items() if value is not None}
    return t.cast(dict[str, t.Any], merged({**provider, "flavor": wanted.instance_type}, given))
