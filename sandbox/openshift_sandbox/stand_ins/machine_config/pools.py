# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the machine-config operator where it counts the nodes of each pool.

The real one also renders configurations and rolls them out node by node; here nodes join with the
configuration of their pool.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.conditions import condition, holds, merged
from openshift_sandbox.stand_ins.core.loop import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches

KEYS: t.Final = "machineconfiguration.openshift.io/"
FAILING: t.Final = {"Degraded", "Unreconcilable"}
STANDARD: t.Final = ("master", "worker")


class MachineConfigPools(Reconciler):
    kinds = ("MachineConfigPool", "Node")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        pools, nodes = cluster.objects("MachineConfigPool"), cluster.objects("Node")
        for pool in pools:
            if not (pool["spec"].get("configuration") or {}).get("name"):
                continue
            wanted = status(
                pool,
                [
                    node
                    for node in nodes
                    if (found := pool_of(node, pools))
                    and found["metadata"]["name"] == pool["metadata"]["name"]
                ],
            )
            known = pool.get("status") or {}
            wanted["conditions"] = merged(known.get("conditions") or [], wanted["conditions"])
            if any(known.get(key) != value for key, value in wanted.items()):
                cluster.patch(
                    "MachineConfigPool", pool["metadata"]["name"], None, {"status": wanted}, "status"
                )


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


def status(pool: Object, nodes: t.Sequence[Object]) -> Object:
    """Return the status of a pool with these nodes."""
    name = pool["spec"]["configuration"]["name"]
    updated = [node for node in nodes if _says(node) == (name, name, "Done")]
    ready = [node for node in nodes if holds(node, "Ready") and not node["spec"].get("unschedulable")]
    unavailable = [node for node in nodes if node not in ready or _works(node)]
    counts = {
        "machineCount": len(nodes),
        "updatedMachineCount": len(updated),
        "readyMachineCount": sum(1 for node in updated if node in ready),
        "unavailableMachineCount": len(unavailable),
        "degradedMachineCount": sum(1 for node in nodes if _says(node)[2] in FAILING),
    }
    done = (
        counts["updatedMachineCount"] == counts["readyMachineCount"] == counts["machineCount"]
        and not counts["unavailableMachineCount"]
    )
    going = not done and not pool["spec"].get("paused")
    conditions = [
        condition("Updated", done, "", f"All nodes are updated with MachineConfig {name}" if done else ""),
        condition("Updating", going, "", f"All nodes are updating to MachineConfig {name}" if going else ""),
    ]
    configuration = {"configuration": pool["spec"]["configuration"]} if done else {}
    return (
        counts
        | configuration
        | {"observedGeneration": pool["metadata"]["generation"], "conditions": conditions}
    )


def _works(node: Object) -> bool:
    """Return whether a node is still on its way to the wanted state."""
    current, desired, state = _says(node)
    return not (current == desired and state == "Done") and state not in FAILING


def _says(node: Object) -> tuple[str | None, str | None, str | None]:
    annotations = node["metadata"].get("annotations") or {}
    return (
        annotations.get(f"{KEYS}currentConfig"),
        annotations.get(f"{KEYS}desiredConfig"),
        annotations.get(f"{KEYS}state"),
    )
