# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_quota: the quotas that a task asks for, checked before the first request."""

from __future__ import annotations

import typing as t

from .._core import namespaces
from .._core.errors import InputError
from .._frame.argspec import StateParams
from . import cluster_quota, keys, limit_range, resource_quota, scopes

# The options of one quota, but for its namespace.
ONE: t.Final[dict[str, t.Any]] = {
    "name": {"type": "str", "default": "gpu-quota"},
    "gpus": {"type": "int"},
    "claims": {"type": "bool", "default": False},
    "hard": {"type": "dict"},
    "priority_classes": {"type": "list", "elements": "str"},
    "limit_range": {"type": "dict", "options": {kind: {"type": "str"} for kind in limit_range.RESOURCES}},
}
PLANNED: t.Final[dict[str, t.Any]] = {
    "type": "dict",
    "options": {key: {"type": "list", "elements": "str"} for key in ("resources", "priority_classes")},
}


class QuotaParams(t.TypedDict):
    """One quota of the option quotas. hard: limit for each resource, as in `spec.hard`."""

    namespace: str
    name: str
    gpus: int | None
    claims: bool
    hard: dict[str, t.Any] | None
    priority_classes: list[str] | None
    limit_range: LimitRangeParams | None


class LimitRangeParams(t.TypedDict):
    """Default requests of containers."""

    cpu: str | None
    memory: str | None


class PlannedParams(t.TypedDict):
    """What the cluster will have: resources of nodes, and PriorityClasses."""

    resources: list[str] | None
    priority_classes: list[str] | None


class GpuQuotaParams(StateParams):
    """The options of gpu_quota. quotas: several quotas instead of one. namespaces: what may be created."""

    namespace: str | None
    name: str
    gpus: int | None
    claims: bool
    hard: dict[str, t.Any] | None
    priority_classes: list[str] | None
    limit_range: LimitRangeParams | None
    quotas: list[QuotaParams] | None
    cluster_quotas: list[cluster_quota.ClusterQuotaParams] | None
    create_namespaces: bool
    namespaces: list[str] | None
    adopt: t.Literal["report", "take"]
    nodes_exist: bool
    planned: PlannedParams | None
    prove: bool


class Wanted(t.NamedTuple):
    """A quota that the task asks for."""

    namespace: str
    name: str
    limits: dict[str, str]
    # Only pods of these priority classes count; without one all pods do.
    classes: tuple[str, ...] = ()
    # Default requests of the namespace's LimitRange; None if the task asks for no LimitRange.
    defaults: dict[str, str] | None = None

    @property
    def selector(self) -> dict[str, t.Any] | None:
        return scopes.selector(self.classes)

    @property
    def object_name(self) -> str:
        return f"{self.namespace}/{self.name}"


def named(params: GpuQuotaParams) -> list[tuple[str, str]]:
    """Return namespace and name of each quota."""
    if params["namespace"] is not None:
        return [(params["namespace"], params["name"])]
    return [(quota["namespace"], quota["name"]) for quota in params["quotas"] or []]


def with_limit_range(params: GpuQuotaParams) -> list[tuple[str, str]]:
    """Return namespace and name of each quota that has a LimitRange."""
    asked = params["quotas"] or [] if params["namespace"] is None else [params]
    return [
        place for place, item in zip(named(params), asked, strict=True) if item["limit_range"] is not None
    ]


def read(params: GpuQuotaParams) -> list[Wanted]:
    """Return the quotas with canonical limits. Raises InputError; sends no request."""
    if params["namespace"] is not None:
        found = [_wanted(params["namespace"], params)]
    else:
        found = [_entry(index, quota) for index, quota in enumerate(params["quotas"] or [])]
    for index, quota in enumerate(found):
        if params["prove"]:
            resource_quota.check_provable(quota.limits)
        if namespaces.is_of_platform(quota.namespace):
            path = f"quotas[{index}].namespace" if params["quotas"] else "namespace"
            raise InputError("QUOTA-NAMESPACE", path=path, namespace=quota.namespace)
        if quota[:2] in (other[:2] for other in found[:index]):
            message = f"quotas[{index}]: quota {quota.object_name} is in the list twice."
            raise InputError("INPUT-VALUE", message, "Add the limits up in one entry.")
    return found


def _entry(index: int, quota: QuotaParams) -> Wanted:
    try:
        return _wanted(quota["namespace"], quota)
    except InputError as exc:
        exc.message = f"quotas[{index}] ({quota['namespace']}): {exc.message}"
        raise


def _wanted(namespace: str, quota: QuotaParams | GpuQuotaParams) -> Wanted:
    limits = keys.hard(quota["gpus"], quota["hard"], quota["claims"])
    classes = tuple(quota["priority_classes"] or ())
    scopes.check(limits, classes)
    return Wanted(namespace, quota["name"], limits, classes, limit_range.read(quota["limit_range"]))


def refused_namespace(name: str, allowed: t.Sequence[str] | None, existing: t.Iterable[str]) -> str:
    """Return why a namespace that does not exist is not created, or "".

    allowed: the option namespaces. existing: the names of the cluster's namespaces.
    """
    if allowed:
        return "" if name in allowed else "it is not in the list of namespaces that may be created"
    near = namespaces.near(name, existing)
    return f"its name is near to the existing namespace {near}" if near else ""
