# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the driver upgrade of nodes, which the operator's upgrade controller moves on by a label of the node.

The controller looks every two minutes, and takes one node after the other.
"""

from __future__ import annotations

import math
import typing as t
from dataclasses import replace

from .._catalogue.well_known import DRIVER_UPGRADE, NIC_DRIVER_UPGRADE
from .._core import run
from .._core.objects import KubeObject, Snapshot, at, name
from .._core.ownership import written
from .._core.readiness import FAILED, PENDING
from .._nodes.labels import labels
from . import operands, stages
from .operands import NAMESPACE, OUTDATED, Operand
from .stages import Finding, on_node

RUNNING: t.Final = "GPU-UPG-RUNNING"
# A node with this label keeps its driver, whatever the policy says.
SKIP: t.Final = "nvidia.com/gpu-driver-upgrade.skip"
# The annotation says that upgrade_driver.yml set the label. A run that is killed or paused, or waits for its
# window, leaves both.
HELD: t.Final = "accelerators.openshift/driver-upgrade-held"
# The merge patch that takes both away. With a ClusterPolicy the operator then ends the pods with GPUs.
FREE: t.Final = {"metadata": {"labels": {SKIP: None}, "annotations": {HELD: None, run.HELD_BY: None}}}
# Why that run holds a node, and queues.
WHY: t.Final = "the driver upgrade"
UPGRADE_FAILED: t.Final = "GPU-UPG-FAILED"
HELD_BACK: t.Final = "GPU-UPG-HELD"
RESUME: t.Final = "ansible-playbook playbooks/upgrade_driver.yml -e gpu_upgrade_action=resume"
GO_ON: t.Final = (
    f"If that run no longer works, run `{RESUME}`: it goes on node by node, and ends pods with GPUs there "
    "only with gpu_on_busy: drain."
)
# Minutes for one node: the controller looks every two minutes, and a driver that is built takes up to ten.
_LEAST, _MOST = 2, 10
_DONE: t.Final = ("", "upgrade-done")
_FAILED: t.Final = "upgrade-failed"
_REQUIRED: t.Final = "upgrade-required"
# States of a node that wait for pods of users.
_EMPTYING: t.Final = ("wait-for-jobs-required", "pod-deletion-required", "drain-required")


def state(node: KubeObject) -> str:
    """Return the state of the node's driver upgrade; empty if the controller has not seen the node."""
    return labels(node).get(DRIVER_UPGRADE, "")


def is_running(node: KubeObject) -> bool:
    """Return whether the driver upgrade of the node has begun, and has neither ended nor failed.

    The controller marks a node that it has to skip as well, and leaves it at that.
    """
    is_skipped = state(node) == _REQUIRED and labels(node).get(SKIP) == "true"
    return state(node) not in (*_DONE, _FAILED) and not is_skipped


def last_move(nodes: t.Iterable[KubeObject]) -> str:
    """Return when the state of a node was written last (RFC 3339); empty if no node tells."""
    return max((written(node, DRIVER_UPGRADE) for node in nodes), default="")


def waits_for_jobs(nodes: t.Iterable[KubeObject]) -> bool:
    """Return whether a node waits for work of users, which may take as long as the policy says."""
    return any(state(node) == _EMPTYING[0] for node in nodes)


def is_held(node: KubeObject) -> bool:
    """Return whether a run of upgrade_driver.yml holds the node back."""
    annotations = node["metadata"].get("annotations") or {}
    return annotations.get(HELD) == "true" and labels(node).get(SKIP) == "true"


