# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Partition of a pool: hard by a taint, soft by priority classes, and devices that stay spare."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU
from .._core.input import Problems
from .._nodes import taints
from .._nodes.placeholders import PRIORITY_CLASS
from .._sharing import profile

# A pool, or a part of it, as the user wrote it, or as the plan has it.
Description = dict[str, t.Any]
HARD: t.Final = "hard"
SOFT: t.Final = "soft"


def _class(name: str, value: int, policy: str, description: str) -> Description:
    return {"name": name, "value": value, "preemption_policy": policy, "description": description}


# The priority class of placeholder pods. The cluster autoscaler ignores pods below -10.
SPARE: t.Final = _class(PRIORITY_CLASS, -10, "Never", "Placeholder pods, which give way to other pods")
# The priority class of a validation of idle nodes; no machine comes for its pods.
IDLE: t.Final = _class("gpu-idle", -1000, "Never", "Validation of idle GPUs, which gives way to other pods")
_CLASSES: t.Final = (
    _class("gpu-training", 100000, "PreemptLowerPriority", "GPU training: takes GPUs from other work"),
    _class("gpu-batch", 1000, "Never", "GPU batch work: waits for free GPUs"),
)
_TAINT: t.Final = {"key": GPU, "effect": "NoSchedule"}
_WHY_HARD: t.Final = "with partition hard a taint keeps pods without GPUs off the nodes"


def fill(pool: Description) -> None:
    """Give the pool the taint or the priority classes of its partition, where the user gave none."""
    kind = pool.get("partition")
    if kind == HARD and not pool.get("taints") and "existing" not in pool:
        pool["taints"] = [dict(_TAINT)]
    if kind == SOFT and not pool.get("priority"):
        pool["priority"] = [dict(entry) for entry in _CLASSES]


def check(pool: Description, path: str, problems: Problems) -> None:
    """Add the problems of partition and spare."""
    kind = pool.get("partition")
    effects = {taint.get("effect") for taint in pool.get("taints") or []}
    if kind == HARD and "NoSchedule" not in effects:
        _need_taint(pool, path, problems)
    if kind == SOFT and "NoSchedule" in effects:
        also = ", where only priorities decide: a NoSchedule taint keeps pods off the nodes"
        remedy = "Remove the taint, or set partition: hard."
        problems.add("POOL-CONFLICT", f"{path}.taints", remedy=remedy, other="partition soft", also=also)
    for index, priority in enumerate(pool.get("priority") or []):
        if priority.get("name") == PRIORITY_CLASS and priority != SPARE:
            why = "the placeholder pods of spare have it"
            problems.add("POOL-CLASS", f"{path}.priority[{index}].name", name=PRIORITY_CLASS, why=why)
    if pool.get("spare"):
        _check_spare(pool, f"{path}.spare", problems)


def _need_taint(pool: Description, path: str, problems: Problems) -> None:
    if problems.at(f"{path}.taints"):
        return
    if "existing" in pool:
        also = f": {_WHY_HARD}, and the collection writes no taint on existing nodes"
        remedy = f"Taint the nodes (oc adm taint nodes), and add {{key: {GPU}, effect: NoSchedule}} here."
    else:
        also = f": {_WHY_HARD}, and none of the taints has the effect NoSchedule"
        remedy = f"Add {{key: {GPU}, effect: NoSchedule}}, or remove taints: that is the default."
    problems.add("POOL-REQUIRED", f"{path}.taints", remedy=remedy, also=also)


def _check_spare(pool: Description, path: str, problems: Problems) -> None:
    offers = _offers(pool)
    if len({resource for offer in offers for resource in offer}) > 1:
        other, also = "devices of several names", ": it counts placeholder pods with one device each"
        remedy = "Remove spare, or give the devices of the pool one name."
        problems.add("POOL-CONFLICT", path, remedy=remedy, other=other, also=also)
        return
    nodes = (pool.get("autoscale") or {}).get("max", pool.get("replicas"))
    most = max((sum(offer.values()) for offer in offers), default=0)
    if "existing" not in pool and nodes is not None and most and pool["spare"] > nodes * most:
        limit = f"the {nodes * most} devices that the pool has at most"
        problems.add("POOL-TOO-MANY", path, value=pool["spare"], limit=limit, most=nodes * most)


def _offers(pool: Description) -> list[t.Mapping[str, int]]:
    """Return what a node of the pool offers, for each candidate."""
    if "existing" in pool:
        return [profile.offered(pool["existing"].get("expected") or {}, pool.get("sharing") or {})]
    return [candidate.expected for candidate in pool.get("resolved") or []]


def inputs(pools: t.Iterable[Description]) -> list[Description]:
    """Return an entry for every pool of a plan, as gpu_admission's option C(pools) takes it.

    A pool without partition and spare is in the list too: what it had before has to go.
    """
    return [
        {
            "name": pool["name"],
            "node_selector": pool["node_selector"],
            "taints": pool["taints"],
            "resources": sorted(
                {
                    *pool["expected"],
                    *(key for candidate in pool["candidates"] for key in candidate["expected"]),
                }
            ),
            "spare": pool.get("spare") or 0,
        }
        for pool in pools
    ]


def preemptions(pools: t.Iterable[Description]) -> list[Description]:
    """Return an entry of prove.preemption of gpu_workload for each pool whose classes can push out pods.

    The low class is the one of the lowest value, the high class the highest that may preempt.
    """
    found = []
    for pool in pools:
        names = sorted(pool["expected"])
        classes = sorted(pool["priority"], key=lambda priority: int(priority["value"]))
        strong = [priority for priority in classes if priority.get("preemption_policy") != "Never"]
        if len(names) == 1 and strong and classes[0]["value"] < strong[-1]["value"]:
            tolerations = taints.operand_tolerations(pool["taints"])
            entry = {"name": pool["name"], "node_selector": pool["node_selector"], "tolerations": tolerations}
            found.append(
                entry | {"resource": names[0], "low": classes[0]["name"], "high": strong[-1]["name"]}
            )
    return found


def priorities(pools: t.Sequence[Description]) -> list[Description]:
    """Return each priority class of the pools of a plan once, with its defaults."""
    found: dict[str, Description] = {}
    spare = [SPARE] if any(pool.get("spare") for pool in pools) else []
    for entry in [*(entry for pool in pools for entry in pool["priority"]), *spare]:
        policy = entry.get("preemption_policy") or "PreemptLowerPriority"
        found[entry["name"]] = _class(entry["name"], entry["value"], policy, entry.get("description") or "")
    return list(found.values())
