# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installer writes differently on each platform: one module per platform, with these functions."""

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
    """The functions of a platform. `zone` is the zone as the scenario and the Machine API name it."""

    CREDENTIALS: str
    """Name of the Secret with the credentials of the provider."""

    def platform_spec(self, cluster: Object) -> Object:
        """Return the platform's part of the specification of Infrastructure."""

    def platform_status(self, cluster: Object) -> Object:
        """Return the platform's part of the status of Infrastructure."""

    def machine_annotations(self, cluster: Object, name: str) -> dict[str, str]:
        """Return the annotations of a Machine that runs."""

    def provider_spec(self, cluster: Object, role: str, zone: str, instance_type: str) -> Object: ...

    def provider_status(self, cluster: Object, name: str, provider_id: str) -> Object | None: ...

    def provider_id(self, cluster: Object, zone: str, name: str) -> str: ...

    def machine_set(self, cluster: Object, zone: str) -> str:
        """Return the name of the installer's worker set in a zone."""

    def address(self, cluster: Object, zone: str, number: int) -> str:
        """Return one of the low addresses of the subnet, which the installer's machines have."""

    def host_name(self, cluster: Object, machine: str, address: str) -> str:
        """Return the name of the Node."""

    def node_zone(self, cluster: Object, zone: str) -> str:
        """Return the zone in the labels of a Node."""

    def node_labels(self, cluster: Object, zone: str) -> dict[str, str]:
        """Return the platform's own labels of a Node; an empty value removes a label."""


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
    """Return the platform of a cluster."""
    return PLATFORMS[cluster["platform"]]
