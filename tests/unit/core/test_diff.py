"""Owned fields: what counts as already so, and what we own but do not want any more."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import diff


@pytest.mark.parametrize(
    ("live", "wanted", "covered"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 2]}}, True),
        ({"a": [{"n": 1, "default": True}]}, {"a": [{"n": 1}]}, True),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": "8"}, {"a": 8}, False),
        ({"a": True}, {"a": 1}, False),
        ({}, {"a": None}, False),
        ({"a": 1}, {"a": {"b": 1}}, False),
    ],
)
def test_covers(live: t.Any, wanted: t.Any, covered: bool) -> None:
    assert diff.covers(live, wanted) is covered


FIELDS = {
    "f:spec": {
        "f:hard": {"f:x": {}, "f:y": {}},
        "f:items": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:v": {}}},
        "f:set": {'v:"one"': {}},
    }
}


@pytest.mark.parametrize(
    ("spec", "stale"),
    [
        ({"hard": {"x": 1, "y": 2}, "items": [{"name": "a", "v": 1}], "set": ["one"]}, False),
        ({"hard": {"x": 1}, "items": [{"name": "a", "v": 1}], "set": ["one"]}, True),
        ({"hard": {"x": 1, "y": 2}, "items": [{"name": "b", "v": 1}], "set": ["one"]}, True),
        ({"hard": {"x": 1, "y": 2}, "items": [{"name": "a"}], "set": ["one"]}, True),
        ({"hard": {"x": 1, "y": 2}, "items": [{"name": "a", "v": 1}], "set": []}, True),
    ],
)
def test_stale_fields(spec: t.Any, stale: bool) -> None:
    assert diff.has_stale_fields(FIELDS, {"spec": spec}) is stale


def test_only_our_own_applied_fields_count() -> None:
    ours = {"manager": "accelerators.openshift", "operation": "Apply", "fieldsV1": {"f:data": {}}}
    others = [
        {**ours, "manager": "kubectl"},
        {**ours, "operation": "Update"},
        {**ours, "subresource": "status"},
    ]
    assert diff.managed_fields({"metadata": {"managedFields": [*others, ours]}}) == {"f:data": {}}
    assert diff.managed_fields({"metadata": {"managedFields": others}}) == {}


def test_bookkeeping_is_no_difference() -> None:
    one = {
        "metadata": {"name": "a", "resourceVersion": "1", "generation": 1, "managedFields": []},
        "spec": {"x": 1},
    }
    assert diff.same(
        one, {"metadata": {"name": "a", "resourceVersion": "2", "generation": 2}, "spec": {"x": 1}}
    )
    assert not diff.same(one, {"metadata": {"name": "a"}, "spec": {"x": 2}})


def test_the_view_holds_wanted_and_formerly_owned_fields_only() -> None:
    live = {
        "kind": "ConfigMap",
        "metadata": {"name": "a", "labels": {"theirs": "1"}},
        "data": {"old": "1", "theirs": "2"},
    }
    shape = diff.merge_shapes(
        {"metadata": {"name": "a"}, "data": {"new": "1"}}, diff.shape_of({"f:data": {"f:old": {}}})
    )
    assert diff.owned_view(live, shape) == {"metadata": {"name": "a"}, "data": {"old": "1"}}
