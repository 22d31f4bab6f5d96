"""The rollout of what reboots nodes, on a machine-config operator in memory."""

from __future__ import annotations

import typing as t

import pytest
from unit.killed_run import KilledError
from unit.tuning.operator_in_memory import LABEL, Operator, config, gpu_pod, node, pool, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import paused, rollout_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import (
    NEVER,
    HugePages,
    Isolation,
)

RUN = Run("root", "bastion", "boot", 4711, "9")
WHOLE = tuning(isolate=Isolation("0-1", "2-7"), topology="single-numa-node", huge_pages=(HugePages("1G", 8),))


def two_nodes() -> Operator:
    return Operator(node("n2"), node("n1"), node("cpu-0", pool="other"))


def test_all_changes_are_one_rollout_of_the_pools_nodes() -> None:
    operator = two_nodes()
    (found,) = rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    assert sorted(operator.reboots) == ["n1", "n2"], "each node once, and no other node"
    assert found["nodes"] == ["n1", "n2"]
    assert found["reboots"] == ["n1", "n2"]
    assert found["ready"] is True
    live = operator.must("MachineConfigPool", "gpu-training")
    assert live["spec"]["paused"] is False
    assert "annotations" not in live["metadata"] or not live["metadata"]["annotations"]
    assert operator.names("KubeletConfig") == ["gpu-training"]
    assert operator.names("MachineConfig") == [
        "00-worker",
        "99-gpu-training-generated-kubelet",
        "99-gpu-training-kernel",
    ]


def test_a_second_run_writes_nothing() -> None:
    operator = two_nodes()
    rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    operator.server.requests.clear()
    api = operator.api()
    (found,) = rollout_steps.ensure(api, [WHOLE], "fail")
    assert operator.server.writes() == []
    assert api.changes == []
    assert found["reboots"] == []
    assert found["ready"] is True


def test_check_mode_names_what_stays() -> None:
    operator = two_nodes()
    rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    api = operator.api(check_mode=True)
    rollout_steps.ensure(api, [WHOLE], "fail")
    assert api.changes == []
    assert set(api.kept) == {
        "MachineConfigPool gpu-training",
        "MachineConfig 99-gpu-training-kernel",
        "KubeletConfig gpu-training",
    }


def test_another_setting_is_one_more_rollout() -> None:
    operator = two_nodes()
    rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    operator.reboots.clear()
    other = tuning(isolate=Isolation("0-3", "4-7"), kernel_arguments=("iommu=pt", "pci=realloc=off"))
    rollout_steps.ensure(operator.api(), [other], "fail")
    assert sorted(operator.reboots) == ["n1", "n2"]


def test_check_mode_names_nodes_and_pods_and_writes_nothing() -> None:
    operator = Operator(node("n1"), node("n2"), gpu_pod("train", "n2"))
    (found,) = rollout_steps.ensure(operator.api(check_mode=True), [tuning()], "drain")
    assert found["reboots"] == ["n1", "n2"]
    (ends,) = found["ends"]
    assert [one["name"] for one in ends["pods"]] == ["train"]
    assert "MachineConfig 99-gpu-training-kernel" in ends["because"]
    assert operator.server.writes() == []


def test_never_refuses_with_the_nodes_and_the_pods() -> None:
    operator = Operator(node("n1"), node("n2"), gpu_pod("train", "n2"))
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.ensure(operator.api(), [tuning(reboot=NEVER)], "drain")
    assert caught.value.code == "REBOOT-NEVER"
    assert "pools[0].tuning.reboot" in caught.value.message
    assert "n1, n2" in caught.value.message
    assert any("team/train" in line for line in caught.value.evidence)
    assert operator.server.writes() == []


def test_never_is_no_obstacle_for_a_pool_without_nodes() -> None:
    operator = Operator()
    (found,) = rollout_steps.ensure(operator.api(), [tuning(reboot=NEVER)], "fail")
    assert found["ready"] is True
    assert operator.reboots == []
    assert operator.must("MachineConfigPool", "gpu-training")["spec"]["paused"] is False


def test_busy_nodes_are_asked_for_before_the_first_write() -> None:
    operator = Operator(node("n1"), gpu_pod("train", "n1"))
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.ensure(operator.api(), [tuning()], "fail")
    assert caught.value.code == "REBOOT-BUSY"
    assert operator.server.writes() == []


def test_drain_says_which_pods_end() -> None:
    operator = Operator(node("n1"), gpu_pod("train", "n1"))
    (found,) = rollout_steps.ensure(operator.api(), [tuning()], "drain")
    assert [pod["name"] for one in found["ends"] for pod in one["pods"]] == ["train"]
    assert operator.reboots == ["n1"]


