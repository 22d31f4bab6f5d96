"""Pods that keep a node from being drained."""

from __future__ import annotations

import typing as t

from unit.tuning.operator_in_memory import gpu_pod, node

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import node as node_facts
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import evictions


def budget(allowed: int, **selector: t.Any) -> KubeObject:
    return {
        "metadata": {"name": "keep", "namespace": "team"},
        "spec": {"selector": {"matchLabels": selector}},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1},
    }


def test_a_budget_that_allows_nothing_is_named_with_its_pod() -> None:
    (line,) = evictions.blocked([gpu_pod("train", "n1"), gpu_pod("other", "n1")], [budget(0, app="train")])
    assert line.startswith(
        "pod team/train on n1: PodDisruptionBudget keep allows no disruption (1 of 1 needed"
    )


def test_other_budgets_keep_nothing() -> None:
    pods = [gpu_pod("train", "n1")]
    elsewhere = budget(0, app="train")
    elsewhere["metadata"]["namespace"] = "else"
    assert evictions.blocked(pods, [budget(1, app="train"), budget(0, app="x"), elsewhere]) == []


def test_a_virtual_machine_with_a_device_cannot_move() -> None:
    pod = gpu_pod("virt-launcher-vm", "n1")
    pod["metadata"]["labels"] = {"kubevirt.io": "virt-launcher"}
    owner = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "name": "vm", "uid": "1"}
    pod["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    (line,) = evictions.blocked([pod], [])
    assert line.startswith("pod team/virt-launcher-vm on n1: virtual machine vm has a device and cannot move")


def test_a_node_that_is_drained_for_another_configuration() -> None:
    one = node("n1")
    assert not evictions.is_draining(one)
    one["spec"]["unschedulable"] = True
    assert not evictions.is_draining(one), "an administrator cordoned it"
    one["metadata"]["annotations"][node_facts.DESIRED] = "rendered-gpu-training-1"
    assert evictions.is_draining(one)
    one["status"]["conditions"][0]["status"] = "False"
    assert not evictions.is_draining(one), "it boots"
