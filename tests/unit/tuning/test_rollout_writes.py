"""Writes of a rollout: what a task that does not wait says."""

from __future__ import annotations

from unit.tuning.operator_in_memory import Operator, node, tuning

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
