# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry of the platforms that machine sets can be created for."""

from __future__ import annotations

import typing as t

from . import aws, azure, baremetal, gcp, ibm, nutanix, openstack, other
from .platform import Platform, Provider, Reports, Wanted, merged, unknown_paths
from .vsphere import VSphere

# Name in the Infrastructure object -> platform.
PLATFORMS: t.Final[dict[str, Platform]] = {
    platform.NAME: platform
    for platform in (
        t.cast(Platform, aws),
        t.cast(Platform, azure),
        t.cast(Platform, gcp),
        t.cast(Platform, baremetal),
        t.cast(Platform, VSphere()),
        t.cast(Platform, openstack),
        t.cast(Platform, nutanix),
        t.cast(Platform, ibm),
    )
}
BY_KEY: t.Final[dict[str, Platform]] = {platform.KEY: platform for platform in PLATFORMS.values()}
OTHER: t.Final = t.cast(Platform, other)
# Clouds without machines of the Machine API, or unknown ones.
_OUTSIDE: t.Final = ("oci", "other", "")
# Field of a provider's value that only an option sets -> the option; of all platforms.
CHOSEN: t.Final[dict[str, str]] = {
    field: option for platform in PLATFORMS.values() for field, option in platform.CHOSEN.items()
}
# Fields of the boot image, which the machine-config operator writes too.
IMAGES: t.Final = frozenset(platform.IMAGE for platform in PLATFORMS.values())


def of_cloud(cloud: str | None) -> Platform | None:
    """Return the platform of a cloud by the catalogue's name; None if unknown or without machines."""
    return None if cloud is None or cloud in _OUTSIDE else BY_KEY.get(cloud, OTHER)


def reports(cloud: str | None) -> Reports | None:
    """Return the facts of a machine that the autoscaler gets from the cloud; None for an unknown cloud."""
    platform = of_cloud(cloud)
    return platform.REPORTS if platform else None if cloud is None else "nothing"


def on(platform: Platform, domains: tuple[dict[str, t.Any], ...]) -> Platform:
    """Return the platform for a cluster with these failure domains, which decide a machine set's zone."""
    return t.cast(Platform, VSphere(domains)) if isinstance(platform, VSphere) else platform


def build(platform: Platform, source: Provider, wanted: Wanted) -> dict[str, t.Any]:
    """Return the provider's value of a pool's machine set, with the patch merged."""
    return t.cast(dict[str, t.Any], merged(platform.build(source, wanted), wanted.patch))


def unknown_fields(platform: Platform, provider: Provider) -> list[str]:
    """Return the paths of unknown fields in the provider's value."""
    return unknown_paths(provider, platform.SHAPE) if platform.SHAPE else []
