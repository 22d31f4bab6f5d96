# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One node of a GPU pool: its labels, taints, operands and driver state, each judged, causes first."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_UPGRADE,
    GPU_PRESENT,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    FAILED,
    PENDING,
    Readiness,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices, update
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import (
    has_nvidia_pci,
    labels,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.node import is_ready
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import matches, untolerated
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands, stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    manifest as clusterpolicy_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.devices import (
    judge_devices,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import kernel
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import (
    Part,
    on_node,
    placed,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.pods import judge_pods

# What a ClusterPolicy that is `ready` says while it knows of no GPU node.
BLIND: t.Final = ("NoGPUNodes", "NFDLabelsMissing")
# While the driver is replaced its manager writes this over the labels that call for the other operands, and takes it back afterwards.
PAUSED: t.Final = "paused-"


def judge_node(
    node: dict[str, t.Any], pool: dict[str, t.Any], policy: dict[str, t.Any], snapshot: Snapshot
) -> list[Part]:
    if updating := update.judge(node):
        return [placed(updating, pool["name"], _name(node))]
    upgrade = judge_upgrade(node)
    found: list[Readiness | None] = [
        judge_alive(node),
        _judge_taints(node, policy, snapshot),
        _judge_features(node, policy),
        _judge_opt_out(node),
        _judge_left(node, policy, snapshot),
        kernel.judge(node, policy, snapshot),
        *_judge_operands(node, policy, snapshot),
        upgrade,
        judge_paused(node, snapshot, upgrade),
        *judge_devices(node, pool, snapshot, is_upgrading=upgrade is not None),
    ]
    return [placed(one, pool["name"], _name(node)) for one in found if one is not None]


def _name(node: dict[str, t.Any]) -> str:
    return str(node["metadata"]["name"])


def judge_alive(node: dict[str, t.Any]) -> Part | None:
    if is_ready(node):
        return None
    since = next(
        (
            str(one.get("lastTransitionTime") or "")
            for one in node["status"].get("conditions") or []
            if one["type"] == "Ready"
        ),
        "",
    )
    remedy = f"Look at `oc describe node {_name(node)}`."
    return on_node(
        PENDING,
        node,
        "NotReady",
        "the node is not Ready",
        "GPU-NODE-NOTREADY",
        remedy,
        stage=stages.LABELS,
        since=since,
    )


def _judge_taints(node: dict[str, t.Any], policy: dict[str, t.Any], snapshot: Snapshot) -> Part | None:
    """The operator counts a DaemonSet that may not run anywhere as ready, so this is said before anything else."""
    for_good = untolerated(node, clusterpolicy_manifest.effective_tolerations(policy))
    blocked = [
        operands.component(one)
        for one in snapshot["daemonsets"]
        if operands.is_operand(one)
        and matches(operands.selector(one), labels(node))
        and untolerated(node, operands.tolerations(one))
    ]
    if not for_good and not blocked:
        return None
    names = sorted(set(blocked))
    who = ", ".join(names) if 0 < len(names) < 3 else f"{len(names) or 'all'} operands"
    if for_good:
        what = f"taint {', '.join(for_good)} is not tolerated by {who}"
        away = " ".join(
            f"{taint.partition('=')[0].partition(':')[0]}:{taint.rpartition(':')[2]}-" for taint in for_good
        )
        remedy = f"Take it away, `oc adm taint nodes {_name(node)} {away}`, or add it to the tolerations of special_resource."
        return on_node(FAILED, node, "Taint", what, "GPU-TAINT", remedy, stage=stages.DRIVER)
    what, remedy = f"{who} do not have the policy's tolerations yet", "Look at the log of the GPU operator."
    return on_node(PENDING, node, "Taint", what, "GPU-TAINT", remedy, stage=stages.DRIVER)


def _judge_features(node: dict[str, t.Any], policy: dict[str, t.Any]) -> Part | None:
    """Without GPU nodes that it knows of, the operator has nothing to do and calls itself ready."""
    if has_nvidia_pci(labels(node)):
        return None
    what = "no label feature.node.kubernetes.io/pci-10de.present"
    remedy = f"`oc get pods -A -o wide --field-selector spec.nodeName={_name(node)}` has to show a running nfd-worker; pci_classes of nfd_labels need 03."
    part = on_node(PENDING, node, "NoPciLabel", what, "GPU-NFD-EMPTY", remedy, stage=stages.LABELS)
    if clusterpolicy_manifest.state(policy) == "ready" and clusterpolicy_manifest.reason(policy) in BLIND:
        return replace(
            part,
            message=f"{part.message}; ClusterPolicy {_name(policy)} is ready with reason {clusterpolicy_manifest.reason(policy)}: it sees no GPU.",
        )
    return part


def _judge_opt_out(node: dict[str, t.Any]) -> Part | None:
    marks = labels(node)
    if marks.get(operands.DEPLOY + "operands") == "false":
        remedy = f"oc label node {_name(node)} {operands.DEPLOY}operands-"
        what = f"label {operands.DEPLOY}operands=false keeps every operand away"
        return on_node(PENDING, node, "OptedOut", what, "GPU-OPTED-OUT", remedy, stage=stages.LABELS)
    if marks.get(operands.MODE) == "dra" and not devices.resources(node):
        what = f"label {operands.MODE}=dra is left over from a GPUCluster and keeps the operands away"
        return on_node(
            PENDING,
            node,
            "Mode",
            what,
            "GPU-MODE",
            f"oc label node {_name(node)} {operands.MODE}-",
            stage=stages.LABELS,
        )
    if has_nvidia_pci(marks) and marks.get(GPU_PRESENT) != "true":
        what = f"the operator has not labelled it nvidia.com/gpu.present=true (it is {marks.get('nvidia.com/gpu.present', 'absent')})"
        remedy = "Look at the log of the GPU operator."
        return on_node(
            PENDING, node, "NotPresent", what, "GPU-CP-NOTREADY", remedy, stage=stages.LABELS, waits=True
        )
    off = [
        name
        for name in ("container-toolkit", "device-plugin", "operator-validator")
        if marks.get(operands.DEPLOY + name) == "false"
    ]
    if not off:
        return None
    what = f"label {operands.DEPLOY}{off[0]}=false keeps {' and '.join(off)} away"
    remedy = f"oc label node {_name(node)} {' '.join(f'{operands.DEPLOY}{name}-' for name in off)}"
    return on_node(
        PENDING, node, "OptedOut", what, "GPU-OPTED-OUT", remedy, stage=stages.OF_COMPONENT[off[0]]
    )


def _judge_left(node: dict[str, t.Any], policy: dict[str, t.Any], snapshot: Snapshot) -> Part | None:
    """The DaemonSet of an NVIDIADriver that the policy has switched off keeps the policy's driver away, and nobody takes it away."""
    if ((policy.get("spec") or {}).get("driver") or {}).get("useNvidiaDriverCRD"):
        return None
    here = [one for one in snapshot["daemonsets"] if matches(operands.selector(one), labels(node))]
    names = [
        owner["name"]
        for one in here
        for owner in one["metadata"].get("ownerReferences") or []
        if owner["kind"] == "NVIDIADriver"
    ]
    if not names:
        return None
    what = f"the DaemonSet of NVIDIADriver {names[0]}, which is switched off, keeps the policy's driver away"
    remedy = "Set driver.use_nvidia_driver_crd: false by name, and special_resource takes the nodes back one by one."
    return on_node(PENDING, node, "DriverLeft", what, "GPU-NVD-LEFT", remedy, stage=stages.DRIVER)


def _judge_operands(node: dict[str, t.Any], policy: dict[str, t.Any], snapshot: Snapshot) -> list[Part]:
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
        part = on_node(
            PENDING,
            node,
            "Lacking",
            what,
            "GPU-OPERAND-LACKING",
            remedy,
            stage=stages.OF_COMPONENT[lacking[0]],
            waits=True,
        )
        parts.append(
            replace(part, details=(f"{_name(node)}: no DaemonSet selects it for {lacking[0]}{more}",))
        )
    return parts


def judge_upgrade(node: dict[str, t.Any]) -> Part | None:
    state = labels(node).get(DRIVER_UPGRADE, "")
    if state == "upgrade-failed":
        remedy = f"Look at the driver pod of the node, then `oc label node {_name(node)} {DRIVER_UPGRADE}=upgrade-required --overwrite`."
        what = "the driver upgrade failed, the node stays cordoned"
        return on_node(FAILED, node, "UpgradeFailed", what, "GPU-UPG-FAILED", remedy, stage=stages.DRIVER)
    if state in ("", "upgrade-done"):
        return None
    remedy = "Look for pods that hold a GPU on the node."
    return on_node(
        PENDING,
        node,
        "Upgrading",
        f"the driver upgrade is at {state}",
        "GPU-UPG-RUNNING",
        remedy,
        stage=stages.DRIVER,
    )


def judge_paused(node: dict[str, t.Any], snapshot: Snapshot, upgrade: Part | None) -> Part | None:
    """Paused operands are wanted by no DaemonSet, so the operator calls them ready; once the driver runs again nothing may be paused."""
    marks = labels(node)
    paused = [
        key.removeprefix(operands.DEPLOY)
        for key, value in sorted(marks.items())
        if key.startswith(operands.DEPLOY) and value.startswith(PAUSED)
    ]
    wanted = operands.on_node(node, snapshot["daemonsets"], snapshot["pods"], {})
    if (
        not paused
        or upgrade is not None
        or not any(one.component == "driver" and one.ready for one in wanted)
    ):
        return None
    what = f"its driver runs, and label {operands.DEPLOY}{paused[0]}={marks[operands.DEPLOY + paused[0]]} still keeps {', '.join(paused)} away"
    remedy = f"oc label node {_name(node)} --overwrite {' '.join(f'{operands.DEPLOY}{name}=true' for name in paused)}"
    return on_node(
        PENDING,
        node,
        "Paused",
        what,
        "GPU-PAUSED",
        remedy,
        stage=stages.OF_COMPONENT.get(paused[0], stages.PLUGIN),
    )
