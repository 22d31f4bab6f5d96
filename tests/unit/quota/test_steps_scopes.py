"""Quotas of some priority classes, scopes that others set, and what is only planned."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import status
from unit.quota.builders import CLAIMED, GPU
from unit.quota.test_steps import PLAIN, World, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import options, steps

HIGH: t.Final = {
    "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["gpu-training"]}]
}
NEVER: t.Final = {
    "matchExpressions": [
        *HIGH["matchExpressions"],
        {"scopeName": "PriorityClass", "operator": "DoesNotExist"},
    ]
}


def world() -> World:
    found = World("team-a")
    metadata = {"name": "gpu-training"}
    found.server.put({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata})
    return found


def asked(*classes: str, **given: t.Any) -> t.Any:
    more = {"gpus": 8, "priority_classes": [*classes] or None}
    return params(namespace="team-a", quotas=None, **given) | more


def spec(found: World) -> t.Any:
    return found.server.objects["v1", "resourcequotas", "team-a", "gpu-quota"]["spec"]


def edit(found: World, selector: t.Any) -> None:
    """Give our quota these scopes, as `oc edit` does."""
    live = found.server.objects["v1", "resourcequotas", "team-a", "gpu-quota"]
    live["spec"]["scopeSelector"] = selector
    own = live["metadata"]["managedFields"][0]
    own["fieldsV1"]["f:spec"].pop("f:scopeSelector", None)
    fields: t.Any = {"f:spec": {"f:scopeSelector": {}}}
    live["metadata"]["managedFields"] = [own, {"manager": "kubectl-edit", "fieldsV1": fields}]


def test_a_quota_of_a_class_and_without_it_again() -> None:
    one = world()
    api = one.api()
    steps.present(api, asked("gpu-training"))
    assert spec(one) == {"hard": {GPU: "8"}, "scopeSelector": HIGH}
    assert api.warnings == []
    steps.present(one.api(), asked("gpu-training"))
    assert one.asked() == {"GET resourcequotas": 1}
    steps.present(one.api(), asked())
    assert spec(one) == {"hard": {GPU: "8"}}


def test_a_class_that_does_not_exist_is_told_unless_it_is_planned() -> None:
    one = world()
    api = one.api(check_mode=True)
    (found,) = steps.present(api, asked("gpu-trainig"))["quota"]["findings"]
    assert (found["code"], found["path"]) == (
        "QUOTA-COUNTS-NOTHING",
        "spec.scopeSelector.matchExpressions[0]",
    )
    assert any("there is no PriorityClass gpu-trainig" in text for text in api.warnings)
    planned = {"resources": ["nvidia.com/gpu"], "priority_classes": ["gpu-trainig"]}
    quiet = one.api(check_mode=True)
    steps.present(quiet, asked("gpu-trainig", planned=planned, nodes_exist=False))
    steps.present(quiet, asked("gpu-trainig", nodes_exist=False))
    assert quiet.warnings == []
    assert set(one.asked()) & {"GET nodes", "GET priorityclasses"} == set()


def test_what_no_pool_and_no_node_has_is_told_before_there_are_nodes() -> None:
    one = world()
    hard = {"requests.nvidia.com/mig-1g.5gb": "2"}
    quota = {**PLAIN, "namespace": "team-a", "name": "q", "hard": hard}
    planned = {"resources": ["nvidia.com/gpu"], "priority_classes": None}
    api = one.api(check_mode=True)
    (found,) = steps.present(api, params(quotas=[quota], nodes_exist=False, planned=planned))["quotas"]
    assert [one["path"] for one in found["findings"]] == ["spec.hard[requests.nvidia.com/mig-1g.5gb]"]
    assert one.server.writes() == []


def test_scopes_of_another_manager_stay_and_the_proof_says_that_nothing_counts() -> None:
    one = world()
    steps.present(one.api(), asked())
    edit(one, NEVER)
    api = one.api()
    found = steps.present(api, asked())["quota"]
    assert [(kept["field"], kept["manager"]) for kept in found["kept"]] == [
        ("spec.scopeSelector", "kubectl-edit")
    ]
    assert any("scopes stays PriorityClass In [gpu-training], PriorityClass" in text for text in api.warnings)
    assert one.server.writes() == []
    with pytest.raises(AcceleratorError) as caught:
        steps.present(one.api(), asked(prove=True))
    assert caught.value.code == "QUOTA-COUNTS-NOTHING"
    assert "spec.scopeSelector.matchExpressions[1]" in caught.value.message
    assert "gpu_policy_adopt: take" in caught.value.remedy
    steps.present(one.api(), asked(adopt="take", prove=True))
    assert spec(one) == {"hard": {GPU: "8"}}


def test_scopes_of_another_manager_in_a_quota_of_a_class() -> None:
    one = world()
    steps.present(one.api(), asked("gpu-training"))
    edit(one, NEVER)
    assert steps.present(one.api(), asked("gpu-training"))["quota"]["kept"][0]["key"] == "scopes"
    assert one.server.writes() == []
    steps.present(one.api(), asked("gpu-training", adopt="take"))
    assert spec(one)["scopeSelector"] == HIGH


def test_the_proof_is_a_pod_of_the_class() -> None:
    one = world()
    answer, sent = one.server.request, list[bytes]()

    def recorded(method: str, url: str, body: bytes | None = None, **more: t.Any) -> t.Any:
        if "/pods?" in url:
            sent.append(body or b"")
        return answer(method, url, body, **more)

    one.server.request = recorded
    steps.present(one.api(), asked("gpu-training", prove=True))
    assert b'"priorityClassName":"gpu-training"' in sent[0].replace(b'": "', b'":"')


def test_a_quota_of_a_class_that_does_not_exist_is_not_proven() -> None:
    one = World("team-a", refusal=status(403, "Forbidden", "no PriorityClass with name x was found"))
    api = one.api()
    assert steps.present(api, asked("x", prove=True))["quota"]["proof"].startswith("not proven: ")


def test_only_pods_of_the_class_count_against_a_lower_limit() -> None:
    one = world()
    for name, its in (("low", "gpu-batch"), ("high", "gpu-training")):
        container = {"name": "job", "resources": {"requests": {"nvidia.com/gpu": "9"}}}
        body = {"containers": [container], "priorityClassName": its}
        metadata = {"name": name, "namespace": "team-a"}
        one.server.put({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body})
    api = one.api(check_mode=True)
    found = steps.present(api, asked("gpu-training"))["quota"]
    assert found["use"] == {
        "pods": 1,
        "requests": {"nvidia.com/gpu": 9},
        "owners": [{"kind": "Pod", "name": "high", "pods": 1, "requests": {"nvidia.com/gpu": 9}}],
        "more_owners": 0,
    }
    assert any(f"already uses 9 of {GPU}, and the limit is 8" in text for text in api.warnings)


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"priority_classes": ["Not A Name"]}, "QUOTA-CLASS", "priority_classes[0]: 'Not A Name'"),
        (
            {"priority_classes": ["a"], "gpus": None, "hard": {CLAIMED: "1"}},
            "QUOTA-SCOPE",
            f"hard[{CLAIMED}]: a quota of some priority classes cannot limit this: it counts claims",
        ),
        (
            {"priority_classes": ["a"], "gpus": None, "hard": {"secrets": "1"}},
            "QUOTA-SCOPE",
            "hard[secrets]: a quota of some priority classes cannot limit this: the API server refuses",
        ),
    ],
)
def test_what_cannot_be_limited_for_some_classes(given: dict[str, t.Any], code: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        options.read(asked() | given)
    assert caught.value.code == code
    assert words in caught.value.message
