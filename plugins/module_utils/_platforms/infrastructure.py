# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The Infrastructure object: which platform this cluster runs on, and whether it makes machines."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

# Every other platform is its own name in small letters.
_CLOUDS: t.Final = {"IBMCloud": "ibm"}
_WITHOUT_MACHINES: t.Final = ("None", "External", "")


_THEN: t.Final = "then describe its nodes with existing.node_selector in the pool."
_INSTEAD: t.Final = {
    "rosa": (
        "Make a machine pool with `rosa create machinepool --cluster NAME --name gpu --instance-type TYPE "
        f"--replicas N`, {_THEN}"
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
    """name: the prefix of everything that the installer made. platform: as the API spells it.

    cloud: as the catalogue of instance types does; empty: any.

    failure_domains: where the platform's specification lists them. is_rosa: whether Red Hat runs the
    cluster on AWS.
    """

    name: str
    platform: str
    cloud: str
    topology: str
    failure_domains: tuple[dict[str, t.Any], ...] = ()
    is_rosa: bool = False

    @property
    def obstacle(self) -> str:
        """Why this cluster has no Machine API to make nodes with; empty where it has one."""
        if self.topology == "External":
            return "its control plane is hosted elsewhere (controlPlaneTopology External)"
        if self.platform in _WITHOUT_MACHINES:
            single = ", and it has a single node" if self.topology == "SingleReplica" else ""
            return f"its platform is {self.cloud or self.platform or 'not set'}{single}"
        return ""

    @property
    def instead(self) -> str:
        """What to do on such a cluster."""
        if self.topology == "External":
            return _INSTEAD["rosa" if self.is_rosa else "hosted"]
        if self.cloud == "oci":
            return _INSTEAD["oci"]
        return _INSTEAD["single" if self.topology == "SingleReplica" else "none"]


def read(obj: t.Mapping[str, t.Any]) -> Infrastructure:
    """From the object C(cluster) of kind Infrastructure."""
    status, spec = obj.get("status", {}), (obj.get("spec") or {}).get("platformSpec") or {}
    told = status.get("platformStatus") or {}
    platform = str(told.get("type") or status.get("platform") or "")
    external = (spec.get("external") or {}).get("platformName", "")
    cloud = (
        str(external or "").lower()
        if platform in _WITHOUT_MACHINES
        else _CLOUDS.get(platform, platform.lower())
    )
    domains = (spec.get(platform.lower()) or {}).get("failureDomains") or ()
    tags = {tag.get("key"): tag.get("value") for tag in (told.get("aws") or {}).get("resourceTags") or ()}
    is_rosa = tags.get("red-hat-clustertype") == "rosa"
    return Infrastructure(
        str(status.get("infrastructureName", "")),
        platform,
        cloud,
        str(status.get("controlPlaneTopology", "")),
        tuple(domains),
        is_rosa,
    )
