"""Steps of node_tuning on an API server in memory: objects, refusals before the first write, removal."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import Answer
from unit.tuning.builders import NAMESPACE, NODE_PROFILE, World, conditions, node, params, rule, tuned_object

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
    KindNotServedError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import steps

TRAINING: t.Final = {"name": "training", "tuning": {"profile": "accelerator"}}
OBJECTS: t.Final = f"/apis/tuned.openshift.io/v1/namespaces/{NAMESPACE}/tuneds"


def test_the_nodes_of_a_pool_get_its_profile() -> None:
    world = World(node("n1"), node("n2"), node("n3", pool="other"))
    api = world.api()
    found = steps.present(api, params(TRAINING))
    (pool,) = found["pools"]
    assert (pool["name"], pool["profile"], pool["ready"]) == ("training", "gpu-training", True)
    assert [(one["name"], one["active"]) for one in pool["nodes"]] == [
        ("n1", "gpu-training"),
        ("n2", "gpu-training"),
    ]
    assert pool["replaces"] == {NODE_PROFILE: ["n1", "n2"]}
    made = api.get(known("Tuned"), "gpu-training", NAMESPACE)
    assert made is not None
    assert made["metadata"]["labels"]["accelerators.openshift/pool"] == "training"
    assert "vm.swappiness=10" in made["spec"]["profile"][0]["data"]
    assert world.server.writes() == [("PATCH", f"{OBJECTS}/gpu-training")]


def test_a_second_run_sends_no_write() -> None:
    world = World(node("n1"))
    steps.present(world.api(), params(TRAINING))
    api = world.api()
    found = steps.present(api, params(TRAINING))
    assert not api.changes
    assert world.server.writes() == []
    assert found["pools"][0]["replaces"] == {}
    assert len(world.server.requests) <= 4


def test_other_settings_change_the_object() -> None:
    world = World(node("n1"))
    steps.present(world.api(), params(TRAINING))
    more = {"name": "training", "tuning": {"profile": "accelerator", "sysctl": {"vm.swappiness": 1}}}
    api = world.api()
    assert steps.present(api, params(more))["pools"][0]["ready"]
    (change,) = api.changes
    assert "vm.swappiness=1\n" in str(change.after["spec"]["profile"][0]["data"])
    assert "vm.swappiness=10\n" in str(change.before["spec"]["profile"][0]["data"])


def test_check_mode_writes_nothing() -> None:
    world = World(node("n1"))
    api = world.api(check_mode=True)
    found = steps.present(api, params(TRAINING))
    assert world.server.writes() == []
    assert [one.object_name for one in api.changes] == [f"Tuned {NAMESPACE}/gpu-training"]
    assert found["pools"][0]["replaces"] == {NODE_PROFILE: ["n1"]}
    assert not found["pools"][0]["ready"]


def test_a_pool_without_nodes_is_tuned_for_those_that_come() -> None:
    world = World()
    assert steps.present(world.api(), params(TRAINING))["pools"][0]["ready"]
    assert world.server.writes() == [("PATCH", f"{OBJECTS}/gpu-training")]
    assert steps.present(world.api(), params())["pools"] == []


def test_a_node_that_waits_for_its_restart_counts_with_defer() -> None:
    waiting = {"tunedProfile": NODE_PROFILE, "conditions": conditions("False", "True", reason="Deferred")}
    world = World(node("n1"), status=waiting)
    later = {"name": "training", "tuning": {"profile": "accelerator", "defer": True}}
    (pool,) = steps.present(world.api(), params(later))["pools"]
    assert [(one["active"], one["deferred"]) for one in pool["nodes"]] == [(NODE_PROFILE, True)]
    (made,) = [one for one in world.objects("tuneds") if one["metadata"]["name"] == "gpu-training"]
    assert made["metadata"]["annotations"] == {"tuned.openshift.io/deferred": "always"}


def test_a_degraded_node_is_named_with_the_words_of_tuned() -> None:
    degraded = {
        "conditions": conditions("False", "True", reason="TunedSysctlOverride", message="vm.swappiness")
    }
    world = World(node("n1"), status=degraded)
    with pytest.raises(NotReadyError, match=r"node n1.*vm\.swappiness") as caught:
        steps.present(world.api(), params(TRAINING))
    assert caught.value.code == "TUNE-SYSCTL"


def test_an_error_says_which_pools_are_ready() -> None:
    world = World(node("n1"), node("n2", pool="other"))
    other = {"name": "other", "tuning": {"profile": "accelerator"}}
    answer = world.server.request

    def refusing(method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        found = answer(method, url, body, **more)
        for one in world.objects("tuneds"):
            if one["metadata"]["name"] == "gpu-other":
                one["status"] = {"conditions": [{"type": "Valid", "status": "False", "message": "no"}]}
        return found

    world.server.request = refusing
    with pytest.raises(NotReadyError) as caught:
        steps.present(world.api(), params(TRAINING, other))
    assert caught.value.code == "TUNE-INVALID"
    assert caught.value.facts["pools"] == [
        {"name": "training", "ready": True},
        {"name": "other", "ready": False},
    ]


def test_a_rival_is_found_before_the_first_write() -> None:
    world = World(node("n1"))
    world.server.put(tuned_object("their-own", rule("theirs", 10, {"label": "accelerators.openshift/pool"})))
    with pytest.raises(
        AcceleratorError, match="their-own gives profile theirs with priority 10 to n1"
    ) as caught:
        steps.present(world.api(), params(TRAINING))
    assert caught.value.code == "TUNE-RIVAL"
    assert world.server.writes() == []


def test_a_foreign_object_of_the_same_name_stays() -> None:
    world = World(node("n1"))
    world.server.put(tuned_object("gpu-training", rule("theirs", 50)))
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params(TRAINING))
    assert caught.value.code == "TUNE-FOREIGN"
    assert world.server.writes() == []
    steps.absent(world.api(), params({"name": "training"}, state="absent"))
    assert world.server.writes() == []


def test_bad_input_sends_no_request() -> None:
    world = World(node("n1"))
    with pytest.raises(InputError, match=r"pools\[0\]\.tuning\.profile.*accellerator"):
        steps.present(world.api(), params({"name": "training", "tuning": {"profile": "accellerator"}}))
    assert world.server.requests == []


def test_nodes_of_another_architecture_than_the_profile_is_for() -> None:
    world = World(node("n1", **{"kubernetes.io/arch": "arm64"}))
    with pytest.raises(InputError, match="training is for amd64, the nodes are arm64") as caught:
        steps.present(world.api(), params({"name": "training", "tuning": {"profile": "training"}}))
    assert caught.value.code == "POOL-TUNING"
    assert world.server.writes() == []


def test_what_the_profile_advises_beyond_is_a_warning() -> None:
    world = World(node("n1"))
    api = world.api()
    steps.present(api, params({"name": "training", "tuning": {"profile": "training"}}))
    assert any("iommu=pt" in one and "reboot: planned" in one for one in api.warnings)


def test_removal_gives_the_nodes_back() -> None:
    world = World(node("n1"))
    steps.present(world.api(), params(TRAINING))
    found = steps.absent(world.api(), params({"name": "training"}, state="absent"))
    assert found["pools"] == [{"name": "training", "profile": "gpu-training"}]
    assert (found["rebooted"], found["ends"]) == ([], [])
    assert [one["metadata"]["name"] for one in world.objects("tuneds")] == ["default"]
    assert [one["spec"]["config"]["tunedProfile"] for one in world.objects("profiles")] == [NODE_PROFILE]
    steps.absent(world.api(), params({"name": "training"}, state="absent"))
    assert world.server.writes() == []


def test_a_cluster_without_the_operator() -> None:
    world = World(node("n1"))
    world.server.served = {key: kind for key, kind in world.server.served.items() if kind.kind != "Tuned"}
    with pytest.raises(KindNotServedError, match="node tuning operator"):
        steps.present(world.api(), params(TRAINING))
    steps.absent(world.api(), params({"name": "training"}, state="absent"))
    assert world.server.writes() == []
