# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_admission: what a task knows of its pools, and what is refused before the first request."""

from __future__ import annotations

import typing as t

import pytest
from unit.policy.builders import TAINT, TEAM, params, partition, pool

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._policy.options import read

PREFER: t.Final = {"key": "nvidia.com/gpu", "effect": "PreferNoSchedule"}


def test_a_pool_has_its_label_and_the_taints_that_keep_pods_off() -> None:
    found = partition("training", TAINT, PREFER)
    assert found.label == {"accelerators.openshift/pool": "training"}
    assert found.taints == (TAINT,)


def test_placeholder_pods_tolerate_every_taint_of_the_pool() -> None:
    found = partition("training", TAINT, TEAM).tolerations
    assert [(one["key"], one["operator"]) for one in found] == [
        ("nvidia.com/gpu", "Exists"),
        ("dedicated", "Equal"),
    ]


@pytest.mark.parametrize(
    ("pools", "code", "path"),
    [
        ([pool("a"), pool("a")], "POOL-DUPLICATE", "pools[1].name"),
        ([pool("a" * 64)], "POOL-NAME", "pools[0].name"),
        ([pool("a", spare=-1)], "POOL-VALUE", "pools[0].spare"),
        ([pool("a", spare=1, resources=["x.io/a", "x.io/b"])], "POOL-CONFLICT", "pools[0].spare"),
        ([pool("a", {"key": "x", "effect": "Never"})], "POOL-VALUE", "pools[0].taints[0]"),
        ([pool("a", {"effect": "NoSchedule"})], "POOL-VALUE", "pools[0].taints[0]"),
    ],
)
def test_wrong_pools_are_refused_with_their_path(pools: list[dict[str, t.Any]], code: str, path: str) -> None:
    with pytest.raises(InputError) as raised:
        read(params(*pools))
    problems = raised.value.facts["problems"]
    assert [(one["code"], one["path"]) for one in problems] == [(code, path)]


def test_tolerations_are_added_only_where_pods_are_told() -> None:
    with pytest.raises(InputError) as raised:
        read(params(pool(), add_tolerations=True))
    assert "gpu_policy_admission: warn" in raised.value.remedy


def test_the_image_of_placeholder_pods_is_one_that_a_registry_can_have() -> None:
    with pytest.raises(InputError, match=r"spare_image 'r\.io/Pause' is no image reference") as raised:
        read(params(pool(), spare_image="r.io/Pause"))
    assert "gpu_policy_spare_image" in raised.value.remedy
