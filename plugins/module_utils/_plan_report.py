# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a run would do, from the plan of the pools and the dry runs of each step; nothing in it is guessed."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._foreseen import CHANGE, CREATE, DELETE, KEEP

Data = dict[str, t.Any]
Plan = t.Mapping[str, t.Any]
_HEADING: t.Final = ("POOL", "INSTANCE TYPE", "NODES (now/then)", "GPUS", "COST/HOUR")
_VERBS: t.Final = {CREATE: "make", CHANGE: "change", DELETE: "remove", KEEP: "keep"}


def report(plan: Plan, steps: t.Mapping[str, t.Any]) -> Data:
    """steps: the results of each step in check mode, by its name; a step's is one result, a loop's, or a list of them. Those of nodes are called nodes."""
    parts = {name: list(_parts(result)) for name, result in steps.items()}
    machines = {part["pool"]["name"]: part for part in parts.get("nodes", ()) if part.get("pool")}
    costs = {one["pool"]: one for one in plan.get("costs") or []}
    pools = [_pool(pool, machines.get(pool["name"]), costs.get(pool["name"])) for pool in plan["pools"]]
    objects = [{"step": name, **one} for name, found in parts.items() for part in found for one in part.get("foreseen") or []]
    told: Data = {
        "pools": pools,
        "objects": objects,
        "drained": [one for part in machines.values() for one in _drained(part)],
        # No step of the collection restarts a node.
        "rebooted": [],
        "limits": list(plan.get("limits") or []),
        "quotas": list(plan["quotas"]),
        "cost": plan.get("cost"),
        "warnings": list(dict.fromkeys(text for found in parts.values() for part in found for text in part.get("warnings") or [])),
    }
    return {**told, "table": _table(told)}


def _parts(result: t.Any) -> t.Iterator[Data]:
    for one in result if isinstance(result, (list, tuple)) else [result]:
        yield from (one or {}).get("results") or ([one] if one else [])


def _pool(pool: Data, result: Data | None, cost: Data | None) -> Data:
    """result: of the pool's machine sets; None for nodes that are there already."""
    asked = (result or {}).get("pool") or pool
    types = list(dict.fromkeys(one["instance_type"] for one in asked["candidates"]))
    then = sum(one["replicas"] for one in result["machine_sets"]) if result else None
    each = max((sum(one["expected"].values()) for one in asked["candidates"]), default=sum(pool["expected"].values()))
    return {
        "name": pool["name"],
        "instance_types": types,
        "others": [one["instance_type"] for one in pool["candidates"] if one["instance_type"] not in types],
        "nodes": {"now": len(result["nodes"]) if result else None, "then": then},
        "devices": None if then is None else then * each,
        "drift": list((result or {}).get("drift") or []),
        "cost": cost,
    }


def _drained(result: Data) -> list[Data]:
    """Machine sets that lose machines: those that go, and those that get fewer."""
    found = [
        {"machine_set": one["object"].rpartition("/")[2], "machines": "all"}
        for one in result.get("foreseen") or []
        if one["action"] == DELETE and one["object"].startswith("MachineSet ")
    ]
    for one in result["machine_sets"]:
        fewer = sum(1 for machine in result["machines"] if machine["machine_set"] == one["name"] and machine["phase"] != "Deleting") - one["replicas"]
        found += [{"machine_set": one["name"], "machines": fewer}] if fewer > 0 else []
    return found


def _table(told: Data) -> list[str]:
    rows = [_HEADING, *map(_row, told["pools"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADING))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    # Neither long nor with a colon: Ansible would fold or quote them.
    lines += [_line(one) for action in _VERBS for one in told["objects"] if one["action"] == action]
    lines += [f"drain   {one['machines']} of the machines of {one['machine_set']}" for one in told["drained"]]
    lines += [f"drift   {one['machine_set']} {one['field']}" for pool in told["pools"] for one in pool["drift"]]
    lines += [f"limit   {one['needs']} {one['unit']} of {one['limit']} ({', '.join(one['pools'])})" for one in told["limits"]]
    lines += [f"quota   {one['namespace']}/{one['name']} {key} {number}" for one in told["quotas"] for key, number in one["hard"].items()]
    if told["cost"] and told["cost"]["high"] is not None:
        lines.append(f"cost    {_span(told['cost'])} an hour ({told['cost']['class']})")
    elif told["cost"]:
        lines.append(f"cost    not known, no price of {', '.join(told['cost']['unpriced'])}")
    return lines


def _line(one: Data) -> str:
    fields = f" ({', '.join(one['fields'])})" if one["fields"] else ""
    return f"{_VERBS[one['action']]:<6}  {one['object']}{fields}"


def _row(pool: Data) -> tuple[str, ...]:
    kinds = " and ".join(pool["instance_types"]) or "-"
    others = f" (else {', '.join(pool['others'])})" if pool["others"] else ""
    nodes = "/".join("-" if number is None else str(number) for number in pool["nodes"].values())
    cost = pool["cost"]
    price = f"{_span(cost)} {cost['class']}" if cost and cost["high"] is not None else "-"
    return (pool["name"], f"{kinds}{others}", nodes, "-" if pool["devices"] is None else str(pool["devices"]), price)


def _span(cost: Data) -> str:
    low, high = (f"{cost[end]:.2f}" for end in ("low", "high"))
    return low if low == high else f"{low}-{high}"
