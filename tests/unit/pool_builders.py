"""Pools for tests: planned from a description, and the provider's value that a platform builds for one."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.instance_types import (
    BUILT_IN,
    Catalogue,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import registry as platforms
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import (
    draft as pool_draft,
    plan as pool_plan,
    platform_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import (
    Autoscale,
    Candidate,
    Market,
    Pool,
)

Data = dict[str, t.Any]
# Of an installation on AWS.
INFRASTRUCTURE: t.Final = {
    "apiVersion": "config.openshift.io/v1",
    "kind": "Infrastructure",
    "metadata": {"name": "cluster"},
    "status": {
        "infrastructureName": "demo-x7k2p",
        "platformStatus": {"type": "AWS", "aws": {"region": "us-east-2"}},
    },
}


def plan(
    pools: t.Any,
    name: str = "gpu_pools",
    cloud: str | None = None,
    prefix: str | None = None,
    accelerator_limits: t.Collection[str] | None = None,
    catalogue: Catalogue = BUILT_IN,
    backend: str | None = None,
) -> Data:
    """Return the plan as gpu_plan returns it, and its remarks."""
    draft = pool_plan.draft(pools, name, catalogue, backend)
    found = pool_plan.assemble(draft.pools(Place(cloud, prefix, accelerator_limits)), name, backend)
    return {**found.as_result(), "remarks": list(found.warnings)}


def single(entry: Data, cloud: str | None = None, prefix: str | None = None) -> Pool:
    """Return the planned pool of one description."""
    (pool,) = pool_draft.single(entry).pools(Place(cloud, prefix))
    return pool


def of_result(name: str, candidates: t.Sequence[Data], **more: t.Any) -> Pool:
    """Return a planned pool of candidates that say only what a test is about. more: fields of `Pool`."""
    market = [Market.from_result(one["market"]) if one.get("market") else None for one in candidates]
    made = [
        Candidate(**{**one, "zones": tuple(one.get("zones") or ()), "market": bought})
        for one, bought in zip(candidates, market, strict=True)
    ]
    scale = more.pop("autoscale", None)
    return Pool(name, tuple(made), autoscale=Autoscale(**scale) if scale else None, **more)


def problems(cloud: str, pool: Data) -> list[tuple[str, str]]:
    """Return the codes of a description's problems, and their paths below the pool."""
    with pytest.raises(InputError) as caught:
        plan([pool], cloud=cloud)
    found = caught.value.facts["problems"]
    assert all(one["message"] and one["remedy"] for one in found)
    return [(one["code"], one["path"].removeprefix("gpu_pools[0].")) for one in found]


def built(cloud: str, pool: Data, source: Data, zone: str = "", image: str = "") -> Data:
    """Return the provider's value of the first candidate, of a pool that was read back from a result."""
    (planned,) = plan([pool], cloud=cloud)["pools"]
    again = Pool.from_result(planned)
    assert again.as_result() == planned
    platform = platforms.BY_KEY[cloud]
    wanted = platform_options.wanted(again, again.candidates[0], cloud, zone, image)
    return platforms.build(platform, source, wanted)
