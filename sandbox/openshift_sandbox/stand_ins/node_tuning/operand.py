# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the TuneD daemon on each node, the operand of the node tuning operator.

It changes nothing on the node. Like the real one it writes the status of a Profile only when the active
profile or a condition changes: after a change that succeeds, `observedGeneration` may stay behind.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from openshift_sandbox.seed.tuning import APPLIED, BOOTCMDLINE, DEPENDENCIES, HEALTHY, NAMESPACE
from openshift_sandbox.stand_ins.core.conditions import Condition, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.node_tuning.profiles import Outcome, Text, outcome

NOT_APPLIED: t.Final = "The TuneD daemon profile not yet applied, or application failed."
ERRORS: t.Final = (
    "TuneD daemon issued one or more error message(s) during profile application. TuneD stderr: {}"
)


@dataclass(frozen=True)
class Effect:
    """What is in effect on a node since it started or TuneD was reloaded."""

    profile: str
    texts: tuple[Text, ...]
    boot: str
    outcome: Outcome


class TunedDaemons(Reconciler):
    kinds = ("Node", "Profile")

    def __init__(self) -> None:
        self._effects: dict[str, Effect] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for profile in cluster.objects("Profile", NAMESPACE):
            node = cluster.find("Node", profile["metadata"]["name"])
            if node is not None and not on_node(cluster, "profile_stuck", node):
                self._tune(cluster, profile, node)

    def _tune(self, cluster: Cluster, profile: Object, node: Object) -> None:
        uid, boot = node["metadata"]["uid"], node["status"]["nodeInfo"].get("bootID", "")
        wanted, effect = self._wanted(profile, boot), self._effects.get(uid)
        if effect != wanted and not (effect is None and _is_active(profile, wanted)):
            if not cluster.due((uid, wanted), "tuned_apply", 0.3):
                return
            cluster.restart((uid, wanted), "tuned_apply")
        self._effects[uid] = wanted
        _report(cluster, profile, wanted.outcome)
        _annotate(cluster, node, profile, wanted.outcome)

    def _wanted(self, profile: Object, boot: str) -> Effect:
        name = profile["spec"]["config"]["tunedProfile"]
        texts = {one["name"]: one["data"] for one in profile["spec"].get("profile") or []}
        result = outcome(name, tuple(texts.items()))
        read = tuple((one, texts[one]) for one in result.read if one in texts)
        return Effect(name, read, boot, result)


def _is_active(profile: Object, wanted: Effect) -> bool:
    """Return whether a daemon that starts again finds the profile in effect."""
    status = profile.get("status") or {}
    return bool(status.get("conditions")) and status.get("tunedProfile") == wanted.profile


def _report(cluster: Cluster, profile: Object, result: Outcome) -> None:
    """Write what TuneD reports. When it refuses a profile, the one before stays active."""
    wanted = profile["spec"]["config"]["tunedProfile"]
    active = wanted if result.applied else _active(profile)
    applied = APPLIED if result.applied else ("Applied", "False", "Failed", NOT_APPLIED)
    degraded = HEALTHY
    if result.error:
        degraded = ("Degraded", "True", "TunedError", ERRORS.format(result.error))
    _write(cluster, profile, active, applied, degraded)


def _active(profile: Object) -> str:
    return str((profile.get("status") or {}).get("tunedProfile") or "")


def _write(
    cluster: Cluster,
    profile: Object,
    active: str,
    applied: tuple[str, str, str, str],
    degraded: tuple[str, str, str, str],
) -> None:
    known = profile.get("status") or {}
    before = known.get("conditions") or []
    conditions = merged(before, [_condition(*applied), _condition(*degraded)])
    if known.get("tunedProfile") == active and conditions == before:
        return
    status = {
        "tunedProfile": active,
        "conditions": conditions,
        "observedGeneration": profile["metadata"]["generation"],
    }
    cluster.patch("Profile", profile["metadata"]["name"], NAMESPACE, {"status": status}, "status")


def _annotate(cluster: Cluster, node: Object, profile: Object, result: Outcome) -> None:
    """Write on the node which kernel arguments the profile asks for, and from which Tuneds."""
    known = node["metadata"].get("annotations") or {}
    wanted = {DEPENDENCIES: (profile["metadata"].get("annotations") or {}).get(DEPENDENCIES)}
    if result.applied or BOOTCMDLINE not in known:
        wanted[BOOTCMDLINE] = result.bootcmdline
    if any(known.get(key) != value for key, value in wanted.items()):
        cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"annotations": wanted}})


def _condition(kind: str, status: str, reason: str, message: str) -> Condition:
    return {"type": kind, "status": status, "reason": reason, "message": message}
