# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for nodelink, and for the kubelet that joins.

The real kubelet needs certificates to register its Node; here the Node appears without them, unless
node_certificates asks for them.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.nodes import node_manifest
from openshift_sandbox.stand_ins.clouds.registry import cloud_of
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.machine_api import first_boot
from openshift_sandbox.stand_ins.machine_api.certificate_requests import CLIENT, approved, requested
from openshift_sandbox.stand_ins.machine_api.machines import phase_of, slowness

MACHINE: t.Final = "machine.openshift.io/machine"


class Nodelink(Reconciler):
    kinds = (
        *("BareMetalHost", "CertificateSigningRequest", "Infrastructure", "Machine", "Node"),
        *first_boot.KINDS,
    )

    def reconcile(self, cluster: Cluster, now: float) -> None:
        nodes = {
            node["spec"]["providerID"]: node
            for node in cluster.objects("Node")
            if node["spec"].get("providerID")
        }
        for machine in cluster.objects("Machine"):
            provider_id = machine["spec"].get("providerID")
            if not provider_id or machine["metadata"].get("deletionTimestamp"):
                continue
            if provider_id in nodes:
                self._link(cluster, machine, nodes[provider_id])
            elif phase_of(machine) == "Provisioned" and self._joins(cluster, machine):
                cluster.create(joining_node(cluster, machine))

    def _joins(self, cluster: Cluster, machine: Object) -> bool:
        cloud = cloud_of(cluster)
        if cloud is None or cloud.lost(cluster, machine) or not cloud.boots(machine):
            return False
        if cluster.trouble("node_never_joins", **place(machine)) or not first_boot.served(cluster, machine):
            return False
        if not cluster.due(machine["metadata"]["uid"], "node_joins", 0.7, slowness(cluster, machine)):
            return False
        return not cluster.trouble("csr_pending", **place(machine)) or self._admitted(cluster, machine)

    def _admitted(self, cluster: Cluster, machine: Object) -> bool:
        name = joining_node(cluster, machine)["metadata"]["name"]
        return any(
            approved(one) for one in requested(cluster.objects("CertificateSigningRequest"), CLIENT, name)
        )

    def _link(self, cluster: Cluster, machine: Object, node: Object) -> None:
        """Give labels, taints and the annotation to the Node, never remove them.

        Give the Machine its nodeRef.
        """
        name, changes = node["metadata"]["name"], handed_over(machine, node)
        if changes and cluster.patch("Node", name, None, changes) is None:
            return
        if (machine.get("status", {}).get("nodeRef") or {}).get("name") != name:
            reference = {"kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
            cluster.patch(
                "Machine",
                machine["metadata"]["name"],
                machine["metadata"]["namespace"],
                {"status": {"nodeRef": reference}},
                "status",
            )


def place(machine: Object) -> dict[str, str | None]:
    """Return the place of a Machine, in the fields of troubles."""
    labels = machine["metadata"].get("labels") or {}
    return {
        field: labels.get(f"machine.openshift.io/{key}")
        for field, key in (("zone", "zone"), ("instance_type", "instance-type"))
    }


def joining_node(cluster: Cluster, machine: Object) -> Object:
    """Return the Node as its kubelet registers it; labels and taints of the Machine follow."""
    cloud = cloud_of(cluster)
    assert cloud is not None, "somebody made the instance"
    instance = cloud.describe(cluster, machine)
    node = node_manifest(
        cluster.scenario.cluster,
        name=instance.node_name,
        instance_type_name=instance.wanted.instance_type,
        zone=instance.wanted.zone,
        address=instance.address,
        provider_id=machine["spec"]["providerID"],
        labels=cloud.node_labels(instance),
        description=instance.wanted.description,
    )
    return first_boot.configured(cluster, machine, node)


def handed_over(machine: Object, node: Object) -> Object:
    """Return the merge patch that gives a Node what its Machine says.

    Empty when there is nothing to change.
    """
    metadata, spec = node["metadata"], machine["spec"]
    owner = f"{machine['metadata']['namespace']}/{machine['metadata']['name']}"
    labels = {
        key: value
        for key, value in ((spec.get("metadata") or {}).get("labels") or {}).items()
        if metadata.get("labels", {}).get(key) != value
    }
    taints = node["spec"].get("taints") or []
    missing = [
        taint for taint in spec.get("taints") or [] if not any(_same(taint, known) for known in taints)
    ]
    changes: Object = {}
    if labels or (metadata.get("annotations") or {}).get(MACHINE) != owner:
        changes["metadata"] = {"labels": labels, "annotations": {MACHINE: owner}}
    if missing:
        changes["spec"] = {"taints": [*taints, *missing]}
        changes.setdefault("metadata", {})["resourceVersion"] = metadata[
            "resourceVersion"
        ]  # other controllers write taints too
    return changes


def _same(one: Object, other: Object) -> bool:
    """Return whether two taints are the same; the value is not compared, and so never corrected."""
    return all(one.get(field) == other.get(field) for field in ("key", "effect"))
