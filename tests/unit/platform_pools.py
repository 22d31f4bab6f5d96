"""What the tests of platforms share: plan a pool, and build its provider's value from that of a worker."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import registry as platforms
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import (
    plan as pool_plan,
    platform_options,
)

Data = dict[str, t.Any]


def problems(cloud: str, pool: Data) -> list[tuple[str, str]]:
    """Codes and paths, below the pool."""
    with pytest.raises(InputError) as caught:
        pool_plan.plan([pool], cloud=cloud)
    found = caught.value.facts["problems"]
    assert all(one["message"] and one["remedy"] for one in found)
    return [(one["code"], one["path"].removeprefix("gpu_pools[0].")) for one in found]


def built(cloud: str, pool: Data, source: Data, zone: str = "", image: str = "") -> Data:
    """Of the first candidate, planned twice as the steps of a playbook do."""
    (planned,) = pool_plan.plan([pool], cloud=cloud)["pools"]
    (again,) = pool_plan.plan([planned], cloud=cloud)["pools"]
    assert again == planned
    platform = platforms.BY_KEY[cloud]
    return platforms.build(
        platform, source, platform_options.wanted(again, again["candidates"][0], cloud, zone, image)
    )
