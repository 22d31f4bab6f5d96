# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps new work away from a node that failed its validation: a taint, or a cordon. Neither ends pods.

A later validation that the node passes takes it back. The cordons and taints of others stay.
"""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._nodes import cordons, sentinel, startup
from .._nodes.node import is_cordoned
from .._nodes.taints import FAILED, FAILED_TOLERATION, STARTUP, STARTUP_TOLERATION, UNSCHEDULABLE, taints

FOR_VALIDATION: t.Final = "validation"
_CORDON: t.Final = {"key": UNSCHEDULABLE, "operator": "Exists", "effect": "NoSchedule"}


def tolerations(node: KubeObject) -> list[KubeObject]:
    """Return what a validation pod tolerates on the node: only marks of earlier validations."""
    found = [dict(FAILED_TOLERATION)] if _is_tainted(node) else []
    found += [dict(STARTUP_TOLERATION)] if startup.is_closed(node) else []
    return [*found, dict(_CORDON)] if cordons.is_for(node, FOR_VALIDATION) else found


def _is_tainted(node: KubeObject) -> bool:
    return any(taint.get("key") == FAILED for taint in taints(node))


def _is_ours(taint: t.Mapping[str, t.Any]) -> bool:
    return taint.get("key") in (FAILED, STARTUP)


def close(node: KubeObject, how: str, program: str, run_id: str) -> KubeObject | None:
    """Return the merge patch that closes a node which failed, None if it is closed already."""
    if how == "cordon":
        return None if is_cordoned(node) else cordons.patch(FOR_VALIDATION, run_id)
    if how != "taint" or _is_tainted(node):
        return None
    taint = {"key": FAILED, "value": program.partition(":")[0], "effect": "NoSchedule"}
    return _with_taints(node, [*taints(node), taint])


def open_again(node: KubeObject) -> KubeObject | None:
    """Return the merge patch that takes our marks from a node which passed, None if it has none."""
    body: KubeObject = {}
    if any(map(_is_ours, taints(node))):
        body = _with_taints(node, [taint for taint in taints(node) if not _is_ours(taint)])
    if cordons.is_for(node, FOR_VALIDATION):
        body.setdefault("metadata", {})["annotations"] = dict(cordons.REMOVED)
        if sentinel.held(node):
            return body
        body.setdefault("spec", {})["unschedulable"] = None
        if "taints" in body["spec"]:
            body["spec"]["taints"] = [
                one for one in body["spec"]["taints"] if one.get("key") != UNSCHEDULABLE
            ]
    return body or None


def _with_taints(node: KubeObject, wanted: t.Sequence[t.Mapping[str, t.Any]]) -> KubeObject:
    """Return a merge patch of the whole list, which the server refuses if somebody wrote the node since."""
    version = node["metadata"].get("resourceVersion")
    metadata = {"resourceVersion": version} if version else {}
    return {"metadata": metadata, "spec": {"taints": list(wanted)}}
