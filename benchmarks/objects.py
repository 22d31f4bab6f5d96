# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written and read: the twelve objects of a small GPU set-up, and nodes as large as real ones."""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

LABELS_OF_A_NODE: t.Final = 80
IMAGES_OF_A_NODE: t.Final = 50
GPU_SHARE: t.Final = 10
GPU_LABEL: t.Final = "nvidia.com/gpu.present"


def config_map(name: str, namespace: str = "default") -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"driver": "enabled", "mig": "none"},
    }


def twelve(name: str) -> list[Object]:
    """Return two Namespaces, OperatorGroups, Subscriptions and MachineSets each, and four other objects.

    The four are a NodeFeatureDiscovery, a ClusterPolicy, a ResourceQuota and a ConfigMap.
    """
    nfd, gpu = f"{name}-nfd", f"{name}-gpu"
    return [
        _object("v1", "Namespace", nfd),
        _object("v1", "Namespace", gpu),
        _object("operators.coreos.com/v1", "OperatorGroup", "group", nfd, {"targetNamespaces": [nfd]}),
        _object("operators.coreos.com/v1", "OperatorGroup", "group", gpu, {"targetNamespaces": [gpu]}),
        _subscription("nfd", nfd, "nfd", "redhat-operators", "stable"),
        _subscription("gpu", gpu, "gpu-operator-certified", "certified-operators", "v25.10"),
        _object(
            "nfd.openshift.io/v1",
            "NodeFeatureDiscovery",
            "nfd-instance",
            nfd,
            {"operand": {"servicePort": 12000}},
        ),
        _object("nvidia.com/v1", "ClusterPolicy", name, None, _policy()),
        _machine_set(f"{name}-us-east-2a"),
        _machine_set(f"{name}-us-east-2b"),
        _object("v1", "ResourceQuota", "gpu-quota", gpu, {"hard": {"requests.nvidia.com/gpu": "8"}}),
        config_map("settings", gpu),
    ]


def node(number: int) -> Object:
    """Return a node of about 26 KB as JSON, like one of a large cluster; every tenth has GPUs.

    KWOK writes its conditions and addresses.
    """
    name, gpu = f"ip-10-{number // 250}-{number % 250}-7.us-east-2.compute.internal", number % GPU_SHARE == 0
    digest = f"{number:08x}" * 8
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "250"} | ({"nvidia.com/gpu": "1"} if gpu else {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": _node_labels(name, gpu, zone=f"us-east-2{'abc'[number % 3]}"),
            "annotations": {f"example.com/annotation-{index:02d}": digest * 2 for index in range(16)},
        },
        "spec": {"providerID": f"aws:///us-east-2a/i-{number:017x}"},
        "status": {"capacity": capacity, "allocatable": capacity, "images": _images(digest)},
    }


def _node_labels(name: str, gpu: bool, zone: str) -> dict[str, str]:
    labels = {
        f"feature.node.kubernetes.io/cpu-cpuid.FLAG{index:03d}-of-node": "true"
        for index in range(LABELS_OF_A_NODE - 8)
    }
    labels |= {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node-role.kubernetes.io/worker": "",
        "node.kubernetes.io/instance-type": "g4dn.xlarge" if gpu else "m6i.2xlarge",
        "topology.kubernetes.io/zone": zone,
    }
    if gpu:
        labels |= {
            GPU_LABEL: "true",
            "feature.node.kubernetes.io/pci-10de.present": "true",
            "nvidia.com/gpu.product": "Tesla-T4",
        }
    return labels


def _images(digest: str) -> list[Object]:
    return [
        {
            "names": [
                f"quay.io/openshift-release-dev/ocp-v4.0-art-dev-{index:02d}@sha256:{digest}",
                f"registry.example.com/team-{index:02d}/image:v1.{index}",
            ],
            "sizeBytes": 4 * 10**8 + index * 10**6,
        }
        for index in range(IMAGES_OF_A_NODE)
    ]


def _object(
    api_version: str, kind: str, name: str, namespace: str | None = None, spec: Object | None = None
) -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata} | ({"spec": spec} if spec else {})


def _subscription(name: str, namespace: str, package: str, source: str, channel: str) -> Object:
    spec = {
        "name": package,
        "source": source,
        "sourceNamespace": "openshift-marketplace",
        "channel": channel,
        "installPlanApproval": "Manual",
    }
    return _object("operators.coreos.com/v1alpha1", "Subscription", name, namespace, spec)


def _policy() -> Object:
    parts = (
        "daemonsets",
        "dcgm",
        "dcgmExporter",
        "devicePlugin",
        "driver",
        "gfd",
        "nodeStatusExporter",
        "operator",
        "toolkit",
    )
    return {part: {} for part in parts}


def _machine_set(name: str) -> Object:
    label = {"machine.openshift.io/cluster-api-machineset": name}
    provider = {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "AWSMachineProviderConfig",
        "instanceType": "g4dn.xlarge",
    }
    spec = {
        "replicas": 0,
        "selector": {"matchLabels": label},
        "template": {"metadata": {"labels": label}, "spec": {"providerSpec": {"value": provider}}},
    }
    return _object("machine.openshift.io/v1beta1", "MachineSet", name, "openshift-machine-api", spec)
