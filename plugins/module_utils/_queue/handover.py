# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quotas of namespaces that have a queue: a ResourceQuota must not refuse what Kueue has admitted."""

from __future__ import annotations

import typing as t

from .._core import quantity
from .._core.errors import InputError
from .._core.objects import KubeObject, name
from .._core.ownership import owned
from .._pools.model import Pool
from .options import Queue

REQUESTS: t.Final = "requests."
# Namespace -> resource -> how many devices its queues admit at most; None without a limit.
Most = dict[str, dict[str, "int | None"]]


def most(queues: t.Iterable[Queue]) -> Most:
    """Return how many devices the queues of each namespace admit at most."""
    found: Most = {}
    for queue in queues:
        for space in queue.namespaces:
            limits = found.setdefault(space, {})
            for resource in queue.resources:
                before, more = limits.get(resource, 0), queue.most(resource)
                limits[resource] = None if before is None or more is None else before + more
    return found


def refuse(pools: t.Iterable[Pool], queues: t.Sequence[Queue]) -> None:
    """Raise InputError if a pool has a quota for a namespace whose queues admit more."""
    limits = most(queues)
    for pool in pools:
        # A quota of some priority classes counts only some pods.
        for quota in (entry for entry in pool.quota if not entry.priority_classes):
            hard = quota.hard or {f"{REQUESTS}{device}": str(quota.gpus) for device in pool.expected}
            for key, text in _refusing(hard, limits.get(quota.namespace, {})).items():
                paths = [queue.path for queue in queues if quota.namespace in queue.namespaces]
                raise InputError(
                    "QUEUE-TWO-QUOTAS",
                    path=paths[0],
                    pool=pool.name,
                    namespace=quota.namespace,
                    limit=f"{hard[key]} {key.removeprefix(REQUESTS)}",
                    queues=text,
                )


def refusing(quota: KubeObject, limits: t.Mapping[str, int | None]) -> dict[str, str]:
    """Return the keys of a live ResourceQuota that refuse what Kueue admits, each with the reason.

    A quota with scopes counts only some pods, so it is left out.
    """
    spec = quota.get("spec") or {}
    if spec.get("scopes") or spec.get("scopeSelector"):
        return {}
    return _refusing(spec.get("hard") or {}, limits)


def _refusing(hard: t.Mapping[str, t.Any], limits: t.Mapping[str, int | None]) -> dict[str, str]:
    found = {}
    for resource, highest in limits.items():
        key = f"{REQUESTS}{resource}"
        if key in hard and (highest is None or quantity.parse(hard[key]) < highest):
            found[key] = (
                f"its queues admit {'more without a limit' if highest is None else f'up to {highest}'}"
            )
    return found


def left(quota: KubeObject, keys: t.Collection[str]) -> dict[str, t.Any]:
    """Return the limits of our quota without these keys."""
    hard = (quota.get("spec") or {}).get("hard") or {}
    return {key: value for key, value in hard.items() if key not in keys}


def object_name(quota: KubeObject) -> str:
    """Return namespace and name of a quota."""
    return f"ResourceQuota {quota['metadata']['namespace']}/{name(quota)}"


def warning(quota: KubeObject, keys: t.Mapping[str, str]) -> str:
    """Return the sentence about a ResourceQuota and what happens with it."""
    key, reason = next(iter(keys.items()))
    hard = (quota.get("spec") or {}).get("hard") or {}
    if owned(quota):
        return (
            f"{object_name(quota)} no longer limits {', '.join(keys)}: the queues of the namespace count "
            "these devices. A pod without the label kueue.x-k8s.io/queue-name is not counted."
        )
    return (
        f"{object_name(quota)} limits {key} to {hard[key]}, and {reason}: it will refuse pods of Jobs that "
        f"Kueue has admitted. Raise it, or run `oc delete resourcequota {name(quota)} -n "
        f"{quota['metadata']['namespace']}`."
    )
