# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The truth about NVIDIADriver objects: every node has one owner, and that one's DaemonSet is for it. `ready` alone is said of nothing, too."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_UPGRADE,
    FEATURE,
    GPU_PRESENT,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    PENDING,
    Readiness,
    failed,
    pending,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import matches
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.manifest import (
    condition,
    reason,
    state,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part, on_node, part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver.manifest import name
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.operands import (
    selector as pods_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import CRD, DRIVER

Data = dict[str, t.Any]
OWNER: t.Final = "nvidia.com/gpu-operator.driver.owner"
MAJOR: t.Final = f"{FEATURE}system-os_release.VERSION_ID.major"
# Seen in the first moments after a change, and final when they last.
PASSING: t.Final = ("GPU-NVD-OWNER", "GPU-NVD-EMPTY", "GPU-NVD-FAILED")


def judge(snapshot: Snapshot, wanted: t.Sequence[Data]) -> list[Readiness]:
    live = {name(one): one for one in snapshot["drivers"]}
    found: list[Readiness] = []
    for manifest in wanted:
        driver = live.get(name(manifest))
        if driver is None:
            message = f"NVIDIADriver {name(manifest)} is not there."
            found.append(
                pending(
                    f"NoDriver:{name(manifest)}",
                    message,
                    code="GPU-NVD-NOTREADY",
                    remedy="Look for whoever deletes it.",
                )
            )
            continue
        nodes = [
            node
            for node in snapshot["nodes"]
            if labels(node).get(GPU_PRESENT) == "true" and _is_for(driver, node)
        ]
        of_nodes = [
            one
            for node in sorted(nodes, key=name)
            for one in _judge_node(node, driver, snapshot["daemonsets"])
        ]
        found += [one for one in [_judge_status(driver), *of_nodes] if one is not None]
    return found


def parts(snapshot: Snapshot, wanted: t.Sequence[Data], pools: t.Sequence[Data]) -> list[Part]:
    """With the stage and pool of each. What drivers say of themselves belongs to no node, and may be the consequence of what their nodes say."""
    of_node = {name(node): str(pool["name"]) for pool in pools for node in nodes_of(snapshot["nodes"], pool)}
    found = []
    for one in judge(snapshot, wanted):
        if isinstance(one, Part):
            found.append(replace(one, pool=of_node.get(one.node, "")))
        else:
            waits = one.reason.startswith("NotReady:")
            found.append(
                part(
                    one.verdict,
                    one.reason,
                    one.message,
                    code=one.code,
                    remedy=one.remedy,
                    details=one.details,
                    stage=CRD,
                    waits=waits,
                )
            )
    return found


def _is_for(driver: Data, node: Data) -> bool:
    spec = driver.get("spec") or {}
    return (
        labels(node).get(OWNER) == name(driver)
        if spec.get("default")
        else matches(spec.get("nodeSelector") or {}, labels(node))
    )


def _judge_status(driver: Data) -> Readiness | None:
    """Only what is final, or what the nodes do not tell better."""
    error = condition(driver, "Error")
    said = f"NVIDIADriver {name(driver)} is {state(driver) or 'without a state'}{': ' + error['message'] if error.get('message') else ''}."
    if error.get("status") == "True" and error.get("reason") == "ConflictingNodeSelector":
        return failed(
            f"Overlap:{name(driver)}",
            said,
            code="GPU-NVD-OVERLAP",
            remedy="Give the drivers selectors of which no node has both.",
        )
    if error.get("status") == "True" and error.get("reason") == "ReconcileFailed":
        return pending(
            f"Failed:{name(driver)}",
            said,
            code="GPU-NVD-FAILED",
            remedy=f"Look at `oc describe nvidiadriver {name(driver)}`.",
        )
    if state(driver) == "ready":
        return None
    return pending(
        f"NotReady:{name(driver)}",
        said,
        code="GPU-NVD-NOTREADY",
        remedy=f"Look at `oc describe nvidiadriver {name(driver)}`.",
    )


def _judge_node(node: Data, driver: Data, daemonsets: t.Iterable[Data]) -> list[Readiness]:
    owner, title = labels(node).get(OWNER), name(driver)
    if owner != title:
        what = (
            f"its driver's owner is {owner}, not {title}"
            if owner
            else f"NVIDIADriver {title} does not own it yet"
        )
        return [
            _part(
                node,
                "Owner",
                what,
                "GPU-NVD-OWNER",
                f"Look for another NVIDIADriver that selects it, and at label {OWNER}.",
            )
        ]
    ours = [one for one in daemonsets if _owned_by(one, driver) and matches(pods_of(one), labels(node))]
    if not ours and MAJOR not in labels(node):
        what = f"NVIDIADriver {title} has no DaemonSet for it, since its label {MAJOR} is missing"
        if state(driver) == "ready":
            what += f"; {title} is ready all the same"
        return [
            _part(
                node,
                "NoMajor",
                what,
                "GPU-NVD-EMPTY",
                "Look at nfd-worker on that node: without the label the operator does not count it.",
            )
        ]
    if not ours:
        return [
            _part(
                node,
                "NoDaemonSet",
                f"NVIDIADriver {title} has no DaemonSet for it",
                "GPU-NVD-EMPTY",
                "Look at the log of the GPU operator.",
            )
        ]
    version = str((driver.get("spec") or {}).get("version") or "")
    images = [
        container.get("image", "")
        for one in ours
        for container in one["spec"]["template"]["spec"].get("containers") or []
    ]
    if version and not any(version in image for image in images):
        what = f"the operator has not yet brought version {version} of NVIDIADriver {title} to its DaemonSet"
        return [_part(node, "Rollout", what, "GPU-NVD-NOTREADY", "Look at the log of the GPU operator.")]
    rules = (driver.get("spec") or {}).get("upgradePolicy") or {}
    step = labels(node).get(DRIVER_UPGRADE)
    if rules.get("autoUpgrade", True) and step not in ("upgrade-done", "upgrade-failed"):
        what = f"the driver upgrade is at {step or 'its beginning'}"
        return [_part(node, "Upgrade", what, "GPU-UPG-RUNNING", "Look for pods that hold a GPU on the node.")]
    return []


def _owned_by(daemonset: Data, driver: Data) -> bool:
    owners = daemonset["metadata"].get("ownerReferences") or []
    return any(owner["kind"] == "NVIDIADriver" and owner["name"] == name(driver) for owner in owners)


def _part(node: Data, reason: str, what: str, code: str, remedy: str) -> Readiness:
    return replace(
        on_node(PENDING, node, reason, what, code, remedy, stage=DRIVER),
        message=f"Node {name(node)}: {what}.",
    )


def summarize(snapshot: Snapshot, wanted: t.Sequence[Data]) -> list[Data]:
    live = {name(one): one for one in snapshot["drivers"]}
    found = []
    for manifest in wanted:
        driver = live.get(name(manifest), {"metadata": manifest["metadata"]})
        spec = driver.get("spec") or manifest["spec"]
        found.append(
            {
                "name": name(manifest),
                "state": state(driver),
                "reason": reason(driver),
                "version": spec.get("version") or "",
                "node_selector": spec.get("nodeSelector") or {},
                "nodes": sorted(
                    name(node) for node in snapshot["nodes"] if labels(node).get(OWNER) == name(manifest)
                ),
            }
        )
    return found
