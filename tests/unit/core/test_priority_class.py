"""PriorityClasses that the API server would refuse."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import priority_class
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject

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
