# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One node of a GPU pool: its labels, taints, operands, driver state and devices, each judged, causes first."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils import _cluster_policy as cluster_policy
from ansible_collections.accelerators.openshift.plugins.module_utils import _geometry_live as geometry
from ansible_collections.accelerators.openshift.plugins.module_utils import _kernel_match as kernel_match
from ansible_collections.accelerators.openshift.plugins.module_utils import _node_update as node_update
from ansible_collections.accelerators.openshift.plugins.module_utils import _operands as operands
from ansible_collections.accelerators.openshift.plugins.module_utils._node_labels import has_nvidia_pci
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import Readiness, failed, pending
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_pods import judge_pods

Snapshot = t.Mapping[str, t.Sequence[dict[str, t.Any]]]
MIG_STATE: t.Final = "nvidia.com/mig.config.state"
# What a ClusterPolicy that is `ready` says while it knows of no GPU node.
BLIND: t.Final = ("NoGPUNodes", "NFDLabelsMissing")
# The reason of missing devices on a node whose device plugin runs: nothing is left to wait for but a moment.
WITHHELD: t.Final = "Withheld"
UPGRADE: t.Final = "nvidia.com/gpu-driver-upgrade-state"


def judge_node(node: dict[str, t.Any], pool: dict[str, t.Any], policy: dict[str, t.Any], snapshot: Snapshot) -> list[Readiness]:
    if updating := node_update.judge(node):
        return [updating]
    found = [
        _judge_alive(node),
        _judge_taints(node, policy, snapshot),
        _judge_features(node, policy),
        _judge_opt_out(node),
        kernel_match.judge(node, policy, snapshot),
        *_judge_operands(node, policy, snapshot),
        _judge_upgrade(node),
        *_judge_devices(node, pool, snapshot),
    ]
    return [part for part in found if part is not None]


def _name(node: dict[str, t.Any]) -> str:
    return str(node["metadata"]["name"])


def _part(make: t.Callable[..., Readiness], node: dict[str, t.Any], reason: str, what: str, code: str, remedy: str) -> Readiness:
    return make(f"{reason}:{_name(node)}", f"Node {_name(node)}: {what}", code=code, remedy=remedy, details=(f"{_name(node)}: {what}",))


def _judge_alive(node: dict[str, t.Any]) -> Readiness | None:
    if geometry.is_ready(node):
        return None
    return _part(pending, node, "NotReady", "the node is not Ready", "GPU-NODE-NOTREADY", f"Look at `oc describe node {_name(node)}`.")


def _judge_taints(node: dict[str, t.Any], policy: dict[str, t.Any], snapshot: Snapshot) -> Readiness | None:
    """The operator counts a DaemonSet that may not run anywhere as ready, so this is said before anything else."""
    for_good = operands.untolerated(node, cluster_policy.effective_tolerations(policy))
    blocked = [
        operands.component(one)
        for one in snapshot["daemonsets"]
        if operands.is_operand(one)
        and operands.matches(operands.selector(one), geometry.labels(node))
        and operands.untolerated(node, operands.tolerations(one))
    ]
    if not for_good and not blocked:
        return None
    names = sorted(set(blocked))
    who = ", ".join(names) if 0 < len(names) < 3 else f"{len(names) or 'all'} operands"
    if for_good:
        what = f"taint {', '.join(for_good)} is not tolerated by {who}"
        away = " ".join(f"{taint.partition('=')[0].partition(':')[0]}:{taint.rpartition(':')[2]}-" for taint in for_good)
        remedy = f"Take it away, `oc adm taint nodes {_name(node)} {away}`, or add it to the tolerations of special_resource."
        return _part(failed, node, "Taint", what, "GPU-TAINT", remedy)
    return _part(pending, node, "Taint", f"{who} do not have the policy's tolerations yet", "GPU-TAINT", "Look at the log of the GPU operator.")


def _judge_features(node: dict[str, t.Any], policy: dict[str, t.Any]) -> Readiness | None:
    """Without GPU nodes that it knows of, the operator has nothing to do and calls itself ready."""
    if has_nvidia_pci(geometry.labels(node)):
        return None
    what = "no label feature.node.kubernetes.io/pci-10de.present"
    remedy = f"`oc get pods -A -o wide --field-selector spec.nodeName={_name(node)}` has to show a running nfd-worker; pci_classes of nfd_labels need 03."
    part = _part(pending, node, "NoPciLabel", what, "GPU-NFD-EMPTY", remedy)
    if cluster_policy.state(policy) == "ready" and cluster_policy.reason(policy) in BLIND:
        return replace(part, message=f"{part.message}; ClusterPolicy {_name(policy)} is ready with reason {cluster_policy.reason(policy)}: it sees no GPU.")
    return part


