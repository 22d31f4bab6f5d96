"""CNI configurations of users, and of networks without an operator."""

from __future__ import annotations

import datetime
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._networks import cni


def test_a_configuration_gets_name_and_version() -> None:
    problems = Problems()
    for given in ('{"type": "bridge"}', {"type": "bridge"}):
        config = cni.read(given, "own", "path", problems)
        assert config == {"cniVersion": "1.0.0", "name": "own", "type": "bridge"}
    date = cni.read({"type": "bridge", "since": datetime.date(2026, 1, 2), 5: 6}, "own", "path", problems)
    assert (date["since"], date["5"]) == ("2026-01-02", 6)
    assert not problems.found
    assert cni.plugins_of(config) == [config]
    assert cni.plugins_of({"plugins": [{"type": "a"}]}) == [{"type": "a"}]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("{type: bridge}", "it is no JSON"),
        ("[]", "it is no JSON object"),
        ({}, "it has neither type nor plugins"),
        ({"plugins": []}, "it has neither type nor plugins"),
        ({"plugins": [{"name": "x"}]}, "it has neither type nor plugins"),
        ({"type": "bridge", "name": "other"}, "its name is 'other'"),
    ],
)
def test_what_is_no_configuration_is_refused(given: t.Any, why: str) -> None:
    problems = Problems()
    cni.read(given, "own", "path", problems)
    (problem,) = problems.found
    assert (problem.code, problem.path) == ("NET-VALUE", "path")
    assert why in problem.message
