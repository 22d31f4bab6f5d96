"""Steps of node_tuning where nodes have to reboot: first the rollout, then the profile; and back."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import Answer
from unit.tuning import builders
from unit.tuning.builders import NODE_PROFILE, params, rule, tuned_object
from unit.tuning.operator_in_memory import KINDS, Operator, gpu_pod, node

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import steps

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
