# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of what a run would do, from the plan of the pools and each step in check mode."""

from __future__ import annotations

import typing as t

from .._core.bounded import number_missing
from .._core.diff import CHANGE, CREATE, DELETE, KEEP
from .._core.objects import number_of
from . import leftovers
from .model import JsonObject

Plan = t.Mapping[str, t.Any]
# After a change of these objects, an operator of OpenShift reboots nodes. A Tuned object of ours never has
# kernel arguments of its own. Other changes need no reboot; a
# driver's pod reloads the driver.
_REBOOTING: t.Final = (
    "MachineConfig",
    "MachineConfigPool",
    "KubeletConfig",
    "ContainerRuntimeConfig",
    "PerformanceProfile",
    "SriovNetworkNodePolicy",
)
_HEADING: t.Final = ("POOL", "INSTANCE TYPE", "NODES (now/then)", "GPUS", "COST/HOUR")
_VERBS: t.Final = {CREATE: "make", CHANGE: "change", DELETE: "remove", KEEP: "keep"}

_NO_REBOOT: t.Final = (
    f"The run would write no {', '.join(_REBOOTING[:-1])} or {_REBOOTING[-1]}. The pod of a driver "
    "reloads it without a restart. The MIG manager restarts a node only if the ClusterPolicy sets its "
    "variable WITH_REBOOT."
)


def report(plan: Plan, steps: t.Mapping[str, t.Any]) -> JsonObject:
    """Return the report of a plan and of every step in check mode.

    steps: name of a step to its result, a loop's result, or a list of them. The step C(nodes) creates
    machines and autoscalers.
    """
    parts = {name: list(parts_of(result)) for name, result in steps.items()}
    machines = {part["pool"]["name"]: part for part in parts.get("nodes", ()) if part.get("pool")}
    costs = {cost["pool"]: cost for cost in plan.get("costs") or []}
    pools = [_pool(pool, machines.get(pool["name"]), costs.get(pool["name"])) for pool in plan["pools"]]
    objects = [
        {"step": name, **change}
        for name, found in parts.items()
        for part in found
        for change in part.get("foreseen") or []
    ]
    rebooted = [reboot for found in parts.values() for part in found for reboot in _rebooted(part)]
    summary: JsonObject = {
        "pools": pools,
        "objects": objects,
        "drained": [one for part in machines.values() for one in _drained(part)],
        "rebooted": rebooted,
        "no_reboot": "" if rebooted else _NO_REBOOT,
        "autoscaling": _autoscaling(plan["pools"], parts.get("nodes", ())),
        "limits": list(plan.get("limits") or []),
        "quotas": list(plan["quotas"]),
        "images": [image for part in parts.get("images", ()) for image in part.get("images") or []],
        "cost": plan.get("cost"),
        "leftovers": [*leftovers.of_pools(plan, parts.get("nodes", ())), *(plan.get("leftovers") or [])],
        "warnings": warnings_of(steps),
    }
    return {**summary, "table": _table(summary)}


def parts_of(result: t.Any) -> t.Iterator[JsonObject]:
    """Yield each module's result in a result, in a loop's result, or in a list of them."""
    for one in result if isinstance(result, (list, tuple)) else [result]:
        yield from (one or {}).get("results") or ([one] if one else [])


def warnings_of(steps: t.Mapping[str, t.Any]) -> list[str]:
    """Return each warning of the steps once. Ansible moves the warnings of a loop's items to the loop."""
    results = [
        one or {}
        for result in steps.values()
        for one in (result if isinstance(result, (list, tuple)) else [result])
    ]
    each = [part for result in results for part in (result, *(result.get("results") or ()))]
    return list(dict.fromkeys(str(text) for part in each for text in part.get("warnings") or []))


def _pool(pool: JsonObject, result: JsonObject | None, cost: JsonObject | None) -> JsonObject:
    """Return one pool's part of the report. result: gpu_machineset's; None for existing nodes."""
    asked = (result or {}).get("pool") or pool
    types = list(dict.fromkeys(candidate["instance_type"] for candidate in asked["candidates"]))
    then = sum(machine_set["replicas"] for machine_set in result["machine_sets"]) if result else None
    # A partition or a share is a device of the node, and no GPU.
    each = max(
        (one.get("gpus_per_node") or sum(one["expected"].values()) for one in asked["candidates"]),
        default=sum(pool["expected"].values()),
    )
    return {
        "name": pool["name"],
        "instance_types": types,
        "others": [one["instance_type"] for one in pool["candidates"] if one["instance_type"] not in types],
        "nodes": {"now": _nodes(result) if result else None, "then": then},
        "devices": None if then is None else then * each,
        "drift": list((result or {}).get("drift") or []),
        "cost": cost,
    }


def _nodes(result: JsonObject) -> int:
    return len(result["nodes"]) + number_missing(result, "nodes")


def _drained(result: JsonObject) -> list[JsonObject]:
    """Return the Machines that the pool loses, with their nodes; node is empty if there is none yet.

    If the result has only some of them, the last one stands for the others.
    """
    return [
        {"pool": result["pool"]["name"], **one, "for": why}
        for why in ("removed", "replaced")
        for one in (*(result.get(why) or []), *_more(result, why))
    ]


def _more(result: JsonObject, why: str) -> list[JsonObject]:
    left = number_missing(result, why)
    return [{"machine": "", "machine_set": "", "node": number_of(left, "other node")}] if left else []


