# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any other platform with a Machine API: copy a worker machine set; the user's patch adds the GPUs."""

from __future__ import annotations

import typing as t

from .._core.input import Field, Problems
from .platform import Paths, Reports, Wanted, refuse_disk, refuse_markets, refuse_zones

# The value of a providerSpec.
Value = dict[str, t.Any]
KEY: t.Final = "other"
NAME: t.Final = ""
OWN_TYPE: t.Final = "your own name for a kind of machine"
HAS_TYPE_LABEL: t.Final = False
NO_IMAGE: t.Final = "Remove image, or set its field in provider_spec_patch."
REPORTS: t.Final[Reports] = "nothing"
CHOSEN: t.Final[dict[str, str]] = {}
IMAGE: t.Final = ""
ZONED: t.Final = False
OPTIONS: t.Final[dict[str, Field]] = {}
# The fields are not known, so they cannot be checked.
SHAPE: t.Final[Value] = {}


def zone(provider: t.Mapping[str, t.Any]) -> str:
    return ""


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    return ""


def check(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    refuse_markets(wanted, "this platform", paths, problems)
    remedy = "Remove zones, and set the zone in provider_spec_patch."
    refuse_zones(wanted, "the collection does not know the zones of this platform.", remedy, paths, problems)
    refuse_disk(wanted, (), "this platform", paths, problems)
    if not wanted.patch:
        also = " on this platform: without it, the copy of a worker set has no GPUs"
        remedy = "Set the fields of the provider's value that request GPUs."
        problems.add("POOL-REQUIRED", paths.patch, remedy=remedy, also=also)


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> Value:
    return {key: value for key, value in source.items() if key != "metadata" and value is not None}
