# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Driver upgrades of the nodes of scenario gpu-nodes, and what they leave."""

from __future__ import annotations

import typing as t

from cluster import Cluster, must_get
from integration.playbook import Playbook, TaskResult
from integration.stack.driver_gaps import NAMESPACE, NEW, OLD, POLICIES, POOLS, driver
from integration.wire import Audit

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
