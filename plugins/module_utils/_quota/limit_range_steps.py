# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps for the LimitRange of a quota: look at what the namespace needs, make it, remove it."""

from __future__ import annotations

import typing as t

from .._core.errors import ForbiddenError
from .._core.objects import KubeObject, name
from .._core.ownership import owned
from .._kube.client import Api
from .._kube.kinds import known
from . import limit_range, resource_quota
from .options import Wanted

LIMIT_RANGE: t.Final = known("LimitRange")


def look(
    api: Api, ours: Wanted, wanted: t.Iterable[Wanted], seen: list[KubeObject]
) -> limit_range.Plan | None:
    """Return what the namespace needs, before the first write; None if nobody asks for a LimitRange.

    LimitRanges are read only if the task asks for one, if the quota had one, or if a quota that forces
    requests is new here. wanted: all quotas of the task; those of the namespace will exist too. Raises
    AcceleratorError for a foreign LimitRange of that name.
    """
    live = resource_quota.named(seen, ours.name)
    asked = {
        other.name: resource_quota.build(other.name, other.namespace, other.limits, other.selector)
        for other in wanted
        if other.namespace == ours.namespace
    }
    needed = limit_range.forced([*asked.values(), *(quota for quota in seen if name(quota) not in asked)])
    hard = ((live or {}).get("spec") or {}).get("hard") or {}
    is_new = any(live is None or (force.quota == ours.name and force.key not in hard) for force in needed)
    if ours.defaults is None and not _had_one(live) and not is_new:
        return None
    try:
        ranges = api.list(LIMIT_RANGE, ours.namespace)
    except ForbiddenError:
        if ours.defaults is not None or _had_one(live):
            raise
        return None
    return limit_range.plan(ours.name, needed, ours.defaults, ranges)


def before(api: Api, quota: Wanted, plan: limit_range.Plan | None) -> None:
    """Delete our LimitRange that is no longer needed, while the quota still says that it has one."""
    if plan and owned(plan.live) and not plan.defaults:
        api.delete(LIMIT_RANGE, limit_range.object_name(quota.name), quota.namespace)


def after(api: Api, plan: limit_range.Plan | None, quota: KubeObject) -> None:
    """Apply the LimitRange that the namespace needs."""
    if plan and plan.defaults:
        api.apply(limit_range.build(quota, plan.defaults), live=plan.live)


def absent(api: Api, namespace: str, quota: str) -> None:
    """Delete the LimitRange of a quota."""
    api.delete(LIMIT_RANGE, limit_range.object_name(quota), namespace)


def _had_one(live: KubeObject | None) -> bool:
    return limit_range.MARK in (((live or {}).get("metadata") or {}).get("annotations") or {})
