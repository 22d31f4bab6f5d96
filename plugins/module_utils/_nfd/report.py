# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Result of nfd_labels: the instance, labels of nodes, losses, stale entries, differences of two sets."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import CONTROL_PLANE, FEATURE
from .._core import conditions
from .._core.adoption import other_manager
from .._core.errors import InputError
from .._core.objects import KubeObject, Snapshot
from .._core.ownership import MANAGER, owned
from .._nodes import label_difference
from .._nodes.labels import labels
from . import config, expectation, features, instance as nfd_instance
from .params import NfdLabelsParams

_CONTROL_PLANE: t.Final = (CONTROL_PLANE, "node-role.kubernetes.io/master")


def check(params: NfdLabelsParams) -> None:
    """Raise NFD-PCI or NFD-COMPARE for values of these options that cannot work."""
    config.check_classes(params.pci_classes)
    compare = params.compare
    if compare is None:
        return
    if len(compare) != 2:
        raise _wrong(
            "compare",
            f"has {len(compare)} sets of nodes",
            "Name two, for example {gpu: {node_selector: {…}}, cpu: {}}.",
        )
    for name, chosen in compare.items():
        if not isinstance(chosen or {}, dict) or set(chosen or {}) - {"nodes", "node_selector"}:
            raise _wrong(
                f"compare.{name}",
                f"is {chosen!r}",
                "Give nodes or node_selector, or {} for every worker that is not in the other set.",
            )
    if not any(compare.values()):
        raise _wrong("compare", "selects nodes in neither set", "Give one of them nodes or node_selector.")


def selectors(params: NfdLabelsParams) -> list[dict[str, t.Any]]:
    """Return the node selectors of `expect` and `compare`."""
    wanted = [*params.expect, *((params.compare or {}).values())]
    return [(entry or {}).get("node_selector") or {} for entry in wanted]


def summarize(
    snapshot: Snapshot, params: NfdLabelsParams, lost: list[dict[str, t.Any]], predicted: bool = False
) -> dict[str, t.Any]:
    """Return the facts about the instance, its rules and the nodes.

    predicted: in check mode an earlier task may not have made the nodes yet.
    """
    instance = expectation.instance_of(snapshot, params)
    charts = snapshot.get("upstream") or []
    nodes = expectation.expected_nodes(snapshot, params)
    master = nfd_instance.upstream(charts)
    facts = {
        "name": "" if charts else params.name,
        "namespace": str(master["metadata"]["namespace"]) if master else params.namespace,
        "manager": _manager(instance, master),
        "available": nfd_instance.judge_upstream(charts).is_ready
        if charts
        else bool(instance and nfd_instance.is_available(instance)),
        "pci_classes": config.explain_classes(nfd_instance.pci_classes(instance)),
        "rules": [rule["name"] for rule in params.rules],
        "features": [entry["name"] for entry in params.features],
        "nodes": [_node(node) for node in nodes],
        "lost": lost,
        "stale": [one.as_result() for node in nodes if (one := features.outdated(node))],
    }
    compare = params.compare
    return facts | ({"difference": _difference(snapshot["nodes"], compare, predicted)} if compare else {})


def _node(node: KubeObject) -> dict[str, t.Any]:
    marks = labels(node)
    found = {key: value for key, value in sorted(marks.items()) if key.startswith(FEATURE)}
    return {"name": node["metadata"]["name"], "labels": found, "families": label_difference.families(marks)}


def _manager(instance: KubeObject | None, master: KubeObject | None) -> str:
    """Return the manager of the instance: this collection, the name of a tool, or `somebody`."""
    if master:
        return other_manager(master) or "somebody"
    if instance is None or owned(instance):
        return MANAGER
    return other_manager(instance) or "somebody"


def _difference(
    nodes: t.Sequence[KubeObject], compare: dict[str, t.Any], predicted: bool
) -> dict[str, t.Any]:
    named = {name: expectation.selected(nodes, chosen) for name, chosen in compare.items() if chosen}
    taken = {node["metadata"]["name"] for found in named.values() for node in found}
    rest = [
        node
        for node in nodes
        if node["metadata"]["name"] not in taken and not any(key in labels(node) for key in _CONTROL_PLANE)
    ]
    sets = {
        name: {node["metadata"]["name"]: labels(node) for node in named.get(name, rest)} for name in compare
    }
    for name, found in sets.items():
        if not found and predicted:
            return {
                "sets": {one: sorted(members) for one, members in sets.items()},
                "labels": [],
                "equal": 0,
                "table": [f"compare.{name} finds no node yet."],
            }
        if not found:
            raise _wrong(f"compare.{name}", "finds no node", "Run `oc get nodes --show-labels`.")
    return label_difference.difference(sets)


def warnings(facts: dict[str, t.Any]) -> list[str]:
    """Return warnings about outdated labels, and about labels that were lost for a time."""
    texts = [
        f"{one['message']}. Restart the nfd-worker pod of that node."
        for one in facts["stale"]
        if not one["name"]
    ]
    return texts + [
        f"Node {one['node']} was without {one['label']} for {one['seconds']} s, and has it again."
        for one in facts["lost"]
    ]


def upstream_found(deployments: t.Sequence[KubeObject], has_operator: bool) -> str:
    """Return the warning that the module uses the NFD of a Helm chart as it is."""
    one = nfd_instance.upstream(deployments) or deployments[0]
    by = other_manager(one)
    metadata = one["metadata"]
    which = f"{metadata['namespace']} already has NFD ({by or 'Deployment ' + metadata['name']})"
    text = (
        f"Namespace {which}, and this task uses it unchanged: PCI classes and label fields are set in its "
        "chart (worker.config), and it has no label system-os_release.OSTREE_VERSION, "
        "which the GPU operator needs."
    )
    there = "and let this module create an instance" if has_operator else "and install the operator nfd"
    return (
        f"{text} To use OpenShift's, uninstall the chart with its CRDs {there}: "
        "two nfd-masters would write the same labels."
    )


def orphans_found(orphans: t.Sequence[features.Stale], collector: KubeObject | None) -> str:
    """Return the warning about NodeFeatures of deleted nodes. collector: the Deployment nfd-gc."""
    runs = conditions.is_true(collector, "Available")
    names = ", ".join(f"{one.namespace}/{one.name}" for one in orphans[:5])
    why = (
        "nfd-gc runs and deletes them in its next round (within an hour)"
        if runs
        else "nfd-gc, which should delete them, does not run"
    )
    more = f" and {len(orphans) - 5} more" if len(orphans) > 5 else ""
    return f"NodeFeatures of deleted nodes: {names}{more}; {why}. stale_features: remove deletes them now."


def _wrong(path: str, problem: str, remedy: str) -> InputError:
    return InputError("NFD-COMPARE", f"{path} {problem}.", remedy)
