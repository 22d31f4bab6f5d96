# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for nfd-worker: features by instance type and node info.

The real one looks at /sys, and finds many more features.
"""

from __future__ import annotations

import functools
import typing as t
from dataclasses import dataclass

import yaml

from openshift_sandbox.hardware.instance_types import of_node
from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.kinds import TABLE
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.nfd.hardware import cpu_of, cpuid_of, has_numa, has_sriov, labels_of
from openshift_sandbox.stand_ins.nfd.instances import Instance, instances
from openshift_sandbox.stand_ins.nfd.iommu import iommu_of
from openshift_sandbox.stand_ins.nfd.local import Local, by_node

OLDER_FEATURES: t.Final = "NodeFeature.nfd.openshift.io"
PREFIX: t.Final = "feature.node.kubernetes.io/"
NODE_NAME: t.Final = "nfd.node.kubernetes.io/node-name"
DEFAULT_CLASSES: t.Final = ("03", "0b40", "12")
DEFAULT_FIELDS: t.Final = ("class", "vendor")
KNOWN_FIELDS: t.Final = ("class", "vendor", "device", "subsystem_vendor", "subsystem_device")


@dataclass(frozen=True)
class Device:
    """A PCI function as /sys shows it."""

    device_class: str
    vendor: str
    device: str
    sriov: bool = False

    @property
    def attributes(self) -> dict[str, str]:
        subsystem = {"subsystem_vendor": self.vendor, "subsystem_device": "0000"}
        return {"class": self.device_class, "vendor": self.vendor, "device": self.device} | subsystem


ON_EVERY_INSTANCE: t.Final = (
    Device("0300", "1013", "00b8"),
    Device("0200", "1d0f", "ec20"),
    Device("0108", "1d0f", "8061"),
)


def kind_of_features(cluster: Cluster) -> str:
    """Return the kind that the NFD of this cluster reads and writes.

    Up to 4.18 only that of the older group.
    """
    return (
        "NodeFeature"
        if cluster.served("NodeFeature") or not cluster.served(OLDER_FEATURES)
        else OLDER_FEATURES
    )


class NfdWorker(Reconciler):
    kinds = (
        "NodeFeatureDiscovery",
        "NodeFeature",
        OLDER_FEATURES,
        "Pod",
        "Node",
        "DaemonSet",
        "Deployment",
        "ConfigMap",
        "MachineConfig",
    )

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if not (cluster.served("NodeFeature") or cluster.served(OLDER_FEATURES)):
            return
        nodes = {node["metadata"]["name"]: node for node in cluster.objects("Node")}
        for instance in instances(cluster):
            self._publish(cluster, instance, nodes)
        for feature in cluster.objects(kind_of_features(cluster)):
            self._collect(cluster, feature, nodes)

    def _publish(self, cluster: Cluster, instance: Instance, nodes: dict[str, Object]) -> None:
        namespace = instance.namespace
        daemon_set = cluster.find("DaemonSet", instance.worker, namespace)
        if daemon_set is None:
            return
        local = by_node(cluster)
        for pod in cluster.objects("Pod", namespace):
            node = nodes.get(pod["spec"].get("nodeName") or "")
            if node and _works(pod, daemon_set) and cluster.due(pod["metadata"]["uid"], "nfd_worker", 0.2):
                wanted = node_feature(
                    cluster, node, instance, daemon_set, local.get(node["metadata"]["name"]) or Local({}, {})
                )
                live = cluster.find(kind_of_features(cluster), node["metadata"]["name"], namespace)
                if live is None or (
                    live["spec"] != wanted["spec"]
                    and not cluster.trouble("nfd_stale", node=node["metadata"]["name"])
                ):
                    cluster.apply(wanted)

    def _collect(self, cluster: Cluster, feature: Object, nodes: dict[str, Object]) -> None:
        """Delete features whose Node is gone (as nfd-gc does) or whose DaemonSet is gone (as the garbage
        collector does).
        """
        metadata = feature["metadata"]
        node, owners = (metadata.get("labels") or {}).get(NODE_NAME), metadata.get("ownerReferences") or []
        orphaned = any(
            one["kind"] == "DaemonSet" and not cluster.find("DaemonSet", one["name"], metadata["namespace"])
            for one in owners
        )
        if orphaned or (node and node not in nodes and not cluster.trouble("nfd_gc_stopped")):
            cluster.delete(kind_of_features(cluster), metadata["name"], metadata["namespace"])


def node_feature(
    cluster: Cluster, node: Object, instance: Instance, daemon_set: Object, local: Local
) -> Object:
    """Return the NodeFeature of a node."""
    name = node["metadata"]["name"]
    os_release = os_release_of(cluster, node)
    if not instance.is_openshift:
        fork = ("TREE_VERSION", "RHEL_VERSION", "SHIFT_VERSION")
        os_release = {key: value for key, value in os_release.items() if not key.endswith(fork)}
    labels = {f"system-os_release.{key}": value for key, value in os_release.items()}
    labels |= {f"kernel-version.{key}": value for key, value in kernel_of(node).items()}
    labels |= labels_of(node) | pci_labels(devices_of(node), instance.config)
    lost = {trouble["label"] for trouble in cluster.troubles("nfd_label_lost", node=name)}
    published = {PREFIX + key: value for key, value in labels.items() if not lost & {"*", key, PREFIX + key}}
    published |= {key if "/" in key else PREFIX + key: value for key, value in local.labels.items()}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": instance.worker,
        "uid": daemon_set["metadata"]["uid"],
    }
    return {
        "apiVersion": TABLE[kind_of_features(cluster)][0],
        "kind": "NodeFeature",
        "metadata": {
            "name": name,
            "namespace": daemon_set["metadata"]["namespace"],
            "labels": {NODE_NAME: name},
            "ownerReferences": [owner],
        },
        "spec": {
            "features": _features(
                node, os_release, labels["cpu-hardware_multithreading"], local, iommu_of(cluster, node)
            ),
            "labels": published,
        },
    }


def _features(
    node: Object, os_release: dict[str, str], multithreading: str, local: Local, iommu: str
) -> Object:
    numa = {
        "is_numa": str(has_numa(node)).lower(),
        "node_count": "2" if has_numa(node) else "1",
    }
    attributes = {
        "kernel.version": kernel_of(node),
        "system.osrelease": os_release,
        "system.name": {"nodename": node["metadata"]["name"]},
        "cpu.model": cpu_of(node),
        "cpu.topology": {"hardware_multithreading": multithreading},
        "memory.numa": numa,
        "kernel.selinux": {"enabled": "true"},
        "local.label": local.labels,
        "local.feature": local.features,
    }
    group = {"iommu_group/type": iommu} if iommu and has_sriov(node) else {}
    devices = [{"attributes": device.attributes | group} for device in devices_of(node)]
    return {
        "attributes": {name: {"elements": elements} for name, elements in attributes.items()},
        "flags": {"cpu.cpuid": {"elements": {flag: {} for flag in cpuid_of(node)}}},
        "instances": {"pci.device": {"elements": devices}},
    }


def pci_labels(devices: list[Device], config: str) -> dict[str, str]:
    """Return the labels of devices whose class begins with an allowed prefix.

    A configured value replaces the default.
    """
    pci = _pci_source(config)
    classes = [str(one).lower() for one in pci.get("deviceClassWhitelist") or DEFAULT_CLASSES]
    fields = [
        field for field in KNOWN_FIELDS if field in (pci.get("deviceLabelFields") or DEFAULT_FIELDS)
    ] or list(DEFAULT_FIELDS)
    chosen = [
        device for device in devices if any(device.device_class.startswith(prefix) for prefix in classes)
    ]
    found: dict[str, str] = {}
    for device in chosen:
        name = f"pci-{'_'.join(device.attributes[field] for field in fields)}"
        found |= {f"{name}.present": "true"} | ({f"{name}.sriov.capable": "true"} if device.sriov else {})
    return found


@functools.cache
def _pci_source(config: str) -> Object:
    return ((yaml.safe_load(config) or {}).get("sources") or {}).get("pci") or {}


def devices_of(node: Object) -> list[Device]:
    """Return the PCI devices of a node."""
    hardware = of_node(node)
    gpus = (
        [Device(hardware.gpu.pci_class, hardware.gpu.pci_vendor, hardware.gpu.pci_device)] * hardware.gpus
        if hardware and hardware.gpu
        else []
    )
    nics = (
        [Device(hardware.nic.pci_class, hardware.nic.pci_vendor, hardware.nic.pci_device, has_sriov(node))]
        * hardware.nics
        if hardware and hardware.nic
        else []
    )
    return [*ON_EVERY_INSTANCE, *gpus, *nics]


def kernel_of(node: Object) -> dict[str, str]:
    """Return the version of the kernel of a node, whole and in parts."""
    full = node["status"]["nodeInfo"]["kernelVersion"]
    major, minor, revision = full.partition("-")[0].split(".")[:3]
    return {"full": full, "major": major, "minor": minor, "revision": revision}


def os_release_of(cluster: Cluster, node: Object) -> dict[str, str]:
    """Return the release from the name of the node's image.

    For example "Red Hat Enterprise Linux CoreOS 9.6.20260210-0 (Plow)"; from 4.19 on RHCOS calls itself RHEL,
    as its label says.
    """
    ostree = next(
        (word for word in node["status"]["nodeInfo"].get("osImage", "").split() if word[0].isdigit()), ""
    )
    openshift = ".".join(str(cluster.scenario.cluster.get("version", "4.22")).split(".")[:2])
    name = node["metadata"].get("labels", {}).get("node.openshift.io/os_id", "rhel")
    version = openshift if name == "rhcos" else ".".join(ostree.split(".")[:2])
    major, _dot, minor = version.partition(".")
    release = {
        "ID": name,
        "VERSION_ID": version,
        "VERSION_ID.major": major,
        "VERSION_ID.minor": minor,
        "OPENSHIFT_VERSION": openshift,
    }
    rhel = ostree.partition(".")[2][:2]
    return (
        release
        | ({"OSTREE_VERSION": ostree} if ostree else {})
        | ({"RHEL_VERSION": f"{rhel[:1]}.{rhel[1:]}"} if name == "rhcos" else {})
    )


def _works(pod: Object, daemon_set: Object) -> bool:
    uids = {one["uid"] for one in pod["metadata"].get("ownerReferences") or []}
    return (
        daemon_set["metadata"]["uid"] in uids
        and holds(pod, "Ready")
        and not pod["metadata"].get("deletionTimestamp")
    )
