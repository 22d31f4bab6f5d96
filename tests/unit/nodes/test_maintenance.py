# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that another program maintains is not drained by us."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain_steps, maintenance
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.drain_judge import Rules

Data = dict[str, t.Any]
UPGRADE: t.Final = "nvidia.com/ofed-driver-upgrade-state"
WHY: t.Final = "Node n1 is to be drained"


def claim(node: str = "n1", **more: t.Any) -> Data:
    return {
        "apiVersion": "maintenance.nvidia.com/v1alpha1",
        "kind": "NodeMaintenance",
        "metadata": {"name": "m", "namespace": "nv", "creationTimestamp": "2026-11-28T10:00:00Z"},
        "spec": {"requestorID": "slurm.example.com", "nodeName": node},
        **more,
    }


def node(name: str = "n1", state: str = "") -> Data:
    marks = {UPGRADE: state} if state else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": marks}, "spec": {}}


def test_a_maintenance_names_its_requestor_its_state_and_its_time() -> None:
    draining = claim(status={"conditions": [{"type": "Ready", "status": "False", "reason": "Draining"}]})
    assert maintenance.claims({"n1"}, [draining, claim("n2")], []) == [
        "n1: NodeMaintenance nv/m of slurm.example.com (Draining, since 2026-11-28T10:00:00Z)"
    ]
    assert "(Pending, since" in maintenance.claims({"n1"}, [claim()], [])[0]


@pytest.mark.parametrize("state", ["cordon-required", "drain-required", "pod-restart-required"])
def test_the_wave_of_a_nic_driver_holds_its_node(state: str) -> None:
    found = maintenance.claims({"n1"}, [], [node(state=state), node("n2", state)])
    assert found == [f"n1: the network operator replaces the NIC driver ({state})"]


@pytest.mark.parametrize("state", ["upgrade-required", "upgrade-done", "upgrade-failed"])
def test_a_wave_that_does_nothing_with_the_node_holds_nothing(state: str) -> None:
    assert maintenance.claims({"n1"}, [], [node(state=state)]) == []


def server_with(*objects: Data) -> FakeServer:
    server = FakeServer("Node", "Pod", "NodeMaintenance")
    for one in objects:
        server.put(one)
    return server


@pytest.mark.parametrize("objects", [(node(), claim()), (node(state="drain-required"),)])
def test_a_drain_is_refused_before_the_cordon(objects: tuple[Data, ...]) -> None:
    server = server_with(*objects)
    with pytest.raises(AcceleratorError) as caught:
        drain_steps.drain(api_on(server), {"n1"}, Rules(on_busy="drain"), WHY)
    assert caught.value.code == "NODE-MAINTENANCE"
    assert caught.value.message.startswith(f"{WHY}, but another program maintains it: n1: ")
    assert server.writes() == []


def test_the_maintenance_of_another_node_stops_nothing() -> None:
    server = server_with(node(), claim("n2"))
    drain_steps.drain(api_on(server), {"n1"}, Rules(), WHY)
    assert [path for _method, path in server.writes()] == ["/api/v1/nodes/n1"]


def test_without_the_maintenance_operator_a_drain_asks_twice_and_goes_on() -> None:
    server = FakeServer("Node", "Pod")
    server.put(node())
    api = api_on(server)
    drain_steps.check(api, {"n1"}, Rules(), WHY)
    assert api.warnings == []


def test_an_identity_that_may_not_see_them_is_told_so() -> None:
    server = server_with(node())
    server.request = lambda method, url, **more: (
        status(403, "Forbidden", "no") if "nodemaintenances" in url else server.answer(method, url, **more)
    )
    api = api_on(server)
    drain_steps.check(api, {"n1"}, Rules(), WHY)
    assert "cannot tell whether another program maintains n1" in api.warnings[0]
