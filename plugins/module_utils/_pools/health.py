# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""MachineHealthChecks: the API object that replaces the unhealthy Machines of a pool."""

from __future__ import annotations

import re
import typing as t

from .._core.input import Field, Problems, read_map
from .._core.objects import KubeObject
from .._core.ownership import MANAGER, owned, pool_label
from .._nodes import startup

PAUSED: t.Final = "cluster.x-k8s.io/paused"
# The value of PAUSED while a task replaces machines. It is MANAGER if a user paused the check with this
# collection.
A_RUN: t.Final = f"{MANAGER}/replacement"
# One Machine at a time, also in a pool of one: if all machines are unhealthy (network, power cut), the pool
# keeps them, since the provider may have no GPUs left. Machines that start count as unhealthy, so the check
# replaces nothing while a pool grows.
MAX_UNHEALTHY: t.Final = 1
# A host needs up to 30 minutes from power-on to node, and one with many devices 15 minutes for a reboot; a
# driver upgrade must fit in too.
_METAL: t.Final = {"startup_timeout": "30m", "unhealthy_after": "20m"}
_CLOUD: t.Final = {"startup_timeout": "20m", "unhealthy_after": "10m"}
_DURATION: t.Final = re.compile(r"0|([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
_PERCENT: t.Final = re.compile("[0-9]{1,2}%|100%")
# Only an unhealthy or silent kubelet counts, not a cordon or the conditions of a driver, an operator or a
# problem detector; in a gated pool also a new node that does not pass.
_CONDITIONS: t.Final = (("Ready", "False"), ("Ready", "Unknown"))
_GATED: t.Final = (*_CONDITIONS, (startup.CONDITION, "False"))
# OpenShift's own check, for spot instances that the provider is about to end.
_OF_THE_PLATFORM: t.Final = "machine-api-termination-handler"


def _duration_fault(text: str) -> str:
    return "" if _DURATION.fullmatch(text) else "is not a duration, such as 20m"


FIELDS: t.Final = {
    "startup_timeout": Field("text", fault=_duration_fault),
    "max_unhealthy": Field("any"),
    "paused": Field("flag"),
    "unhealthy_after": Field("text", fault=_duration_fault),
}


def read(pool: KubeObject, path: str, problems: Problems) -> None:
    """Replace the pool's C(health) by checked options; False stays False. Read the markets first."""
    if "health" not in pool or pool["health"] is False:
        return
    where, given = f"{path}.health", pool["health"]
    options = _options({} if given is True else given, where, problems)
    most, is_block = options.get("max_unhealthy"), _is_block(pool)
    if is_block and most not in (None, 0):
        problems.add(
            "POOL-CONFLICT",
            f"{where}.max_unhealthy",
            remedy="Remove it: the check then reports failed machines and replaces none.",
            other="market capacity_block",
            also=": when the block ends, every machine fails, and the check would replace each of them again "
            "and again",
        )
    pool["health"] = {**options, "max_unhealthy": 0 if is_block else MAX_UNHEALTHY if most is None else most}


def name(infrastructure: str, pool: str) -> str:
    """Return the name of a pool's check."""
    return f"{infrastructure}-{pool}"


def build(
    infrastructure: str,
    pool: str,
    namespace: str,
    options: t.Mapping[str, t.Any],
    is_metal: bool,
    is_gated: bool = False,
) -> KubeObject:
    """Return the MachineHealthCheck of a pool. options: checked; missing ones get the defaults."""
    settings = {
        **(_METAL if is_metal else _CLOUD),
        **{key: value for key, value in options.items() if value is not None},
    }
    timeout = settings["unhealthy_after"]
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "MachineHealthCheck",
        "metadata": {"name": name(infrastructure, pool), "namespace": namespace, "labels": pool_label(pool)},
        "spec": {
            "selector": {"matchLabels": pool_label(pool)},
            "unhealthyConditions": [
                {"type": kind, "status": status, "timeout": timeout}
                for kind, status in (_GATED if is_gated else _CONDITIONS)
            ],
            "maxUnhealthy": settings["max_unhealthy"],
            "nodeStartupTimeout": settings["startup_timeout"],
        },
    }


