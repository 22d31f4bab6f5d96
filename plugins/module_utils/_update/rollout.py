# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollout by the machine-config operator: what stops it (pools, nodes, budgets) and which pods it ends."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import DRIVER_UPGRADE
from .._core import conditions
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .._nodes import cordons, drain
from .._nodes.labels import labels
from .._nodes.node import is_cordoned, update
from .._stack import upgrade
from .._tuning import paused
from .check import BLOCKING, OK, WARNING, Check

# Says that the pool is released after every other pool. A pool without it is released at once.
ORDER: t.Final = "accelerators.openshift/update-order"
_SHOWN: t.Final = 10


def pools(live: t.Iterable[KubeObject]) -> list[Check]:
    """Return a check for each machine config pool that stops the rollout; one without machines does not."""
    found = [
        check for pool in live if (pool.get("status") or {}).get("machineCount") and (check := _pool(pool))
    ]
    return found or [Check("machine config pools", OK, "none is paused, degraded or under way")]


def _pool(pool: KubeObject) -> Check | None:
    name, status, code = str(pool["metadata"]["name"]), pool.get("status") or {}, "UPDATE-POOL"
    object_name, count = f"machine config pool {name}", status.get("machineCount")
    if paused.is_paused(pool):
        if (pool["metadata"].get("annotations") or {}).get(paused.UPDATE):
            what = f"is paused for the update: its nodes ({count}) follow with after_openshift_update.yml"
            return Check(object_name, OK, what)
        why, remedy = paused.explain(pool)
        what = f"{why}: its nodes ({count}) keep their kernel, and the update of the nodes waits"
        return Check(object_name, BLOCKING, what, remedy, code)
    for kind in ("Degraded", "NodeDegraded"):
        if conditions.is_true(pool, kind):
            found = conditions.find(pool, kind)
            what = f"is degraded: {found.get('message') or found.get('reason')}"
            return Check(object_name, BLOCKING, what, f"`oc describe mcp {name}`", code)
    if conditions.is_true(pool, "Updating"):
        error = under_way(pool)
        what = error.message.removeprefix(f"MachineConfigPool {name} ").removesuffix(".")
        return Check(object_name, BLOCKING, what, error.remedy, error.code)
    return None


def under_way(pool: KubeObject, also: str = "") -> AcceleratorError:
    """Return the error of a pool that is being rolled out. also: what that means for the task."""
    status = pool.get("status") or {}
    done, count = status.get("updatedMachineCount", 0), status.get("machineCount", 0)
    return AcceleratorError(
        "UPDATE-ROLLOUT", pool=pool["metadata"]["name"], updated=done, nodes=count, also=also
    )


def nodes(live: t.Sequence[KubeObject]) -> Check:
    """Return the check for GPU nodes that are cordoned or being updated."""
    lines = []
    for node in live:
        name, state, going = node["metadata"]["name"], labels(node).get(DRIVER_UPGRADE, ""), update(node)
        if is_cordoned(node):
            lines.append(f"{name} is {cordons.shown(node)}")
        if upgrade.is_held(node):
            lines.append(f"{name}: {upgrade.holder(node)} holds its driver back")
        elif state not in ("", "upgrade-done"):
            lines.append(f"{name}: the driver upgrade is at {state}")
        if going.under_way:
            lines.append(f"{name}: the machine-config daemon is {going.state}")
    if not lines:
        return Check("GPU nodes", OK, "none is cordoned or in a driver upgrade")
    remedy = "Complete it first: `oc get nodes -L nvidia.com/gpu-driver-upgrade-state`."
    if any(map(upgrade.is_held, live)):
        remedy = upgrade.GO_ON
    return Check("GPU nodes", WARNING, "; ".join(lines[:_SHOWN]), remedy, "UPDATE-NODE", tuple(lines))


def tight(budgets: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the budgets that cover pods and allow no disruption now."""
    return [
        one
        for one in budgets
        if (one.get("status") or {}).get("expectedPods")
        and not (one.get("status") or {}).get("disruptionsAllowed")
    ]


def never(budget: KubeObject) -> bool:
    """Return whether the budget allows no disruption even when all its pods are healthy."""
    status = budget["status"]
    return int(status.get("desiredHealthy") or 0) >= int(status["expectedPods"])


def budgets(
    live: t.Iterable[KubeObject], covered: t.Callable[[KubeObject], t.Iterable[KubeObject]]
) -> list[Check]:
    """Return a check for each budget that stops a drain. covered: returns the pods of a budget."""
    found = []
    for budget in tight(live):
        pods = [pod for pod in covered(budget) if drain.node_of(pod) and not drain.is_ended(pod)]
        if pods:
            found.append(_budget(budget, pods))
    return found or [Check("disruption budgets", OK, "each allows a disruption")]


def _budget(budget: KubeObject, pods: t.Sequence[KubeObject]) -> Check:
    metadata, status = budget["metadata"], budget["status"]
    object_name = f"disruption budget {metadata['namespace']}/{metadata['name']}"
    evidence = [f"{drain.name(pod)} on {drain.node_of(pod)}" for pod in pods]
    is_never = never(budget)
    return Check.of(
        "UPDATE-BUDGET",
        object_name,
        BLOCKING if is_never else WARNING,
        evidence,
        also=" at any time" if is_never else " now",
        needed=status.get("desiredHealthy"),
        pods=status["expectedPods"],
        healthy=status.get("currentHealthy", 0),
        nodes=", ".join(sorted({drain.node_of(pod) for pod in pods})),
        budget=metadata["name"],
        namespace=metadata["namespace"],
    )


def workloads(pods: t.Iterable[KubeObject]) -> Check:
    """Return the check for pods on GPU nodes: a drain ends them all, without owner and with emptyDir too."""
    name = "GPU workloads"
    going = [pod for pod in drain.leaving(pods) if not drain.is_terminating(pod)]
    lost = [pod for pod in going if not pod["metadata"].get("ownerReferences")]
    data = [pod for pod in going if drain.keeps_data(pod) and drain.uses_devices(pod)]
    busy = drain.busy(going)
    kinds = (("has no owner that creates it again", lost), ("emptyDir", data), ("uses GPUs", busy))
    lines = tuple(
        f"{drain.name(pod)} on {drain.node_of(pod)}: {what}" for what, those in kinds for pod in those
    )
    if not lines:
        return Check(name, OK, "the update ends no pod that uses a GPU")
    node = next(drain.node_of(pod) for _what, those in kinds for pod in those)
    facts = {"busy": len(busy), "lost": len(lost), "data": len(data), "node": node}
    return Check.of("UPDATE-PODS", name, WARNING, lines, **facts)


def selector(budget: KubeObject) -> str | None:
    """Return the budget's selector as a query of the API server.

    An empty one means every pod of the namespace; None means no pod at all.
    """
    wanted = (budget.get("spec") or {}).get("selector")
    if wanted is None:
        return None
    parts = [f"{key}={value}" for key, value in sorted((wanted.get("matchLabels") or {}).items())]
    for one in wanted.get("matchExpressions") or []:
        key, values = one["key"], ",".join(one.get("values") or [])
        parts.append(
            {
                "In": f"{key} in ({values})",
                "NotIn": f"{key} notin ({values})",
                "Exists": key,
                "DoesNotExist": f"!{key}",
            }[one["operator"]]
        )
    return ",".join(parts)
