# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the upgrade of the NIC driver does to a node: its labels, and the pods that a drain ends."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.network_operator.daemon_sets import DRIVER_LABEL
from openshift_sandbox.stand_ins.network_operator.driver_upgrade import KEPT, STATE, NicDriverUpgrade

Object = dict[str, t.Any]
SPACE: t.Final = "nvidia-network-operator"
DRIVER: t.Final = {"kind": "DaemonSet", "name": "mofed", "uid": "uid-mofed", "controller": True}
REPLICAS: t.Final = {"kind": "ReplicaSet", "name": "train", "uid": "uid-train", "controller": True}


class Site:
    """A node whose driver pod is of an older revision, and a pod of a user."""

    def __init__(self, drain: Object | None, **train: t.Any) -> None:
        self.world = World(NicDriverUpgrade())
        upgrade: Object = {"autoUpgrade": True} if drain is None else {"autoUpgrade": True, "drain": drain}
        self.make("NicClusterPolicy", "mellanox.com/v1alpha1", "nic-cluster-policy", spec=_driver(upgrade))
        self.make("Node", "v1", "n-1", spec={})
        self.make("DaemonSet", "apps/v1", "mofed", SPACE)
        for number in (1, 2):
            revision = {"revision": number, "ownerReferences": [DRIVER]}
            self.make("ControllerRevision", "apps/v1", f"mofed-{number}", SPACE, **revision)
        self.pod("mofed", SPACE, DRIVER, {DRIVER_LABEL: "", "controller-revision-hash": "1"})
        self.pod("train", "team", **({"owner": REPLICAS} | train))
        self.labels: list[str] = []

    def make(self, kind: str, version: str, name: str, namespace: str = "", **body: t.Any) -> None:
        metadata: Object = {"name": name, **({"namespace": namespace} if namespace else {})}
        metadata |= {key: body.pop(key) for key in ("labels", "ownerReferences") if key in body}
        self.world.api.create({"apiVersion": version, "kind": kind, "metadata": metadata, **body})

    def pod(
        self,
        name: str,
        namespace: str,
        owner: Object | None = None,
        labels: Object | None = None,
        volumes: t.Sequence[Object] = (),
    ) -> None:
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        more = {"ownerReferences": [owner]} if owner else {}
        spec = {"nodeName": "n-1", "volumes": list(volumes)}
        self.make("Pod", "v1", name, namespace, labels=labels or {}, spec=spec, status=status, **more)

    def run(self, seconds: int) -> list[str]:
        """Let time pass, and return the labels that the node had."""
        for _second in range(seconds * 10):
            self.world.settle(0.1, 0.1)
            now = self.world.api.get("Node", "n-1")["metadata"].get("labels", {}).get(STATE, "")
            if self.labels[-1:] != [now]:
                self.labels.append(now)
            if now == "pod-restart-required" and ("Pod", SPACE, "mofed") not in self.world.api.objects:
                self.pod("mofed", SPACE, DRIVER, {DRIVER_LABEL: "", "controller-revision-hash": "2"})
        return self.labels

    @property
    def trains(self) -> bool:
        return ("Pod", "team", "train") in self.world.api.objects

    @property
    def is_cordoned(self) -> bool:
        return bool(self.world.api.get("Node", "n-1")["spec"].get("unschedulable"))


def _driver(upgrade: Object) -> Object:
    return {"ofedDriver": {"upgradePolicy": upgrade}}


BEGUN: t.Final = ["upgrade-required", "cordon-required", "wait-for-jobs-required", "drain-required"]
ENDED: t.Final = ["pod-restart-required", "uncordon-required", "upgrade-done"]


@pytest.mark.parametrize(("drain", "trains"), [({}, False), ({"enable": False}, True), (None, True)])
def test_the_pods_of_the_node_end_only_with_a_drain(drain: Object | None, trains: bool) -> None:
    site = Site(drain)
    assert site.run(10) == [*BEGUN, *ENDED]
    assert (site.trains, site.is_cordoned) == (trains, False)


def test_a_budget_keeps_the_pods_until_the_timeout_and_the_old_driver_with_them() -> None:
    site = Site({"timeoutSeconds": 5})
    site.world.api.budgeted.add("train")
    assert site.run(4) == BEGUN
    assert site.run(8)[-1] == "upgrade-failed"
    assert (site.trains, site.is_cordoned) == (True, True)
    assert site.world.api.get("Pod", "mofed", SPACE)["metadata"]["labels"]["controller-revision-hash"] == "1"


@pytest.mark.parametrize(
    ("train", "allowed"),
    [
        ({"owner": None}, {"force": True}),
        ({"volumes": [{"name": "data", "emptyDir": {}}]}, {"deleteEmptyDir": True}),
    ],
)
def test_a_drain_gives_up_where_it_would_lose_something(train: Object, allowed: Object) -> None:
    site = Site({}, **train)
    assert (site.run(10)[-1], site.trains) == ("upgrade-failed", True)
    site = Site(allowed, **train)
    assert (site.run(10)[-1], site.trains) == ("upgrade-done", False)


def test_a_pod_with_the_label_of_the_operator_stays() -> None:
    site = Site({}, labels={KEPT: "true"})
    assert (site.run(10)[-1], site.trains) == ("upgrade-done", True)