def judge_upgrade(node: KubeObject, snapshot: Snapshot) -> Finding | None:
    """Return a finding if the operator is upgrading the GPU driver of the node, or failed to."""
    if is_running(node):
        what = f"the driver upgrade is at {state(node)}"
        return on_node(PENDING, node, "Upgrading", what, RUNNING, how_to_watch(node), stage=stages.DRIVER)
    if state(node) != _FAILED:
        return None
    driver = next((one for one in operands.on_node(node, snapshot) if one.component == "driver"), None)
    again = f"oc label node {name(node)} {DRIVER_UPGRADE}=upgrade-required --overwrite"
    what = "the driver upgrade failed"
    if driver is None or not driver.pod:
        what += ", and no driver pod is there"
        remedy = f"{operands.OPERATOR_LOG} After the repair run `{again}`: pods with GPUs on the node end."
    elif driver.note == OUTDATED:
        what += f", and its old driver pod {driver.pod} still runs"
        kept = "that have no controller, or that a disruption budget keeps (`oc get pdb -A`)"
        remedy = (
            f"{operands.OPERATOR_LOG} It names a pod that the operator could not evict. {holders(node)} End "
            f"those {kept}, then run `{again}`."
        )
    elif driver.ready:
        what += ", and its new driver runs"
        remedy = (
            f"Run `{_validators(node)}`: the operator waits for the validator's pod. Once it is Ready, run "
            f"`{again}`: pods with GPUs on the node end."
        )
    else:
        what += f", and its new driver pod {driver.pod} is not Ready"
        pod = f"-n {NAMESPACE} {driver.pod}"
        remedy = (
            f"Run `oc logs {pod} --all-containers`, and after the repair `oc delete pod {pod}`: the operator "
            "uncordons the node once the new pod is Ready. Pods with GPUs that still run there end."
        )
    return on_node(FAILED, node, "UpgradeFailed", what, UPGRADE_FAILED, remedy, stage=stages.DRIVER)


def holders(node: KubeObject) -> str:
    """Return the remedy for a node whose GPUs some pods may still hold."""
    command = f"oc get pods -A --field-selector spec.nodeName={name(node)}"
    return f"Run `{command}` to find pods that hold a GPU on the node."


def _validators(node: KubeObject) -> str:
    where = f"--field-selector spec.nodeName={name(node)}"
    return f"oc get pods -n {NAMESPACE} -l app=nvidia-operator-validator {where}"


def how_to_watch(node: KubeObject) -> str:
    """Return the remedy for a node whose driver upgrade takes long: what its state waits for."""
    now, here = state(node), f"--field-selector spec.nodeName={name(node)}"
    if now in _EMPTYING:
        return holders(node)
    if now == "pod-restart-required":
        return f"Run `oc get pods -n {NAMESPACE} {here}` to see whether the new driver pod starts."
    if now == "validation-required":
        return f"Run `{_validators(node)}`: the node waits until its validator pod is Ready."
    return f"Run `oc get nodes -L {DRIVER_UPGRADE}`: the operator takes one node after the other."


def judge_outdated(node: KubeObject, operand: Operand, *, is_automatic: bool) -> Finding | None:
    """Return a finding for an old driver pod; its DaemonSet is OnDelete, so only an upgrade replaces it.

    None while the upgrade of the node runs. is_automatic: the policy lets the operator begin upgrades. Only
    then does the operator keep the label of the upgrade, so setting it does not help otherwise. A label that
    keeps the pod fails at once: nothing ends that by itself.
    """
    if is_running(node):
        return None
    verdict, code = PENDING, "GPU-DRV-OUTDATED"
    what = f"pod {operand.pod} of the driver is of an older revision"
    remedy = (
        "Set driver.upgrade_policy.auto_upgrade to true; in a playbook set "
        "gpu_operator_spec: {driver: {upgradePolicy: {autoUpgrade: true}}}. The operator then upgrades node "
        "after node, and ends the pods with GPUs there."
    )
    if is_held(node):
        verdict, code, remedy = FAILED, HELD_BACK, GO_ON
        what += f", and {holder(node)} holds the node back by label {SKIP}"
    elif labels(node).get(SKIP) == "true":
        verdict = FAILED
        what += f", and label {SKIP}=true, which this collection did not set, keeps it"
        remedy = (
            f"{holders(node)} Once nobody needs them, run "
            f"`oc label node {name(node)} {SKIP}-`: the operator then ends the pods with GPUs on the node "
            "at once, and replaces the driver."
        )
    elif is_automatic:
        what += ", and the operator has not begun its upgrade"
        remedy = operands.OPERATOR_LOG
    return on_node(verdict, node, "Outdated", what, code, remedy, stage=stages.DRIVER)


