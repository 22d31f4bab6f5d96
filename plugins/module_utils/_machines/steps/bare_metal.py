# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check for free BareMetalHosts before machines are created, and say why the others are not free."""

from __future__ import annotations

import typing as t

from ..._core.errors import NotReadyError
from ..._core.objects import KubeObject
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._platforms import registry as platforms
from ..._platforms.infrastructure import Infrastructure
from ..._pools import platform_options
from ..._pools.model import Candidate, Pool
from .. import candidates
from . import hosts as free_hosts

_PLATFORM: t.Final = "BareMetal"
_REMEDY: t.Final = (
    "Run `oc get baremetalhost -n {namespace} --show-labels`, then correct baremetal.host_selector, or "
    "repair, free or add a host."
)


def foresee(
    api: Api,
    cluster: Infrastructure,
    pool: Pool,
    search: candidates.Search,
    held: t.Sequence[candidates.Held],
    namespace: str,
) -> None:
    """Skip candidates without a host that is free or soon free. Raise NotReadyError if none is left.

    A pool that does not grow needs no request.
    """
    hosts: list[KubeObject] | None = None
    while cluster.platform == _PLATFORM:
        candidate = search.candidate
        has = sum(held_set.replicas for held_set in held if held_set.candidate == candidate.key)
        if sum(search.placement.values()) <= has:
            return
        if hosts is None:
            hosts = api.list(known("BareMetalHost"), namespace)
        selector = _selector(pool, candidate)
        supply = free_hosts.supply_of(hosts, selector)
        summary = f"pool {pool.name}: {supply.summary(selector)}"
        api.progress(summary)
        if supply.free or supply.coming:
            return
        step = search.lose({candidates.NO_ZONE: ("MACH-HOST", summary)}, {candidates.NO_ZONE: has})
        if step == candidates.GIVE_UP:
            lines = [f"{attempt['instance_type']}: {attempt['message']}" for attempt in search.attempts[:-1]]
            remedy = _REMEDY.format(namespace=namespace)
            message = f"{summary}, so no machine was created"
            raise NotReadyError(
                "MACH-HOST", message, remedy, (*lines, *supply.lines), facts={"attempts": search.attempts}
            )
        if step == candidates.KEEP:
            return


def _selector(pool: Pool, candidate: Candidate) -> KubeObject:
    platform = platforms.PLATFORMS[_PLATFORM]
    return dict(
        platforms.build(platform, {}, platform_options.wanted(pool, candidate, platform.KEY)).get(
            "hostSelector"
        )
        or {}
    )
