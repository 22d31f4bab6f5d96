"""Conditions: found by their type, and True only if they say so."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import conditions

READY = {"type": "Ready", "status": "True", "reason": "KubeletReady"}


def obj(*found: dict[str, t.Any]) -> dict[str, t.Any]:
    return {"status": {"conditions": [{"type": "Other", "status": "False"}, *found]}}


def test_a_condition_is_found_by_its_type() -> None:
    assert conditions.find(obj(READY), "Ready") == READY
    assert conditions.is_true(obj(READY), "Ready")


@pytest.mark.parametrize(
    "without", [None, {}, {"status": None}, {"status": {}}, {"status": {"conditions": None}}, obj()]
)
def test_a_missing_condition_is_empty_and_not_true(without: dict[str, t.Any] | None) -> None:
    assert conditions.find(without, "Ready") == {}
    assert not conditions.is_true(without, "Ready")


@pytest.mark.parametrize("status", ["False", "Unknown", None, True])
def test_only_the_text_true_is_true(status: t.Any) -> None:
    assert not conditions.is_true(obj({**READY, "status": status}), "Ready")
