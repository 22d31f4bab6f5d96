"""PriorityClasses that the API server would refuse."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._policy import priority_class

LIVE: t.Final[list[KubeObject]] = [
    {"metadata": {"name": "high"}, "value": 100, "preemptionPolicy": "PreemptLowerPriority"},
    {"metadata": {"name": "low"}, "value": 1, "preemptionPolicy": "Never"},
    {"metadata": {"name": "zero"}},
]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"name": "high", "value": 100}, ""),
        ({"name": "new", "value": 5}, ""),
        ({"name": "zero", "value": 0, "preemption_policy": ""}, ""),
        ({"name": "high", "value": 200}, "exists with value 100 (asked: 200)"),
        (
            {"name": "low", "value": 1, "preemption_policy": "PreemptLowerPriority"},
            "preemptionPolicy Never (asked: PreemptLowerPriority)",
        ),
        ({"name": "system-gpu", "value": 1}, "begins with system-"),
    ],
)
def test_what_the_api_server_refuses_is_found_before(wanted: dict[str, t.Any], words: str) -> None:
    found = priority_class.clashes([wanted], LIVE)
    assert [one.name for one in found] == ([wanted["name"]] if words else [])
    assert all(words in one.message and one.remedy for one in found)


@pytest.mark.parametrize(
    ("manager", "description", "is_refused"),
    [
        ("kubectl-edit", "theirs", True),
        ("kubectl-edit", "GPU work", False),
        ("accelerators.openshift", "ours of before", False),
    ],
)
def test_a_description_that_another_manager_set_is_refused(
    manager: str, description: str, is_refused: bool
) -> None:
    live: KubeObject = {
        "metadata": {
            "name": "high",
            "managedFields": [{"manager": manager, "operation": "Update", "fieldsV1": {"f:description": {}}}],
        },
        "value": 100,
        "description": description,
    }
    found = priority_class.clashes([{"name": "high", "value": 100}], [live])
    assert bool(found) is is_refused
    for one in found:
        assert "description is 'theirs', set by kubectl-edit; the task asks for 'GPU work'" in one.message
        assert one.remedy == "Set description: theirs in priority of the pool."


def test_all_clashes_are_told_at_once() -> None:
    wanted = [{"name": "high", "value": 1}, {"name": "low", "value": 2, "preemption_policy": "Never"}]
    with pytest.raises(AcceleratorError) as caught:
        priority_class.refuse(priority_class.clashes(wanted, LIVE))
    assert caught.value.code == "POOL-PRIORITY"
    assert len(caught.value.evidence) == 2
    assert caught.value.message.endswith("Nothing was changed.")
    priority_class.refuse([])
