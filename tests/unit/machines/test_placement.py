"""How replicas are spread over zones."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import placement


@pytest.mark.parametrize(
    ("replicas", "zones", "counts"),
    [(3, "ab", [2, 1]), (2, "abc", [1, 1, 0]), (0, "ab", [0, 0]), (6, "abc", [2, 2, 2]), (1, "a", [1])],
)
def test_replicas_are_spread(replicas: int, zones: str, counts: list[int]) -> None:
    assert list(placement.spread(replicas, list(zones)).values()) == counts
