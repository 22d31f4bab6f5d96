# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver of one node: its pod, the state of its upgrade, and the label that holds the node back."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import DRIVER_UPGRADE
from .._core.objects import KubeObject, Snapshot, name
from .._core.run import HELD_BY, Run
from .._nodes import cordons
from .._nodes.labels import labels
from .._stack import operands, upgrade
from .options import Triple

# A node with this label keeps its driver, whatever its object says.
SKIP: t.Final = upgrade.SKIP
# The annotation says that this collection set the label.
HELD: t.Final = upgrade.HELD
REQUIRED, DONE, FAILED = "upgrade-required", "upgrade-done", "upgrade-failed"
UNCORDON: t.Final = "uncordon-required"
# The annotation asks the controller for the whole upgrade of a node. By the label alone, operators from 26.7
# on only restart a driver that is what its DaemonSet says, and end no pod. Source: k8s-operator-libs,
# pkg/upgrade/upgrade_inplace.go.
REQUESTED: t.Final = "nvidia.com/gpu-driver-upgrade-requested"
VALIDATION: t.Final = "validation-required"
# The controller has begun to replace the node's driver, and has not finished the node's upgrade.
UNDER_WAY: t.Final = ("pod-restart-required", VALIDATION, FAILED)
# The controller has begun with the node, and has ended no pod there.
_PODS_RUN: t.Final = ("cordon-required", "wait-for-jobs-required")
# The controller's annotation of a node that was cordoned before its upgrade.
_CORDONED_BEFORE: t.Final = "nvidia.com/gpu-driver-upgrade.node-initial-state.unschedulable"
_CONTAINER: t.Final = "nvidia-driver-ctr"
_MANAGER: t.Final = "k8s-driver-manager"


class NodeDriver(t.NamedTuple):
    """What a node runs. pod: its driver pod, or None. is_current: of the newest revision of its DaemonSet."""

    node: KubeObject
    pod: KubeObject | None
    image: str
    is_current: bool

    @property
    def name(self) -> str:
        """Return the name of the node."""
        return name(self.node)

    @property
    def state(self) -> str:
        """Return the state of the node's upgrade."""
        return upgrade.state(self.node)

    @property
    def is_ready(self) -> bool:
        """Return whether the driver's pod is Ready."""
        return self.pod is not None and operands.pod_is_ready(self.pod)

    @property
    def is_blocked(self) -> bool:
        """Return whether the driver's pod cannot start because its manager cannot unload the old driver."""
        status = (self.pod or {}).get("status") or {}
        return any(
            container.get("name") == _MANAGER
            and not container.get("ready")
            and container.get("restartCount", 0) > 0
            for container in status.get("initContainerStatuses") or []
        )

    @property
    def is_held(self) -> bool:
        """Return whether this collection holds the node back."""
        return upgrade.is_held(self.node)

    @property
    def is_free(self) -> bool:
        """Return whether the upgrade controller leaves the node alone if nothing holds it back."""
        return self.is_current or self.pod is None

    @property
    def is_skipped(self) -> bool:
        """Return whether somebody holds the node back by the operator's label."""
        return labels(self.node).get(SKIP) == "true" and not self.is_held

    @property
    def is_closed(self) -> bool:
        """Return whether this collection cordoned the node to wait for the end of its pods."""
        return cordons.purpose(self.node) == cordons.FOR_DRIVER

    def runs(self, wanted: Triple) -> bool:
        """Return whether the node's driver is the wanted one and works."""
        is_right = wanted.is_of(self.image) if any(wanted) else self.is_current
        # The controller marks a node that is held back, whatever its driver is.
        is_idle = self.state in ("", DONE) or (self.is_held and self.state == REQUIRED)
        return is_right and self.is_ready and is_idle

    def is_due(self, wanted: Triple, asked: Triple) -> bool:
        """Return whether the node needs the upgrade. asked: the driver that its object asks for now."""
        return not self.runs(wanted) or (asked == wanted and not self.is_current)


def of(node: KubeObject, snapshot: Snapshot, revisions: t.Mapping[str, str]) -> NodeDriver:
    """Return the driver of a node. snapshot: pods and daemonsets; the pods may be those of the node alone."""
    pods = {name(pod): pod for pod in snapshot["pods"]}
    found = [
        operand
        for operand in operands.on_node(node, snapshot, revisions)
        if operand.component == "driver" and operand.pod
    ]
    if not found:
        return NodeDriver(node, None, "", False)
    operand = found[0]
    return NodeDriver(node, pods[operand.pod], _image(pods[operand.pod]), operand.note != operands.OUTDATED)


def all_of(snapshot: Snapshot) -> dict[str, NodeDriver]:
    """Return name -> driver of each node of the snapshot."""
    revisions, view = operands.current_revisions(snapshot["revisions"]), operands.view_of(snapshot)
    return {name(node): of(node, view(node), revisions) for node in snapshot["nodes"]}


def _image(pod: KubeObject) -> str:
    containers = pod["spec"].get("containers") or [{}]
    own = next((container for container in containers if container.get("name") == _CONTAINER), containers[0])
    return str(own.get("image") or "")


def hold(run: Run) -> KubeObject:
    """Return the merge patch by which a run holds a node back."""
    return {"metadata": {"labels": {SKIP: "true"}, "annotations": {HELD: "true", **run.holds(upgrade.WHY)}}}


def release(driver: NodeDriver) -> KubeObject:
    """Return the merge patch that no longer holds the node back.

    The controller marks held nodes as upgrade-required. If the driver of such a node is right again, the
    controller would end the node's pods for nothing; so its mark goes with the label.
    """
    marks: dict[str, str | None] = {SKIP: None}
    if driver.state == REQUIRED and driver.is_current and driver.is_ready:
        marks[DRIVER_UPGRADE] = DONE
    return {"metadata": {"labels": marks, "annotations": {HELD: None, HELD_BY: None}}}


def close(run: str) -> KubeObject:
    """Return the merge patch that keeps new pods away. run: the id of the run."""
    return cordons.patch(cordons.FOR_DRIVER, run)


def again(driver: NodeDriver) -> KubeObject | None:
    """Return the merge patch by which the controller goes on with a failed node; None if it needs none.

    A driver that is right only waits for its node to be uncordoned, also where a rollback came before the end
    of the first pod. Any other driver is replaced from the start, so the controller ends the pods with GPUs
    before it replaces the driver.
    """
    annotations = driver.node["metadata"].get("annotations") or {}
    if driver.is_current and driver.is_ready:
        was_cordoned = annotations.get(_CORDONED_BEFORE) == "true"
        marks: dict[str, str | None] = {DRIVER_UPGRADE: DONE if was_cordoned else UNCORDON}
        more = {_CORDONED_BEFORE: None} if was_cordoned else {}
        return (
            {"metadata": {"labels": marks, "annotations": more}}
            if driver.state in (FAILED, *_PODS_RUN)
            else None
        )
    stuck = driver.state == FAILED or (driver.is_current and driver.is_blocked and driver.state in ("", DONE))
    # The controller does not look at the driver of a node whose validation it waits for.
    stuck |= driver.state == VALIDATION and not driver.is_current
    asked = {"labels": {DRIVER_UPGRADE: REQUIRED}, "annotations": {REQUESTED: "true"}}
    return {"metadata": asked} if stuck else None
