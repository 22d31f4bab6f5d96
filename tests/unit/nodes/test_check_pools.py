# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools that lack what a stack needs are refused by their path."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import check_pools


@pytest.mark.parametrize(
    ("pool", "path"),
    [
        ({"name": "a"}, "pools[0].node_selector"),
        ({"node_selector": {"a": "b"}}, "pools[0].name"),
        ({"name": "a", "node_selector": "x"}, "pools[0]"),
    ],
)
def test_bad_pools_are_named(pool: dict[str, t.Any], path: str) -> None:
    with pytest.raises(InputError, match=r"pools\[0\]") as caught:
        check_pools([pool])
    assert path in caught.value.message


def test_devices_that_no_node_can_offer_are_refused_with_the_name_that_is_meant() -> None:
    pool = {"name": "a", "node_selector": {"a": "b"}}
    with pytest.raises(InputError) as caught:
        check_pools([{**pool, "expected": {"nvidia/gpu": 8}}])
    assert (caught.value.code, "did you mean nvidia.com/gpu?" in caught.value.message) == (
        "INPUT-VALUE",
        True,
    )
    check_pools([{**pool, "expected": {"rdma/rdma_a": 63, "card.example.com": 2}}])
