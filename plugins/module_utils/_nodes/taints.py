# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints, tolerations and node selectors: which nodes a pod can run on."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU

# On cordoned nodes; a pod that tolerates it can be scheduled there.
UNSCHEDULABLE: t.Final = "node.kubernetes.io/unschedulable"
# Kubernetes sets and removes these taints itself, and every DaemonSet tolerates them.
_TEMPORARY: t.Final = "node.kubernetes.io/"
# The toleration that every operand of the GPU operator has by itself.
GPU_TOLERATION: t.Final = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
# On new nodes of a gated pool until their GPUs have passed. The autoscaler of every OpenShift release ignores
# taints with this beginning when it scales up.
STARTUP: t.Final = "startup-taint.cluster-autoscaler.kubernetes.io/gpu-validation"
STARTUP_TAINT: t.Final = {"key": STARTUP, "value": "pending", "effect": "NoSchedule"}
STARTUP_TOLERATION: t.Final = {"key": STARTUP, "operator": "Exists", "effect": "NoSchedule"}
# On nodes that failed a validation, if their pool wants it.
FAILED: t.Final = "accelerators.openshift/validation-failed"
FAILED_TOLERATION: t.Final = {"key": FAILED, "operator": "Exists", "effect": "NoSchedule"}


def matches(wanted: t.Mapping[str, str], marks: t.Mapping[str, str]) -> bool:
    """Return True if the labels `marks` fulfil the node selector `wanted`.

    An empty one matches every node.
    """
    return all(marks.get(key) == value for key, value in wanted.items())


def taints(node: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    return (node.get("spec") or {}).get("taints") or []


def tolerates(toleration: t.Mapping[str, t.Any], taint: t.Mapping[str, t.Any]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if not toleration.get("key"):
        return bool(toleration.get("operator") == "Exists")
    if toleration["key"] != taint["key"]:
        return False
    return toleration.get("operator") == "Exists" or (toleration.get("value") or "") == (
        taint.get("value") or ""
    )


def untolerated(node: dict[str, t.Any], given: t.Iterable[dict[str, t.Any]]) -> list[str]:
    """Return the node's lasting taints that these tolerations do not cover, as `key=value:effect`."""
    given = list(given)
    hard = [
        taint
        for taint in taints(node)
        if taint["effect"] != "PreferNoSchedule" and not taint["key"].startswith(_TEMPORARY)
    ]
    return [write_taint(taint) for taint in hard if not any(tolerates(entry, taint) for entry in given)]


def write_taint(taint: dict[str, t.Any]) -> str:
    """Return the taint as `key=value:effect`, or `key:effect` without a value."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def operand_tolerations(taints: t.Iterable[t.Mapping[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Return the operands' own toleration, and one toleration for each taint that it does not cover."""
    found = [dict(GPU_TOLERATION)]
    for taint in taints:
        if tolerates(GPU_TOLERATION, taint):
            continue
        if (toleration := tolerating(taint)) not in found:
            found.append(toleration)
    return found


def tolerating(taint: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the toleration of this taint alone."""
    how = {"operator": "Equal", "value": taint["value"]} if taint.get("value") else {"operator": "Exists"}
    return {"key": taint["key"], **how, "effect": taint["effect"]}


def merge_tolerations(*lists: t.Iterable[dict[str, t.Any]] | None) -> list[dict[str, t.Any]]:
    """Return every toleration of the lists once, in their order, without fields that are None."""
    union: list[dict[str, t.Any]] = []
    for entry in (entry for entries in lists for entry in entries or []):
        plain = {key: value for key, value in entry.items() if value is not None}
        if plain not in union:
            union.append(plain)
    return union
