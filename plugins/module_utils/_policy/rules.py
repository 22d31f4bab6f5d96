# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules in CEL about pods and taints: which pod does not run on GPU nodes, and which toleration it lacks."""

from __future__ import annotations

import json
import typing as t

from .._catalogue.well_known import VENDORS
from .._core.objects import KubeObject
from .._nodes.taints import write_taint
from .options import Partition

# Name of a pool -> its taints and the resources of its nodes.
Entries = t.Mapping[str, t.Mapping[str, t.Any]]
Taint = t.Mapping[str, str]
# The pod, or the pods that the object makes later. `dyn` keeps the API server from checking the fields of one
# kind on the others.
_SPEC: t.Final = (
    "request.kind.kind == 'Pod' ? dyn(object).spec : request.kind.kind == 'CronJob' ? "
    "dyn(object).spec.jobTemplate.spec.template.spec : dyn(object).spec.template.spec"
)


# What the name of a variable begins with that says whether a pod tolerates a taint.
TOLERATES: t.Final = "toleratesTaint"


class Rule(t.NamedTuple):
    """A rule that pods have to keep. expression: in CEL. message: what a pod that breaks it does wrong."""

    expression: str
    message: str


def entry(pool: Partition) -> dict[str, t.Any]:
    """Return what the rules need of a pool."""
    return {"taints": [dict(taint) for taint in pool.taints], "resources": list(pool.resources)}


def is_of_devices(taint: Taint) -> bool:
    """Return True for a taint that keeps pods without devices off, such as nvidia.com/gpu.

    Another key, such as dedicated, may keep a team off.
    """
    return taint["key"].startswith(VENDORS)


def offers(entries: Entries) -> dict[str, list[str]]:
    """Return each resource with the names of the pools that offer it."""
    found: dict[str, list[str]] = {}
    for pool, own in sorted(entries.items()):
        for resource in own["resources"]:
            found.setdefault(resource, []).append(pool)
    return dict(sorted(found.items()))


def added(entries: Entries) -> dict[str, Taint]:
    """Return for each resource the taint that a pod with this resource may tolerate without asking.

    Pools with different taints keep their pods apart: then the pod has to choose.
    """
    found: dict[str, Taint] = {}
    for resource, pools in offers(entries).items():
        taints = {
            json.dumps(taint, sort_keys=True): taint
            for pool in pools
            for taint in entries[pool]["taints"]
            if is_of_devices(taint)
        }
        if len(taints) == 1:
            found[resource] = next(iter(taints.values()))
    return found


def guarded(entries: Entries) -> list[str]:
    """Return the resources that only pools with taints offer."""
    return [
        resource
        for resource, pools in offers(entries).items()
        if all(entries[pool]["taints"] for pool in pools)
    ]


def variables(entries: Entries) -> list[KubeObject]:
    """Return the variables of the rules: the pod's spec, what it asks for, and which taints it tolerates."""
    names = _list(offers(entries))
    amount = "has(c.resources) && has(c.resources.limits) && c.resources.limits"
    asks = f"{amount}.exists(r, r == name && string(c.resources.limits[r]) != '0')"
    vendors = " || ".join(f"r.startsWith({_text(vendor)})" for vendor in VENDORS)
    found = {
        "spec": _SPEC,
        "containers": (
            "variables.spec.containers + "
            "(has(variables.spec.initContainers) ? variables.spec.initContainers : [])"
        ),
        "tolerations": "has(variables.spec.tolerations) ? variables.spec.tolerations : []",
        "asked": f"{names}.filter(name, variables.containers.exists(c, {asks}))",
        "usesDevices": (
            "has(variables.spec.resourceClaims) || "
            f"variables.containers.exists(c, {amount}.exists(r, {vendors} || r in {names}))"
        ),
    }
    found |= {_variable(index): _tolerated(taint) for index, taint in enumerate(_taints(entries))}
    return [{"name": key, "expression": text} for key, text in found.items()]


def rules(entries: Entries, adds: bool) -> list[Rule]:
    """Return the rules. adds: pods get the tolerations that they may have without asking."""
    return [*_unplaced(entries, added(entries) if adds else {}), *_unwanted(entries)]


