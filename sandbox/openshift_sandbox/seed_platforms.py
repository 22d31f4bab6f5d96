# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs from platform to platform in the cluster that the installer leaves: one module each, with these names in it."""

from __future__ import annotations

import typing as t

from openshift_sandbox import seed_aws, seed_azure, seed_gcp

Object = dict[str, t.Any]


class Platform(t.Protocol):
    """`zone` is as the scenario names it, which is how the Machine API does."""

    CREDENTIALS: str
    """Name of the Secret that the provider signs in with."""
    RUNNING: str
    """State of an instance that runs."""

    def platform_status(self, cluster: Object) -> Object:
        """What Infrastructure says besides the platform's type."""

    def provider_spec(self, cluster: Object, role: str, zone: str, instance_type: str) -> Object: ...

    def provider_status(self, cluster: Object, name: str, provider_id: str) -> Object: ...

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
        """Labels of this platform alone."""


PLATFORMS: t.Final[dict[str, Platform]] = {"AWS": seed_aws, "Azure": seed_azure, "GCP": seed_gcp}


def platform(cluster: Object) -> Platform:
    """A cluster of no platform has nodes as on AWS, and nobody who makes more."""
    return PLATFORMS.get(cluster["platform"], seed_aws)
