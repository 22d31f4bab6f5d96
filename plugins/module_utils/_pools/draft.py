# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drafts of a plan: read each pool's description once, check it, and make a `Pool` of it."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._catalogue.instance_types import BUILT_IN, Catalogue, InstanceType
from .._core.input import Problems, read_map
from .._core.ownership import pool_label
from .._policy import schema as policy
from .._sharing import claims
from .._tuning import schema as tuning
from .._virtualization import schema as virtualization
from . import autoscale as pool_autoscale, geometry, health, names, platform_options, programs, rules
from .candidates import check_alike, check_attached, describe_all, resolve
from .markets import read_markets
from .model import Autoscale, Candidate, Market, Pool, Priority, Quota, Taint, Validation, is_planned
from .schema import POOL

# A pool as the user wrote it, read by the table of options. `resolved`: its candidates.
Description = dict[str, t.Any]


class Place(t.NamedTuple):
    """The facts that the cluster adds to a description.

    cloud: the catalogue's name of the platform, None if not known. prefix: the infrastructure name.
    accelerator_limits: types of the ClusterAutoscaler's GPU limits; None if missing limits can be added or
    are not known.
    """

    cloud: str | None = None
    prefix: str | None = None
    accelerator_limits: t.Collection[str] | None = None


# The place of a draft before the cluster is known.
NOWHERE: t.Final = Place()


@dataclass
class Draft:
    """A draft of planned pools. Each pool is read once; its candidates depend on the platform.

    entries: path to the user's input; a pool that is planned already does not change.
    """

    entries: dict[str, t.Any]
    catalogue: Catalogue = BUILT_IN
    _planned: dict[str, Pool] = field(default_factory=dict)
    _read: dict[str, Description] = field(default_factory=dict)

    def check(self, place: Place = NOWHERE, problems: Problems | None = None) -> None:
        """Check the pools for this place. Raises InputError with every problem, and with those given."""
        self._checked(place, problems)

    def pools(self, place: Place) -> tuple[Pool, ...]:
        """Return the planned pools. Raises InputError with every problem."""
        described = self._checked(place)
        return tuple(self._planned.get(path) or make(pool) for path, pool in described.items())

    @property
    def is_scaled(self) -> bool:
        """Return True if the autoscaler scales one of the pools. Call `check` first."""
        return any(pool.get("autoscale") for pool in self._read.values()) or any(
            pool.autoscale for pool in self._planned.values()
        )

    @property
    def makes_machines(self) -> bool:
        """Return True if one of the pools consists of machines of the collection. Call `check` first."""
        return any("existing" not in pool for pool in self._read.values()) or any(
            not pool.existing for pool in self._planned.values()
        )

    def _checked(self, place: Place, others: Problems | None = None) -> dict[str, Description]:
        problems = Problems(list(others.found) if others else [])
        described = {path: self._resolved(raw, path, place, problems) for path, raw in self.entries.items()}
        for path, pool in described.items():
            if path not in self._planned:
                rules.check(pool, path, problems, place.prefix)
            pool_autoscale.check(pool, path, problems, place.accelerator_limits, place.cloud)
            if path not in self._planned:
                check_alike(pool, path, problems)
        self._check_together(described, problems)
        problems.raise_if_any()
        return described

    def _check_together(self, described: dict[str, Description], problems: Problems) -> None:
        """Add contradictions between pools; a single pool has none."""

    def _resolved(self, raw: t.Any, path: str, place: Place, problems: Problems) -> Description:
        """Return a copy of the description with its candidates resolved for the platform."""
        if is_planned(raw):
            self._planned[path] = planned = Pool.from_result(raw, path or "pool")
            return _as_described(planned, path, place, problems)
        if path not in self._read:
            self._read[path] = _read(raw, path, problems)
        pool = {**self._read[path]}
        if "candidates" in pool:
            pool["candidates"] = [dict(candidate) for candidate in pool["candidates"]]
        platform_options.settle(pool, path, place.cloud, problems)
        kinds = [
            self._kind(pool, candidate, f"{path}.candidates[{index}]", place.cloud, problems)
            for index, candidate in enumerate(pool.get("candidates") or [])
        ]
        platform_options.check(pool, kinds, path, place.cloud, problems)
        pool["resolved"] = describe_all(pool, kinds, path, problems)
        # What the user wrote of tuning is checked before this adds to it.
        virtualization.check(pool, path, problems)
        return {**pool, **({"tuning": wanted} if (wanted := virtualization.tuning(pool)) else {})}

    def _kind(
        self, pool: Description, candidate: Description, path: str, cloud: str | None, problems: Problems
    ) -> InstanceType | None:
        """Return the candidate's instance type, and give the candidate the catalogue's name of it."""
        check_attached(candidate, path, problems)
        kind = resolve(candidate, cloud, path, problems, pool.get("accelerator") or "", self.catalogue)
        if kind is not None:
            candidate["instance_type"] = kind.name
        return kind


