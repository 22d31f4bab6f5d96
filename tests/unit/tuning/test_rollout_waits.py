"""Waits of a rollout: which pods keep a node from being drained."""

from __future__ import annotations

import pytest
from unit.tuning.operator_in_memory import Operator, gpu_pod, node, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import WaitTimeoutError
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import node as node_facts
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import rollout_steps


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
