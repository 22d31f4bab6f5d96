# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""NodeFeatureDiscovery and NodeFeatureRule: manifests, and what the instance says of itself."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _node_labels as node_labels
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._geometry_live import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._node_feature_config import merge_config, parse
from ansible_collections.accelerators.openshift.plugins.module_utils._operands import untolerated
from ansible_collections.accelerators.openshift.plugins.module_utils._patience import Patience
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import Readiness, failed, pending, ready, worst

Manifest = dict[str, t.Any]
Snapshot = t.Mapping[str, t.Sequence[Manifest]]
# Where the CRD of rules is looked for: OpenShift 4.19 and later first, 4.18 and earlier second.
RULE_GROUPS: t.Final = ("nfd.k8s-sigs.io", "nfd.openshift.io")
# Final when they last: the operator reports Degraded while its DaemonSet is still being rolled out.
PASSING: t.Final = ("NFD-DEGRADED",)
_WORKERS_TOLERATE: t.Final = {"operator": "Exists", "effect": "NoSchedule"}


def choose(instances: t.Sequence[Manifest], name: str) -> Manifest | None:
    """The instance to work with: the named one, else the one that is already there, since two would fight over the same DaemonSet."""
    by_name = {entry["metadata"]["name"]: entry for entry in instances}
    return by_name.get(name) or (by_name[min(by_name)] if by_name else None)


def build(params: dict[str, t.Any], live: Manifest | None) -> Manifest:
    """The whole manifest of an instance that is ours. operand.image stays unset: a pinned image goes stale with the next update."""
    config = merge_config(_config_of(live), params["pci_classes"], params["label_fields"])
    operand: dict[str, t.Any] = {"servicePort": 12000}
    if params.get("worker_tolerations"):
        operand["workerTolerations"] = [{key: value for key, value in entry.items() if value is not None} for entry in params["worker_tolerations"]]
    return {
        "apiVersion": "nfd.openshift.io/v1",
        "kind": "NodeFeatureDiscovery",
        "metadata": {"name": params["name"], "namespace": params["namespace"]},
        "spec": {"operand": operand, "workerConfig": {"configData": config}},
    }


def difference(params: dict[str, t.Any], live: Manifest) -> Manifest:
    """For an instance that somebody else made: the merge patch of its configuration, or nothing."""
    config = merge_config(_config_of(live), params["pci_classes"], params["label_fields"])
    return {"spec": {"workerConfig": {"configData": config}}} if config != _config_of(live) else {}


def doubts(params: dict[str, t.Any], live: Manifest | None) -> list[str]:
    """Warnings about an instance that is already there."""
    if live is None:
        return []
    name, texts = live["metadata"]["name"], []
    if name != params["name"]:
        texts.append(f"NodeFeatureDiscovery {name} is already in {params['namespace']}; it is used instead of {params['name']}.")
    fields = ((parse(_config_of(live)).get("sources") or {}).get("pci") or {}).get("deviceLabelFields")
    if fields is not None and list(fields) != params["label_fields"]:
        texts.append(f"NodeFeatureDiscovery {name} has deviceLabelFields {fields}, which stay. The NVIDIA Network Operator needs {params['label_fields']}.")
    return texts


def _config_of(live: Manifest | None) -> str:
    return (((live or {}).get("spec") or {}).get("workerConfig") or {}).get("configData") or ""


def rules(params: dict[str, t.Any], api_version: str = f"{RULE_GROUPS[0]}/v1alpha1", namespaced: bool = True) -> list[Manifest]:
    """NodeFeatureRules, in the instance's namespace where the cluster serves them namespaced."""
    place = {"namespace": params["namespace"]} if namespaced else {}
    return [
        {"apiVersion": api_version, "kind": "NodeFeatureRule", "metadata": {"name": rule["name"], **place}, "spec": {"rules": rule["rules"]}}
        for rule in params.get("rules") or []
    ]


def no_rules() -> KindNotServedError:
    return KindNotServedError(
        "API-KIND-NOT-SERVED",
        f"The cluster serves NodeFeatureRule in none of the groups {', '.join(RULE_GROUPS)}; the operator nfd (Node Feature Discovery) provides it.",
        "Install the operator nfd (Node Feature Discovery) first.",
        status=404,
        reason="NotServed",
    )


class Judge:
    """Ready when the instance is available and every expectation is met; the instance may be degraded for a while.

    A label that is missing counts from when the instance is Available, and so every worker runs: a worker publishes what it finds as it starts.
    """

    def __init__(self, params: dict[str, t.Any], clock: t.Callable[[], float]) -> None:
        self._params = params
        self._patience = Patience(clock, params["grace"], PASSING)
        self._labels = Patience(clock, params["grace"], ("NFD-LABEL-MISSING",))

    def __call__(self, snapshot: Snapshot) -> Readiness:
        instance, *labels_of = self._patience.harden(judge(snapshot, self._params["name"], self._params["expect"]))
        settled = self._labels.harden(labels_of if instance.is_ready else [])
        verdict = worst([instance, *(settled if instance.is_ready else labels_of)])
        return ready("Labelled", "Every expected label is there.") if verdict.is_ready else verdict


