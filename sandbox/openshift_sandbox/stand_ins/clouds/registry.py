# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloud of a cluster, by its Infrastructure."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.clouds import baremetal, ibmcloud, nutanix, openstack, vsphere
from openshift_sandbox.stand_ins.clouds.aws import Aws
from openshift_sandbox.stand_ins.clouds.azure import Azure
from openshift_sandbox.stand_ins.clouds.cloud import Cloud
from openshift_sandbox.stand_ins.clouds.gcp import Gcp
from openshift_sandbox.stand_ins.core.reconciler import Cluster

CLOUDS: t.Final[dict[str, Cloud]] = {
    "AWS": Aws(),
    "Azure": Azure(),
    "BareMetal": baremetal.CLOUD,
    "GCP": Gcp(),
    "IBMCloud": ibmcloud.CLOUD,
    "Nutanix": nutanix.CLOUD,
    "OpenStack": openstack.CLOUD,
    "VSphere": vsphere.CLOUD,
}


def cloud_of(cluster: Cluster) -> Cloud | None:
    """Return the cloud, or None where nothing makes instances. The kind Infrastructure must be watched."""
    return CLOUDS.get(platform(cluster))


def platform(cluster: Cluster) -> str:
    """Return the platform's type, or an empty text."""
    status = (cluster.find("Infrastructure", "cluster") or {}).get("status", {})
    return str((status.get("platformStatus") or {}).get("type") or "")
