# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NVSentinel: nodes are opted out while we change them, and in again; what others decided stays."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_UPGRADE,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    cordons,
    drain_steps,
    sentinel,
    sentinel_steps,
)

OLD: t.Final = "k8saas.nvidia.com/ManagedByNVSentinel"
OURS: t.Final = Run("root", "bastion", "boot", 1, "1")
BOTH: t.Final = {sentinel.MANAGED: "false", OLD: "false"}


def node(name: str = "gpu-0", gpus: str = "8", cordoned: str = "", **labels: str) -> KubeObject:
    notes = {cordons.MARK: cordoned} if cordoned else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"nvidia.com/gpu.count": "8", **labels}, "annotations": notes},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "capacity": {"nvidia.com/gpu": "8"},
            "allocatable": {"nvidia.com/gpu": gpus},
        },
    }


class World:
    """A cluster with NVSentinel, unless it is left out, and these nodes."""

    def __init__(self, *nodes: KubeObject, is_there: bool = True) -> None:
        self.server = FakeServer("Node", "Namespace")
        if is_there:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nvsentinel"}}
            self.server.put(namespace)
        for one in nodes:
            self.server.put(one)

    def api(self, run: Run = OURS) -> Api:
        return api_on(self.server, FakeClock(), run=run)

    def nodes(self) -> list[KubeObject]:
        return [found for key, found in self.server.objects.items() if key[1] == "nodes"]

    def labels(self, name: str = "gpu-0") -> dict[str, str]:
        (found,) = [one for one in self.nodes() if one["metadata"]["name"] == name]
        return {key: value for key, value in found["metadata"]["labels"].items() if key in BOTH}


def test_a_node_is_opted_out_during_the_change_alone() -> None:
    world = World(node())
    with sentinel_steps.opted_out(world.api(), world.nodes):
        assert world.labels() == BOTH
    assert world.labels() == {}
    assert world.nodes()[0]["metadata"]["annotations"] == {}


def test_without_nvsentinel_nothing_is_written_after_one_read() -> None:
    world = World(node(), is_there=False)
    with sentinel_steps.opted_out(world.api(), world.nodes):
        assert world.labels() == {}
    assert len(world.server.requests) == 1


@pytest.mark.parametrize("value", ["false", "true"])
def test_what_somebody_else_decided_stays(value: str) -> None:
    world = World(node(**{sentinel.MANAGED: value}))
    with sentinel_steps.opted_out(world.api(), world.nodes):
        assert world.labels() == {sentinel.MANAGED: value}
    assert world.labels() == {sentinel.MANAGED: value}
    assert world.server.writes() == []


def test_after_a_failure_a_node_that_works_is_opted_in_and_a_broken_one_is_not() -> None:
    world = World(node(), node("gpu-1"))
    api = world.api()

    def change() -> None:
        with sentinel_steps.opted_out(api, world.nodes):
            world.server.put({**node("gpu-1", gpus="0"), "metadata": world.nodes()[1]["metadata"]})
            raise AcceleratorError("API-ERROR", "no")

    with pytest.raises(AcceleratorError):
        change()
    assert (world.labels("gpu-0"), world.labels("gpu-1")) == ({}, BOTH)
    assert any("gpu-1" in warning and "gpu-0" not in warning for warning in api.warnings)


def test_the_next_run_takes_back_what_a_killed_one_left() -> None:
    world = World(node())
    killed = Run("eva", "bastion", "boot", 2, "2")
    sentinel_steps.opt_out(world.api(killed), world.nodes())
    assert world.labels() == BOTH
    assert sentinel_steps.take_back(world.api()) == []
    assert world.labels() == {}


@pytest.mark.parametrize(
    ("found", "is_healthy"),
    [
        (node(), True),
        (node(gpus="7"), False),
        (node(cordoned=cordons.FOR_REPAIR), False),
        ({**node(), "spec": {"unschedulable": True}}, True),
        ({**node(), "status": {}}, False),
        (node(**{DRIVER_UPGRADE: "upgrade-failed"}), False),
        (node(**{DRIVER_UPGRADE: "upgrade-done"}), True),
    ],
)
def test_a_node_works_with_all_devices_and_without_a_cordon_of_ours(
    found: KubeObject, is_healthy: bool
) -> None:
    assert sentinel.is_healthy(found) is is_healthy


@pytest.mark.parametrize("label", [sentinel.STATE, "k8saas.nvidia.com/cordon-by"])
def test_a_node_that_it_holds_is_not_made_schedulable_and_that_is_said(label: str) -> None:
    world = World(node(cordoned=cordons.FOR_REPAIR, **{label: "quarantined"}))
    api = world.api()
    drain_steps.uncordon(api, "gpu-0")
    (found,) = world.nodes()
    assert found["spec"]["unschedulable"] is True
    assert cordons.MARK not in found["metadata"]["annotations"]
    assert "NVSentinel holds it" in api.warnings[0]
