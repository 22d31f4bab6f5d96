# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the machine-set controller of the Machine API.

Unlike the real one it serves no admission webhook and has no minReadySeconds timer.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.clouds.cloud import Cloud, provider_spec
from openshift_sandbox.stand_ins.clouds.registry import cloud_of
from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.machine_api import authority

DELETE_FIRST: t.Final = "machine.openshift.io/delete-machine"
CAPACITY: t.Final = "capacity.cluster-autoscaler.kubernetes.io/labels"


class MachineSets(Reconciler):
    kinds = ("MachineSet", "Machine", "Node", "Infrastructure")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for machine_set in cluster.objects("MachineSet"):
            if not machine_set["metadata"].get("deletionTimestamp") and not authority.paused(
                cluster, machine_set
            ):
                self._annotate(cluster, machine_set)
                self._scale(cluster, machine_set)
                self._report(cluster, machine_set)
        self._collect(cluster)

    def _annotate(self, cluster: Cluster, machine_set: Object) -> None:
        """Write what the provider tells the autoscaler about a set that is scaled from zero."""
        wanted = scale_from_zero(cloud_of(cluster), machine_set)
        have = machine_set["metadata"].get("annotations") or {}
        if any(have.get(key) != value for key, value in wanted.items()):
            _patch(cluster, machine_set, {"metadata": {"annotations": wanted}})

    def _scale(self, cluster: Cluster, machine_set: Object) -> None:
        machines = members(machine_set, cluster.objects("Machine", machine_set["metadata"]["namespace"]))
        for machine in machines:
            if not _controller(machine):
                _patch(cluster, machine, {"metadata": {"ownerReferences": [owner(machine_set)]}})
        surplus = len(machines) - machine_set["spec"].get("replicas", 1)
        for _more in range(-surplus):
            cluster.create(new_machine(machine_set))
        for machine in deletion_order(machines, machine_set["spec"].get("deletePolicy") or "Random")[
            : max(0, surplus)
        ]:
            cluster.delete("Machine", machine["metadata"]["name"], machine["metadata"]["namespace"])

    def _report(self, cluster: Cluster, machine_set: Object) -> None:
        current = cluster.find(
            "MachineSet", machine_set["metadata"]["name"], machine_set["metadata"]["namespace"]
        )
        if current is None:
            return
        machines = members(current, cluster.objects("Machine", current["metadata"]["namespace"]))
        nodes = {node["metadata"]["name"]: node for node in cluster.objects("Node")}
        wanted = status(current, machines, nodes)
        have = current.get("status") or {}
        if any(have.get(key) != value for key, value in wanted.items()):
            _patch(cluster, current, {"status": wanted}, "status")

    def _collect(self, cluster: Cluster) -> None:
        """Delete orphans: the garbage collector learns about a new CRD only every 30 s."""
        known = {machine_set["metadata"]["uid"] for machine_set in cluster.objects("MachineSet")}
        for machine in cluster.objects("Machine"):
            reference = _controller(machine)
            if (
                reference
                and reference["kind"] == "MachineSet"
                and reference["uid"] not in known
                and not machine["metadata"].get("deletionTimestamp")
            ):
                cluster.delete("Machine", machine["metadata"]["name"], machine["metadata"]["namespace"])


def scale_from_zero(cloud: Cloud | None, machine_set: Object) -> dict[str, str]:
    """Return the annotations for scaling from zero.

    A label that somebody else put into the list stays and wins.
    """
    known = cloud.scale_from_zero(provider_spec(machine_set["spec"]["template"])) if cloud else None
    if known is None:
        return {}
    labels = dict(
        one.split("=")
        for one in (machine_set["metadata"].get("annotations") or {}).get(CAPACITY, "").split(",")
        if one.count("=") == 1
    )
    size = {
        "machine.openshift.io/vCPU": str(known.vcpus),
        "machine.openshift.io/memoryMb": str(known.memory_gib * 1024),
    }
    if cloud is None or not cloud.tells_gpus:
        return size
    return size | {
        "machine.openshift.io/GPU": str(known.gpus),
        CAPACITY: ",".join(
            f"{key}={value}" for key, value in ({"kubernetes.io/arch": known.arch} | labels).items()
        ),
    }