def single(entry: t.Any) -> Draft:
    """Return the draft of one pool from a task's options; paths in messages are the options."""
    return Draft({"": entry})


def _read(raw: t.Any, path: str, problems: Problems) -> Description:
    pool = read_map(raw, POOL, path, problems)
    read_markets(pool, path, problems)
    health.read(pool, path, problems)
    programs.read_pool(pool, path, problems)
    tuning.read_pool(pool, path, problems)
    policy.fill(pool)
    return pool


def _as_described(pool: Pool, path: str, place: Place, problems: Problems) -> Description:
    """Return a planned pool as a description, for checks against the cluster and other pools."""
    result = pool.as_result()
    described = {
        key: value
        for key, value in result.items()
        if key in POOL and value is not False and value not in ("", {}, [])
    }
    if pool.existing:
        described["existing"] = {"node_selector": result["node_selector"], "expected": result["expected"]}
    elif pool.autoscale:
        described.pop("min_replicas")
        described.pop("replicas")
    platform_options.settle(described, path, place.cloud, problems)
    names.check_name(described, path, problems, place.prefix)
    return {**described, "resolved": list(pool.candidates)}


def make(pool: Description) -> Pool:
    """Return the pool of a checked description, with every default. Only this function plans pools."""
    candidates: list[Candidate] = pool["resolved"]
    first = candidates[0] if candidates else Candidate("")
    existing, scale = pool.get("existing"), pool.get("autoscale") or {}
    replicas = pool.get("replicas", scale.get("min", 0))
    driver = {key: value for key, value in (pool.get("driver") or {}).items() if value is not None}
    return Pool(
        name=pool["name"],
        candidates=tuple(candidates),
        existing=existing is not None,
        replicas=replicas,
        min_replicas=pool.get("min_replicas", replicas),
        autoscale=Autoscale(**scale) if scale else None,
        mixed=bool(pool.get("mixed")),
        market=Market(**pool.get("market") or {}),
        taints=tuple(Taint(**taint) for taint in pool.get("taints") or []),
        labels=pool.get("labels") or {},
        accelerator=pool.get("accelerator") or first.accelerator,
        disk=pool.get("disk") or {},
        tuning=pool.get("tuning") or {},
        sharing=claims.with_models(pool.get("sharing") or {}, [one.gpu_model for one in candidates]),
        expected=geometry.offered(existing["expected"], pool.get("sharing") or {})
        if existing
        else first.expected,
        node_selector=existing["node_selector"] if existing else pool_label(pool["name"]),
        quota=tuple(Quota(**quota) for quota in pool.get("quota") or []),
        priority=tuple(Priority(**priority_class) for priority_class in pool.get("priority") or []),
        validate=_validation(pool.get("validate") or {}),
        driver=driver or None,
        health=pool.get("health"),
        pre_drain_hook=bool(pool.get("pre_drain_hook")),
        node_role=pool.get("node_role") is not False,
        source=tuple(pool.get("source_machine_set") or ()),
        partition=pool.get("partition") or "",
        spare=pool.get("spare") or 0,
        workload=pool.get("workload") or "",
        virtual_machines=pool.get("virtual_machines") or {},
    )


def _validation(given: Description) -> Validation:
    """Return how a pool is validated, with its programs in the order in which they run."""
    if "programs" in given:
        given = {**given, "programs": programs.in_order(given["programs"])}
    return Validation(**given)
