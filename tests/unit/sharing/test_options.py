# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What gpu_sharing refuses before it sends a request."""

from __future__ import annotations

import typing as t

import pytest
from unit.sharing.builders import FOUR, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import options


@pytest.mark.parametrize(
    ("pools", "code", "path"),
    [
        ([("a", FOUR), ("a", FOUR)], "POOL-DUPLICATE", "pools[1].name"),
        ([("a" * 60, FOUR)], "POOL-NAME", "pools[0].name"),
        ([("a", {"mig": {"slices": 7}})], "POOL-GEOMETRY", "pools[0].sharing.mig.slices"),
        ([("a", {"mig": {}})], "POOL-EITHER", "pools[0].sharing.mig"),
        ([("a", {"mig": {"layout": {"4g.20gb": 2}}})], "POOL-GEOMETRY", "pools[0].sharing.mig.layout"),
        ([("a", {"mig": {"profile": "1g.10gb"}})], "POOL-GEOMETRY", "pools[0].sharing.mig.profile"),
        ([("a" * 51, {"mig": {"profile": "1g.5gb"}})], "POOL-NAME", "pools[0].name"),
        ([("a", FOUR | {"mps": {"replicas": 2}})], "POOL-EITHER", "pools[0].sharing"),
        (
            [("a", {"mig": {"profile": "1g.5gb"}, "mps": {"replicas": 2}})],
            "POOL-EITHER",
            "pools[0].sharing",
        ),
        ([("a", {"time_slicing": {"replicas": 1}})], "POOL-VALUE", "pools[0].sharing.time_slicing.replicas"),
        ([("a", {"mps": {"replicas": 49}})], "POOL-VALUE", "pools[0].sharing.mps.replicas"),
        ([("a", {"time_slice": {}})], "POOL-UNKNOWN-KEY", "pools[0].sharing.time_slice"),
    ],
)
def test_bad_input_is_refused_with_its_path(pools: list[tuple[str, t.Any]], code: str, path: str) -> None:
    with pytest.raises(InputError) as raised:
        options.read(params(*pools)["pools"])
    assert raised.value.code == code
    assert raised.value.message.startswith(f"{path}: ")
    assert raised.value.remedy


def test_a_pool_without_sharing_has_whole_gpus() -> None:
    (one,) = options.read(params(("a", {}))["pools"])
    assert not one.is_shared
    assert one.label == {"accelerators.openshift/pool": "a"}
