"""Waits of a rollout: what a task that does not wait says, and which pods keep a node from being drained."""

from __future__ import annotations

import pytest
from unit.tuning.operator_in_memory import Operator, gpu_pod, node, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import WaitTimeoutError
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import node as node_facts
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import rollout_steps


def test_without_wait_the_pool_is_not_left_paused() -> None:
    operator = Operator(node("n1"))
    operator.rolls = False
    api = operator.api(wait_wanted=False)
    (found,) = rollout_steps.ensure(api, [tuning()], "fail")
    assert found["ready"] is False
    assert operator.must("MachineConfigPool", "gpu-training")["spec"]["paused"] is False
    assert "more than once" in api.warnings[0]


def test_without_wait_a_removal_only_begins() -> None:
    operator = Operator(node("n1"))
    rollout_steps.ensure(operator.api(), [tuning()], "fail")
    rollout_steps.remove(operator.api(wait_wanted=False), ["training"], "fail")
    assert operator.names("MachineConfigPool") == ["gpu-training", "worker"]
    rollout_steps.remove(operator.api(), ["training"], "fail")
    assert operator.names("MachineConfigPool") == ["worker"]


def test_a_budget_that_never_yields_is_named() -> None:
    operator = Operator(node("n1"), gpu_pod("train", "n1"))
    operator.rolls = False
    operator.server.put(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "keep", "namespace": "team"},
            "spec": {"selector": {"matchLabels": {"app": "train"}}},
            "status": {"disruptionsAllowed": 0},
        }
    )
    one = operator.must("Node", "n1")
    one["spec"]["unschedulable"] = True
    one["metadata"]["annotations"][node_facts.DESIRED] = "rendered-gpu-training-1"
    with pytest.raises(WaitTimeoutError) as caught:
        rollout_steps.ensure(operator.api(seconds=0.0), [tuning()], "drain")
    assert caught.value.code == "REBOOT-DRAIN"
    assert "pod team/train on n1: PodDisruptionBudget keep" in caught.value.message
    assert operator.must("MachineConfigPool", "gpu-training")["spec"]["paused"] is False
