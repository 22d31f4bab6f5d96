# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU nodes with driver pods, and the DaemonSet controller that makes the pods anew."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import NAMESPACE, Object, conditions, deployment
from unit.sandbox.gpu_operator.cluster import GPU, put

from openshift_sandbox.stand_ins.gpu_operator import daemon_sets
from openshift_sandbox.stand_ins.gpu_operator.driver_upgrade import DriverUpgrade
from openshift_sandbox.stand_ins.gpu_operator.rules import release

LABEL = "nvidia.com/gpu-driver-upgrade-state"
AUTOMATIC: Object = {"driver": {"upgradePolicy": {"autoUpgrade": True}}}
TOLERATION: Object = {"key": "team", "operator": "Exists", "effect": "NoSchedule"}
STEP = 0.3


class Fleet:
    """Nodes gpu-0, gpu-1 and so on, whose driver pods are made by one DaemonSet."""

    def __init__(
        self, nodes: int = 2, version: str = "26.7.0", spec: Object | None = None, **scenario: t.Any
    ) -> None:
        self.world = World(DriverUpgrade(), **scenario)
        self.names = [f"gpu-{number}" for number in range(nodes)]
        self.states: dict[str, list[str]] = {name: [] for name in self.names}
        self.cordoned: list[set[str]] = []
        self.version = version
        self.made = 0
        self.world.api.create(deployment(version))
        self.spec = AUTOMATIC if spec is None else spec
        put(self.world, "nvidia.com/v1", "ClusterPolicy", "gpu-cluster-policy", None, {"spec": self.spec})
        for name in self.names:
            marks = GPU | {"nvidia.com/gpu.present": "true"}
            body = {"metadata": {"name": name, "labels": marks}, "spec": {}, "status": {}}
            self.world.api.create({"apiVersion": "v1", "kind": "Node"} | body)
            owner = [{"kind": "DaemonSet", "name": "nvidia-operator-validator", "uid": "v"}]
            self.add_pod(
                f"validator-{name}", name, {"app": "nvidia-operator-validator"}, ownerReferences=owner
            )
        self.roll(self.spec)

    def roll(self, spec: Object, version: str = "") -> None:
        """Make the DaemonSet of a policy; a template that differs gets another revision."""
        self.version = version or self.version
        self.world.api.patch(
            "apps/v1", "deployments", "gpu-operator", NAMESPACE, {"spec": deployment(self.version)["spec"]}
        )
        policy = self.world.api.get("ClusterPolicy", "gpu-cluster-policy") | {"spec": spec}
        running = release.of(deployment(self.version))
        (made,) = daemon_sets.driver_daemon_sets(policy, running, {"9.8.1": "dtk:1"})
        before = self.world.api.objects.get(("DaemonSet", NAMESPACE, made["metadata"]["name"]))
        self.set = self.world.api.apply(made)
        if not before or before["spec"]["template"] != self.set["spec"]["template"]:
            self.made += 1
            owner = [{"name": self.set["metadata"]["name"], "uid": self.set["metadata"]["uid"]}]
            name = f"{self.set['metadata']['name']}-r{self.made}"
            metadata = {"name": name, "namespace": NAMESPACE, "ownerReferences": owner}
            revision = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata}
            self.world.api.create(revision | {"revision": self.made})
        self.replace()

    def add_pod(
        self, name: str, node: str, labels: Object, spec: Object | None = None, **more: t.Any
    ) -> None:
        body = {
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels} | more,
            "spec": {"containers": []} | (spec or {}) | {"nodeName": node},
            "status": {"phase": "Running", "conditions": conditions(True)},
        }
        self.world.api.create({"apiVersion": "v1", "kind": "Pod"} | body)

    def add_workload(self, node: str) -> None:
        limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
        owner = [{"kind": "Job", "name": "job", "uid": "j"}]
        self.add_pod("train", node, {}, {"containers": [limits]}, ownerReferences=owner)

    def replace(self) -> None:
        """Make a driver pod of the newest revision on each node that has none."""
        uid, template = self.set["metadata"]["uid"], self.set["spec"]["template"]
        held = {
            pod["spec"]["nodeName"]
            for pod in self.world.api.all("Pod")
            if any(owner["uid"] == uid for owner in pod["metadata"].get("ownerReferences", []))
        }
        for name in set(self.names) - held:
            labels = template["metadata"]["labels"] | {"controller-revision-hash": f"r{self.made}"}
            owner = [{"kind": "DaemonSet", "name": self.set["metadata"]["name"], "uid": uid}]
            self.add_pod(f"driver-{name}-{self.made}", name, labels, template["spec"], ownerReferences=owner)

    def pods(self) -> set[str]:
        return {pod["metadata"]["name"] for pod in self.world.api.all("Pod")}

    def node(self, name: str = "gpu-0") -> Object:
        return self.world.api.get("Node", name)

    def run(self, seconds: float = 12) -> None:
        """Let time pass; note each label that a node gets, and which nodes are cordoned together."""
        self.world.settle()
        self.note()
        for _step in range(int(seconds / STEP)):
            self.world.settle(STEP, step=STEP)
            self.replace()
            self.note()

    def note(self) -> None:
        for name in self.names:
            state = self.node(name)["metadata"]["labels"].get(LABEL, "")
            if state != (self.states[name] or [""])[-1]:
                self.states[name].append(state)
        self.cordoned.append({name for name in self.names if self.node(name)["spec"].get("unschedulable")})
