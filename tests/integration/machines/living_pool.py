# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool that lives for a whole test file: its options, its objects on the cluster, and pods on its nodes."""

from __future__ import annotations

import contextlib
import typing as t

from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook, Run, TaskResult

Data = dict[str, t.Any]
NAME: t.Final = "it-change"
POOL: t.Final = f"accelerators.openshift/pool={NAME}"
MACHINES: t.Final = ("machine.openshift.io/v1beta1", "machines", "openshift-machine-api")
SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", "openshift-machine-api")
SPACE: t.Final = "it-change-work"
TAINT: t.Final = {"key": "nvidia.com/gpu", "value": "a", "effect": "NoSchedule"}
BASE: t.Final[Data] = {
    "name": NAME,
    "instance_type": "g4dn.xlarge",
    "zones": ["us-east-2a"],
    "replicas": 2,
    "labels": {"team": "ml", "tier": "one"},
    "taints": [TAINT],
    "wait_timeout": 120,
}


class Pool:
    """The pool: the options of its tasks, and its objects on the cluster."""

    def __init__(self, cluster: Cluster, playbook: Playbook) -> None:
        self.client, self.playbook, self.sandbox = cluster.client, playbook, cluster.sandbox
        self.options = dict(BASE)

    def apply(self, check: bool = False, **changes: t.Any) -> TaskResult:
        """Run gpu_machineset; a change named `keep_<option>` also holds for later calls."""
        self.options |= {
            key.removeprefix("keep_"): value for key, value in changes.items() if key.startswith("keep_")
        }
        once = {key: value for key, value in changes.items() if not key.startswith("keep_")}
        return self.playbook.module("gpu_machineset", check=check, **{**self.options, **once})

    def resize(self, replicas: int) -> Run:
        """Run resize_pool.yml; it must change nothing but the replicas."""
        self.options["replicas"] = replicas
        return self.playbook.playbook(
            "resize_pool",
            gpu_pools=[{**self.described, "replicas": 5}],
            gpu_pool=NAME,
            gpu_replicas=replicas,
        )

    @property
    def described(self) -> Data:
        """The pool as an entry of gpu_pools."""
        candidates = [{"instance_type": self.options["instance_type"], "zones": self.options["zones"]}]
        return {
            **{
                key: self.options[key]
                for key in ("name", "labels", "taints", "disk", "replicas")
                if key in self.options
            },
            "candidates": candidates,
        }

    @property
    def nodes(self) -> list[Data]:
        return self.client.list("v1", "nodes", labels=POOL)

    @property
    def names(self) -> set[str]:
        return {node["metadata"]["name"] for node in self.nodes}

    @property
    def machines(self) -> list[Data]:
        return self.client.list(*MACHINES, POOL)

    @property
    def set(self) -> Data:
        (one,) = self.client.list(*SETS, POOL)
        return one

    @property
    def disks(self) -> list[int]:
        return [
            one["spec"]["providerSpec"]["value"]["blockDevices"][0]["ebs"]["volumeSize"]
            for one in self.machines
        ]

    def is_tidy(self, replicas: int) -> bool:
        """Return whether the pool has no extra machine, no cordoned node and no replacement in progress."""
        marked = "accelerators.openshift/replacing" in self.set["metadata"]["annotations"]
        cordoned = [node for node in self.nodes if node["spec"].get("unschedulable")]
        return (
            not marked
            and not cordoned
            and len(self.machines) == len(self.nodes) == self.set["spec"]["replicas"] == replicas
        )


@contextlib.contextmanager
def working(pool: Pool, name: str, node: str, gpus: int = 1, **spec: t.Any) -> t.Iterator[None]:
    """Run a pod without a controller on a node.

    The pod has a nodeName, because the scheduler would require the node to advertise the device.
    """
    resources = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    body: Data = {
        "nodeName": node,
        "containers": [{"name": "main", "image": "example.com/job", "resources": resources}],
        **spec,
    }
    pool.client.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": SPACE}, "spec": body}
    )
    running(pool, name)
    try:
        yield
    finally:
        pool.client.delete("v1", "pods", name, SPACE)
        until(lambda: pool.client.get("v1", "pods", name, SPACE) is None, f"pod {name} gone")


def running(pool: Pool, name: str) -> None:
    until(
        lambda: (
            ((pool.client.get("v1", "pods", name, SPACE) or {}).get("status") or {}).get("phase") == "Running"
        ),
        f"pod {name}",
    )


def deploy(pool: Pool, name: str, replicas: int, selector: Data, tolerated: Data) -> None:
    """Create a Deployment of pods on the selected nodes that end at once. tolerated: the one toleration."""
    labels = {"app": name}
    spec: Data = {
        "nodeSelector": selector,
        "tolerations": [tolerated],
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": f"example.com/{name}"}],
    }
    template = {"metadata": {"labels": labels}, "spec": spec}
    deployment: Data = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    place = {"name": name, "namespace": SPACE}
    pool.client.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": place, "spec": deployment})


def undeploy(pool: Pool, name: str) -> None:
    """Delete a Deployment; return once its pods are gone."""
    pool.client.delete("apps/v1", "deployments", name, SPACE)
    until(lambda: not pool.client.list("v1", "pods", SPACE, f"app={name}"), "the pods gone")


@contextlib.contextmanager
def served(pool: Pool, minimum: int) -> t.Iterator[None]:
    """Run a Deployment of two pods on the pool's nodes; its disruption budget has this minAvailable."""
    # A pod that tolerates the cordon too could come back to the drained node, and would hold its Machine.
    deploy(pool, "served", 2, dict([POOL.split("=")]), {"key": TAINT["key"], "operator": "Exists"})
    place = {"name": "served", "namespace": SPACE}
    budget = {"minAvailable": minimum, "selector": {"matchLabels": {"app": "served"}}}
    pool.client.apply(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": place, "spec": budget}
    )

    def status(api_version: str, plural: str) -> Data:
        found = pool.client.get(api_version, plural, "served", SPACE) or {}
        return t.cast(Data, found.get("status", {}))

    until(lambda: status("apps/v1", "deployments").get("readyReplicas") == 2, "the pods")
    until(lambda: status("policy/v1", "poddisruptionbudgets").get("currentHealthy") == 2, "the budget")
    try:
        yield
    finally:
        pool.client.delete("policy/v1", "poddisruptionbudgets", "served", SPACE)
        undeploy(pool, "served")


def labels_of(obj: Data) -> Data:
    return t.cast(Data, obj["metadata"].get("labels") or {})
