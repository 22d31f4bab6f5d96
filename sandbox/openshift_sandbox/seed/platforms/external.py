# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Platforms whose machines are made outside of the cluster.

No platform, and external ones such as Oracle's.
"""

from __future__ import annotations

import hashlib
import typing as t

from openshift_sandbox.seed.platforms import flat_network

Object = dict[str, t.Any]

machine_set, address = flat_network.machine_set, flat_network.address
host_name, node_zone = flat_network.host_name, flat_network.node_zone

CREDENTIALS: t.Final = "pull-secret"
RUNNING: t.Final = "running"
UNKNOWN: t.Final = (
    *("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    *("failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone"),
    *("topology.kubernetes.io/region", "topology.kubernetes.io/zone"),
)
"""Labels that only a cloud controller writes."""


def platform_spec(cluster: Object) -> Object:
    return {"external": {"platformName": cluster["external_platform"]}} if has_cloud(cluster) else {}


def platform_status(cluster: Object) -> Object:
    return {"external": {"cloudControllerManager": {"state": "External"}}} if has_cloud(cluster) else {}


def has_cloud(cluster: Object) -> bool:
    """Return whether a cloud controller of the platform names and labels the nodes."""
    return bool(cluster["platform"] == "External")


def provider_spec(cluster: Object, role: str, zone: str, instance_type: str) -> Object:
    return {}


def machine_annotations(cluster: Object, name: str) -> dict[str, str]:
    return {"machine.openshift.io/instance-state": RUNNING}


def provider_status(cluster: Object, name: str, provider_id: str) -> None:
    """Return None: there are no Machines."""


def provider_id(cluster: Object, zone: str, name: str) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"ocid1.instance.oc1.{cluster['region']}.{digest[:60]}" if has_cloud(cluster) else ""


def node_labels(cluster: Object, zone: str) -> dict[str, str]:
    return {} if has_cloud(cluster) else dict.fromkeys(UNKNOWN, "")
