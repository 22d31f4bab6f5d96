# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes, pods and a server for tests of shared GPUs. The server stamps each apply with a time."""

from __future__ import annotations

import typing as t

from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    GPU,
    PLUGIN_CONFIG,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import mig_name, options
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.options import GpuSharingParams

SPACE: t.Final = "nvidia-gpu-operator"
FOUR: t.Final = {"time_slicing": {"replicas": 4}}
MPS: t.Final = {"mps": {"replicas": 4}}
OLD, NEW = "2026-11-20T08:00:00Z", "2026-11-23T08:00:00Z"


class Server(FakeServer):
    """A server with the kinds of shared GPUs. It removes a deleted pod at once."""

    def __init__(self, *objects: KubeObject) -> None:
        super().__init__("Namespace", "ConfigMap", "Node", "Machine", "MachineSet", "Pod", "ClusterPolicy")
        for one in objects:
            self.put(one)

    def _store(self, kind: t.Any, obj: KubeObject) -> KubeObject:
        for entry in obj["metadata"].get("managedFields") or ():
            entry.setdefault("time", NEW)
        return super()._store(kind, obj)

    def named(self, kind: str, name: str) -> KubeObject | None:
        """Return the object of this kind and name."""
        return next(
            (one for one in self.objects.values() if (one["kind"], one["metadata"]["name"]) == (kind, name)),
            None,
        )

    def data(self, name: str = "gpu-sharing") -> dict[str, str]:
        """Return the profiles of a ConfigMap."""
        return dict((self.named("ConfigMap", name) or {}).get("data") or {})

    def label(self, node: str) -> str | None:
        """Return the profile that the node's label names."""
        value: str | None = (self.named("Node", node) or {})["metadata"]["labels"].get(PLUGIN_CONFIG)
        return value


def node(name: str, pool: str = "inference", gpus: int = 1) -> KubeObject:
    """Return a node of a pool that offers so many GPUs or shares."""
    marks = {"accelerators.openshift/pool": pool, "kubernetes.io/hostname": name, "nvidia.com/gpu.count": "1"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": marks},
        "status": {"allocatable": {GPU: str(gpus)}},
    }


def with_label(one: KubeObject, **marks: str) -> KubeObject:
    """Return the node with labels below nvidia.com/; a dot is written as two underscores."""
    for key, value in marks.items():
        one["metadata"]["labels"]["nvidia.com/" + key.replace("__", ".").replace("_", "-")] = value
    return one


def plugin(on: str, object_name: str = "gpu-sharing", since: str = OLD) -> KubeObject:
    """Return the pod of the device plugin on a node, which reads a ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"plugin-{on}",
            "namespace": SPACE,
            "labels": {"app": "nvidia-device-plugin-daemonset"},
            "creationTimestamp": since,
        },
        "spec": {"nodeName": on, "volumes": [{"name": object_name, "configMap": {"name": object_name}}]},
    }


def gpu_pod(on: str) -> KubeObject:
    """Return a team's pod with a GPU on a node."""
    limits = {"limits": {GPU: "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"work-{on}", "namespace": "team", "labels": {}},
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": "i", "resources": limits}]},
        "status": {"phase": "Running"},
    }


def policy(**config: str) -> KubeObject:
    """Return a ClusterPolicy that names a ConfigMap."""
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "gpu-cluster-policy"},
        "spec": {"devicePlugin": {"config": config}} if config else {},
    }


def foreign(**data: str) -> KubeObject:
    """Return a ConfigMap of another client."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "theirs", "namespace": SPACE},
        "data": data,
    }


def params(*pools: tuple[str, t.Mapping[str, t.Any]], **more: t.Any) -> GpuSharingParams:
    """Return the parameters for pools, each with its name and sharing."""
    entries = [
        {
            "name": name,
            "sharing": dict(sharing),
            "node_selector": None,
            "expected": None,
            "partitions": None,
        }
        for name, sharing in pools
    ]
    given: dict[str, t.Any] = {
        "pools": entries,
        "claims": False,
        "config_map": None,
        "namespace": SPACE,
        "only_add": False,
        "on_change": "fail",
        "mig_reboot": False,
        "state": "present",
        "on_busy": "fail",
        "wait": True,
        "wait_timeout": 60,
        "lock_timeout": 0,
    }
    return t.cast("GpuSharingParams", given | more)


def cut(pool: str, sharing: t.Mapping[str, t.Any]) -> str:
    """Return the name of the MIG configuration of a pool with this sharing."""
    (found,) = options.read(params((pool, sharing))["pools"])
    return mig_name.name(pool, found.partitions[0].config)


def manager(on: str, object_name: str = "gpu-mig", since: str = OLD) -> KubeObject:
    """Return the pod of the MIG manager on a node, which reads a ConfigMap."""
    found = plugin(on, object_name, since)
    found["metadata"] |= {"name": f"manager-{on}", "labels": {"app": "nvidia-mig-manager"}}
    return found