def test_check_mode_writes_nothing() -> None:
    operator = two_nodes()
    api = operator.api(check_mode=True)
    (found,) = rollout_steps.ensure(api, [WHOLE], "fail")
    assert operator.server.writes() == []
    assert found["reboots"] == ["n1", "n2"]
    assert {one.object_name for one in api.changes} == {
        "MachineConfigPool gpu-training",
        "MachineConfig 99-gpu-training-kernel",
        "KubeletConfig gpu-training",
    }


def test_huge_pages_beyond_the_memory_are_refused_with_the_path() -> None:
    operator = two_nodes()
    with pytest.raises(InputError) as caught:
        rollout_steps.ensure(operator.api(), [tuning(huge_pages=(HugePages("1G", 100),))], "fail")
    assert caught.value.code == "REBOOT-HUGE-PAGES"
    assert caught.value.message.startswith("pools[0].tuning.huge_pages: ")
    assert operator.server.requests == []


@pytest.mark.parametrize("writes", range(4))
def test_the_next_run_resumes_a_killed_one(writes: int) -> None:
    operator = two_nodes()
    operator.writes_left = writes
    with pytest.raises(KilledError):
        rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    operator.writes_left = None
    (found,) = rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    assert found["ready"] is True
    assert operator.must("MachineConfigPool", "gpu-training")["spec"]["paused"] is False
    assert sorted(operator.reboots) == ["n1", "n2"], "still one rollout"


def killed_while_paused(on_busy: str, writes: int = 3) -> Operator:
    operator = two_nodes()
    operator.writes_left = writes
    with pytest.raises(KilledError):
        rollout_steps.ensure(operator.api(run=RUN), [WHOLE], on_busy)
    assert operator.must("MachineConfigPool", "gpu-training")["spec"]["paused"] is True
    operator.writes_left = None
    return operator


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("work", ["ensure", "remove"])
def test_a_run_for_another_pool_names_what_was_left_and_leaves_it(work: str, check_mode: bool) -> None:
    operator = killed_while_paused("drain")
    operator.server.requests.clear()
    operator.reboots.clear()
    api = operator.api(check_mode=check_mode)
    if work == "ensure":
        rollout_steps.ensure(api, [tuning(name="other", label={"other": ""}, kernel_arguments=())], "drain")
    else:
        rollout_steps.remove(api, ["other"], "drain")
    assert operator.must("MachineConfigPool", "gpu-training")["spec"]["paused"] is True
    assert (operator.reboots, operator.server.writes()) == ([], [])
    (warning,) = api.warnings
    assert "gpu-training is paused by the run of root@bastion (pid 4711)" in warning
    assert "accelerators.openshift.tune_nodes -e @FILE` with pool training" in warning
    assert "remove_pool -e gpu_pool=training --tags node_tuning" in warning


@pytest.mark.parametrize("on_busy", ["fail", "drain"])
@pytest.mark.parametrize("writes", [1, 2, 3])
@pytest.mark.parametrize("is_stopped", [False, True])
def test_the_next_run_asks_for_the_pods_whatever_the_killed_one_might_do(
    on_busy: str, writes: int, is_stopped: bool
) -> None:
    """Also before the operator has rendered what the killed run wrote."""
    operator = killed_while_paused(on_busy, writes)
    operator.is_stopped = is_stopped
    operator.server.put(gpu_pod("train", "n1"))
    operator.server.requests.clear()
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    assert caught.value.code == "REBOOT-BUSY"
    assert "by the run of root@bastion (pid 4711)" in caught.value.message
    assert operator.server.writes() == []
    operator.is_stopped = False
    rollout_steps.ensure(operator.api(), [WHOLE], "drain")
    assert sorted(operator.reboots) == ["n1", "n2"]


def test_the_question_names_the_killed_run() -> None:
    operator = killed_while_paused("fail", writes=3)
    operator.server.put(gpu_pod("train", "n1"))
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    assert "by the run of root@bastion (pid 4711)" in caught.value.message


@pytest.mark.parametrize(
    "work",
    [
        lambda api: rollout_steps.ensure(api, [WHOLE], "drain"),
        lambda api: rollout_steps.ensure(api, [tuning(kernel_arguments=())], "drain"),
        lambda api: rollout_steps.remove(api, ["training"], "drain"),
    ],
)
def test_a_pool_that_waits_for_an_update_is_not_touched(work: t.Callable[[Api], t.Any]) -> None:
    operator = two_nodes()
    rollout_steps.ensure(operator.api(), [tuning()], "fail")
    live = operator.must("MachineConfigPool", "gpu-training")
    live["spec"]["paused"] = True
    live["metadata"]["annotations"] = {paused.UPDATE: "4.22.9"}
    operator.server.requests.clear()
    with pytest.raises(AcceleratorError) as caught:
        work(operator.api())
    assert caught.value.code == "REBOOT-PAUSED"
    assert "for the update to 4.22.9 by before_openshift_update" in caught.value.message
    assert "after_openshift_update" in caught.value.remedy
    assert "oc patch" not in caught.value.remedy
    assert operator.server.writes() == []


