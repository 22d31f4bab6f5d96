# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform IBM Cloud VPC, with provider values of kind IBMCloudMachineProviderSpec."""

from __future__ import annotations

import typing as t

from .._core.input import Field, Problems
from .platform import Paths, Reports, Wanted, known_fields, refuse_disk, refuse_markets

KEY: t.Final = "ibm"
NAME: t.Final = "IBMCloud"
OWN_TYPE: t.Final = ""
HAS_TYPE_LABEL: t.Final = True
NO_IMAGE: t.Final = ""
REPORTS: t.Final[Reports] = "size"
ZONED: t.Final = True
OPTIONS: t.Final[dict[str, Field]] = {"dedicated_host": Field("text")}
SHAPE: t.Final[dict[str, t.Any]] = {
    "apiVersion": None,
    "kind": None,
    "metadata": {"creationTimestamp": None},
    "vpc": None,
    "tags": [{"name": None, "value": None}],
    "image": None,
    "profile": None,
    "dedicatedHost": None,
    "region": None,
    "zone": None,
    "resourceGroup": None,
    "primaryNetworkInterface": {"subnet": None, "securityGroups": None},
    "bootVolume": {"encryptionKey": None},
    "userDataSecret": {"name": None},
    "credentialsSecret": {"name": None},
}
# Fields for joining the cluster and for booting, not the reference's dedicated host.
COPIED: t.Final = (
    "apiVersion",
    "kind",
    "vpc",
    "tags",
    "image",
    "region",
    "resourceGroup",
    "primaryNetworkInterface",
    "bootVolume",
    "userDataSecret",
    "credentialsSecret",
)
IMAGE: t.Final = "image"
CHOSEN: t.Final = {"dedicatedHost": "ibm.dedicated_host"}


def zone(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("zone") or "")


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    return str(provider.get("profile") or "")


def check(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    refuse_markets(wanted, "IBM Cloud", paths, problems)
    refuse_disk(wanted, (), "IBM Cloud", paths, problems)
    if wanted.options.get("dedicated_host") and len(set(wanted.zones)) > 1:
        problems.add(
            "POOL-PLACEMENT",
            f"{paths.options}.dedicated_host",
            "a dedicated host is in one zone, but the candidate has several zones.",
            "Set one zone.",
        )


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> dict[str, t.Any]:
    source = known_fields(source, SHAPE)
    provider = {key: source[key] for key in COPIED if source.get(key) is not None}
    provider |= {"profile": wanted.instance_type, "zone": wanted.zone}
    asked = {"image": wanted.image, "dedicatedHost": wanted.options.get("dedicated_host")}
    return provider | {key: value for key, value in asked.items() if value}
