# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ConfigMap cluster-autoscaler-status, in the YAML of autoscalers of Kubernetes 1.30 and later."""

from __future__ import annotations

import typing as t

import yaml

from openshift_sandbox.seed.nodes import MACHINE_NAMESPACE
from openshift_sandbox.stand_ins.autoscaler.groups import Group

Object = dict[str, t.Any]

NAME: t.Final = "cluster-autoscaler-status"
UPDATED: t.Final = "cluster-autoscaler.kubernetes.io/last-updated"


def report(
    groups: t.Sequence[Group],
    nodes: t.Sequence[Object],
    backoff: t.Collection[str],
    idle: t.Mapping[str, int],
) -> Object:
    """Return the report without times."""
    found = [group for group in groups if group.upcoming]
    total = sum(idle.values())
    wide = {
        "health": {
            "status": "Healthy",
            "nodeCounts": _counts(
                len(nodes), len(nodes) - sum(len(one.nodes) - len(one.ready) for one in groups), 0
            ),
        },
        "scaleUp": {"status": "InProgress" if found else "NoActivity"},
        "scaleDown": {"status": "CandidatesPresent" if total else "NoCandidates"}
        | ({"candidates": total} if total else {}),
    }
    return {
        "autoscalerStatus": "Running",
        "clusterWide": wide,
        "nodeGroups": [_group(one, backoff, idle.get(one.id, 0)) for one in groups],
    }


def config_map(report: Object, time: str) -> Object:
    """Return the ConfigMap with a report."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": MACHINE_NAMESPACE, "annotations": {UPDATED: time}},
        "data": {"status": yaml.safe_dump({"time": time} | report, sort_keys=False)},
    }


def says(config_map: Object | None, report: Object) -> bool:
    """Return whether the ConfigMap has this report already, whatever its times."""
    known = yaml.safe_load(((config_map or {}).get("data") or {}).get("status") or "{}")
    return {key: value for key, value in known.items() if key != "time"} == report


def _group(group: Group, backoff: t.Collection[str], idle: int) -> Object:
    counts = _counts(
        len(group.nodes), len(group.ready), group.upcoming - (len(group.nodes) - len(group.ready))
    )
    health = {
        "status": "Healthy",
        "nodeCounts": counts,
        "cloudProviderTarget": group.target,
        "minSize": group.minimum,
        "maxSize": group.maximum,
    }
    growth = "Backoff" if group.id in backoff else "InProgress" if group.upcoming else "NoActivity"
    down = {"status": "CandidatesPresent", "candidates": idle} if idle else {"status": "NoCandidates"}
    return {"name": group.id, "health": health, "scaleUp": {"status": growth}, "scaleDown": down}


def _counts(total: int, ready: int, unregistered: int) -> Object:
    registered = {
        "total": total,
        "ready": ready,
        "notStarted": total - ready,
        "unready": {"total": 0, "resourceUnready": 0},
    }
    return {"registered": registered, "longUnregistered": 0, "unregistered": max(0, unregistered)}
