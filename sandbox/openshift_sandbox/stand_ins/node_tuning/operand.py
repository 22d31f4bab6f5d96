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
from openshift_sandbox.stand_ins.node_tuning.recommend import defer_mode

NOT_APPLIED: t.Final = "The TuneD daemon profile not yet applied, or application failed."
ERRORS: t.Final = (
    "TuneD daemon issued one or more error message(s) during profile application. TuneD stderr: {}"
)
WAITS: t.Final = "The TuneD daemon profile is waiting for the next node restart: {}"
LATER: t.Final = "Profile will be applied at the next node restart: {}"
UNKNOWN: t.Final = ("", "")


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
        wanted, effect = self._wanted(cluster, profile, node, boot), self._effects.get(uid)
        if effect is None:
            effect = _found(profile, wanted)
        if effect == wanted:
            self._effects[uid] = wanted
            _report(cluster, profile, wanted.outcome)
        elif _at_once(profile, effect, wanted):
            if not cluster.due((uid, wanted), "tuned_apply", 0.3):
                return
            cluster.restart((uid, wanted), "tuned_apply")
            self._effects[uid] = wanted
            _report(cluster, profile, wanted.outcome)
        elif effect is not None:
            self._effects[uid] = effect
            _postpone(cluster, profile)
        _annotate(cluster, node, profile, self._effects[uid].outcome)

    def _wanted(self, cluster: Cluster, profile: Object, node: Object, boot: str) -> Effect:
        name = profile["spec"]["config"]["tunedProfile"]
        texts = {one["name"]: one["data"] for one in profile["spec"].get("profile") or []}
        result = outcome(name, tuple(texts.items()))
        read = tuple((one, texts[one]) for one in result.read if one in texts)
        return Effect(name, read, boot, result)


def _found(profile: Object, wanted: Effect) -> Effect | None:
    """Return what a daemon that starts again takes to be in effect; None on a node without a status."""
    status = profile.get("status") or {}
    conditions = {one["type"]: one for one in status.get("conditions") or []}
    if not conditions:
        return None
    deferred = conditions.get("Applied", {}).get("reason") == "Deferred"
    if status.get("tunedProfile") == wanted.profile and not deferred:
        return wanted
    return Effect(_active(profile), (UNKNOWN,), wanted.boot, Outcome(True))


def _at_once(profile: Object, effect: Effect | None, wanted: Effect) -> bool:
    """Return whether a change is not put off until the node starts again."""
    mode = defer_mode(profile)
    if effect is None or effect.boot != wanted.boot or mode is None:
        return True
    return mode == "update" and effect.profile != wanted.profile


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


def _postpone(cluster: Cluster, profile: Object) -> None:
    wanted = profile["spec"]["config"]["tunedProfile"]
    _write(
        cluster,
        profile,
        _active(profile),
        ("Applied", "False", "Deferred", WAITS.format(wanted)),
        ("Degraded", "True", "TunedDeferredUpdate", LATER.format(wanted)),
    )


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
