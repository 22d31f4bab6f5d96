# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools with queues, and a cluster with Kueue in memory: it makes queues active when their flavors exist."""

from __future__ import annotations

import collections
import json
import typing as t

from unit.engine import TickingClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.pool_builders import plan

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind
from ansible_collections.accelerators.openshift.plugins.module_utils._queue.options import GpuQueueParams

Data = dict[str, t.Any]
GPU: t.Final = "nvidia.com/gpu"
GROUP: t.Final = "kueue.x-k8s.io"
INSTANCE: t.Final = Kind("kueue.openshift.io/v1", "Kueue", "kueues", False)
ISSUER: t.Final = Kind("cert-manager.io/v1", "Issuer", "issuers")
TAINT: t.Final = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def pools(*described: Data) -> list[Data]:
    """Return pools as gpu_plan returns them; by default training with 16 GPUs, and batch with 4."""
    found = described or (
        {
            "name": "training",
            "candidates": [{"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"]}],
            "replicas": 2,
            "taints": [TAINT],
        },
        {
            "name": "batch",
            "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
            "replicas": 4,
        },
    )
    return t.cast("list[Data]", plan(list(found))["pools"])


def existing(name: str, selector: Data, expected: Data | None = None, **more: t.Any) -> Data:
    """Return the description of a pool whose nodes are there."""
    return {
        "name": name,
        "existing": {"node_selector": selector, "expected": expected or {GPU: 8}},
        **more,
    }


def share(name: str = "training", **given: t.Any) -> Data:
    return {"name": name, **dict.fromkeys(("gpus", "resources", "borrow", "lend")), **given}


def queue(name: str = "research", *shares: Data, **given: t.Any) -> Data:
    plain = {
        "name": name,
        "cohort": None,
        "pools": list(shares) or [share()],
        "namespaces": ["team-a"],
        "local_queue": None,
        "strategy": "BestEffortFIFO",
        "preemption": None,
    }
    return plain | given


def params(*queues: Data, **given: t.Any) -> GpuQueueParams:
    plain: Data = {
        "state": "present",
        "wait": True,
        "wait_timeout": 60,
        "lock_timeout": 0,
        "on_busy": "fail",
        "pools": pools(),
        "queues": list(queues),
        "instance": None,
        "tolerate": True,
        "topology": [],
        "claims": False,
        "create_namespaces": False,
        "namespaces": None,
        "adopt": "report",
    }
    return t.cast(GpuQueueParams, plain | given)


def workload(name: str, of: str, space: str = "team-a") -> Data:
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "namespace": space},
        "spec": {},
        "status": {"admission": {"clusterQueue": of}},
    }


def node(name: str, **labels: str) -> Data:
    marks = {key.replace("_", "-"): value for key, value in labels.items()}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": marks}}


class World:
    """A cluster with Kueue. is_slow: Kueue does not look at its objects, and requeues nothing.

    has_kueue: it serves Kueue's kinds; otherwise Red Hat's operator brings them with its object. The operator
    needs cert-manager, and does not work while is_stuck.
    """

    def __init__(
        self,
        *objects: KubeObject,
        version: str = "v1beta2",
        red_hat: bool = False,
        has_kueue: bool = True,
        cert_manager: bool = True,
    ) -> None:
        self.server = FakeServer("Namespace", "Node", "ResourceQuota", "Pod", "Deployment")
        self.version, self.is_slow, self.is_stuck = f"{GROUP}/{version}", False, False
        self.clock = TickingClock(0.1)
        if has_kueue:
            self._serve()
        if red_hat:
            self.add(INSTANCE, *([ISSUER] if cert_manager else []))
        for name in ("default", "team-a", "team-b"):
            self.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for one in objects:
            self.server.put(one)
        self.server.request = self.answer

    def _serve(self) -> None:
        self.add(
            Kind(self.version, "ClusterQueue", "clusterqueues", False),
            Kind(self.version, "ResourceFlavor", "resourceflavors", False),
            Kind(self.version, "LocalQueue", "localqueues", True),
            Kind(self.version, "Workload", "workloads", True),
            Kind(self.version, "Cohort", "cohorts", False),
            Kind(self.version, "Topology", "topologies", False),
        )

    def add(self, *kinds: Kind) -> None:
        for kind in kinds:
            self.server.served[kind.api_version, kind.plural] = kind

    def _operate(self) -> None:
        """Do what Red Hat's operator does with its object."""
        for one in self.all("kueues"):
            is_new = not one.get("status")
            one["status"] = {"conditions": [{"type": "Available", "status": "True"}]}
            if is_new:
                self._serve()

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        answered = self.server.answer(method, url, body, **more)
        if method != "GET" and not self.is_slow:
            self._reconcile()
        if method != "GET" and not self.is_stuck:
            self._operate()
        is_real = method == "PATCH" and "/clusterqueues/" in url and "dryRun" not in url
        if (
            is_real
            and not self.is_slow
            and json.loads(body or b"{}")["spec"].get("stopPolicy") == "HoldAndDrain"
        ):
            self._drain(url.partition("?")[0].rpartition("/")[2])
        return answered

    def _reconcile(self) -> None:
        flavors = {one["metadata"]["name"] for one in self.all("resourceflavors")}
        for one in self.all("clusterqueues"):
            named = {flavor["name"] for group in one["spec"]["resourceGroups"] for flavor in group["flavors"]}
            lost = named - flavors
            active = {
                "type": "Active",
                "status": "False" if lost else "True",
                "reason": "FlavorNotFound" if lost else "Ready",
                "message": f"missing {', '.join(lost)}" if lost else "Can admit new workloads",
                "observedGeneration": one["metadata"].get("generation", 0),
            }
            one["status"] = {**one.get("status", {}), "conditions": [active]}
        for one in self.all("localqueues"):
            one["status"] = {"conditions": [{"type": "Active", "status": "True"}]}

    def _drain(self, name: str) -> None:
        for one in self.all("workloads"):
            if one["status"].get("admission", {}).get("clusterQueue") == name:
                one["status"] = {}

    def all(self, plural: str) -> list[KubeObject]:
        return [obj for key, obj in self.server.objects.items() if key[1] == plural]

    def names(self, plural: str) -> list[str]:
        return sorted(one["metadata"]["name"] for one in self.all(plural))

    def must(self, plural: str, name: str) -> KubeObject:
        (found,) = (one for one in self.all(plural) if one["metadata"]["name"] == name)
        return found

    def api(self, **more: t.Any) -> Api:
        self.server.requests.clear()
        return api_on(self.server, self.clock, **more)

    def asked(self) -> dict[str, int]:
        """Return how often each verb was sent for each resource."""
        found = [f"{method} {path.rpartition('/')[2]}" for method, path, _query in self.server.requests]
        return dict(collections.Counter(found))
