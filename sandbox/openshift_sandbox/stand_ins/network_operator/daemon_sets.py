# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NVIDIA Network Operator's DaemonSets.

The real ones also have host mounts, init containers and probes.
"""

from __future__ import annotations

import hashlib
import json
import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Object
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD

PRESENT: t.Final = "feature.node.kubernetes.io/pci-15b3.present"
KERNEL: t.Final = "feature.node.kubernetes.io/kernel-version.full"
OS: t.Final = "feature.node.kubernetes.io/system-os_release."
OSTREE: t.Final = f"{OS}OSTREE_VERSION"
WAIT: t.Final = "network.nvidia.com/operator.mofed.wait"
DRIVER_LABEL: t.Final = "nvidia.com/ofed-driver"
RDMA, SRIOV, NV_IPAM, DISCOVERY, IPOIB = (
    "rdma-shared-dp-ds",
    "network-operator-sriov-device-plugin",
    "nv-ipam-node",
    "nic-feature-discovery-ds",
    "kube-ipoib-cni-ds",
)
OWNER: t.Final = "ds-owner"
# What a NicNodePolicy may have for its nodes, which then the NicClusterPolicy may not have.
OF_NODES: t.Final = ("ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin")
# State in the status -> (key in the spec, DaemonSet), in the operator's order. No policy wants states without
# a key here.
STATES: t.Final[dict[str, tuple[str, str]]] = {
    "state-multus-cni": ("", ""),
    "state-container-networking-plugins": ("", ""),
    "state-ipoib-cni": ("secondaryNetwork.ipoib", IPOIB),
    "state-OFED": ("ofedDriver", ""),
    "state-SRIOV-device-plugin": ("sriovDevicePlugin", SRIOV),
    "state-RDMA-device-plugin": ("rdmaSharedDevicePlugin", RDMA),
    "state-ib-kubernetes": ("", ""),
    "state-nv-ipam-cni": ("nvIpam", NV_IPAM),
    "state-nic-feature-discovery": ("nicFeatureDiscovery", DISCOVERY),
    "state-doca-telemetry-service": ("", ""),
    "state-nic-configuration-operator": ("", ""),
    "state-spectrum-x-operator": ("", ""),
}
APPLIED: t.Final = "nvidia.network-operator.revision"


class ImageError(Exception):
    """Neither the component nor spec.global says where the image comes from."""


def part_of(policy: Object, key: str) -> Object | None:
    """Return the part of a policy for a component, or None."""
    part: Object | None = policy["spec"]
    for name in key.split("."):
        part = (part or {}).get(name)
    return part


def suffix(policy: Object) -> str:
    """Return what the names of a policy's DaemonSets have behind them: for a NicNodePolicy a digest."""
    if policy["kind"] == "NicClusterPolicy":
        return ""
    return f"-{hashlib.sha256(policy['metadata']['name'].encode()).hexdigest()[:8]}"


def daemon_sets(
    policy: Object, key: str, name: str, namespace: str, nodes: t.Iterable[Object]
) -> list[Object]:
    """Return the DaemonSets of a component: one per kernel of its nodes for the driver, else one."""
    part, own = part_of(policy, key) or {}, policy["spec"].get("nodeSelector") or {}
    nodes = [node for node in nodes if own.items() <= (node["metadata"].get("labels") or {}).items()]
    name += suffix(policy)
    if key != "ofedDriver":
        waits = {WAIT: "false"} if key in ("rdmaSharedDevicePlugin", "sriovDevicePlugin") else {}
        return [
            _daemon_set(policy, part, name, namespace, {PRESENT: "true"} | waits | own, {"app": name}, [name])
        ]
    made = {}
    for node in nodes:
        labels = node["metadata"].get("labels") or {}
        if labels.get(PRESENT) == "true" and labels.get(KERNEL) and labels.get(OSTREE):
            release, digest = (
                f"{labels.get(OS + 'ID')}{labels.get(OS + 'VERSION_ID')}",
                hashlib.sha256(labels[KERNEL].encode()).hexdigest()[:10],
            )
            mofed = f"mofed-{release}-{digest}{suffix(policy)}-ds"
            selector = {PRESENT: "true", KERNEL: labels[KERNEL], OSTREE: labels[OSTREE]} | own
            marks, containers = (
                {"app": mofed, DRIVER_LABEL: ""},
                ["mofed-container", "openshift-driver-toolkit-ctr"],
            )
            made[mofed] = _daemon_set(
                policy, part, mofed, namespace, selector, marks, containers, f"-{release}-amd64"
            )
    return [made[mofed] for mofed in sorted(made)]


def _daemon_set(
    policy: Object,
    part: Object,
    name: str,
    namespace: str,
    selector: dict[str, str],
    labels: dict[str, str],
    containers: t.Sequence[str],
    ending: str = "",
) -> Object:
    """Return a DaemonSet. `ending` is what the operator adds to the driver's tag for an operating system."""
    driver = DRIVER_LABEL in labels
    images = [
        {"name": one, "image": image_path(policy, part, ending), "env": part.get("env") or []}
        for one in containers
    ]
    spec = {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"type": "OnDelete" if driver else "RollingUpdate"},
        "template": {
            "metadata": {"labels": labels, "annotations": {HOLD: "ready"} if driver else {}},
            "spec": _pod(policy, selector, images),
        },
    }
    owner = {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": policy["kind"],
        "name": policy["metadata"]["name"],
        "uid": policy["metadata"]["uid"],
    }
    is_of_nodes = policy["kind"] == "NicNodePolicy"
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "labels": labels | {OWNER: f"nnp-{policy['metadata']['name']}" if is_of_nodes else policy["kind"]},
        "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
    }
    made: Object = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()
    metadata["annotations"] = {APPLIED: digest[:10]}
    return made


def _pod(policy: Object, selector: dict[str, str], containers: list[Object]) -> Object:
    return {
        "nodeSelector": selector,
        "tolerations": [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            *(policy["spec"].get("tolerations") or []),
        ],
        "priorityClassName": "system-node-critical",
        "containers": containers,
    }


def image_path(policy: Object, part: Object, ending: str = "") -> str:
    """Return the image of a component. Raises ImageError."""
    shared = policy["spec"].get("global") or {}
    repository, version = (
        part.get("repository") or shared.get("repository"),
        part.get("version") or shared.get("version"),
    )
    if not repository or not version:
        raise ImageError(f"{'version' if repository else 'repository'} is required")
    whole = f"{repository}/{part['image']}"
    return f"{whole}@{version}" if str(version).startswith("sha256:") else f"{whole}:{version}{ending}"
