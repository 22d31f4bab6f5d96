# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU pools are released one by one when the rest of the cluster is updated, on an operator in memory."""

from __future__ import annotations

import typing as t

from unit.fake_server import Answer
from unit.tuning.operator_in_memory import KINDS, Operator, gpu_pod, pool
from unit.update.pools_in_memory import cpu, gpu, own_pool, params, refusal, released, update, version

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._update import pause_steps, turns

STATE: t.Final = "machineconfiguration.openshift.io/state"


class SlowOperator(Operator):
    """An operator whose nodes begin some requests later. order: patches of pools and reboots of nodes."""

    def __init__(self, *objects: KubeObject, **more: t.Any) -> None:
        self.order: list[str] = []
        self.begins_in = 0
        super().__init__(*objects, **more)

    def request(self, method: str, url: str, **more: t.Any) -> Answer:
        if method == "PATCH" and "dryRun" not in url and b"spec" in more["body"]:
            self.order.append(f"patch {url.partition('?')[0].rpartition('/')[2]}")
        if self.begins_in:
            self.begins_in -= 1
            self.rolls = not self.begins_in
        return super().request(method, url, **more)

    def _take(self, node: KubeObject) -> None:
        super()._take(node)
        self.order.append(f"reboot {node['metadata']['name']}")


def cluster(*more: KubeObject) -> SlowOperator:
    """Return a cluster with two pools of GPU nodes, which wait for the update, and a node without GPUs."""
    pools = (own_pool("gpu-a"), own_pool("gpu-b"))
    nodes = (gpu("a1", "gpu-a"), gpu("b1", "gpu-b"), cpu("c1"))
    operator = SlowOperator(*pools, *nodes, version(), *more, kinds=(*KINDS, "ClusterVersion"))
    pause_steps.paused(operator.api(), params(order="last"))
    return operator


def updated(operator: SlowOperator, begins_in: int = 0) -> None:
    """Bring the new release; nodes begin so many requests later, with 0 at once."""
    operator.begins_in, operator.rolls = begins_in, not begins_in
    operator.order.clear()
    operator.server.requests.clear()
    update(operator)


def test_each_gpu_pool_waits_for_every_pool_before_it() -> None:
    operator = cluster()
    updated(operator, begins_in=9)
    found = released(operator)
    first = ["reboot c1", "patch gpu-a", "reboot a1", "patch gpu-a"]
    assert operator.order == [*first, "patch gpu-b", "reboot b1", "patch gpu-b"]
    assert [(one["name"], one["paused"], one["order"]) for one in found["pools"]] == [
        ("gpu-a", False, "last"),
        ("gpu-b", False, "last"),
    ]
    assert not operator.must("MachineConfigPool", "gpu-b")["metadata"]["annotations"]


def test_a_second_run_writes_nothing() -> None:
    operator = cluster()
    operator.server.requests.clear()
    pause_steps.paused(operator.api(), params(order="last"))
    assert operator.server.writes() == []
    updated(operator)
    released(operator)
    operator.server.requests.clear()
    released(operator)
    assert operator.server.writes() == []


def test_pods_are_asked_about_before_the_wait_and_before_the_first_write() -> None:
    operator = cluster(gpu_pod("train", "b1"))
    updated(operator)
    operator.rolls = False
    error = refusal(lambda: released(operator))
    assert (error.code, operator.server.writes()) == ("UPDATE-BUSY", [])
    assert "Nothing was changed." in error.message


def test_pods_that_start_while_a_pool_waits_for_its_turn_are_asked_about() -> None:
    operator = cluster()
    updated(operator)
    real = operator._take

    def take(node: KubeObject) -> None:
        real(node)
        if node["metadata"]["name"] == "a1":
            operator.server.put(gpu_pod("train", "b1"))

    operator._take = take  # type: ignore[method-assign]
    error = refusal(lambda: released(operator))
    assert error.code == "UPDATE-BUSY"
    assert "Before that, gpu-a was released; gpu-b stays paused." in error.message
    assert operator.must("MachineConfigPool", "gpu-b")["spec"]["paused"] is True


def test_a_killed_run_is_resumed_in_the_same_order() -> None:
    operator = cluster()
    updated(operator)
    operator.is_stopped = True
    pause_steps.released(operator.api(wait_wanted=False), params())
    operator.is_stopped = False
    operator.order.clear()
    released(operator)
    turns = ["reboot a1", "patch gpu-a", "patch gpu-b", "reboot b1", "patch gpu-b"]
    assert operator.order[-5:] == turns


def test_a_task_that_does_not_wait_releases_no_pool_before_its_turn() -> None:
    operator = cluster()
    updated(operator)
    operator.rolls = False
    operator.must("Node", "c1")["metadata"]["annotations"][STATE] = "Working"
    operator._work()
    api = operator.api(wait_wanted=False)
    found = pause_steps.released(api, params())
    assert operator.server.writes() == []
    assert [one["paused"] for one in found["pools"]] == [True, True]
    assert "MachineConfigPool gpu-a, gpu-b stays paused" in api.warnings[0]


def test_a_pool_that_somebody_else_paused_does_not_hold_gpu_nodes_back() -> None:
    other = pool("canary", paused=True)
    canary = cpu("x1")
    canary["metadata"]["labels"]["node-role.kubernetes.io/canary"] = ""
    operator = cluster(other, canary)
    updated(operator)
    api = operator.api()
    pause_steps.released(api, params())
    assert operator.must("MachineConfigPool", "gpu-b")["spec"]["paused"] is False
    assert any("MachineConfigPool canary is paused by " in one for one in api.warnings)


def test_check_mode_shows_every_pool_and_writes_nothing() -> None:
    operator = cluster(gpu_pod("train", "b1"))
    updated(operator)
    operator.rolls = False
    found = pause_steps.released(operator.api(check_mode=True), params(on_busy="drain"))
    assert operator.server.writes() == []
    assert [one["nodes"] for one in found["ends"]] == [["b1"]]
    assert [one["nodes"] for one in found["reboots"]] == [["a1"], ["b1"]]


def test_a_windows_node_has_no_configuration_to_wait_for() -> None:
    operator = cluster()
    windows = cpu("win")
    windows["metadata"]["annotations"] = {}
    snapshot = {"pools": operator.all("MachineConfigPool"), "nodes": [*operator.all("Node"), windows]}
    found = turns.judge({"gpu-a", "gpu-b"}, Grace(lambda: 0.0, 0.0, ()), snapshot)
    assert found.is_ready, found.message
