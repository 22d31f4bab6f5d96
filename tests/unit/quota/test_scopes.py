"""Scopes of a quota: the selector of priority classes, and how a person reads them."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import scopes


def test_the_selector_names_the_classes_in_order() -> None:
    found: t.Any = scopes.selector(["b", "a"])
    assert found == {
        "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["a", "b"]}]
    }
    assert scopes.classes({"scopeSelector": found}) == ["a", "b"]
    assert scopes.selector([]) is None


def test_scopes_in_one_line() -> None:
    terms = [
        {"scopeName": "PriorityClass", "operator": "NotIn", "values": ["a"]},
        {"scopeName": "Terminating", "operator": "Exists"},
    ]
    spec = {"scopes": ["BestEffort"], "scopeSelector": {"matchExpressions": terms}}
    assert scopes.shown(spec) == "BestEffort Exists, PriorityClass NotIn [a], Terminating Exists"
    assert scopes.are_set(spec)
    assert (scopes.shown({}), scopes.are_set({})) == ("", False)


def test_the_first_field_that_excludes_pods_is_named() -> None:
    assert scopes.void({"scopes": ["NotTerminating", "Terminating"]}) == scopes.Void(
        "spec.scopes[0]", "no pod has the scopes Terminating and NotTerminating together"
    )
    assert scopes.void({"scopes": ["BestEffort", "NotBestEffort"]}) is not None
    assert scopes.void({"scopes": ["BestEffort"]}) is None


def test_what_a_quota_of_priority_classes_limits() -> None:
    resources = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
    scopes.check(dict.fromkeys(("pods", "requests.nvidia.com/gpu", *resources), "1"), ["a"])
    with pytest.raises(InputError, match="services"):
        scopes.check({"services": "1"}, ["a"])
