# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the platform options of a pool and its candidates, and patches of the provider's value."""

from __future__ import annotations

import difflib
import typing as t

from .._catalogue.instance_types import InstanceType
from .._core.input import Problems
from .._core.objects import at
from .._platforms.platform import Paths, Platform, Wanted
from .._platforms.registry import BY_KEY, of_cloud, unknown_fields
from .model import PATCH, Candidate, Pool

# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]
# Fields of the provider's value that an option of the pool sets, by platform. Later steps read the option.
_SAID_BY: t.Final = {
    "aws": {"instanceType": "instance_type", "placement.availabilityZone": "zones"},
    "azure": {"vmSize": "instance_type", "zone": "zones"},
    "gcp": {"zone": "zones"},
}


def settle(pool: Description, path: str, cloud: str | None, problems: Problems) -> None:
    """Copy the pool's platform options to its candidates. cloud: None means not known yet."""
    platform = of_cloud(cloud)
    for holder, where in [(pool, path), *_candidates(pool, path)]:
        for key in sorted(set(BY_KEY) & set(holder)):
            if cloud is not None and key != cloud:
                problems.add("POOL-PLATFORM", f"{where}.{key}", platform=key, cloud=cloud)
        if PATCH in holder:
            _check_patch(holder[PATCH], f"{where}.{PATCH}", platform, problems)
    for candidate, _where in _candidates(pool, path):
        for key in [*BY_KEY, PATCH]:
            mine, given = candidate.get(key) or {}, pool.get(key) or {}
            if (key in pool or key in candidate) and isinstance(mine, dict) and isinstance(given, dict):
                candidate[key] = {**given, **mine}


def check(
    pool: Description,
    kinds: t.Sequence[InstanceType | None],
    path: str,
    cloud: str | None,
    problems: Problems,
) -> None:
    """Let the platform check each candidate. kinds: each candidate's instance type, None if not known."""
    platform = of_cloud(cloud)
    for (candidate, where), kind in zip(_candidates(pool, path), kinds, strict=True):
        if platform is not None:
            _check(platform, pool, candidate, kind, path, where, problems)
    if (
        platform is not None
        and not platform.HAS_TYPE_LABEL
        and pool.get("mixed")
        and len({(kind.gpus, kind.gpu.model, kind.share) for kind in kinds if kind}) > 1
    ):
        found = "different GPUs, which no label of a node tells apart here,"
        problems.add("POOL-MIXED", f"{path}.mixed", found=found, kind="candidate")


def wanted(pool: Pool, candidate: Candidate, key: str, zone: str = "", image: str = "") -> Wanted:
    """Return the machine that a platform shall build. key: the platform's key."""
    return Wanted(
        candidate.instance_type,
        zone,
        pool.disk,
        (candidate.market or pool.market).as_result(),
        image,
        candidate.options.get(key) or {},
        candidate.patch,
    )


def _candidates(pool: Description, path: str) -> list[tuple[Description, str]]:
    return [
        (candidate, f"{path}.candidates[{index}]")
        for index, candidate in enumerate(pool.get("candidates") or [])
    ]


def _check(
    platform: Platform,
    pool: Description,
    candidate: Description,
    kind: InstanceType | None,
    path: str,
    where: str,
    problems: Problems,
) -> None:
    if platform.ZONED and not candidate.get("zones") and not problems.at(f"{where}.zones"):
        remedy = "List the zones in which machines may be created."
        problems.add("POOL-REQUIRED", f"{where}.zones", remedy=remedy, also=f" on {platform.KEY}")
    market, options, patch = (
        (path if key in pool and not own else where) for key, own in _written(pool, candidate, platform.KEY)
    )
    if "instance_type" in candidate and isinstance(candidate.get(PATCH, {}), dict):
        paths = Paths(
            where, f"{market}.market", f"{path}.disk", f"{options}.{platform.KEY}", f"{patch}.{PATCH}"
        )
        asked = Wanted(
            candidate["instance_type"],
            "",
            pool.get("disk") or {},
            candidate.get("market") or pool.get("market") or {"type": "on_demand"},
            "",
            candidate.get(platform.KEY) or {},
            candidate.get(PATCH) or {},
            zones=tuple(candidate.get("zones") or ()),
            kind=kind,
        )
        platform.check(asked, paths, problems)


def _written(pool: Description, candidate: Description, key: str) -> list[tuple[str, bool]]:
    """Return each option, and True if the candidate sets it differently from the pool."""
    return [
        ("market", "market" in candidate),
        *((one, candidate.get(one) != pool.get(one)) for one in (key, PATCH)),
    ]


def _check_patch(patch: t.Any, path: str, platform: Platform | None, problems: Problems) -> None:
    if not isinstance(patch, dict):
        problems.add(
            "POOL-TYPE",
            path,
            remedy="Write {field: value}; null removes a field.",
            form="a mapping, merged into the provider's value (RFC 7386)",
            value=repr(patch),
        )
        return
    if not all(isinstance(key, str) for key in patch):
        value = f"one with the keys {', '.join(str(key) for key in patch if not isinstance(key, str))}"
        remedy = "Put the names of fields in quotes."
        problems.add("POOL-TYPE", path, remedy=remedy, form="a mapping whose keys are text", value=value)
        return
    for field in unknown_fields(platform, patch) if platform and platform.SHAPE else ():
        near = (
            difflib.get_close_matches(field.rpartition(".")[2], _names(platform.SHAPE), 1) if platform else []
        )
        hint = f"Did you mean {near[0]}? " if near else ""
        problems.add("POOL-PROVIDER-FIELD", f"{path}.{field}", also=hint)
    for field, option in _SAID_BY.get(platform.KEY, {}).items() if platform else ():
        if at(patch, field) is not None:
            problems.add("POOL-PROVIDER-VALUE", f"{path}.{field}", option=option)


def _names(shape: t.Any) -> set[str]:
    if isinstance(shape, list):
        return _names(shape[0])
    return (
        set(shape) | {name for inner in shape.values() for name in _names(inner)}
        if isinstance(shape, dict)
        else set()
    )
