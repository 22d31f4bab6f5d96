# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU nodes are held back during an update and released after it, on a machine-config operator in memory."""

from __future__ import annotations

import typing as t

import pytest
from unit.tuning.operator_in_memory import KINDS, Operator, config, gpu_pod, node, pool

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._update import (
    pause,
    pause_steps,
    rollout,
)

GPU: t.Final = "node-role.kubernetes.io/gpu"
ROLES: t.Final = {
    "key": "machineconfiguration.openshift.io/role",
    "operator": "In",
    "values": ["worker", "gpu"],
}


def own_pool(**spec: t.Any) -> KubeObject:
    """Return the MachineConfigPool of the GPU nodes."""
    return pool("gpu", machineConfigSelector={"matchExpressions": [ROLES]}, **spec)


def gpu(name: str) -> KubeObject:
    return node(name, labels={GPU: ""})


def cpu(name: str) -> KubeObject:
    found = node(name)
    del found["metadata"]["labels"]["accelerators.openshift/pool"]
    return found


def version(progressing: str = "False") -> KubeObject:
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "metadata": {"name": "version"},
        "status": {"conditions": [{"type": "Progressing", "status": progressing, "message": "Working"}]},
    }


def cluster(*more: KubeObject, progressing: str = "False") -> Operator:
    objects = (own_pool(), gpu("g1"), gpu("g2"), cpu("c1"), version(progressing), *more)
    return Operator(*objects, kinds=(*KINDS, "ClusterVersion"))


def params(**more: t.Any) -> t.Any:
    return {"state": "paused", "version": "4.22.9", "on_busy": "fail", "lock_timeout": 0, **more}


def paused(operator: Operator, **more: t.Any) -> dict[str, t.Any]:
    return pause_steps.paused(operator.api(**more), params())


def released(operator: Operator, on_busy: str = "fail", **more: t.Any) -> dict[str, t.Any]:
    return pause_steps.released(operator.api(**more), params(on_busy=on_busy))


def update(operator: Operator) -> None:
    """Bring another configuration to all pools, as a release does."""
    operator.server.put(config("01-worker-kernel", "worker", "new"))
    operator._work()


def refusal(call: t.Callable[[], t.Any]) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as caught:
        call()
    return caught.value


def test_only_the_nodes_with_gpus_wait_and_reboot_when_they_are_released() -> None:
    operator = cluster()
    found = paused(operator)
    assert found["pools"] == [{"name": "gpu", "nodes": ["g1", "g2"], "paused": True, "version": ""}]
    assert operator.must("MachineConfigPool", "gpu")["spec"]["paused"] is True
    update(operator)
    assert operator.reboots == ["c1"]
    found = released(operator)
    assert sorted(operator.reboots) == ["c1", "g1", "g2"]
    assert [one["nodes"] for one in found["reboots"]] == [["g1", "g2"]]
    live = operator.must("MachineConfigPool", "gpu")
    assert (live["spec"]["paused"], live["metadata"].get("annotations") or {}) == (False, {})


def test_a_second_run_writes_nothing() -> None:
    operator = cluster()
    for step in (paused, released):
        step(operator)
        operator.server.requests.clear()
        again = step(operator)
        assert operator.server.writes() == []
        assert [one["paused"] for one in again["pools"]] == [step is paused]


def test_pods_with_gpus_are_asked_about_before_the_first_write() -> None:
    operator = cluster(gpu_pod("train", "g2"))
    paused(operator)
    update(operator)
    operator.server.requests.clear()
    error = refusal(lambda: released(operator))
    assert (error.code, error.facts["ends"][0]["pods"][0]["name"]) == ("UPDATE-BUSY", "train")
    assert operator.server.writes() == []
    assert refusal(lambda: released(operator, check_mode=True)).code == "UPDATE-BUSY"
    assert released(operator, "drain")["ends"][0]["nodes"] == ["g1", "g2"]


def test_nothing_is_asked_where_no_node_reboots() -> None:
    operator = cluster(gpu_pod("train", "g2"))
    paused(operator)
    assert released(operator)["ends"] == []


def test_nodes_that_share_their_pool_are_refused() -> None:
    operator = Operator(gpu("g1"), cpu("c1"), version(), kinds=(*KINDS, "ClusterVersion"))
    error = refusal(lambda: paused(operator))
    assert (error.code, operator.server.writes()) == ("UPDATE-SHARED", [])
    assert "MachineConfigPool worker has 1 GPU node and 1 other node (c1)" in error.message


def test_a_rollout_is_not_stopped_in_its_middle() -> None:
    operator = cluster()
    operator.rolls = False
    update(operator)
    error = refusal(lambda: paused(operator))
    assert (error.code, operator.server.writes()) == ("UPDATE-POOL", [])


def test_nothing_is_released_during_the_update() -> None:
    operator = cluster(progressing="True")
    paused(operator)
    operator.server.requests.clear()
    error = refusal(lambda: released(operator))
    assert (error.code, operator.server.writes()) == ("UPDATE-CLUSTER", [])
    assert "Working" in error.message


def test_a_pool_that_somebody_else_paused_stays_paused() -> None:
    operator = Operator(own_pool(paused=True), gpu("g1"), version(), kinds=(*KINDS, "ClusterVersion"))
    assert paused(operator)["pools"][0]["paused"] is True
    assert released(operator)["pools"][0]["paused"] is True
    assert operator.server.writes() == []


def test_check_mode_writes_nothing() -> None:
    operator = cluster()
    api = operator.api(check_mode=True)
    pause_steps.paused(api, params())
    assert len(api.changes) == 1
    assert operator.must("MachineConfigPool", "gpu")["spec"]["paused"] is False


def test_a_run_that_was_killed_while_nodes_reboot_is_resumed() -> None:
    operator = cluster()
    paused(operator)
    update(operator)
    operator.is_stopped = True
    pause_steps.released(operator.api(wait_wanted=False), params())
    assert rollout.MARK in operator.must("MachineConfigPool", "gpu")["metadata"]["annotations"]
    operator.is_stopped = False
    released(operator)
    assert sorted(operator.reboots) == ["c1", "g1", "g2"]
    assert not operator.must("MachineConfigPool", "gpu")["metadata"].get("annotations")


def test_a_node_of_the_control_plane_belongs_to_master() -> None:
    pools = [pool("worker"), pool("master"), own_pool()]
    compact = gpu("m1")
    compact["metadata"]["labels"]["node-role.kubernetes.io/master"] = ""
    (found,) = pause.members(pools, [compact])
    assert found.title == "master"


def test_the_control_plane_is_not_paused() -> None:
    """The update would never complete: the machine-config operator waits for the pool master."""
    master = "node-role.kubernetes.io/master"
    control = pool("master", nodeSelector={"matchLabels": {master: ""}})
    operator = cluster(control, node("m1", labels={master: ""}))
    error = refusal(lambda: paused(operator))
    assert (error.code, operator.server.writes()) == ("UPDATE-SHARED", [])
    assert "master" in error.message
