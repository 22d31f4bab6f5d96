# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The platforms that machine sets can be made for; one file each."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Field, Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import (
    aws,
    azure,
    baremetal,
    gcp,
    ibm,
    nutanix,
    openstack,
    other,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.platform import Paths, Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.shape import merged, unknown
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.vsphere import VSphere

Data = dict[str, t.Any]
Provider = t.Mapping[str, t.Any]


class Platform(t.Protocol):
    """What a platform's file offers; provider: the value of a template's providerSpec."""

    # How a pool calls the platform, and the key of its own options in a pool and in a candidate; also the catalogue's name of the cloud.
    KEY: str
    # The platform's own options.
    OPTIONS: t.Mapping[str, Field]
    # The known shape of the provider's value (see `_shape`).
    SHAPE: Data
    # Whether every machine set names a zone.
    ZONED: bool

    def zone(self, provider: Provider) -> str: ...

    def instance_type(self, provider: Provider) -> str:
        """What the platform calls the kind of machine; empty where its provider's value does not say it."""

    def check(self, wanted: Wanted, paths: Paths, problems: Problems) -> None:
        """Notes what this platform cannot do, before any request."""

    def build(self, source: Provider, wanted: Wanted) -> Data:
        """A whitelist copy of the source with what is wanted put in its place; the boot image stays the source's unless one is wanted."""


PLATFORMS: t.Final[dict[str, Platform]] = {
    "AWS": t.cast(Platform, aws),
    "Azure": t.cast(Platform, azure),
    "GCP": t.cast(Platform, gcp),
    "BareMetal": t.cast(Platform, baremetal),
    "VSphere": t.cast(Platform, VSphere()),
    "OpenStack": t.cast(Platform, openstack),
    "Nutanix": t.cast(Platform, nutanix),
    "IBMCloud": t.cast(Platform, ibm),
}
BY_KEY: t.Final[dict[str, Platform]] = {platform.KEY: platform for platform in PLATFORMS.values()}
OTHER: t.Final = t.cast(Platform, other)
# Where the Machine API makes no machines, or nothing is known.
_OUTSIDE: t.Final = ("oci", "other", "")
# What an instance type is where no catalogue has them.
OWN_TYPES: t.Final = {
    "baremetal": "your own name for a kind of host",
    "vsphere": "a template that has the GPUs",
    "openstack": "a flavor",
    "nutanix": "your own name for a kind of machine",
}
# Nodes of these do not carry their instance type as a label.
UNTOLD: t.Final = frozenset(("baremetal", "vsphere", "nutanix", "other"))
# Where a machine set's image cannot be named in one word, and what names it.
IMAGELESS: t.Final = {
    "baremetal": "Remove image, or set baremetal.image with url and checksum.",
    "other": "Remove image, or set its field in provider_spec_patch.",
}
# Fields of a provider's value that are there only where a pool asks for them, by which option: how its machines are bought, placed and wired.
CHOSEN: t.Final[dict[str, str]] = {
    field: option
    for platform in PLATFORMS.values()
    for field, option in getattr(platform, "CHOSEN", {}).items()
}
# Fields that hold a boot image, which the machine-config operator writes too.
IMAGES: t.Final = frozenset(getattr(platform, "IMAGE", "") for platform in PLATFORMS.values()) - {""}


def of_cloud(cloud: str | None) -> Platform | None:
    """The platform of a cloud as the catalogue spells it; None where it is not known yet, or makes no machines."""
    return None if cloud is None or cloud in _OUTSIDE else BY_KEY.get(cloud, OTHER)


def on(platform: Platform, domains: tuple[Data, ...]) -> Platform:
    """The platform on a cluster with these failure domains, where they decide which zone a machine set is in."""
    return t.cast(Platform, VSphere(domains)) if isinstance(platform, VSphere) else platform


def build(platform: Platform, source: Provider, wanted: Wanted) -> Data:
    """The provider's value of a pool's machine set."""
    return t.cast(Data, merged(platform.build(source, wanted), wanted.patch))


def unknown_fields(platform: Platform, provider: Provider) -> list[str]:
    """Fields of the provider's value that are not of its known shape."""
    return unknown(provider, platform.SHAPE) if platform.SHAPE else []