def members(machine_set: Object, machines: list[Object]) -> list[Object]:
    """Return the living Machines of a set, and orphans that its selector matches."""
    uid = machine_set["metadata"]["uid"]
    selector = machine_set["spec"]["selector"].get("matchLabels") or {}
    found = []
    for machine in machines:
        labels, reference = machine["metadata"].get("labels") or {}, _controller(machine)
        matches = bool(selector) and selector.items() <= labels.items()
        if (
            matches
            and (reference is None or reference["uid"] == uid)
            and not machine["metadata"].get("deletionTimestamp")
        ):
            found.append(machine)
    return found


def new_machine(machine_set: Object) -> Object:
    """Return a new Machine of a set."""
    metadata, template = machine_set["metadata"], machine_set["spec"]["template"]
    wanted = template.get("metadata") or {}
    return {
        "apiVersion": machine_set["apiVersion"],
        "kind": "Machine",
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": wanted.get("labels") or {},
            "annotations": wanted.get("annotations") or {},
            "ownerReferences": [owner(machine_set)],
        },
        "spec": template["spec"],
    }


def owner(machine_set: Object) -> Object:
    """Return the owner reference to a set."""
    metadata = machine_set["metadata"]
    reference = {
        "apiVersion": machine_set["apiVersion"],
        "kind": "MachineSet",
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    return reference | {"controller": True, "blockOwnerDeletion": True}


def deletion_order(machines: list[Object], policy: str) -> list[Object]:
    """Return Machines in the order of deletion: annotated or failed ones first, then by policy.

    The policy Random prefers Machines without a node.
    """

    def rank(machine: Object) -> tuple[int, str]:
        metadata, state = machine["metadata"], machine.get("status") or {}
        if (
            DELETE_FIRST in (metadata.get("annotations") or {})
            or state.get("errorReason")
            or state.get("errorMessage")
        ):
            return 0, metadata["name"]
        if policy == "Random":
            return (2 if state.get("nodeRef") else 1), metadata["name"]
        return 1, metadata["creationTimestamp"]

    ordered = sorted(machines, key=rank)
    if policy != "Newest":
        return ordered
    first = [machine for machine in ordered if rank(machine)[0] == 0]
    return first + [machine for machine in reversed(ordered) if rank(machine)[0] != 0]


def status(machine_set: Object, machines: list[Object], nodes: dict[str, Object]) -> Object:
    """Return the counts; the Go type omits zeros, except for `replicas`."""
    labels = (machine_set["spec"]["template"].get("metadata") or {}).get("labels") or {}
    labelled = [
        machine for machine in machines if labels.items() <= (machine["metadata"].get("labels") or {}).items()
    ]
    ready = [machine for machine in machines if holds(nodes.get(node_name(machine) or "", {}), "Ready")]
    counts = {
        "fullyLabeledReplicas": len(labelled),
        "readyReplicas": len(ready),
        "availableReplicas": len(ready),
    }
    selector = ",".join(
        f"{key}={value}"
        for key, value in sorted(machine_set["spec"]["selector"].get("matchLabels", {}).items())
    )
    fixed = {
        "replicas": len(machines),
        "observedGeneration": machine_set["metadata"]["generation"],
        "labelSelector": selector,
    }
    return fixed | {key: count or None for key, count in counts.items()}


def node_name(machine: Object) -> str | None:
    """Return the name of the Node of a Machine, or None."""
    name: str | None = (machine.get("status", {}).get("nodeRef") or {}).get("name")
    return name


def _controller(obj: Object) -> Object | None:
    return next((one for one in obj["metadata"].get("ownerReferences") or [] if one.get("controller")), None)


def _patch(cluster: Cluster, obj: Object, body: Object, subresource: str | None = None) -> None:
    cluster.patch(obj["kind"], obj["metadata"]["name"], obj["metadata"]["namespace"], body, subresource)
