"""Label selectors."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.selectors import selects


@pytest.mark.parametrize(
    ("selector", "is_selected"),
    [
        (None, False),
        ({}, False),
        ({"matchLabels": {}}, False),
        ({"matchLabels": {"a": "1"}}, True),
        ({"matchLabels": {"a": "2"}}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, False),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "a", "operator": "Unknown"}]}, False),
    ],
)
def test_selects(selector: t.Any, is_selected: bool) -> None:
    assert selects(selector, {"a": "1"}) is is_selected
