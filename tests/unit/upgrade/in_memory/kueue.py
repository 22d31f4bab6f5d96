# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kueue and the eviction API on the server in memory, beside the operator of `controller`."""

from __future__ import annotations

import json
import typing as t

from unit.fake_server import Answer, status
from unit.upgrade.in_memory.builders import gpu_pod
from unit.upgrade.in_memory.controller import Operator

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject, name
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind

VERSION: t.Final = "kueue.x-k8s.io/v1beta1"
KUEUE: t.Final = (
    Kind(VERSION, "ClusterQueue", "clusterqueues", False),
    Kind(VERSION, "ResourceFlavor", "resourceflavors", False),
    Kind(VERSION, "Workload", "workloads", True),
)
HOST: t.Final = "kubernetes.io/hostname"
GPU: t.Final = "nvidia.com/gpu"


def flavor(object_name: str, **labels: str) -> KubeObject:
    """Return a ResourceFlavor; without labels it is for every node."""
    return {
        "apiVersion": VERSION,
        "kind": "ResourceFlavor",
        "metadata": {"name": object_name},
        "spec": {"nodeLabels": labels},
    }


def queue(object_name: str, *flavors: str, resource: str = GPU, **spec: str) -> KubeObject:
    """Return a ClusterQueue that gives a resource of these flavors away."""
    group = {"coveredResources": [resource], "flavors": [{"name": one} for one in flavors]}
    return {
        "apiVersion": VERSION,
        "kind": "ClusterQueue",
        "metadata": {"name": object_name},
        "spec": {"resourceGroups": [group], **spec},
    }


def workload(object_name: str, of: str, on: str, resource: str = GPU) -> KubeObject:
    """Return an admitted Workload of a queue on a flavor."""
    admission = {"clusterQueue": of, "podSetAssignments": [{"name": "main", "flavors": {resource: on}}]}
    return {
        "apiVersion": VERSION,
        "kind": "Workload",
        "metadata": {"name": object_name, "namespace": "team"},
        "spec": {},
        "status": {"admission": admission, "conditions": [{"type": "Admitted", "status": "True"}]},
    }


def member(object_name: str, on: str, gpus: str = "1", **labels: str) -> KubeObject:
    """Return a pod of the JobSet `train`, or one with other labels. gpus: empty for a pod that names none."""
    pod = gpu_pod(object_name, on)
    marks = labels or {"jobset.sigs.k8s.io/jobset-name": "train"}
    pod["metadata"] |= {"uid": f"uid-{object_name}", "labels": marks}
    pod["spec"]["containers"][0]["resources"]["limits"] = {GPU: gpus} if gpus else {}
    return pod


def budget(allowed: int, **labels: str) -> KubeObject:
    """Return a PodDisruptionBudget; without labels it covers every pod of its namespace."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": "team"},
        "spec": {"selector": {"matchLabels": labels} if labels else {}},
        "status": {"disruptionsAllowed": allowed},
    }


class Platform(Operator):
    """The operator, Kueue, and evictions.

    evicted: pods that the eviction API ended. refusals: pod -> how often an eviction is refused still.
    policies: each stopPolicy that was written, by queue. is_slow: Kueue requeues nothing.
    """

    def __init__(self, *objects: KubeObject, nodes: t.Sequence[str] = ("gpu-0", "gpu-1", "gpu-2")) -> None:
        pods = [one for one in objects if one["kind"] == "Pod"]
        super().__init__(nodes, *pods)
        self.evicted: list[str] = []
        self.refusals: dict[str, int] = {}
        self.policies: list[tuple[str, str]] = []
        self.is_slow = False
        for kind in KUEUE:
            self.server.served[kind.api_version, kind.plural] = kind
        for one in objects:
            if one["kind"] != "Pod":
                self.server.put(one)

    def request(self, method: str, url: str, **more: t.Any) -> Answer:
        path = url.partition("?")[0]
        if path.endswith("/poddisruptionbudgets") and self.refusals:
            # The clock moves only by hand: after a look, the pause after a refused eviction is over.
            self.clock.seconds += 5.0
        if path.endswith("/eviction"):
            return self._evict(path.split("/")[-2])
        answer = super().request(method, url, **more)
        if method == "PATCH" and "/clusterqueues/" in path and "dryRun" not in url:
            self._requeue(path.rpartition("/")[2], json.loads(more["body"])["spec"]["stopPolicy"])
        return answer

    def _evict(self, object_name: str) -> Answer:
        if self.refusals.get(object_name, 0) > 0:
            self.refusals[object_name] -= 1
            return status(429, "TooManyRequests", "Cannot evict pod", object_name)
        self.evicted.append(object_name)
        self.end(object_name)
        return status(201, "Created", "")

    def _requeue(self, object_name: str, policy: str) -> None:
        self.policies.append((object_name, policy))
        if policy != "HoldAndDrain" or self.is_slow:
            return
        for one in self.all("Workload"):
            if one["status"].get("admission", {}).get("clusterQueue") == object_name:
                one["status"] = {"conditions": [{"type": "Evicted", "status": "True"}]}
                self.server.put(one)

    def policy(self, object_name: str) -> str | None:
        """Return the stopPolicy of a queue."""
        found = self.must("ClusterQueue", object_name)["spec"].get("stopPolicy")
        return None if found is None else str(found)

    def admitted(self) -> list[str]:
        """Return the Workloads that hold quota."""
        return [name(one) for one in self.all("Workload") if "admission" in one["status"]]
