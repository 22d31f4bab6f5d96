# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloud that a cluster runs on, by what its Infrastructure says."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins import (
    cloud_baremetal,
    cloud_ibmcloud,
    cloud_nutanix,
    cloud_openstack,
    cloud_vsphere,
)
from openshift_sandbox.stand_ins.cloud import Cloud
from openshift_sandbox.stand_ins.cloud_aws import Aws
from openshift_sandbox.stand_ins.cloud_azure import Azure
from openshift_sandbox.stand_ins.cloud_gcp import Gcp
from openshift_sandbox.stand_ins.loop import Cluster

CLOUDS: t.Final[dict[str, Cloud]] = {
    "AWS": Aws(),
    "Azure": Azure(),
    "BareMetal": cloud_baremetal.CLOUD,
    "GCP": Gcp(),
    "IBMCloud": cloud_ibmcloud.CLOUD,
    "Nutanix": cloud_nutanix.CLOUD,
    "OpenStack": cloud_openstack.CLOUD,
    "VSphere": cloud_vsphere.CLOUD,
}


def cloud_of(cluster: Cluster) -> Cloud | None:
    """None where nobody makes instances; needs the kind Infrastructure to be watched."""
    return CLOUDS.get(platform(cluster))


def platform(cluster: Cluster) -> str:
    status = (cluster.find("Infrastructure", "cluster") or {}).get("status", {})
    return str((status.get("platformStatus") or {}).get("type") or "")
