"""Which nodes reboot, in what order, and what a run may do about pods there."""

from __future__ import annotations

import pytest
from unit.tuning.operator_in_memory import gpu_pod, node, pool

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import rollout

ZONE = "topology.kubernetes.io/zone"


def aged(name: str, day: int, zone: str = "") -> KubeObject:
    found = node(name, labels={ZONE: zone} if zone else {})
    found["metadata"]["creationTimestamp"] = f"2026-11-{day:02}T00:00:00Z"
    return found


def test_the_order_is_the_operators_by_zone_then_age() -> None:
    nodes = [aged("young-a", 9, "a"), aged("none", 1), aged("b", 1, "b"), aged("old-a", 2, "a")]
    names = [one["metadata"]["name"] for one in rollout.in_order(nodes)]
    assert names == ["old-a", "young-a", "b", "none"]


def test_a_reboot_as_sentence_and_as_result() -> None:
    found = rollout.reboot(
        "training",
        "pools[0].tuning",
        "of KubeletConfig gpu-training",
        [node("n2"), node("n1")],
        pool("gpu-training", maxUnavailable="50%"),
        [gpu_pod("train", "n1"), gpu_pod("other", "n9")],
    )
    assert found.line == (
        "pool training: n1, n2 reboot, 50% at a time, because of KubeletConfig gpu-training, "
        "where 1 GPU pod ends"
    )
    assert found.as_result()["pods"] == [{"node": "n1", "namespace": "team", "name": "train"}]
    assert rollout.at_once(None) == "1"


def test_never_raises_only_for_reboots() -> None:
    rollout.refuse([])
    found = rollout.reboot(
        "training", "pools[0].tuning", "of x", [node("n1")], None, [gpu_pod("train", "n1")]
    )
    with pytest.raises(AcceleratorError) as caught:
        rollout.refuse([found])
    assert caught.value.facts["reboots"][0]["nodes"] == ["n1"]
    assert "pools[0].tuning.reboot: planned" in caught.value.remedy


def test_a_question_is_about_the_nodes_that_reboot() -> None:
    found = rollout.reboot("training", "p", "of x", [node("n1")], None, [])
    asked = rollout.question(found, "a=b")
    pods = [gpu_pod("train", "n1"), gpu_pod("other", "n2")]
    answer = asked.answer([node("n1"), node("n2")], pods)
    assert answer is not None
    assert [one.pod for one in answer.endings] == ["train"]
    assert "n1 (by zone and age), 1 at a time" in answer.order
