# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""NVSentinel: what it holds, and the label that keeps it from taking our changes of a node for faults.

It cordons a node whose driver or DCGM is away, also during an upgrade. Its own instructions say to set this
label before, and to take it back once all works.
"""

from __future__ import annotations

import json
import typing as t

from .._catalogue.well_known import DRIVER_UPGRADE
from .._core.objects import KubeObject
from . import cordons, devices
from .labels import labels
from .node import is_cordoned, is_ready

NAMESPACE: t.Final = "nvsentinel"
MANAGED: t.Final = "nvsentinel.dgxc.nvidia.com/managed"
# Older releases read this one.
_OLD: t.Final = "k8saas.nvidia.com/ManagedByNVSentinel"
STATE: t.Final = "dgxc.nvidia.com/nvsentinel-state"
_CORDON: t.Final = "k8saas.nvidia.com/cordon-by"
# States of the GPU operator's driver upgrade in which the node works.
_NOT_BEGUN: t.Final = ("", "upgrade-required", "upgrade-done")
# What we set, and in which run.
NOTE: t.Final = "accelerators.openshift/nvsentinel"


def held(node: KubeObject | None) -> str:
    """Return what says that NVSentinel holds the node, an empty text if it does not."""
    marks = labels(node) if node else {}
    state, who = marks.get(STATE, ""), marks.get(_CORDON, "")
    return f"label {STATE}={state}" if state else f"label {_CORDON}={who}" if who else ""


def run_of(node: KubeObject) -> str:
    """Return the id of the run that set our label, an empty text without one."""
    return str(_note(node).get("run") or "")


def _note(node: KubeObject) -> dict[str, t.Any]:
    try:
        found = json.loads((node["metadata"].get("annotations") or {}).get(NOTE) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def opt_out(node: KubeObject, run_id: str) -> KubeObject | None:
    """Return the merge patch that opts the node out; None if somebody else has decided about it.

    A label that an earlier run of ours set goes over to this run.
    """
    there = labels(node)
    mine = [key for key in _note(node).get("labels") or [] if there.get(key) == "false"]
    if MANAGED in there and MANAGED not in mine:
        return None
    mine += [key for key in (MANAGED, _OLD) if key not in there]
    note = json.dumps({"run": run_id, "labels": mine}, sort_keys=True)
    return {"metadata": {"labels": dict.fromkeys(mine, "false"), "annotations": {NOTE: note}}}


def opt_in(node: KubeObject) -> KubeObject:
    """Return the merge patch that takes our labels back. A value that somebody has changed since stays."""
    mine = [key for key in _note(node).get("labels") or [] if labels(node).get(key) == "false"]
    return {"metadata": {"labels": dict.fromkeys(mine), "annotations": {NOTE: None}}}


def is_healthy(node: KubeObject) -> bool:
    """Return whether the node is Ready with all devices, no cordon of ours is left, and no upgrade runs."""
    if labels(node).get(DRIVER_UPGRADE, "") not in _NOT_BEGUN:
        return False
    wanted = devices.expected(node, {}) or dict.fromkeys(devices.resources(node), 1)
    ours = is_cordoned(node) and bool(cordons.purpose(node))
    return is_ready(node) and not ours and bool(wanted) and not devices.short(node, _all(node, wanted))


def _all(node: KubeObject, wanted: t.Mapping[str, int]) -> dict[str, int]:
    """Return the devices that the node has by its capacity, at least those that are wanted."""
    capacity = (node.get("status") or {}).get("capacity") or {}
    return {key: max(number, devices.count(capacity.get(key, 0))) for key, number in wanted.items()}