def _rebooted(result: JsonObject) -> list[JsonObject]:
    """Return the objects that reboot nodes. nodes: None if the step does not know which."""
    written = [change["object"] for change in result.get("foreseen") or [] if change["action"] != KEEP]
    return [
        {"by": one, "nodes": result.get("rebooted")} for one in written if one.partition(" ")[0] in _REBOOTING
    ]


def _autoscaling(pools: t.Iterable[JsonObject], nodes: t.Iterable[JsonObject]) -> JsonObject:
    """Return the bounds of each machine set, and the cluster's limits of the pools' GPUs."""
    kinds = {one.get("accelerator") for pool in pools for one in (pool, *pool["candidates"])}
    handed = [part for part in nodes if "autoscalers" in part]
    return {
        "machine_sets": [autoscaler for part in handed for autoscaler in part["autoscalers"]],
        "gpu_limits": [limit for part in handed[-1:] for limit in part["limits"] if limit["type"] in kinds],
    }


def _table(summary: JsonObject) -> list[str]:
    rows = [_HEADING, *map(_row, summary["pools"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADING))]
    return [
        *(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ),
        # Ansible folds long lines and quotes lines with a colon.
        *(_line(one) for action in _VERBS for one in summary["objects"] if one["action"] == action),
        *_scaling_lines(summary["autoscaling"]),
        *_node_lines(summary),
        *_limit_lines(summary),
        *_image_lines(summary["images"]),
        *_cost_lines(summary["cost"]),
        *(
            f"stays   {leftover['object']}, no longer asked for; {leftover['command']}"
            for leftover in summary["leftovers"]
        ),
    ]


def _scaling_lines(scaling: JsonObject) -> list[str]:
    """Return the lines of the autoscaler: bounds of machine sets and GPU limits of the cluster."""
    sets = [
        f"scale   {one['machine_set']} from {one['min']} to {number_of(one['max'], 'machine')}"
        for one in scaling["machine_sets"]
    ]
    return sets + [
        f"scale   {one['type']} from {one['min']} to {number_of(one['max'], 'GPU')} in the whole cluster"
        for one in scaling["gpu_limits"]
    ]


def _node_lines(summary: JsonObject) -> list[str]:
    """Return the lines of nodes that are drained or rebooted, and of machine sets that drifted."""
    lines = []
    for one in summary["drained"]:
        machine = f", machine {one['machine']}" if one["machine"] else ""
        lines.append(f"drain   {one['node'] or 'no node'} ({one['for']}{machine})")
    lines += [
        f"reboot  {', '.join(one['nodes']) if one['nodes'] else 'nodes that are not known'} ({one['by']})"
        for one in summary["rebooted"]
    ]
    lines += [] if summary["rebooted"] else ["reboot  no node, as no machine configuration is written"]
    return lines + [
        f"drift   {one['machine_set']} {one['field']}" for pool in summary["pools"] for one in pool["drift"]
    ]


def _limit_lines(summary: JsonObject) -> list[str]:
    """Return the lines of the limits of the provider's account, and of the quotas of namespaces."""
    limits = [
        f"limit   {one['needs']} {one['unit']} of {one['limit']}{'' if one['is_name'] else ' (in words)'} "
        f"({', '.join(one['pools'])})"
        for one in summary["limits"]
    ]
    return limits + [
        f"quota   {quota['namespace']}/{quota['name']} {key} {number}"
        for quota in summary["quotas"]
        for key, number in quota["hard"].items()
    ]


def _image_lines(images: t.Sequence[JsonObject]) -> list[str]:
    """Return the number of images that come from mirrors, and a line for each that nodes may not get."""
    lines = [f"pull    {number_of(len(images), 'image')} from the mirrors of the cluster"] if images else []
    return lines + [
        f"pull    {one['image']} ({one['answer']}; {one['why']}, for {', '.join(one['needed_by'])})"
        for one in images
        if one["code"]
    ]


def _cost_lines(cost: JsonObject | None) -> list[str]:
    if not cost:
        return []
    if cost["high"] is None:
        return [f"cost    not known, no price of {', '.join(cost['unpriced'])}"]
    return [f"cost    {_span(cost)} an hour ({cost['class']})"]


def _line(change: JsonObject) -> str:
    fields = f" ({', '.join(change['fields'])})" if change["fields"] else ""
    unchecked = " (unchecked)" if change.get("unchecked") else ""
    return f"{_VERBS[change['action']]:<6}  {change['object']}{fields}{unchecked}"


def _row(pool: JsonObject) -> tuple[str, ...]:
    kinds = " and ".join(pool["instance_types"]) or "-"
    others = f" (else {', '.join(pool['others'])})" if pool["others"] else ""
    nodes = "/".join("-" if number is None else str(number) for number in pool["nodes"].values())
    cost = pool["cost"]
    price = f"{_span(cost)} {cost['class']}" if cost and cost["high"] is not None else "-"
    return (
        pool["name"],
        f"{kinds}{others}",
        nodes,
        "-" if pool["devices"] is None else str(pool["devices"]),
        price,
    )


def _span(cost: JsonObject) -> str:
    low, high = (f"{cost[end]:.2f}" for end in ("low", "high"))
    return low if low == high else f"{low}-{high}"
