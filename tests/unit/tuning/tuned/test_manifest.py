"""The Tuned object of a pool, and the rules of other objects that win against it."""

from __future__ import annotations

import pytest
from unit.tuning.builders import NAMESPACE, node, rule, tuned_object, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import entries
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import manifest

POOL = {"label": "accelerators.openshift/pool", "value": "training"}


def test_the_object_of_a_pool() -> None:
    found = manifest.build(tuning(profile="accelerator"))
    assert found["metadata"] == {
        "name": "gpu-training",
        "namespace": NAMESPACE,
        "labels": {"accelerators.openshift/pool": "training"},
    }
    assert [one["name"] for one in found["spec"]["profile"]] == ["gpu-training"]
    assert found["spec"]["recommend"] == [{"profile": "gpu-training", "priority": 21, "match": [POOL]}]
    later = manifest.build(tuning(profile="accelerator", defer=True))
    assert later["metadata"]["annotations"] == {"tuned.openshift.io/deferred": "always"}


def test_over_a_performance_profile_the_object_goes_by_machine_config_pool() -> None:
    found = manifest.build(tuning(profile="accelerator"), "openshift-node-performance-gpu-training")
    (one,) = found["spec"]["recommend"]
    assert one == {
        "profile": "gpu-training",
        "priority": 19,
        "machineConfigLabels": {"machineconfiguration.openshift.io/role": "gpu-training"},
    }
    assert "include=openshift-node-performance-gpu-training\n" in found["spec"]["profile"][0]["data"]
    assert manifest.goes_by_pool(found)
    assert not manifest.goes_by_pool(manifest.build(tuning(profile="accelerator")))
    assert not manifest.goes_by_pool(None)


def test_all_labels_of_a_selector_have_to_match() -> None:
    made = entries.tuning("x", {"a": "1", "b": "2"}, {"profile": "accelerator"}, "tuning", {})
    (found,) = manifest.build(made)["spec"]["recommend"]
    assert found["match"] == [{"label": "a", "value": "1", "match": [{"label": "b", "value": "2"}]}]
    nodes = [node("n1", a="1"), node("n2", a="1", b="2")]
    theirs = tuned_object("t", {**found, "profile": "p"})
    assert manifest.rivals([theirs], nodes, "gpu-x") == ["Tuned t gives profile p with priority 21 to n2"]


@pytest.mark.parametrize(
    ("found", "wins"),
    [
        (rule("p", 22), False),
        (rule("p", 21), True),
        (rule("p", 5, {"label": "accelerators.openshift/pool"}), True),
        (rule("p", 5, {"label": "accelerators.openshift/pool", "value": "other"}), False),
        (rule("p", 5, {"label": "missing"}, POOL), True),
        (rule("p", 5, {**POOL, "match": [{"label": "missing"}]}), False),
        (rule("p", 5, {**POOL, "type": "pod"}), False),
        (rule("p", 5, machineConfigLabels={"a": "b"}), False),
    ],
)
def test_which_rules_win(found: KubeObject, wins: bool) -> None:
    assert bool(manifest.rivals([tuned_object("t", found)], [node("n1")], "gpu-training")) is wins
    assert not manifest.rivals([tuned_object("gpu-training", found)], [node("n1")], "gpu-training")
    assert not manifest.rivals([tuned_object("t", found)], [], "gpu-training")