def _unplaced(entries: Entries, given: t.Mapping[str, Taint]) -> t.Iterator[Rule]:
    """Yield a rule for each resource that only pools with taints offer."""
    taints = _taints(entries)
    for resource in guarded(entries):
        pools, ways = offers(entries)[resource], []
        wanted = [entries[pool]["taints"] for pool in pools]
        for rule in wanted:
            parts = [
                f"(variables.{_variable(taints.index(taint))} || request.kind.kind != 'Pod')"
                if given.get(resource) == taint
                else f"variables.{_variable(taints.index(taint))}"
                for taint in rule
            ]
            ways.append(f"({' && '.join(parts)})")
        condition = f"!({_text(resource)} in variables.asked) || {' || '.join(dict.fromkeys(ways))}"
        yield Rule(condition, _no_toleration(resource, pools, wanted[0]))


def _no_toleration(resource: str, pools: t.Sequence[str], taints: t.Iterable[Taint]) -> str:
    several = "one of the pools" if len(pools) > 1 else "the pool"
    lines = ", ".join(f"{{{_toleration_text(taint)}}}" for taint in taints)
    marks = ", ".join(write_taint(dict(taint)) for taint in taints)
    return (
        f"The pod asks for {resource} and does not tolerate the taints of {several} {', '.join(pools)} "
        f"({marks}), so it does not run there. Add to its spec: tolerations: [{lines}]"
    )


def _unwanted(entries: Entries) -> t.Iterator[Rule]:
    """Yield the rule about pods that use no device and tolerate the taint of nodes with devices."""
    taints = [taint for taint in _taints(entries) if is_of_devices(taint)]
    if not taints:
        return
    keys = _list({taint["key"]: None for taint in taints})
    names = [pool for pool, own in sorted(entries.items()) if any(map(is_of_devices, own["taints"]))]
    tolerates = f"variables.tolerations.exists(t, has(t.key) && t.key in {keys})"
    is_agent = (
        "request.kind.kind == 'Pod' && has(object.metadata.ownerReferences) && "
        "object.metadata.ownerReferences.exists(o, o.kind == 'DaemonSet')"
    )
    shown = ", ".join(sorted({taint["key"] for taint in taints}))
    message = (
        f"The pod uses no device and tolerates {shown}, so it can take CPU and memory of the GPU nodes of "
        f"{', '.join(names)}. Remove the toleration"
    )
    yield Rule(f"variables.usesDevices || ({is_agent}) || !{tolerates}", message)


def patches(entries: Entries) -> str:
    """Return the expression that adds the missing tolerations to a pod; "" if there is none to add."""
    taints, wanted = _taints(entries), dict[int, list[str]]()
    for resource, taint in added(entries).items():
        wanted.setdefault(taints.index(taint), []).append(resource)
    if not wanted:
        return ""
    empty = 'JSONPatch{op: "add", path: "/spec/tolerations", value: []}'
    parts = [f"(has(object.spec.tolerations) ? [] : [{empty}])"]
    for index, resources in sorted(wanted.items()):
        toleration = _toleration(taints[index])
        value = "".join(f", {key}: {_text(text)}" for key, text in toleration.items())
        made = f"Object.spec.tolerations{{{value[2:]}}}"
        patch = f'JSONPatch{{op: "add", path: "/spec/tolerations/-", value: {made}}}'
        asks = f"variables.asked.exists(r, r in {_list(dict.fromkeys(resources))})"
        parts.append(f"({asks} && !variables.{_variable(index)} ? [{patch}] : [])")
    return " + ".join(parts)


def _taints(entries: Entries) -> list[Taint]:
    """Return each taint of the pools once, in a fixed order."""
    found = {
        json.dumps(taint, sort_keys=True): taint for pool in entries.values() for taint in pool["taints"]
    }
    return [found[key] for key in sorted(found)]


def _variable(index: int) -> str:
    return f"{TOLERATES}{index}"


def _tolerated(taint: Taint) -> str:
    """Return the expression that is true for a pod which tolerates the taint, as the scheduler judges it."""
    key, value, effect = (_text(taint.get(part, "")) for part in ("key", "value", "effect"))
    return (
        f"variables.tolerations.exists(t, (!has(t.effect) || t.effect in ['', {effect}]) && "
        f"(has(t.operator) && t.operator == 'Exists' ? (!has(t.key) || t.key in ['', {key}]) : "
        f"(has(t.key) && t.key == {key} && (has(t.value) ? t.value : '') == {value})))"
    )


def _toleration(taint: Taint) -> dict[str, str]:
    how = {"operator": "Equal", "value": taint["value"]} if taint.get("value") else {"operator": "Exists"}
    return {"key": taint["key"], **how, "effect": taint["effect"]}


def _toleration_text(taint: Taint) -> str:
    return ", ".join(f"{key}: {value}" for key, value in _toleration(taint).items())


def _text(value: str) -> str:
    """Return a string of CEL."""
    return json.dumps(value)


def _list(names: t.Iterable[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"
