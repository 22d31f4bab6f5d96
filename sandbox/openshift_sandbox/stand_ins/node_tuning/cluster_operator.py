# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the node tuning operator reports about itself: the ClusterOperator `node-tuning`."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.tuning import NAMESPACE
from openshift_sandbox.stand_ins.core.conditions import holds, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

NAME: t.Final = "node-tuning"


def report(cluster: Cluster, across: int, conflicts: int) -> None:
    """Write the conditions when they change.

    The arguments count Profiles whose labels several pools select, and Profiles that differ within a pool.
    """
    live = cluster.find("ClusterOperator", NAME)
    if live is None:
        return
    wanted = [_available(cluster), _degraded(cluster, across, conflicts)]
    known = (live.get("status") or {}).get("conditions") or []
    conditions = merged(known, wanted)
    if conditions != known:
        cluster.patch("ClusterOperator", NAME, None, {"status": {"conditions": conditions}}, "status")


def _available(cluster: Cluster) -> Object:
    """Return the condition: it stays True while Profiles are not applied; its reason says so."""
    profiles = cluster.objects("Profile", NAMESPACE)
    degraded = [one for one in profiles if holds(one, "Degraded")]
    waiting = [one for one in profiles if not holds(one, "Degraded") and not _applied(one)]
    reason, message = "AsExpected", ""
    if waiting:
        reason = "ProfileProgressing"
        message = f"Waiting for {len(waiting)}/{len(profiles)} Profiles to be applied"
    if degraded:
        reason = "ProfileDegraded"
        message = f"{len(degraded)}/{len(profiles)} Profiles failed to be applied"
    return {"type": "Available", "status": "True", "reason": reason, "message": message}


def _degraded(cluster: Cluster, across: int, conflicts: int) -> Object:
    total = len(cluster.objects("Profile", NAMESPACE))
    status, reason, message = "False", "AsExpected", ""
    if conflicts:
        status, reason = "True", "ProfileConflict"
        message = f"{conflicts}/{total} Profiles with bootcmdline conflict"
    if across:
        status, reason = "True", "MCLabelsAcrossMCPs"
        message = f"{across}/{total} Profiles use machineConfigLabels that match across multiple MCPs"
    return {"type": "Degraded", "status": status, "reason": reason, "message": message}


def _applied(profile: Object) -> bool:
    status = profile.get("status") or {}
    wanted = profile["spec"]["config"]["tunedProfile"]
    return status.get("tunedProfile") == wanted and holds(profile, "Applied")
