# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU nodes are held back during an update and released after it, on a machine-config operator in memory."""

from __future__ import annotations

from unit.tuning.operator_in_memory import KINDS, Operator, gpu_pod, node, pool
from unit.update.pools_in_memory import (
    cluster,
    cpu,
    gpu,
    own_pool,
    params,
    paused,
    refusal,
    released,
    update,
    version,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import (
    machine_config,
    paused as paused_pools,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update import (
    pause,
    pause_steps,
    rollout,
)


def test_only_the_nodes_with_gpus_wait_and_reboot_when_they_are_released() -> None:
    operator = cluster()
    found = paused(operator)
    expected = {"name": "gpu", "nodes": ["g1", "g2"], "paused": True, "version": "", "order": "together"}
    assert found["pools"] == [expected]
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


def test_nodes_of_custom_pools_are_no_nodes_of_worker() -> None:
    """The operator gives a node of a custom pool nothing of worker, and counts no Windows node."""
    infra = node("i1", labels={"node-role.kubernetes.io/infra": ""})
    windows = node("w1", labels={"kubernetes.io/os": "windows"})
    for one in (infra, windows):
        del one["metadata"]["labels"]["accelerators.openshift/pool"]
    pools = [pool("worker"), pool("infra"), own_pool()]
    found = pause.members(pools, [gpu("g1", "worker"), gpu("g2"), infra, windows])
    assert [
        (one.object_name, [one["metadata"]["name"] for one in one.gpus], one.others) for one in found
    ] == [
        ("gpu", ["g2"], []),
        ("worker", ["g1"], []),
    ]
    assert [one.object_name for one in pause.to_pause(found)] == ["gpu", "worker"]


def test_a_pool_that_a_killed_tuning_left_is_said_to_stay_paused() -> None:
    operator = cluster()
    live = operator.must("MachineConfigPool", "gpu")
    live["spec"]["paused"] = True
    live["metadata"]["annotations"] = {machine_config.ROLLOUT: "root|bastion|boot|4711|9|"}
    api = operator.api()
    pause_steps.paused(api, params())
    (warning,) = api.warnings
    assert "MachineConfigPool gpu is paused by the run of root@bastion (pid 4711)" in warning
    assert "after_openshift_update does not release it" in warning
    assert operator.server.writes() == []


def test_a_rollout_is_not_stopped_in_its_middle() -> None:
    operator = cluster()
    operator.rolls = False
    update(operator)
    error = refusal(lambda: paused(operator))
    assert (error.code, operator.server.writes()) == ("UPDATE-ROLLOUT", [])


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
    assert paused_pools.UPDATE in operator.must("MachineConfigPool", "gpu")["metadata"]["annotations"]
    operator.is_stopped = False
    released(operator)
    assert sorted(operator.reboots) == ["c1", "g1", "g2"]
    assert not operator.must("MachineConfigPool", "gpu")["metadata"].get("annotations")


def test_a_node_of_the_control_plane_belongs_to_master() -> None:
    pools = [pool("worker"), pool("master"), own_pool()]
    compact = gpu("m1")
    compact["metadata"]["labels"]["node-role.kubernetes.io/master"] = ""
    (found,) = pause.members(pools, [compact])
    assert found.object_name == "master"


def test_nothing_is_released_before_the_update_begins() -> None:
    """Once released, the GPU nodes would be updated together with all others."""
    operator = cluster(version(release="4.22.5"))
    paused(operator)
    operator.server.requests.clear()
    error = refusal(lambda: released(operator))
    assert (error.code, operator.server.writes()) == ("UPDATE-NOT-BEGUN", [])
    assert "gpu waits for 4.22.9, and the cluster still has 4.22.5" in error.message
    assert refusal(lambda: released(operator, check_mode=True)).code == "UPDATE-NOT-BEGUN"
    pause_steps.released(operator.api(), params(cancelled=True))
    live = operator.must("MachineConfigPool", "gpu")
    assert (live["spec"]["paused"], live["metadata"]["annotations"]) == (False, {})


def test_a_later_release_than_the_one_of_the_mark_is_enough() -> None:
    operator = cluster(version(release="4.22.10"))
    paused(operator)
    assert released(operator)["pools"][0]["paused"] is False


def test_a_second_pause_for_another_release_changes_the_mark() -> None:
    operator = cluster()
    paused(operator)
    operator.server.requests.clear()
    pause_steps.paused(operator.api(), params(version="4.22.11", order="last"))
    assert len(operator.server.writes()) == 1
    marks = operator.must("MachineConfigPool", "gpu")["metadata"]["annotations"]
    assert (marks[paused_pools.UPDATE], marks[rollout.ORDER]) == ("4.22.11", "last")
    paused(operator)
    assert operator.must("MachineConfigPool", "gpu")["metadata"]["annotations"] == {
        paused_pools.UPDATE: "4.22.9"
    }


def test_a_release_that_is_none_is_refused() -> None:
    operator = cluster()
    error = refusal(lambda: pause_steps.paused(operator.api(), params(version="next")))
    assert (error.code, operator.server.writes()) == ("INPUT-VALUE", [])
    assert error.message.startswith("version is 'next'")


def test_the_control_plane_is_not_paused() -> None:
    """The update would never complete: the machine-config operator waits for the pool master."""
    master = "node-role.kubernetes.io/master"
    control = pool("master", nodeSelector={"matchLabels": {master: ""}})
    operator = cluster(control, node("m1", labels={master: ""}))
    error = refusal(lambda: paused(operator))
    assert (error.code, operator.server.writes()) == ("UPDATE-CONTROL-PLANE", [])
    assert "master" in error.message
