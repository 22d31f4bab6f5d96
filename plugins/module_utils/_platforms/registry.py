# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The platforms that machine sets can be made for; one file each."""

from __future__ import annotations

import typing as t

from . import aws, azure, baremetal, gcp, ibm, nutanix, openstack, other
from .platform import Platform, Provider, Reports, Wanted
from .shape import merged, unknown
from .vsphere import VSphere

# By the name in the Infrastructure object.
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
# Where the Machine API makes no machines, or nothing is known.
_OUTSIDE: t.Final = ("oci", "other", "")
# Fields of all platforms that are in a provider's value only where a pool asks for them, with the option
# that does.
CHOSEN: t.Final[dict[str, str]] = {
    field: option for platform in PLATFORMS.values() for field, option in platform.CHOSEN.items()
}
# Fields that hold a boot image, which the machine-config operator writes too.
IMAGES: t.Final = frozenset(platform.IMAGE for platform in PLATFORMS.values())


def of_cloud(cloud: str | None) -> Platform | None:
    """Return the platform of a cloud as the catalogue spells it; None if unknown or without machines."""
    return None if cloud is None or cloud in _OUTSIDE else BY_KEY.get(cloud, OTHER)


def reports(cloud: str | None) -> Reports | None:
    """Return what the cloud tells the autoscaler of a machine; None if the cloud is not known."""
    platform = of_cloud(cloud)
    return platform.REPORTS if platform else None if cloud is None else "nothing"


def on(platform: Platform, domains: tuple[dict[str, t.Any], ...]) -> Platform:
    """Return the platform on a cluster whose failure domains decide in which zone a machine set is."""
    return t.cast(Platform, VSphere(domains)) if isinstance(platform, VSphere) else platform


def build(platform: Platform, source: Provider, wanted: Wanted) -> dict[str, t.Any]:
    """The provider's value of a pool's machine set."""
    return t.cast(dict[str, t.Any], merged(platform.build(source, wanted), wanted.patch))


def unknown_fields(platform: Platform, provider: Provider) -> list[str]:
    """Fields of the provider's value that are not of its known shape."""
    return unknown(provider, platform.SHAPE) if platform.SHAPE else []
