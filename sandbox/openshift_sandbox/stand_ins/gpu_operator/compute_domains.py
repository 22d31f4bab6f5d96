# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the compute domains of the DRA driver: a channel of each node, and templates to claim them.

The real one also runs a DaemonSet with the daemon of IMEX for each domain, and publishes channels of nodes
outside NVLink domains too.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.catalogue import crds
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.gpu_cluster import DRIVER as GPU_DRIVER

DRIVER: t.Final = "compute-domain.nvidia.com"
CLASS: t.Final = "compute-domain-default-channel.nvidia.com"
CLIQUE: t.Final = "nvidia.com/gpu.clique"
FINALIZER: t.Final = "resource.nvidia.com/computeDomain"


def device_class() -> Object:
    """Return the DeviceClass of the first channel of a node."""
    own = f"device.attributes['{DRIVER}']"
    expression = f"device.driver == '{DRIVER}' && {own}.type == 'channel' && {own}.id == 0"
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": CLASS},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def resource_slice(node: Object) -> Object:
    """Return the slice with the channel that claims get."""
    name = node["metadata"]["name"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
    channel = {"name": "channel-0", "attributes": {"type": {"string": "channel"}, "id": {"int": 0}}}
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-{DRIVER}", "ownerReferences": [owner]},
        "spec": {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": [channel]},
    }


def template(domain: Object) -> Object:
    """Return the ResourceClaimTemplate of a ComputeDomain."""
    metadata, channel = domain["metadata"], domain["spec"]["channel"]
    parameters = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomainChannelConfig",
        "domainID": metadata["uid"],
        "allocationMode": channel["allocationMode"],
    }
    devices = {
        "requests": [{"name": "channel", "exactly": {"deviceClassName": CLASS}}],
        "config": [{"requests": ["channel"], "opaque": {"driver": DRIVER, "parameters": parameters}}],
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {
            "name": channel["resourceClaimTemplate"]["name"],
            "namespace": metadata["namespace"],
            "labels": {FINALIZER: metadata["uid"]},
        },
        "spec": {"spec": {"devices": devices}},
    }


class ComputeDomains(Reconciler):
    kinds = (
        "ComputeDomain",
        "CustomResourceDefinition",
        "DeviceClass",
        "GPUCluster",
        "Node",
        "ResourceSlice",
    )

    def reconcile(self, cluster: Cluster, now: float) -> None:
        joined = {
            node["metadata"]["name"]
            for node in cluster.objects("Node")
            if CLIQUE in (node["metadata"].get("labels") or {})
        }
        drivers = [one["spec"].get("draDriver") or {} for one in cluster.objects("GPUCluster")]
        offers = any((driver.get("computeDomains") or {}).get("enabled", True) for driver in drivers)
        if joined and offers and cluster.find("DeviceClass", CLASS) is None:
            for crd in crds.compute_domain_crds():
                cluster.apply(crd)
            cluster.apply(device_class())
        for node in cluster.objects("Node"):
            name = node["metadata"]["name"]
            runs = (
                offers
                and name in joined
                and cluster.find("ResourceSlice", f"{name}-{GPU_DRIVER}") is not None
            )
            found = cluster.find("ResourceSlice", f"{name}-{DRIVER}") is not None
            if runs and not found:
                cluster.apply(resource_slice(node))
            elif found and not runs:
                cluster.delete("ResourceSlice", f"{name}-{DRIVER}")
        for domain in cluster.objects("ComputeDomain"):
            self._serve(cluster, domain)

    def _serve(self, cluster: Cluster, domain: Object) -> None:
        """Make the template of a domain, and take it away with the domain."""
        metadata = domain["metadata"]
        wanted = template(domain)
        if FINALIZER in (metadata.get("finalizers") or []):
            if metadata.get("deletionTimestamp"):
                cluster.delete("ResourceClaimTemplate", wanted["metadata"]["name"], metadata["namespace"])
                self._patch(cluster, domain, [])
        elif not metadata.get("deletionTimestamp"):
            cluster.apply(wanted)
            self._patch(cluster, domain, [FINALIZER])

    def _patch(self, cluster: Cluster, domain: Object, finalizers: list[str]) -> None:
        metadata = domain["metadata"]
        body = {"metadata": {"finalizers": finalizers}}
        cluster.patch("ComputeDomain", metadata["name"], metadata["namespace"], body)
