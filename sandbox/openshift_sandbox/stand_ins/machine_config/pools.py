# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the machine-config operator where it counts the nodes of each pool.

The real one counts in three controllers, and knows pools whose operating system is an image of their own.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.conditions import condition, holds, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches
from openshift_sandbox.stand_ins.machine_config.keys import FAILING, says
from openshift_sandbox.stand_ins.machine_config.render import render_error

STANDARD: t.Final = ("master", "worker")


class MachineConfigPools(Reconciler):
    kinds = ("MachineConfig", "MachineConfigPool", "Node")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        pools, nodes = cluster.objects("MachineConfigPool"), cluster.objects("Node")
        configs = cluster.objects("MachineConfig")
        for pool in pools:
            error, name = render_error(pool, configs), pool["metadata"]["name"]
            if (pool["spec"].get("configuration") or {}).get("name"):
                wanted = status(pool, members(name, nodes, pools), error)
            elif error:
                wanted = {"conditions": _render_degraded(error)}
            else:
                continue
            known = pool.get("status") or {}
            wanted["conditions"] = merged(known.get("conditions") or [], wanted["conditions"])
            if any(known.get(key) != value for key, value in wanted.items()):
                cluster.patch("MachineConfigPool", name, None, {"status": wanted}, "status")


def members(name: str, nodes: t.Sequence[Object], pools: t.Sequence[Object]) -> list[Object]:
    """Return the nodes that get the configuration of a pool."""
    return [
        node
        for node in nodes
        if (found := pool_of(node, pools)) is not None and found["metadata"]["name"] == name
    ]


def pool_of(node: Object, pools: t.Sequence[Object]) -> Object | None:
    """Return the pool whose configuration a node gets: the first of `pools_of`, or None."""
    return next(iter(pools_of(node, pools)), None)


def pools_of(node: Object, pools: t.Sequence[Object]) -> list[Object]:
    """Return the pools of a node: the control plane's before any other, a custom one before `worker`.

    A Windows node is in none. Neither is a node that two custom pools select: the operator leaves it alone.
    """
    labels = node["metadata"].get("labels") or {}
    if labels.get("kubernetes.io/os") == "windows":
        return []
    found = {
        pool["metadata"]["name"]: pool
        for pool in pools
        if pool["spec"].get("nodeSelector") and matches(pool["spec"]["nodeSelector"], labels)
    }
    custom = [pool for name, pool in sorted(found.items()) if name not in STANDARD]
    if len(custom) > 1:
        return []
    if custom:
        return [found.get("master") or custom[0], *(found[name] for name in ("worker",) if name in found)]
    return [found[name] for name in STANDARD if name in found][:1]


def status(pool: Object, nodes: t.Sequence[Object], error: str = "") -> Object:
    """Return the status of a pool with these nodes; `error` is why it cannot be rendered."""
    name = pool["spec"]["configuration"]["name"]
    failing = [node for node in nodes if _says(node)[2] in FAILING]
    counts = _counts(name, nodes) | {"degradedMachineCount": len(failing)}
    done = (
        counts["updatedMachineCount"] == counts["readyMachineCount"] == counts["machineCount"]
        and not counts["unavailableMachineCount"]
    )
    going = not done and not pool["spec"].get("paused")
    doing = f"All nodes are updating to MachineConfig {name}" if going else ""
    if not done and not going:
        doing = f"Pool is paused; will not update to MachineConfig {name}"
    conditions = [
        condition("Updated", done, "", f"All nodes are updated with MachineConfig {name}" if done else ""),
        condition("Updating", going, "", doing),
        _node_degraded(failing),
        *_render_degraded(error),
        condition("Degraded", bool(failing or error), "", ""),
    ]
    configuration = {"configuration": pool["spec"]["configuration"]} if done else {}
    return (
        counts
        | configuration
        | {"observedGeneration": pool["metadata"]["generation"], "conditions": conditions}
    )


def is_available(node: Object) -> bool:
    """Return whether a node is Ready, not cordoned, and not on its way to another configuration."""
    return _is_ready(node) and not _works(node)


def _counts(name: str, nodes: t.Sequence[Object]) -> dict[str, int]:
    updated = [node for node in nodes if _says(node) == (name, name, "Done")]
    return {
        "machineCount": len(nodes),
        "updatedMachineCount": len(updated),
        "readyMachineCount": sum(1 for node in updated if _is_ready(node)),
        "unavailableMachineCount": sum(1 for node in nodes if not is_available(node)),
    }


def _node_degraded(failing: t.Sequence[Object]) -> Object:
    reasons = [
        f'Node {node["metadata"]["name"]} is reporting: "{says(node, "reason") or ""}"' for node in failing
    ]
    reason = f"{len(failing)} nodes are reporting degraded status on sync" if failing else ""
    return condition("NodeDegraded", bool(failing), reason, ", ".join(reasons))


def _render_degraded(error: str) -> list[Object]:
    return [
        condition("RenderDegraded", bool(error), "", error),
        *([condition("Degraded", True, "", "")] if error else []),
    ]


def _is_ready(node: Object) -> bool:
    return holds(node, "Ready") and not node["spec"].get("unschedulable")


def _works(node: Object) -> bool:
    """Return whether a node is still on its way to the wanted state."""
    current, desired, state = _says(node)
    return not (current == desired and state == "Done") and state not in FAILING


def _says(node: Object) -> tuple[str | None, str | None, str | None]:
    return says(node, "currentConfig"), says(node, "desiredConfig"), says(node, "state")
