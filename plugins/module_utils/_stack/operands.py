# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Operands: the DaemonSets of the GPU operator, and what of them runs on a node."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import matches

DEPLOY: t.Final = "nvidia.com/gpu.deploy."
# Which stack a node belongs to, device plugin or DRA; it may be left over from the other one.
MODE: t.Final = "nvidia.com/gpu-operator.resource-allocation.mode"
OUTDATED: t.Final = "is of an older revision"
UNWANTED: t.Final = "is wanted on no node"
_OWNERS: t.Final = ("ClusterPolicy", "NVIDIADriver")
# Component of the label nvidia.com/gpu.deploy.<component> -> key of the ClusterPolicy's spec that switches it. Causes come before their consequences.
COMPONENTS: t.Final = {
    "driver": "driver",
    "container-toolkit": "toolkit",
    "operator-validator": "",
    "device-plugin": "devicePlugin",
    "dcgm": "dcgm",
    "dcgm-exporter": "dcgmExporter",
    "gpu-feature-discovery": "gfd",
    "mig-manager": "migManager",
    "node-status-exporter": "nodeStatusExporter",
}


@dataclass(frozen=True)
class Operand:
    """One operand that a node's labels call for. pod is empty where none runs; note says what is wrong, since is when its pod was or ceased to be Ready."""

    component: str
    daemonset: str
    pod: str = ""
    ready: bool = False
    note: str = ""
    since: str = ""


def is_operand(daemonset: dict[str, t.Any]) -> bool:
    owners = daemonset["metadata"].get("ownerReferences") or []
    return any(owner["kind"] in _OWNERS for owner in owners) or any(
        key.startswith(DEPLOY) for key in selector(daemonset)
    )


def selector(daemonset: dict[str, t.Any]) -> dict[str, str]:
    return daemonset["spec"]["template"]["spec"].get("nodeSelector") or {}


def tolerations(daemonset: dict[str, t.Any]) -> list[dict[str, t.Any]]:
    return daemonset["spec"]["template"]["spec"].get("tolerations") or []


def component(daemonset: dict[str, t.Any]) -> str:
    if "mps-control" in daemonset["metadata"]["name"]:
        return "mps-control-daemon"
    keys = sorted(key.removeprefix(DEPLOY) for key in selector(daemonset) if key.startswith(DEPLOY))
    return keys[0] if keys else str(daemonset["metadata"]["name"])


def _depth(daemonset: dict[str, t.Any]) -> tuple[int, str]:
    order = list(COMPONENTS)
    name = component(daemonset)
    return (order.index(name) if name in order else len(order), daemonset["metadata"]["name"])


def current_revisions(revisions: t.Iterable[dict[str, t.Any]]) -> dict[str, str]:
    """DaemonSet uid -> hash of its newest revision, as pods carry it in controller-revision-hash."""
    newest: dict[str, dict[str, t.Any]] = {}
    for revision in revisions:
        for owner in revision["metadata"].get("ownerReferences") or []:
            if (
                owner["kind"] == "DaemonSet"
                and revision["revision"] >= newest.get(owner["uid"], revision)["revision"]
            ):
                newest[owner["uid"]] = revision
    return {
        uid: (revision["metadata"].get("labels") or {}).get("controller-revision-hash", "")
        for uid, revision in newest.items()
    }


def pod_is_ready(pod: dict[str, t.Any]) -> bool:
    if pod["metadata"].get("deletionTimestamp"):
        return False
    conditions = pod.get("status", {}).get("conditions") or []
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)


def by_node(pods: t.Iterable[dict[str, t.Any]]) -> dict[str, list[dict[str, t.Any]]]:
    """Pods of each node, so that a node is judged without a look at those of a thousand others."""
    found: dict[str, list[dict[str, t.Any]]] = {}
    for pod in pods:
        found.setdefault(pod["spec"].get("nodeName") or "", []).append(pod)
    return found


def ready_since(pod: dict[str, t.Any]) -> str:
    """When the pod became Ready, or ceased to be; when it was made, if neither is told."""
    conditions = pod.get("status", {}).get("conditions") or []
    found = next((entry.get("lastTransitionTime") for entry in conditions if entry["type"] == "Ready"), None)
    return str(found or pod["metadata"].get("creationTimestamp") or "")


def on_node(
    node: dict[str, t.Any],
    daemonsets: t.Iterable[dict[str, t.Any]],
    pods: t.Iterable[dict[str, t.Any]],
    revisions: t.Mapping[str, str],
) -> list[Operand]:
    """Every operand whose selector the node matches, causes first."""
    here = [pod for pod in pods if pod["spec"].get("nodeName") == node["metadata"]["name"]]
    wanted = [one for one in daemonsets if is_operand(one) and matches(selector(one), labels(node))]
    return [of_daemonset(one, here, revisions) for one in sorted(wanted, key=_depth)]


def of_daemonset(
    daemonset: dict[str, t.Any], pods: t.Iterable[dict[str, t.Any]], revisions: t.Mapping[str, str]
) -> Operand:
    """What of a DaemonSet runs among these pods of one node."""
    uid, name = daemonset["metadata"]["uid"], daemonset["metadata"]["name"]
    ours = [
        pod
        for pod in pods
        if any(owner["uid"] == uid for owner in pod["metadata"].get("ownerReferences") or [])
    ]
    ours.sort(key=lambda pod: (not pod_is_ready(pod), pod["metadata"]["name"]))
    rolling = daemonset.get("status", {}).get("observedGeneration", 0) < daemonset["metadata"].get(
        "generation", 0
    )
    if not ours:
        unwanted = not rolling and daemonset.get("status", {}).get("desiredNumberScheduled") == 0
        return Operand(component(daemonset), name, note=UNWANTED if unwanted else "has no pod")
    pod = ours[0]
    label = (pod["metadata"].get("labels") or {}).get("controller-revision-hash", "")
    outdated = bool(revisions.get(uid)) and label != revisions[uid]
    note = ""
    if not pod_is_ready(pod):
        note = "is not Ready"
    elif rolling or outdated:
        note = OUTDATED
    return Operand(component(daemonset), name, pod["metadata"]["name"], not note, note, ready_since(pod))


def lacking(
    node: dict[str, t.Any], daemonsets: t.Iterable[dict[str, t.Any]], spec: t.Mapping[str, t.Any]
) -> list[str]:
    """Components that the node's labels call for although no DaemonSet selects the node."""
    served = {
        component(one) for one in daemonsets if is_operand(one) and matches(selector(one), labels(node))
    }
    called = [name for name in COMPONENTS if labels(node).get(DEPLOY + name) == "true"]
    return [name for name in called if name not in served and _is_enabled(spec, COMPONENTS[name])]


def _is_enabled(spec: t.Mapping[str, t.Any], key: str) -> bool:
    """Left out means enabled, but for one."""
    return not key or (spec.get(key) or {}).get("enabled", key != "nodeStatusExporter") is not False
