# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Tuned object of a pool, and the rules by which Tuned objects choose the profile of a node."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject, name
from ..._core.ownership import pool_label
from ..._nodes.labels import labels
from .. import machine_config
from ..options import Tuning
from . import profile

NAMESPACE: t.Final = "openshift-cluster-node-tuning-operator"
DEFERRED: t.Final = "tuned.openshift.io/deferred"
# The lowest number wins. The operator's own rules have 30 and 40. The Tuned that a PerformanceProfile makes
# has 20: it wins until the pool's profile includes its profile.
PRIORITY: t.Final = 21
_OVER: t.Final = 19


def object_name(pool: str) -> str:
    """Return the name of the pool's objects, and of its TuneD profile."""
    return f"gpu-{pool}"


def build(tuning: Tuning, parent: str = "") -> KubeObject:
    """Return the Tuned object of a pool. parent: the profile that a PerformanceProfile makes for the pool.

    With a parent the rule goes by MachineConfigPool: the parent's kernel arguments need that.
    """
    own = object_name(tuning.name)
    metadata: KubeObject = {"name": own, "namespace": NAMESPACE, "labels": pool_label(tuning.name)}
    if tuning.defer:
        metadata["annotations"] = {DEFERRED: "always"}
    return {
        "apiVersion": "tuned.openshift.io/v1",
        "kind": "Tuned",
        "metadata": metadata,
        "spec": {
            "profile": [{"name": own, "data": profile.text(tuning, parent)}],
            "recommend": [_rule(tuning, own, parent)],
        },
    }


def goes_by_pool(obj: KubeObject | None) -> bool:
    """Return True if the object chooses nodes by their MachineConfigPool."""
    rules = ((obj or {}).get("spec") or {}).get("recommend") or []
    return any("machineConfigLabels" in one for one in rules)


def rivals(tuneds: t.Iterable[KubeObject], nodes: t.Sequence[KubeObject], own: str) -> list[str]:
    """Return a line for each rule of another Tuned object that would win on one of the nodes.

    own: the name of the pool's Tuned. Rules that choose by pods or by MachineConfigPool are not judged here:
    the Profile of the node shows which profile won.
    """
    found = []
    for one in tuneds:
        if name(one) == own:
            continue
        for rule in (one.get("spec") or {}).get("recommend") or []:
            hit = [name(node) for node in nodes if _selects(rule, node)]
            if hit and rule.get("priority", 0) <= PRIORITY:
                found.append(
                    f"Tuned {name(one)} gives profile {rule['profile']} with priority {rule['priority']} to "
                    f"{', '.join(hit[:5])}"
                )
    return found


def _rule(tuning: Tuning, own: str, parent: str) -> KubeObject:
    if parent:
        labels_of_pool = machine_config.role_label(tuning.name)
        return {"profile": own, "priority": _OVER, "machineConfigLabels": labels_of_pool}
    return {"profile": own, "priority": PRIORITY, "match": _match(tuning.label)}


def _match(wanted: t.Mapping[str, str]) -> list[KubeObject]:
    """Return the rule for nodes with all these labels; entries of one list are alternatives."""
    rule: list[KubeObject] = []
    for key, value in sorted(wanted.items(), reverse=True):
        rule = [{"label": key, "value": value, **({"match": rule} if rule else {})}]
    return rule


def _selects(rule: KubeObject, node: KubeObject) -> bool:
    return "machineConfigLabels" not in rule and _matches(rule.get("match") or [], labels(node))


def _matches(rules: t.Sequence[KubeObject], have: t.Mapping[str, str]) -> bool:
    """Return True if one of the rules matches, as the operator evaluates them; no rules match every node."""
    return not rules or any(
        one.get("type", "node") == "node"
        and one.get("label", "") in have
        and one.get("value", have[one["label"]]) == have[one["label"]]
        and _matches(one.get("match") or [], have)
        for one in rules
    )
