# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Driver upgrades of the nodes of scenario gpu-nodes, and what they leave."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import typing as t

from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, TaskResult
from integration.stack.driver_gaps import NAMESPACE, NEW, OLD, POLICIES, POOLS, WORK, driver, training
from integration.wire import Audit

from openshift_sandbox import scenario

Data = dict[str, t.Any]

OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}
POLICY: t.Final = "gpu-cluster-policy"
NODES: t.Final = ("a100-0", "t4-0", "t4-1")
STATE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
SKIP: t.Final = "nvidia.com/gpu-driver-upgrade.skip"
DRIVERS: t.Final = "app.kubernetes.io/component=nvidia-driver"
QUICK: t.Final[Data] = {"grace": 20, "wait_timeout": 180, "settle": 1}


class Upgrades:
    """The upgrades of one cluster."""

    def __init__(self, cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
        self.cluster, self.playbook, self.audit = cluster, playbook, audit
        self.client = cluster.client

    def install(self, version: str = OLD, **options: t.Any) -> None:
        """Install the stack with a driver; the same driver again writes nothing."""
        wanted = {"driver": driver(version), "pools": POOLS, "grace": 20, "wait_timeout": 180, **options}
        made = self.playbook.module("special_resource", **wanted)
        assert not made.failed, made.result

    def run(self, version: str = NEW, check: bool = False, **options: t.Any) -> TaskResult:
        """Upgrade the driver, or fail."""
        wanted = {**driver(version), "pools": POOLS, **QUICK, **options}
        return self.playbook.module("gpu_driver_upgrade", check=check, **wanted)

    def succeed(self, version: str = NEW, **options: t.Any) -> Data:
        """Upgrade the driver; return the value of the result. Nothing of the upgrade is left."""
        made = self.run(version, **options)
        assert not made.failed, made.result
        assert self.versions() == dict.fromkeys(NODES, version)
        self.assert_clean()
        return dict(made["driver_upgrade"])

    def versions(self) -> dict[str, str]:
        """Return the version of the driver pod that runs on each node, whatever the labels say."""
        pods = self.client.list("v1", "pods", NAMESPACE, labels=DRIVERS)
        alive = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
        images = {pod["spec"]["nodeName"]: pod["spec"]["containers"][0]["image"] for pod in alive}
        return {node: image.rpartition(":")[2].partition("-")[0] for node, image in images.items()}

    def nodes(self) -> dict[str, Data]:
        """Return the GPU nodes by name."""
        found = self.client.list("v1", "nodes", labels="nvidia.com/gpu.present=true")
        return {node["metadata"]["name"]: node for node in found}

    def followed(self, node: str, seconds: int = 120) -> t.Iterator[str]:
        """Yield each value of the label of one node, first the one that it has now; end after that time.

        It comes from a watch: some values last for less time than passes between two looks.
        """
        query = {"watch": "true", "fieldSelector": f"metadata.name={node}", "timeoutSeconds": str(seconds)}
        with self.client.stream("/api/v1/nodes", query, seconds + 10) as answer:
            labels = (json.loads(line)["object"]["metadata"]["labels"] for line in answer)
            for state, _events in itertools.groupby(one.get(STATE, "") for one in labels):
                yield state

    def states(self) -> dict[str, str]:
        """Return the label of each node that says how far its upgrade is."""
        return {name: node["metadata"]["labels"].get(STATE, "") for name, node in self.nodes().items()}

    def cordoned(self) -> list[str]:
        """Return the nodes that take no pods."""
        return [name for name, node in self.nodes().items() if node["spec"].get("unschedulable")]

    def held(self) -> list[str]:
        """Return the nodes that the operator leaves out of upgrades."""
        return [name for name, node in self.nodes().items() if SKIP in node["metadata"]["labels"]]

    def policy(self) -> Data:
        """Return what the ClusterPolicy says about the driver."""
        return dict(must_get(self.client, *POLICIES, POLICY)["spec"]["driver"])

    def assert_clean(self) -> None:
        """Assert that no node is cordoned, held back or in the middle of an upgrade."""
        assert (self.cordoned(), self.held()) == ([], [])
        assert self.states() == dict.fromkeys(NODES, "upgrade-done")

    def pods(self) -> list[Data]:
        """Return the pods of the training that run."""
        found = self.client.list("v1", "pods", "default", labels=f"app={WORK}")
        return [
            pod
            for pod in found
            if pod["status"].get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")
        ]

    @contextlib.contextmanager
    def trains(self, node: str) -> t.Iterator[str]:
        """Run a pod with a GPU on a node; yield its uid, and delete it with its controller at the end."""
        self.client.create(training(node))
        (pod,) = until(self.pods, "a pod with a GPU")
        try:
            yield str(pod["metadata"]["uid"])
        finally:
            self.client.delete("apps/v1", "replicasets", WORK, "default")
            until(
                lambda: not self.client.list("v1", "pods", "default", labels=f"app={WORK}"),
                "the pod with a GPU is gone",
            )

    @contextlib.contextmanager
    def staged(self, name: str) -> t.Iterator[None]:
        """Stage the troubles and the delays of a scenario on the running sandbox."""
        directory = self.cluster.needs_sandbox().directory
        before, more = scenario.read(directory), scenario.load(name)
        delays, troubles = {**before.delays, **more.delays}, [*before.troubles, *more.troubles]
        scenario.save(dataclasses.replace(before, delays=delays, troubles=troubles), directory)
        try:
            yield
        finally:
            scenario.save(before, directory)