def holder(node: KubeObject) -> str:
    """Return the run that holds the node back, as words; a run of an older release left no name."""
    return f"{run.holder(node) or f'{WHY} of an earlier run'} (ConfigMap gpu-driver-upgrade)"


def is_automatic(policy: KubeObject) -> bool:
    """Return whether the operator upgrades the drivers of this policy by itself."""
    is_asked = bool(at(policy, "spec.driver.upgradePolicy.autoUpgrade"))
    return is_asked and not at(policy, "spec.sandboxWorkloads.enabled")


def blocked(snapshot: Snapshot) -> set[str]:
    """Return the nodes whose turn does not come, since nodes whose upgrade failed take all places.

    Looks at drivers that a ClusterPolicy or a NicClusterPolicy upgrades; empty for all others.
    """
    specs = [one.get("spec") or {} for one in snapshot.get("policies") or []]
    return {
        node
        for spec in specs
        for key, label in (("driver", DRIVER_UPGRADE), ("ofedDriver", NIC_DRIVER_UPGRADE))
        if spec.get(key) and not spec[key].get("useNvidiaDriverCRD")
        for node in _behind(snapshot["nodes"], spec[key].get("upgradePolicy") or {}, label)
    }


def _behind(nodes: t.Iterable[KubeObject], rules: t.Mapping[str, t.Any], label: str) -> list[str]:
    states = {name(node): labels(node).get(label, "") for node in nodes if labels(node).get(label)}
    failed = sum(one == _FAILED for one in states.values())
    parallel, most = int(rules.get("maxParallelUpgrades", 1)), rules.get("maxUnavailable", "100%")
    if not failed or not (0 < parallel <= failed or scaled(most, len(states)) <= failed):
        return []
    return [object_name for object_name, one in states.items() if one == _REQUIRED]


def scaled(value: t.Any, total: int) -> int:
    """Return a number of nodes: the value itself, or its percentage of the total, rounded up."""
    text = str(value)
    return math.ceil(total * int(text[:-1]) / 100) if text.endswith("%") else int(text)


class Budget:
    """The seconds of a wait while an operator replaces drivers node by node.

    Each node whose upgrade has ended adds its share, and so does the one whose turn it is. So a long upgrade
    goes on, and one that is stuck at a node fails after the share of that node.
    """

    def __init__(self, seconds: float, per_node: float) -> None:
        """Take the seconds without an upgrade, and those of one node."""
        self._seconds, self._per_node = seconds, per_node
        self._begun: set[str] = set()

    def seconds(self, nodes: t.Iterable[KubeObject]) -> float:
        """Return the seconds that the whole wait may take. nodes: as they are now."""
        running = {name(node) for node in nodes if _is_rolling(node)}
        self._begun |= running
        ended = len(self._begun - running)
        return self._seconds + self._per_node * (ended + bool(running))


def _is_rolling(node: KubeObject) -> bool:
    return is_running(node) or labels(node).get(NIC_DRIVER_UPGRADE, "") not in (*_DONE, _FAILED)


def with_progress(findings: t.Sequence[Finding], total: int) -> list[Finding]:
    """Return the findings; those about running upgrades say how many nodes are left, and for how long.

    total: the nodes whose drivers are judged.
    """
    left = len({one.node for one in findings if one.code == RUNNING})
    said = (
        f"the upgrade is complete on {max(0, total - left)} of {total} nodes, and the operator needs "
        f"{_LEAST} to {_MOST} min a node, so {left * _LEAST} to {left * _MOST} min more"
    )
    return [
        replace(one, message=f"{one.message.removesuffix('.')}; {said}.") if one.code == RUNNING else one
        for one in findings
    ]