def judge(snapshot: Snapshot, name: str, expect: t.Sequence[dict[str, t.Any]]) -> list[Readiness]:
    """The instance first, then each expectation. Reasons are never matched: the operator misspells one."""
    instance = next((entry for entry in snapshot["instances"] if entry["metadata"]["name"] == name), None)
    parts = [_judge_instance(instance, name)]
    tolerations = [_WORKERS_TOLERATE, *((((instance or {}).get("spec") or {}).get("operand") or {}).get("workerTolerations") or [])]
    for expectation in expect:
        parts += _judge_expectation(snapshot["nodes"], expectation, tolerations)
    return parts


def _condition(instance: Manifest, kind: str) -> dict[str, t.Any]:
    conditions = (instance.get("status") or {}).get("conditions") or []
    return next((entry for entry in conditions if entry["type"] == kind), {})


def _judge_instance(instance: Manifest | None, name: str) -> Readiness:
    if instance is None:
        return pending("NoInstance", f"NodeFeatureDiscovery {name} is not there yet.", code="NFD-NOTREADY", remedy="Look at the log of the NFD operator.")
    degraded = _condition(instance, "Degraded")
    namespace = instance["metadata"]["namespace"]
    if degraded.get("status") == "True":
        what = f"NodeFeatureDiscovery {name} is Degraded: {degraded.get('reason', '')} {degraded.get('message', '')}".strip()
        remedy = f"Look at `oc get daemonset,deployment,pods -n {namespace}`."
        return pending("Degraded", f"{what}.", code="NFD-DEGRADED", remedy=remedy, details=(what,))
    if _condition(instance, "Available").get("status") == "True":
        return ready("Available")
    progress = _condition(instance, "Progressing")
    what = f"NodeFeatureDiscovery {name} is not Available yet{': ' + progress['message'] if progress.get('message') else ''}."
    return pending("NotAvailable", what, code="NFD-NOTREADY", remedy=f"Look at the pods in {namespace} and at the log of the NFD operator.")


def _judge_expectation(nodes: t.Sequence[Manifest], expectation: dict[str, t.Any], tolerations: list[dict[str, t.Any]]) -> list[Readiness]:
    found = node_labels.selected(nodes, expectation)
    names = {node["metadata"]["name"] for node in found}
    wanted = len(expectation.get("nodes") or []) or (1 if expectation.get("count") is None else expectation["count"])
    parts = []
    if len(found) < wanted:
        missing = [name for name in expectation.get("nodes") or [] if name not in names]
        what = f"{len(found)} of {wanted} nodes are there ({', '.join(missing) or _selector(expectation)})"
        parts.append(pending("NodesMissing", f"Label expectations: {what}.", code="NFD-NODES", remedy="Look at `oc get nodes --show-labels`.", details=(what,)))
    for node in found:
        phrases = node_labels.unmet(node, expectation["labels"])
        if phrases:
            parts.append(_judge_missing(node, phrases, tolerations))
    return parts


def _judge_missing(node: Manifest, phrases: list[str], tolerations: list[dict[str, t.Any]]) -> Readiness:
    name = node["metadata"]["name"]
    taints = [taint for taint in untolerated(node, tolerations) if taint.endswith(":NoExecute")]
    what = f"{name}: {'; '.join(phrases)}"
    if taints:
        return failed(
            f"NoWorker:{name}",
            f"Node {what}; nfd-worker cannot run there because of the taint {', '.join(taints)}.",
            code="NFD-TAINT",
            remedy="Give nfd_labels worker_tolerations for it.",
            details=(what,),
        )
    remedy = f"Look at `oc get nodefeature -A -l nfd.node.kubernetes.io/node-name={name} -o yaml` and at the nfd-worker pod of that node."
    return pending(f"Labels:{name}", f"Node {what}.", code="NFD-LABEL-MISSING", remedy=remedy, details=(what,))


def _selector(expectation: dict[str, t.Any]) -> str:
    return ",".join(f"{key}={node_labels.text(value)}" for key, value in (expectation.get("node_selector") or {}).items()) or "any node"


def summarize(snapshot: Snapshot, params: dict[str, t.Any]) -> dict[str, t.Any]:
    instances = [entry for entry in snapshot["instances"] if entry["metadata"]["name"] == params["name"]]
    nodes = {node["metadata"]["name"]: labels(node) for expectation in params["expect"] for node in node_labels.selected(snapshot["nodes"], expectation)}
    return {
        "name": params["name"],
        "namespace": params["namespace"],
        "available": any(_condition(entry, "Available").get("status") == "True" for entry in instances),
        "rules": [rule["name"] for rule in params["rules"]],
        "nodes": [
            {"name": name, "labels": {key: value for key, value in sorted(marks.items()) if key.startswith(node_labels.FEATURE)}}
            for name, marks in sorted(nodes.items())
        ],
    }
