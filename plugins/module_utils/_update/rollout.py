# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What would keep a rollout of the machine-config operator from going through: pools, disruption budgets, and pods that it ends."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_UPGRADE,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.cordon import is_cordoned
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.update import update
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import (
    BLOCKING,
    OK,
    WARNING,
    Check,
)

Data = dict[str, t.Any]
_SHOWN: t.Final = 10


def pools(live: t.Iterable[Data]) -> list[Check]:
    """Pools of the machine-config operator; one without machines holds nothing up."""
    found = [
        check for pool in live if (pool.get("status") or {}).get("machineCount") and (check := _pool(pool))
    ]
    return found or [Check("machine config pools", OK, "none is paused, degraded or under way")]


def _pool(pool: Data) -> Check | None:
    name, status = str(pool["metadata"]["name"]), pool.get("status") or {}
    told = {one["type"]: one for one in status.get("conditions") or [] if one.get("status") == "True"}
    title, count = f"machine config pool {name}", status.get("machineCount")
    if (pool.get("spec") or {}).get("paused"):
        what = f"is paused: its {count} nodes keep their kernel, and the update of the nodes waits"
        return Check(
            title,
            BLOCKING,
            what,
            f'`oc patch mcp {name} --type merge -p \'{{"spec":{{"paused":false}}}}\'`',
            "UPDATE-POOL",
        )
    if bad := told.get("Degraded") or told.get("NodeDegraded"):
        return Check(
            title,
            BLOCKING,
            f"is degraded: {bad.get('message') or bad.get('reason')}",
            f"`oc describe mcp {name}`",
            "UPDATE-POOL",
        )
    if told.get("Updating"):
        what = f"is being rolled out: {status.get('updatedMachineCount', 0)} of {count} nodes are updated"
        return Check(
            title,
            BLOCKING,
            what,
            f"Wait: `oc wait mcp {name} --for=condition=Updated --timeout=60m`",
            "UPDATE-POOL",
        )
    return None


def nodes(live: t.Iterable[Data]) -> Check:
    """GPU nodes that somebody is at work on."""
    lines = []
    for node in live:
        name, state, going = node["metadata"]["name"], labels(node).get(DRIVER_UPGRADE, ""), update(node)
        if is_cordoned(node):
            lines.append(f"{name} is cordoned")
        if state not in ("", "upgrade-done"):
            lines.append(f"{name}: the driver upgrade is at {state}")
        if going.under_way:
            lines.append(f"{name}: the machine-config daemon is {going.state}")
    if not lines:
        return Check("GPU nodes", OK, "none is cordoned or in a driver upgrade")
    remedy = "End it first: `oc get nodes -L nvidia.com/gpu-driver-upgrade-state`."
    return Check("GPU nodes", WARNING, "; ".join(lines[:_SHOWN]), remedy, "UPDATE-NODE", tuple(lines))


def tight(budgets: t.Iterable[Data]) -> list[Data]:
    """Budgets that let no pod go now, of pods that there are."""
    return [
        one
        for one in budgets
        if (one.get("status") or {}).get("expectedPods")
        and not (one.get("status") or {}).get("disruptionsAllowed")
    ]


def never(budget: Data) -> bool:
    """Whether it lets none go even when all its pods are healthy."""
    status = budget["status"]
    return int(status.get("desiredHealthy") or 0) >= int(status["expectedPods"])


def budgets(live: t.Iterable[Data], covered: t.Callable[[Data], t.Iterable[Data]]) -> list[Check]:
    """covered: the pods of one budget."""
    found = []
    for budget in tight(live):
        metadata, status = budget["metadata"], budget["status"]
        pods = [pod for pod in covered(budget) if drain.node_of(pod) and not drain.is_ended(pod)]
        if not pods:
            continue
        where, title = (
            sorted({drain.node_of(pod) for pod in pods}),
            f"disruption budget {metadata['namespace']}/{metadata['name']}",
        )
        evidence = tuple(f"{drain.name(pod)} on {drain.node_of(pod)}" for pod in pods)
        if never(budget):
            what = f"never lets a pod go ({status.get('desiredHealthy')} of {status['expectedPods']} have to be healthy): {', '.join(where)} cannot be drained"
            remedy = "Give it one replica more, or maxUnavailable: 1; else move the pods away by hand while the nodes are updated."
            found.append(Check(title, BLOCKING, what, remedy, "UPDATE-BUDGET", evidence))
        else:
            what = f"lets no pod go now: {status.get('currentHealthy', 0)} of {status['expectedPods']} are healthy, {status.get('desiredHealthy')} have to be"
            found.append(Check(title, WARNING, what, "Look at its pods.", "UPDATE-BUDGET", evidence))
    return found or [Check("disruption budgets", OK, "every one lets a pod go")]


def workloads(pods: t.Iterable[Data]) -> Check:
    """Pods on GPU nodes: the machine-config operator ends them all, those of nobody and emptyDir data included."""
    going = [pod for pod in drain.leaving(pods) if not drain.is_terminating(pod)]
    lost = [pod for pod in going if not pod["metadata"].get("ownerReferences")]
    data = [pod for pod in going if drain.keeps_data(pod) and drain.uses_devices(pod)]
    busy = drain.busy(going)
    kinds = (("nobody makes it again", lost), ("emptyDir", data), ("uses GPUs", busy))
    lines = tuple(
        f"{drain.name(pod)} on {drain.node_of(pod)}: {what}" for what, those in kinds for pod in those
    )
    if not lines:
        return Check("GPU workloads", OK, "nothing that uses a GPU would be ended")
    what = f"{len(busy)} pods with GPUs end when their node is drained; nobody makes {len(lost)} of the pods there again, {len(data)} with GPUs lose an emptyDir"
    return Check(
        "GPU workloads",
        WARNING,
        what,
        "Let jobs end or save what they have; pause their queue for the time of the update.",
        "UPDATE-PODS",
        lines,
    )


def selector(budget: Data) -> str | None:
    """A budget's selector as the API's query has it; an empty one means every pod of the namespace, none at all means no pod."""
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
