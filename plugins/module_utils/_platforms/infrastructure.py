# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the Infrastructure object: the platform of the cluster, and whether it can create machines."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

# The key of every other platform is its name in lower case.
_CLOUDS: t.Final = {"IBMCloud": "ibm"}
_WITHOUT_MACHINES: t.Final = ("None", "External", "")


_THEN: t.Final = "then describe its nodes with existing.node_selector in the pool."
_INSTEAD: t.Final = {
    "rosa": (
        "Make a machine pool with `rosa create machinepool --cluster NAME --name gpu --instance-type TYPE "
        f"--replicas N`, {_THEN}"
    ),
    "osd": (
        "Make a machine pool with `ocm create machinepool --cluster NAME --instance-type TYPE "
        f"--replicas N gpu`, {_THEN}"
    ),
    "hosted": "Make a NodePool beside the HostedCluster on the management cluster (`hcp create nodepool`; "
    f"where the cluster is a service, with the provider's tool for node pools), {_THEN}",
    "oci": (
        "Launch GPU shapes from the cluster's image with `oci compute instance launch` or its Terraform "
        f"stack, approve what `oc get csr` lists, {_THEN}"
    ),
    "single": (
        "Put the GPUs into the node, or add one with the image that `oc adm node-image create` makes, "
        f"{_THEN}"
    ),
    "none": (
        "Boot the nodes from the image that `oc adm node-image create` makes, approve what `oc get csr` "
        f"lists, {_THEN}"
    ),
}


@dataclass(frozen=True)
class Infrastructure:
    """The cluster's platform. name: prefix of all that the installer created. platform: the API's name.

    cloud: the catalogue's name of the platform, or empty. topology: of the control plane.
    failure_domains: from the platform's specification. managed: rosa or osd if Red Hat operates the cluster,
    else empty. cluster: its name for Red Hat's tools, if it tells that.
    """

    name: str
    platform: str
    cloud: str
    topology: str
    failure_domains: tuple[dict[str, t.Any], ...] = ()
    managed: str = ""
    cluster: str = ""

    @property
    def is_hosted(self) -> bool:
        """Return True if the control plane runs on another cluster, where NodePools make the nodes."""
        return self.topology == "External"

    @property
    def tool(self) -> str:
        """Return what makes machine pools from outside: rosa, osd, aro, hosted, or "" for the Machine API."""
        if self.is_hosted and self.managed != "rosa":
            return "aro" if self.platform == "Azure" else "hosted"
        return self.managed

    @property
    def obstacle(self) -> str:
        """Return why this cluster has no Machine API that creates nodes, or "" if it has one."""
        if self.is_hosted:
            return "its control plane is hosted elsewhere (controlPlaneTopology External)"
        if self.managed:
            product = {"rosa": "ROSA Classic"}.get(self.managed, "OpenShift Dedicated")
            return f"Red Hat operates it ({product}), and a webhook lets no customer write Machines"
        if self.platform in _WITHOUT_MACHINES:
            single = ", and it has a single node" if self.topology == "SingleReplica" else ""
            return f"its platform is {self.cloud or self.platform or 'not set'}{single}"
        return ""

    @property
    def instead(self) -> str:
        """Return how a user adds GPU nodes without the Machine API."""
        if self.tool:
            return _INSTEAD.get(self.tool, _INSTEAD["hosted"])
        if self.cloud == "oci":
            return _INSTEAD["oci"]
        return _INSTEAD["single" if self.topology == "SingleReplica" else "none"]


def read(obj: t.Mapping[str, t.Any]) -> Infrastructure:
    """Return the facts of the Infrastructure object C(cluster)."""
    status, spec = obj.get("status", {}), (obj.get("spec") or {}).get("platformSpec") or {}
    platform_status = status.get("platformStatus") or {}
    platform = str(platform_status.get("type") or status.get("platform") or "")
    external = (spec.get("external") or {}).get("platformName", "")
    cloud = (
        str(external or "").lower()
        if platform in _WITHOUT_MACHINES
        else _CLOUDS.get(platform, platform.lower())
    )
    domains = (spec.get(platform.lower()) or {}).get("failureDomains") or ()
    tags = {
        tag.get("key"): tag.get("value")
        for tag in (platform_status.get("aws") or {}).get("resourceTags") or ()
    }
    is_managed = tags.get("red-hat-managed") == "true" or tags.get("red-hat-clustertype") in ("rosa", "osd")
    managed = ("rosa" if tags.get("red-hat-clustertype") == "rosa" else "osd") if is_managed else ""
    return Infrastructure(
        str(status.get("infrastructureName", "")),
        platform,
        cloud,
        str(status.get("controlPlaneTopology", "")),
        tuple(domains),
        managed,
        str(tags.get("api.openshift.com/name") or ""),
    )
