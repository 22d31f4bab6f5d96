"""When a pool is rolled out: the whole rule, degraded nodes by name, both spellings of KubeletConfig."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock
from unit.tuning.builders import at, done, states

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    FAILED,
    PENDING,
    READY,
    Grace,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import pool_judge


def test_all_of_the_rule_is_ready() -> None:
    assert pool_judge.judge_pool(done(), "gpu-a", [at("n1")]).is_ready


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({"observedGeneration": 2}, "has not seen the last change"),
        ({"machineCount": 0, "updatedMachineCount": 0}, "0 of 1 node counted"),
        ({"updatedMachineCount": 0}, "0 of 1 node updated"),
        ({"configuration": {"name": "rendered-gpu-a-0"}}, "rendered-gpu-a-1 is not rolled out"),
        ({"conditions": states(Updated="False", Updating="True")}, "not Updated"),
        ({"conditions": states(Updated="True", Updating="True")}, "not Updated"),
    ],
)
def test_each_part_of_the_rule_counts(status: dict[str, t.Any], text: str) -> None:
    verdict = pool_judge.judge_pool(done(**status), "gpu-a", [at("n1")])
    assert (verdict.verdict, verdict.code) == (PENDING, "REBOOT-PENDING")
    assert text in verdict.message


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (at("n1", currentConfig="old", desiredConfig="old"), "n1: waits for its turn"),
        (at("n1", currentConfig="old", state="Working"), "n1: begins (Working)"),
        ({**at("n1", currentConfig="old", state="Working"), "spec": {"unschedulable": True}}, "n1: drains"),
        ({**at("n1"), "spec": {"unschedulable": True}}, "n1: cordoned"),
        (
            {**at("n1", currentConfig="old", desiredConfig="old"), "spec": {"unschedulable": True}},
            "waits for its turn until it is uncordoned (cordoned)",
        ),
    ],
)
def test_what_a_node_waits_for(one: KubeObject, text: str) -> None:
    verdict = pool_judge.judge_pool(done(), "gpu-a", [one])
    assert verdict.verdict == PENDING
    assert text in verdict.message


def test_a_node_that_boots_is_named() -> None:
    one = at("n1", currentConfig="old", state="Working")
    one["status"]["conditions"] = [{"type": "Ready", "status": "False", "message": "kubelet stopped"}]
    assert "n1: reboots (not Ready: kubelet stopped)" in pool_judge.judge_pool(done(), "gpu-a", [one]).message


def test_a_degraded_node_is_named_with_its_reason() -> None:
    one = at("n1", state="Degraded", reason="unexpected on-disk state")
    verdict = pool_judge.judge_pool(done(), "gpu-a", [one])
    assert verdict.code == "REBOOT-DEGRADED"
    assert "Node n1" in verdict.message
    assert "unexpected on-disk state" in verdict.message


def test_a_node_that_cannot_be_drained_has_its_own_code() -> None:
    one = at("n1", state="Degraded", reason="failed to drain node: n1 after 1 hour")
    assert pool_judge.judge_pool(done(), "gpu-a", [one]).code == "REBOOT-DRAIN"


def test_a_degraded_pool_has_the_words_of_its_condition() -> None:
    found = {"type": "NodeDegraded", "status": "True", "message": 'Node x is reporting: "no space"'}
    verdict = pool_judge.judge_pool(done(conditions=[found]), "gpu-a", [])
    assert verdict.code == "REBOOT-DEGRADED"
    assert "no space" in verdict.message
    found = {"type": "RenderDegraded", "status": "True", "message": "ignition is not valid"}
    verdict = pool_judge.judge_pool(done(conditions=[found]), "gpu-a", [])
    assert verdict.code == "REBOOT-RENDER"


def test_degraded_fails_only_after_a_while() -> None:
    clock = FakeClock()
    judge = pool_judge.Rolled(["gpu-a"], [], Grace(clock, 60.0, pool_judge.PASSING))
    snapshot = {"pools": [done()], "nodesgpu-a": [at("n1", state="Degraded", reason="x")]}
    assert judge(snapshot).verdict == PENDING
    clock.seconds += 61
    assert judge(snapshot).verdict == FAILED


def test_each_pool_has_its_own_verdict_and_a_late_one_does_not_count() -> None:
    late: set[str] = set()
    grace = Grace(FakeClock(), 0.0, pool_judge.PASSING)
    judge = pool_judge.Rolled(["gpu-a", "gpu-b"], ["gpu-c"], grace, late)
    worker: KubeObject = {**done(), "metadata": {"name": "worker", "generation": 3}}
    snapshot: dict[str, t.Any] = {
        "pools": [done(), {**done(), "metadata": {"name": "gpu-b", "generation": 3}}, worker],
        "nodesgpu-a": [at("n1", state="Degraded", reason="x")],
        "nodesgpu-b": [at("n2")],
        "nodesgpu-c": [at("n3", currentConfig="other")],
    }
    assert judge(snapshot).verdict == FAILED
    found = {object_name: one.verdict for object_name, one in judge.verdicts.items()}
    assert found == {"gpu-a": FAILED, "gpu-b": READY, "gpu-c": PENDING}
    late.add("gpu-a")
    assert judge(snapshot).verdict == PENDING
    late.add("gpu-c")
    assert judge(snapshot).is_ready
    assert judge.verdicts["gpu-a"].is_failed, "it stays what it was"


def test_a_pool_that_others_pause_meanwhile_fails() -> None:
    found = done()
    found["spec"]["paused"] = True
    verdict = pool_judge.judge_pool(found, "gpu-a", [at("n1")])
    assert (verdict.verdict, verdict.code) == (FAILED, "REBOOT-PAUSED")
    assert "oc patch machineconfigpool gpu-a" in verdict.remedy


def test_a_pool_that_the_sriov_operator_pauses_meanwhile_is_waited_for() -> None:
    found = done()
    found["spec"]["paused"] = True
    found["metadata"]["annotations"] = {"sriovnetwork.openshift.io/state": "Paused"}
    verdict = pool_judge.judge_pool(found, "gpu-a", [at("n1")])
    assert (verdict.verdict, verdict.code) == (PENDING, "REBOOT-PAUSED")


def test_a_change_that_joins_the_rollout_is_waited_for() -> None:
    found = done()
    found["spec"]["configuration"]["name"] = "rendered-gpu-a-2"
    assert pool_judge.judge_pool(found, "gpu-a", [at("n1")]).verdict == PENDING


def test_returned_nodes_run_the_workers_configuration() -> None:
    worker = done()
    assert pool_judge.judge_returned(worker, [at("n1")]).is_ready
    assert not pool_judge.judge_returned(worker, [at("n1", currentConfig="other")]).is_ready
    assert not pool_judge.judge_returned(None, []).is_ready
    assert (
        pool_judge.judge_returned(worker, [at("n1", state="Degraded", reason="x")]).code == "REBOOT-DEGRADED"
    )


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ([{"type": "Success", "status": "True"}], READY),
        ([{"type": "Accepted", "status": "True"}], READY),
        # The older spelling of a failure has status False.
        ([{"type": "Failure", "status": "False", "message": "Error: no"}], FAILED),
        ([{"type": "Accepted", "status": "False", "message": "Error: no"}], FAILED),
        # The last one counts.
        ([{"type": "Failure", "status": "False"}, {"type": "Success", "status": "True"}], READY),
        ([{"type": "Success", "status": "True"}, {"type": "Failure", "status": "False"}], FAILED),
        ([], PENDING),
    ],
)
def test_a_kubelet_config_in_both_spellings(found: list[KubeObject], verdict: str) -> None:
    live = {"metadata": {"generation": 2}, "status": {"observedGeneration": 2, "conditions": found}}
    judged = pool_judge.judge_kubelet_config(live, "gpu-a")
    assert judged.verdict == verdict
    if verdict == FAILED:
        assert judged.code == "REBOOT-KUBELET-REFUSED"
    older = {**live, "metadata": {"generation": 3}}
    assert pool_judge.judge_kubelet_config(older, "gpu-a").verdict == PENDING


def test_a_degraded_performance_profile_fails() -> None:
    found = {"type": "Degraded", "status": "True", "reason": "ComponentCreationFailed", "message": "bad cpus"}
    verdict = pool_judge.judge_profile({"status": {"conditions": [found]}}, "gpu-a")
    assert (verdict.verdict, verdict.code) == (FAILED, "REBOOT-PROFILE")
    assert "bad cpus" in verdict.message
    # A pool that is being updated makes it degraded for a while.
    found["reason"] = "MCPDegraded"
    assert pool_judge.judge_profile({"status": {"conditions": [found]}}, "gpu-a").is_ready
    assert pool_judge.judge_profile(None, "gpu-a").verdict == PENDING
