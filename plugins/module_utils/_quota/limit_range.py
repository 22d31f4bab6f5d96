# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""LimitRange: default requests for pods that a quota of cpu or memory would refuse.

A quota that counts requests.cpu makes the API server refuse each pod without a request of cpu. People
who ask for GPUs often write no other request.
"""

from __future__ import annotations

import typing as t

from .._core import quantity
from .._core.errors import AcceleratorError, InputError
from .._core.objects import KubeObject, name
from .._core.ownership import owned
from . import scopes
from .findings import Finding

# Annotation on our quota: the name of its LimitRange.
MARK: t.Final = "accelerators.openshift/limit-range"
RESOURCES: t.Final = ("cpu", "memory")
# Key of a quota -> the default of a LimitRange that pods then need, and its resource.
_FORCING: t.Final = {
    **{resource: ("defaultRequest", resource) for resource in RESOURCES},
    **{f"requests.{resource}": ("defaultRequest", resource) for resource in RESOURCES},
    **{f"limits.{resource}": ("default", resource) for resource in RESOURCES},
}


class Forced(t.NamedTuple):
    """What each container of a pod has to have. key, quota: the limit that forces it."""

    default: str
    resource: str
    key: str
    quota: str


class Plan(t.NamedTuple):
    """What a namespace needs. defaults: those of the LimitRange, empty if none is needed."""

    defaults: dict[str, dict[str, str]]
    lacking: list[Forced]
    live: KubeObject | None


def read(asked: t.Mapping[str, t.Any] | None) -> dict[str, str] | None:
    """Return the asked defaults with canonical quantities. Raises InputError with the path."""
    if asked is None:
        return None
    values = {key: value for key, value in asked.items() if value is not None}
    if not values:
        raise InputError("QUOTA-LIMIT-RANGE", path="limit_range", why="it has neither")
    for key, value in values.items():
        try:
            is_good = quantity.parse(value) > 0
        except ValueError:
            is_good = False
        if not is_good:
            raise InputError("QUOTA-LIMIT-RANGE", path=f"limit_range.{key}", why=f"{value!r} is none")
    return {key: quantity.canonical(value) for key, value in sorted(values.items())}


def object_name(quota: str) -> str:
    """Return the name of the LimitRange of a quota."""
    return f"{quota}-defaults"


def forced(quotas: t.Iterable[KubeObject]) -> list[Forced]:
    """Return what the quotas force, once for each default and resource."""
    found: dict[tuple[str, str], Forced] = {}
    for quota in quotas:
        spec = quota.get("spec") or {}
        if scopes.void(spec) is None:
            for key in spec.get("hard") or {}:
                if key in _FORCING:
                    found.setdefault(_FORCING[key], Forced(*_FORCING[key], key, name(quota)))
    return list(found.values())


def plan(
    quota: str, needed: t.Iterable[Forced], asked: t.Mapping[str, str] | None, live: t.Iterable[KubeObject]
) -> Plan:
    """Return the defaults that no other LimitRange of the namespace has.

    quota: the name of ours. live: the LimitRanges. Raises AcceleratorError for a foreign one of the name.
    """
    ranges = list(live)
    own = next((limits for limits in ranges if name(limits) == object_name(quota)), None)
    if own is not None and asked is not None and not owned(own):
        raise _foreign(own)
    there = {pair for limits in ranges if limits is not own for pair in _given(limits)}
    missing = [need for need in needed if need[:2] not in there]
    defaults: dict[str, dict[str, str]] = {}
    for need in missing:
        if asked and need.resource in asked:
            defaults.setdefault(need.default, {})[need.resource] = asked[need.resource]
    lacking = [need for need in missing if need.resource not in (asked or {})]
    return Plan(defaults, lacking, own)


def _given(limits: KubeObject) -> t.Iterator[tuple[str, str]]:
    """Yield each default of containers, and its resource."""
    for item in (limits.get("spec") or {}).get("limits") or []:
        if item.get("type") == "Container":
            for default in ("defaultRequest", "default"):
                yield from ((default, resource) for resource in item.get(default) or {})


def build(quota: KubeObject, defaults: t.Mapping[str, t.Any]) -> KubeObject:
    """Return the LimitRange to apply. quota: the live one; the cluster removes the LimitRange with it."""
    metadata = quota["metadata"]
    above = {"apiVersion": "v1", "kind": "ResourceQuota", "name": metadata["name"]}
    owners = [{**above, "uid": metadata["uid"]}] if metadata.get("uid") else []
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {
            "name": object_name(metadata["name"]),
            "namespace": metadata["namespace"],
            **({"ownerReferences": owners} if owners else {}),
        },
        "spec": {"limits": [{"type": "Container", **defaults}]},
    }


def findings(quota: str, lacking: t.Iterable[Forced]) -> list[Finding]:
    """Return what GPU pods lack without a default."""
    return [
        Finding.of(
            "QUOTA-FORCES",
            need.quota,
            f"spec.hard[{need.key}]",
            need.quota == quota,
            key=need.key,
            ours=quota,
            default=f"{need.resource}: {'500m' if need.resource == 'cpu' else '2Gi'}",
        )
        for need in lacking
    ]


def _foreign(live: KubeObject) -> AcceleratorError:
    namespace = live["metadata"]["namespace"]
    return AcceleratorError("QUOTA-DEFAULTS-FOREIGN", namespace=namespace, name=name(live))