def test_a_pool_without_nodes_goes_although_it_is_paused() -> None:
    operator = Operator()
    rollout_steps.ensure(operator.api(), [tuning()], "fail")
    live = operator.must("MachineConfigPool", "gpu-training")
    live["spec"]["paused"] = True
    live["metadata"]["annotations"] = {paused.UPDATE: "4.22.9"}
    rollout_steps.remove(operator.api(), ["training"], "fail")
    assert operator.names("MachineConfigPool") == ["worker"]


def test_a_refused_kubelet_config_leaves_no_paused_pool() -> None:
    operator = two_nodes()
    operator.renders = False
    api = operator.api(seconds=0.0)
    with pytest.raises(WaitTimeoutError) as caught:
        rollout_steps.ensure(api, [WHOLE], "fail")
    assert "gpu-training is not paused" in caught.value.message
    assert operator.must("MachineConfigPool", "gpu-training")["spec"]["paused"] is False


def test_a_pool_of_others_that_is_paused_is_found_before_a_write() -> None:
    operator = Operator(node("n1"))
    operator.must("MachineConfigPool", "worker")["spec"]["paused"] = True
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.ensure(operator.api(), [tuning()], "fail")
    assert caught.value.code == "REBOOT-PAUSED"
    assert operator.server.writes() == []


def test_removal_gives_the_nodes_back_in_one_rollout() -> None:
    operator = two_nodes()
    before = operator.names("MachineConfig"), operator.names("MachineConfigPool")
    rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    operator.reboots.clear()
    (found,) = rollout_steps.remove(operator.api(), ["training", "unknown"], "fail")
    assert found["reboots"] == ["n1", "n2"]
    assert sorted(operator.reboots) == ["n1", "n2"]
    assert operator.names("KubeletConfig") == []
    left = [one for one in operator.names("MachineConfig") if "generated" not in one]
    assert (left, operator.names("MachineConfigPool")) == before


def test_removal_asks_for_busy_nodes_first() -> None:
    operator = two_nodes()
    rollout_steps.ensure(operator.api(), [tuning()], "fail")
    operator.server.put(gpu_pod("train", "n1"))
    operator.server.requests.clear()
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.remove(operator.api(), ["training"], "fail")
    assert caught.value.code == "REBOOT-BUSY"
    assert operator.server.writes() == []


@pytest.mark.parametrize("writes", range(4))
def test_a_killed_removal_is_resumed(writes: int) -> None:
    operator = two_nodes()
    rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    operator.reboots.clear()
    operator.writes_left = writes
    with pytest.raises(KilledError):
        rollout_steps.remove(operator.api(), ["training"], "fail")
    operator.writes_left = None
    rollout_steps.remove(operator.api(), ["training"], "fail")
    assert sorted(operator.reboots) == ["n1", "n2"]
    assert operator.names("MachineConfigPool") == ["worker"]


def test_a_pool_that_asks_for_no_reboot_any_more_gives_its_nodes_back() -> None:
    operator = two_nodes()
    rollout_steps.ensure(operator.api(), [tuning()], "fail")
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.ensure(operator.api(), [tuning(kernel_arguments=(), reboot=NEVER)], "fail")
    assert caught.value.code == "REBOOT-NEVER"
    operator.reboots.clear()
    (found,) = rollout_steps.ensure(operator.api(), [tuning(kernel_arguments=())], "fail")
    assert found["machine_config_pool"] == ""
    assert sorted(operator.reboots) == ["n1", "n2"]
    assert operator.names("MachineConfigPool") == ["worker"]


def test_removal_without_a_pool_of_ours_writes_nothing() -> None:
    operator = Operator(node("n1"), pool("gpu-training"), config("99-gpu-training-kernel", "gpu-training"))
    operator.server.requests.clear()
    assert rollout_steps.remove(operator.api(), ["training"], "fail") == []
    assert operator.server.writes() == []


def test_without_a_machine_config_operator_only_a_wish_is_an_error() -> None:
    operator = Operator()
    operator.server.served = {
        key: kind for key, kind in operator.server.served.items() if kind.kind in ("Node", "Pod")
    }
    (found,) = rollout_steps.ensure(operator.api(), [tuning(kernel_arguments=())], "fail")
    assert found["reboots"] == []
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.ensure(operator.api(), [tuning()], "fail")
    assert caught.value.code == "API-KIND-NOT-SERVED"
    assert tuning().label == LABEL