def pause(check: t.Mapping[str, t.Any], wanted: bool, by: str = MANAGER) -> KubeObject:
    """Return the merge patch that pauses or resumes the check, or {}. Do not resume a foreign pause."""
    found = paused_by(check)
    if wanted == (found is not None) or (not wanted and found not in (MANAGER, A_RUN)):
        return {}
    return {"metadata": {"annotations": {PAUSED: by if wanted else None}}}


def paused_by(check: t.Mapping[str, t.Any]) -> str | None:
    """Return the value of the pause annotation, or None if the check is not paused."""
    return t.cast("str | None", (check["metadata"].get("annotations") or {}).get(PAUSED))


def foreign(checks: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the checks that neither we nor OpenShift created."""
    return [check for check in checks if not owned(check) and check["metadata"]["name"] != _OF_THE_PLATFORM]


def selecting(checks: t.Iterable[KubeObject], machines: t.Sequence[KubeObject]) -> list[str]:
    """Return the names of the checks that select at least one of these Machines."""
    labels = [machine["metadata"].get("labels") or {} for machine in machines]
    return [
        check["metadata"]["name"]
        for check in checks
        if any(_selects((check.get("spec") or {}).get("selector") or {}, each) for each in labels)
    ]


def warnings(check: t.Mapping[str, t.Any], others: t.Sequence[str]) -> list[str]:
    """Return warnings about a live check. others: names of foreign checks that select its Machines."""
    own = check["metadata"]["name"]
    held = [
        condition
        for condition in (check.get("status") or {}).get("conditions") or []
        if condition.get("type") == "RemediationAllowed" and condition.get("status") == "False"
    ]
    paused = paused_by(check)
    found = [
        f"MachineHealthCheck {other} was not created by the collection and also selects machines of the "
        "pool: the check with the shorter timeouts decides. Narrow its selector."
        for other in others
    ]
    found += [
        f"MachineHealthCheck {own} replaces nothing now: {one.get('message') or one.get('reason')}"
        for one in held
    ]
    return found + (
        [f"MachineHealthCheck {own} is paused, but not by the collection (annotation {PAUSED})."]
        if paused not in (None, MANAGER, A_RUN)
        else []
    )


def disabled(others: t.Iterable[KubeObject]) -> str:
    """Return the warning about NodeHealthChecks, which their operator switches off, or an empty text."""
    names = ", ".join(one["metadata"]["name"] for one in others)
    return names and (
        f"The node-healthcheck operator disables every NodeHealthCheck ({names}) while the cluster has a "
        "MachineHealthCheck, such as that of this pool. Set `health: false` for the pool to keep them."
    )


def summarize(check: t.Mapping[str, t.Any]) -> KubeObject:
    """Return the check's settings, its pause, and its numbers of Machines as a JSON object."""
    spec, status = check["spec"], check.get("status") or {}
    return {
        "name": check["metadata"]["name"],
        "startup_timeout": spec.get("nodeStartupTimeout", ""),
        "unhealthy_after": spec["unhealthyConditions"][0].get("timeout", ""),
        "max_unhealthy": spec.get("maxUnhealthy"),
        "paused": PAUSED in (check["metadata"].get("annotations") or {}),
        # The API omits zeros.
        "expected": status.get("expectedMachines", 0),
        "healthy": status.get("currentHealthy", 0),
    }


def _options(given: t.Any, where: str, problems: Problems) -> KubeObject:
    options = read_map(given, FIELDS, where, problems)
    most = options.get("max_unhealthy")
    if most is not None and not _is_amount(most):
        form, remedy = "a number of machines or a percentage", "For example 1, or 40%."
        problems.add("POOL-TYPE", f"{where}.max_unhealthy", remedy=remedy, form=form, value=repr(most))
    return options


def _is_amount(value: t.Any) -> bool:
    if isinstance(value, str):
        return bool(_PERCENT.fullmatch(value))
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_block(pool: KubeObject) -> bool:
    holders = [pool, *(pool.get("candidates") or [])]
    return any((one.get("market") or {}).get("type") == "capacity_block" for one in holders)


def _selects(selector: t.Mapping[str, t.Any], labels: t.Mapping[str, str]) -> bool:
    """Return True if the label selector matches the labels; an empty selector matches everything."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_holds(expression, labels) for expression in selector.get("matchExpressions") or [])


def _holds(expression: t.Mapping[str, t.Any], labels: t.Mapping[str, str]) -> bool:
    key, values = expression["key"], expression.get("values") or []
    tests = {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return tests[expression["operator"]]
