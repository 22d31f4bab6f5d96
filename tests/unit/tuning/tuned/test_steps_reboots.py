"""Steps of node_tuning where nodes have to reboot: first the rollout, then the profile; and back."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import Answer
from unit.tuning import builders
from unit.tuning.builders import NODE_PROFILE, params, rule, tuned_object
from unit.tuning.operator_in_memory import KINDS, Operator, gpu_pod, node

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import node as node_facts
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import pool_judge, rollout_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import steps

REASON: t.Final = "machineconfiguration.openshift.io/reason"
ASKED: t.Final = {"profile": "accelerator", "kernel_arguments": ["iommu=pt"], "reboot": "planned"}


class Operators(Operator):
    """The machine-config operator and the node tuning operator on one server."""

    def __init__(self, *objects: KubeObject) -> None:
        default = tuned_object("default", rule(NODE_PROFILE, 40))
        super().__init__(default, *objects, kinds=(*KINDS, "Tuned", "Profile", "Lease", "Namespace"))
        builders.operate(self.server, {})

    def request(self, method: str, url: str, **more: t.Any) -> Answer:
        answered = super().request(method, url, **more)
        builders.operate(self.server, {})
        return answered

    def profiles(self) -> set[str]:
        return {one["spec"]["config"]["tunedProfile"] for one in self.all("Profile")}


def pool(**tuning: t.Any) -> dict[str, t.Any]:
    return {"name": "training", "tuning": tuning}


def test_nodes_reboot_once_and_run_the_profile() -> None:
    operator = Operators(node("n1"), node("n2"))
    found = steps.present(operator.api(), params(pool(**ASKED)))
    assert sorted(operator.reboots) == ["n1", "n2"]
    assert sorted(found["rebooted"]) == ["n1", "n2"]
    (one,) = found["pools"]
    assert (one["machine_config_pool"], one["ready"]) == ("gpu-training", True)
    assert operator.profiles() == {"gpu-training"}
    operator.server.requests.clear()
    again = steps.present(operator.api(), params(pool(**ASKED)))
    assert operator.server.writes() == []
    assert again["rebooted"] == []


def test_never_names_the_nodes_and_writes_nothing() -> None:
    operator = Operators(node("n1"), node("n2"))
    operator.server.requests.clear()
    with pytest.raises(AcceleratorError, match=r"n1, n2 reboot") as caught:
        steps.present(operator.api(), params(pool(**ASKED | {"reboot": "never"})))
    assert caught.value.code == "REBOOT-NEVER"
    assert operator.server.writes() == []


def test_pods_with_gpus_are_asked_for_first() -> None:
    operator = Operators(node("n1"), gpu_pod("train", "n1"))
    operator.server.requests.clear()
    with pytest.raises(AcceleratorError, match="team/train") as caught:
        steps.present(operator.api(), params(pool(**ASKED)))
    assert caught.value.code == "REBOOT-BUSY"
    assert operator.server.writes() == []


def test_without_the_arguments_the_nodes_go_back_and_keep_the_profile() -> None:
    operator = Operators(node("n1"))
    steps.present(operator.api(), params(pool(**ASKED)))
    steps.present(operator.api(), params(pool(profile="accelerator", reboot="planned")))
    assert operator.names("MachineConfigPool") == ["worker"]
    assert operator.profiles() == {"gpu-training"}


def test_removal_gives_everything_back() -> None:
    operator = Operators(node("n1"))
    steps.present(operator.api(), params(pool(**ASKED)))
    found = steps.absent(operator.api(), params({"name": "training"}, state="absent"))
    assert found["rebooted"] == ["n1"]
    assert operator.names("MachineConfigPool") == ["worker"]
    assert operator.names("MachineConfig") == ["00-worker"]
    assert operator.names("Tuned") == ["default"]
    assert operator.profiles() == {NODE_PROFILE}


class Stuck(Operators):
    """The operators on a cluster where some nodes of pool other become degraded when they have to reboot."""

    def _roll(self, node: KubeObject) -> None:
        if node["metadata"]["name"] != "stuck":
            super()._roll(node)
            return
        notes = node["metadata"]["annotations"]
        target = pool_judge.target(self.pool_of(node))
        more = {node_facts.DESIRED: target, node_facts.STATE: "Degraded", REASON: "no space left"}
        if target != notes[node_facts.CURRENT] and not notes.items() >= more.items():
            notes |= more
            self._touch(node)


def two_pools() -> list[dict[str, t.Any]]:
    return [pool(**ASKED), {"name": "other", "tuning": ASKED}]


def test_a_pool_whose_node_is_degraded_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout_steps, "GRACE", 0.0)
    operator = Stuck(node("n1"), node("stuck", pool="other"))
    with pytest.raises(NotReadyError, match="Node stuck is degraded in the rollout of gpu-other") as caught:
        steps.present(operator.api(), params(*two_pools(), go_on=True))
    assert caught.value.code == "REBOOT-DEGRADED"
    assert caught.value.facts["pools"] == [
        {"name": "training", "ready": True},
        {"name": "other", "ready": False},
    ]
    assert operator.names("Tuned") == ["default", "gpu-training"]
    assert operator.must("Profile", "n1")["spec"]["config"]["tunedProfile"] == "gpu-training"


def test_without_go_on_it_ends_the_task_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout_steps, "GRACE", 0.0)
    operator = Stuck(node("n1"), node("stuck", pool="other"))
    with pytest.raises(NotReadyError) as caught:
        steps.present(operator.api(), params(*two_pools()))
    assert [one["ready"] for one in caught.value.facts["pools"]] == [False, False]
    assert operator.names("Tuned") == ["default"]


def test_a_pool_that_uses_up_the_time_leaves_the_others_enough_for_their_profiles() -> None:
    operator = Stuck(node("n1"), node("stuck", pool="other"))
    with pytest.raises(WaitTimeoutError) as caught:
        steps.present(operator.api(seconds=0.0), params(*two_pools(), go_on=True))
    assert [one["ready"] for one in caught.value.facts["pools"]] == [True, False]
    assert operator.profiles() == {NODE_PROFILE, "gpu-training"}


def test_a_pool_whose_profile_fails_does_not_stop_the_others() -> None:
    operator = Operators(node("n1"), node("n2", pool="other"))
    answer = operator.request

    def refusing(method: str, url: str, **more: t.Any) -> Answer:
        found = answer(method, url, **more)
        for one in [one for one in operator.all("Tuned") if one["metadata"]["name"] == "gpu-other"]:
            one["status"] = {"conditions": [{"type": "Valid", "status": "False", "message": "no"}]}
        return found

    operator.server.request = refusing
    with pytest.raises(NotReadyError) as caught:
        steps.present(operator.api(), params(*two_pools(), go_on=True))
    assert caught.value.code == "TUNE-INVALID"
    assert [one["ready"] for one in caught.value.facts["pools"]] == [True, False]
