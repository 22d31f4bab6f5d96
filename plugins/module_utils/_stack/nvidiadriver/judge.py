# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge NVIDIADriver objects, and return them: one owns each node, and its DaemonSet selects the node.

The status `ready` alone does not prove that.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ..._catalogue.well_known import DRIVER_UPGRADE, GPU_PRESENT
from ..._core.conditions import find
from ..._core.daemon_sets import is_made_by
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name
from ..._core.readiness import FAILED, PENDING, about_node
from ..._nodes.labels import labels
from ..._nodes.pool_nodes import nodes_of
from ..._nodes.taints import matches
from .. import operands, stages
from ..clusterpolicy.manifest import reason, state
from ..params import StackPool
from ..stages import Finding, on_node, on_object
from ..upgrade import RUNNING, SKIP, how_to_watch, with_progress

OWNER: t.Final = "nvidia.com/gpu-operator.driver.owner"
MAJOR: t.Final = "feature.node.kubernetes.io/system-os_release.VERSION_ID.major"
# A change shows these codes for a moment; one that lasts fails the task.
PASSING: t.Final = ("GPU-NVD-OWNER", "GPU-NVD-EMPTY", "GPU-NVD-FAILED")


def judge(
    snapshot: Snapshot, wanted: t.Sequence[KubeObject], pools: t.Sequence[StackPool] = ()
) -> list[Finding]:
    """Return the findings about each wanted driver, then about each of its nodes.

    The status of a driver belongs to no node, and may be a consequence of its nodes' findings.
    """
    live = {name(one): one for one in snapshot["drivers"]}
    pool_of = {name(node): str(pool["name"]) for pool in pools for node in nodes_of(snapshot["nodes"], pool)}
    findings: list[Finding | None] = []
    driven: set[str] = set()
    for object_name in map(name, wanted):
        driver = live.get(object_name)
        if driver is None:
            text = text_of("GPU-DELETED", object=f"NVIDIADriver {object_name}")
            findings.append(on_object(PENDING, f"NoDriver:{object_name}", **text._asdict()))
            continue
        findings.append(_judge_status(driver))
        nodes = [node for node in snapshot["nodes"] if _is_for(driver, node)]
        driven |= set(map(name, nodes))
        for node in sorted(nodes, key=name):
            found = _judge_node(node, driver, snapshot["daemonsets"])
            findings.append(found and replace(found, pool=pool_of.get(found.node, "")))
    return with_progress([one for one in findings if one is not None], len(driven))


def _is_for(driver: KubeObject, node: KubeObject) -> bool:
    """Return whether a GPU node belongs to the driver; to the default driver, if that owns it already."""
    spec, marks = driver.get("spec") or {}, labels(node)
    if marks.get(GPU_PRESENT) != "true":
        return False
    if spec.get("default"):
        return marks.get(OWNER) == name(driver)
    return matches(spec.get("nodeSelector") or {}, marks)


def _judge_status(driver: KubeObject) -> Finding | None:
    """Return a finding if the driver is not ready; only a conflict or an error is no mere consequence."""
    object_name, error = name(driver), find(driver, "Error")
    said = f": {error['message']}" if error.get("message") else ""
    wrong = f"state {state(driver) or 'unknown'}{said}"
    why = error.get("reason") if error.get("status") == "True" else ""
    if why == "ConflictingNodeSelector":
        message = f"NVIDIADriver {object_name}: {wrong}."
        remedy = "Change node_selector of the drivers, so that no node matches two of them."
        return on_object(FAILED, f"Overlap:{object_name}", message, "GPU-NVD-OVERLAP", remedy)
    if why == "ReconcileFailed":
        text = text_of("GPU-NVD-FAILED", driver=object_name, why=wrong)
        return on_object(PENDING, f"Failed:{object_name}", **text._asdict())
    if state(driver) == "ready" and not why:
        # The operator writes state and conditions one after the other: ready means that both say so.
        return None
    text = text_of("GPU-NVD-NOT-READY", driver=object_name, why=wrong)
    return on_object(PENDING, f"NotReady:{object_name}", **text._asdict(), waits=True)


def _judge_node(node: KubeObject, driver: KubeObject, daemonsets: t.Iterable[KubeObject]) -> Finding | None:
    marks, object_name, spec = labels(node), name(driver), driver.get("spec") or {}
    owner = marks.get(OWNER)
    if owner != object_name:
        what = f"NVIDIADriver {object_name} does not own it yet"
        if owner:
            what = f"its driver's owner is {owner}, not {object_name}"
        return _on_driver(node, "Owner", *about_node("GPU-NVD-OWNER", node=name(node), wrong_owner=what))
    made = [one for one in daemonsets if is_made_by(one, "NVIDIADriver", object_name)]
    ours = [one for one in made if matches(operands.selector(one), marks)]
    if not ours and MAJOR not in marks:
        why = f", since its label {MAJOR} is missing"
        why += f"; {object_name} is ready all the same" if state(driver) == "ready" else ""
        text = about_node("GPU-NVD-EMPTY", node=name(node), driver=object_name, also=why)
        return _on_driver(node, "NoMajor", *text)
    if not ours:
        text = about_node("GPU-NVD-EMPTY", node=name(node), driver=object_name)
        return _on_driver(node, "NoDaemonSet", *text)
    version = str(spec.get("version") or "")
    if version and not any(operands.runs_version(one, version) for one in ours):
        late = f"its DaemonSet does not have version {version} yet"
        text = text_of("GPU-NVD-NOT-READY", driver=object_name, why=late)
        return _on_driver(node, "Rollout", text.message.removesuffix("."), text.code, text.remedy)
    step = marks.get(DRIVER_UPGRADE)
    is_automatic = (spec.get("upgradePolicy") or {}).get("autoUpgrade", True)
    is_skipped = marks.get(SKIP) == "true"
    if is_automatic and not is_skipped and step not in ("upgrade-done", "upgrade-failed"):
        what = f"the driver upgrade is at {step or 'its beginning'}"
        return _on_driver(node, "Upgrade", what, RUNNING, how_to_watch(node))
    return None


def _on_driver(node: KubeObject, reason: str, what: str, code: str, remedy: str) -> Finding:
    return on_node(PENDING, node, reason, what, code, remedy, ".", stage=stages.DRIVER)


def summarize(snapshot: Snapshot, wanted: t.Sequence[KubeObject]) -> list[dict[str, t.Any]]:
    """Return one entry per wanted driver, from the live object if it exists, else from the wanted one."""
    live = {name(one): one for one in snapshot["drivers"]}
    found = []
    for one in wanted:
        driver = live.get(name(one), {"metadata": one["metadata"]})
        spec = driver.get("spec") or one["spec"]
        nodes = (node for node in snapshot["nodes"] if labels(node).get(OWNER) == name(one))
        found.append(
            {
                "name": name(one),
                "state": state(driver),
                "reason": reason(driver),
                "version": spec.get("version") or "",
                "node_selector": spec.get("nodeSelector") or {},
                "nodes": sorted(map(name, nodes)),
            }
        )
    return found
