"""Nodes with network adapters, operators that are Available, and objects of networks."""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

SRIOV: t.Final = "openshift-sriov-network-operator"
NVIDIA: t.Final = "nvidia-network-operator"


def node(name: str, nics: str = "2xCX7", **labels: str) -> Object:
    """Return a worker with these adapters."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux", **labels},
            "annotations": {"sandbox.openshift/hardware": f"64x512x2xL40S+{nics}" if nics else "64x256"},
        },
        "spec": {},
        "status": {"nodeInfo": {"bootID": "first"}, "allocatable": {}},
    }


def deployment(name: str, namespace: str) -> Object:
    """Return a Deployment that is Available."""
    image = f"example.com/{name}:v26.7.0"
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": {"spec": {"containers": [{"name": "manager", "image": image}]}}},
        "status": {"conditions": [{"type": "Available", "status": "True"}]},
    }


def sriov(kind: str, name: str, **spec: t.Any) -> Object:
    """Return an object of the SR-IOV operator."""
    return {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": SRIOV},
        "spec": spec,
    }


def policy(name: str = "rail", **spec: t.Any) -> Object:
    """Return a policy for eight functions of each adapter of NVIDIA."""
    wanted = {"resourceName": name, "numVfs": 8, "nodeSelector": {}, "nicSelector": {"vendor": "15b3"}}
    return sriov("SriovNetworkNodePolicy", name, **wanted | spec)


def pod(name: str, on: str, *, networks: str = "", requests: t.Mapping[str, str] | None = None) -> Object:
    """Return a pod of namespace `work` that runs on a node."""
    annotations = {"k8s.v1.cni.cncf.io/networks": networks} if networks else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "work", "annotations": annotations},
        "spec": {
            "nodeName": on,
            "containers": [{"name": "main", "resources": {"requests": dict(requests or {})}}],
        },
        "status": {"phase": "Running"},
    }


def definition(name: str, config: str, resource: str = "", namespace: str = "work") -> Object:
    """Return a NetworkAttachmentDefinition."""
    annotations = {"k8s.v1.cni.cncf.io/resourceName": resource} if resource else {}
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
        "spec": {"config": config},
    }