def _judge_opt_out(node: dict[str, t.Any]) -> Readiness | None:
    marks = geometry.labels(node)
    if marks.get(operands.DEPLOY + "operands") == "false":
        remedy = f"oc label node {_name(node)} {operands.DEPLOY}operands-"
        return _part(pending, node, "OptedOut", f"label {operands.DEPLOY}operands=false keeps every operand away", "GPU-OPTED-OUT", remedy)
    if has_nvidia_pci(marks) and marks.get("nvidia.com/gpu.present") != "true":
        what = "the operator has not labelled it nvidia.com/gpu.present=true"
        return _part(pending, node, "NotPresent", what, "GPU-CP-NOTREADY", "Look at the log of the GPU operator.")
    return None


def _judge_operands(node: dict[str, t.Any], policy: dict[str, t.Any], snapshot: Snapshot) -> list[Readiness]:
    pods = {pod["metadata"]["name"]: pod for pod in snapshot["pods"]}
    revisions = operands.current_revisions(snapshot["revisions"])
    wanted = operands.on_node(node, snapshot["daemonsets"], snapshot["pods"], revisions)
    late = [one for one in wanted if not one.ready]
    lacking = operands.lacking(node, snapshot["daemonsets"], policy.get("spec") or {})
    parts = judge_pods(node, [(one, pods.get(one.pod)) for one in late], lacking)
    if lacking:
        what = f"its labels call for {', '.join(lacking)}, but no DaemonSet selects it"
        remedy = "Compare the node's labels with the nodeSelectors of the DaemonSets; for the driver it is OSTREE_VERSION."
        more = f" and {len(lacking) - 1} more" if lacking[1:] else ""
        part = _part(pending, node, "Lacking", what, "GPU-OPERAND-LACKING", remedy)
        parts.append(replace(part, details=(f"{_name(node)}: no DaemonSet selects it for {lacking[0]}{more}",)))
    return parts


def _judge_upgrade(node: dict[str, t.Any]) -> Readiness | None:
    state = geometry.labels(node).get(UPGRADE, "")
    if state == "upgrade-failed":
        remedy = f"Look at the driver pod of the node, then `oc label node {_name(node)} {UPGRADE}=upgrade-required --overwrite`."
        return _part(failed, node, "UpgradeFailed", "the driver upgrade failed, the node stays cordoned", "GPU-UPG-FAILED", remedy)
    if state in ("", "upgrade-done"):
        return None
    return _part(pending, node, "Upgrading", f"the driver upgrade is at {state}", "GPU-UPG-RUNNING", "Look for pods that hold a GPU on the node.")


def _judge_devices(node: dict[str, t.Any], pool: dict[str, t.Any], snapshot: Snapshot) -> list[Readiness]:
    wanted = geometry.expected(node, pool.get("expected") or {})
    if not wanted:
        return [_part(pending, node, "NoDevices", "offers no device at all", "GPU-ALLOC", "Look at the device plugin's pod on this node.")]
    short = [f"{name} {geometry.offered(node, name)} of {number}" for name, number in wanted.items() if geometry.offered(node, name) != number]
    if not short:
        return []
    if geometry.labels(node).get(MIG_STATE) in ("pending", "rebooting"):
        what = f"is being repartitioned, offers {', '.join(short)}"
        return [_part(pending, node, "Mig", what, "GPU-MIG-RUNNING", "Look at the log of the MIG manager on this node.")]
    remedy = "Look at the log of the device plugin on this node (an Xid takes a GPU out), and at the sharing and MIG settings of the pool."
    on_node = operands.on_node(node, snapshot["daemonsets"], snapshot["pods"], operands.current_revisions(snapshot["revisions"]))
    runs = _judge_upgrade(node) is None and any(one.component == "device-plugin" and one.ready for one in on_node)
    return [_part(pending, node, WITHHELD if runs else "Allocatable", f"offers {', '.join(short)}", "GPU-ALLOC", remedy)]
