# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs from platform to platform in the cluster that the installer leaves: one module each, with these names in it."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.platforms import (
    aws,
    azure,
    baremetal,
    external,
    gcp,
    ibmcloud,
    nutanix,
    openstack,
    vsphere,
)

Object = dict[str, t.Any]


class Platform(t.Protocol):
    """`zone` is as the scenario names it, which is how the Machine API does."""

    CREDENTIALS: str
    """Name of the Secret that the provider signs in with."""

    def platform_spec(self, cluster: Object) -> Object:
        """What the installer tells Infrastructure besides the platform's type."""

    def platform_status(self, cluster: Object) -> Object:
        """What Infrastructure says besides the platform's type."""

    def machine_annotations(self, cluster: Object, name: str) -> dict[str, str]:
        """Of a Machine that runs."""

    def provider_spec(self, cluster: Object, role: str, zone: str, instance_type: str) -> Object: ...

    def provider_status(self, cluster: Object, name: str, provider_id: str) -> Object | None: ...

    def provider_id(self, cluster: Object, zone: str, name: str) -> str: ...

    def machine_set(self, cluster: Object, zone: str) -> str:
        """Name of the installer's worker set of a zone."""

    def address(self, cluster: Object, zone: str, number: int) -> str:
        """Low addresses of the subnet, where the installer's machines are."""

    def host_name(self, cluster: Object, machine: str, address: str) -> str:
        """What the Node is called."""

    def node_zone(self, cluster: Object, zone: str) -> str:
        """The zone in the labels of a Node."""

    def node_labels(self, cluster: Object, zone: str) -> dict[str, str]:
        """Labels of this platform alone, and those that it gives another value; an empty one is left out."""


PLATFORMS: t.Final[dict[str, Platform]] = {
    "AWS": aws,
    "Azure": azure,
    "BareMetal": baremetal,
    "External": external,
    "GCP": gcp,
    "IBMCloud": ibmcloud,
    "None": external,
    "Nutanix": nutanix,
    "OpenStack": openstack,
    "VSphere": vsphere,
}


def platform(cluster: Object) -> Platform:
    return PLATFORMS[cluster["platform"]]
