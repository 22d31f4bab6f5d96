# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether the nodes of a pool run its TuneD profile, by the Profile object of each node."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from ..._core import conditions
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name, named, number_of
from ..._core.readiness import Grace, Readiness, failed, pending, ready, worst
from ..late import by_pool
from ..options import Tuning
from . import manifest

# The operand reloads TuneD several times, and rules of other objects are evaluated again after each change.
PASSING: t.Final = ("TUNE-DEGRADED", "TUNE-OTHER-PROFILE")
_DEFERRED: t.Final = "Deferred"
# On a Profile: the Tuned objects with their generations; on the node: those that TuneD has worked on.
_WORKED_ON: t.Final = "tuned.openshift.io/bootcmdline-deps"
_OVERRIDDEN: t.Final = "TunedSysctlOverride"


@dataclass(frozen=True)
class Wanted:
    """What the judge waits for. data: the text of the profile as the Tuned object has it."""

    tuning: Tuning
    data: str

    @property
    def profile(self) -> str:
        """Return the name of the profile."""
        return manifest.object_name(self.tuning.name)

    @property
    def query(self) -> str:
        """Return the key of the pool's nodes in a snapshot."""
        return f"nodes of {self.tuning.name}"


class Judge:
    """Judge all pools: each of their nodes has the pool's profile.

    grace: seconds that trouble may last. late: profiles of pools that do not count. verdicts: on each pool at
    the last look, by its profile.
    """

    def __init__(
        self,
        wanted: t.Sequence[Wanted],
        grace: float,
        clock: t.Callable[[], float],
        late: t.Collection[str] = (),
    ) -> None:
        self._wanted, self._late = wanted, late
        self.verdicts: dict[str, Readiness] = {}
        self._grace = Grace(clock, grace, PASSING)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        found = [(one.profile, _judge_object(one, snapshot["tuneds"])) for one in self._wanted]
        found += [
            (one.profile, judge_node(one, node, snapshot["profiles"]))
            for one in self._wanted
            for node in snapshot[one.query]
        ]
        hardened = by_pool(self._grace, found, self._late, self.verdicts)
        verdict = worst(hardened)
        if verdict.is_ready:
            count = sum(len(snapshot[one.query]) for one in self._wanted)
            return ready("Applied", f"{number_of(count, 'node')} tuned")
        lines = tuple(one.message for one in hardened if not one.is_ready)
        return Readiness(
            verdict.verdict, verdict.reason, verdict.message, verdict.code, verdict.remedy, lines
        )


def judge_node(wanted: Wanted, node: KubeObject, profiles: t.Sequence[KubeObject]) -> Readiness:
    """Return ready if TuneD applied this text of the profile on the node, without an error."""
    live, own, where = named(profiles, name(node)), wanted.profile, f"node {name(node)}"
    if not live:
        return pending(where, **text_of("TUNE-NO-PROFILE", node=where)._asdict())
    chosen = ((live.get("spec") or {}).get("config") or {}).get("tunedProfile", "")
    if chosen != own:
        text = text_of("TUNE-OTHER-PROFILE", node=where, other=chosen or "none", profile=own)
        return pending(where, **text._asdict())
    if not _has_text(live, own, wanted.data) or not _is_observed(live, node):
        text = text_of("TUNE-NOT-APPLIED", node=where, what=f"TuneD has not yet read profile {own}")
        return pending(where, **text._asdict())
    return _judge_status(where, own, live, wanted.tuning.defer)


def _judge_status(where: str, own: str, live: KubeObject, defers: bool) -> Readiness:
    degraded, applied = conditions.find(live, "Degraded"), conditions.find(live, "Applied")
    if defers and applied.get("reason") == _DEFERRED:
        return ready("Deferred", f"{where}: profile {own} takes effect with the next restart")
    if degraded.get("status") == "True":
        return _degraded(where, own, degraded)
    active = (live.get("status") or {}).get("tunedProfile")
    if active != own or applied.get("status") != "True":
        why = f"profile {active or 'none'} is active, {own} is not applied yet"
        return pending(where, **text_of("TUNE-NOT-APPLIED", node=where, what=why)._asdict())
    return ready("Applied", f"{where}: profile {own} is applied")


def _degraded(where: str, own: str, found: KubeObject) -> Readiness:
    text = _text(found)
    if found.get("reason") == _OVERRIDDEN:
        return failed(where, **text_of("TUNE-SYSCTL", node=where, profile=own, answer=text)._asdict())
    return pending(where, **text_of("TUNE-DEGRADED", node=where, profile=own, answer=text)._asdict())


def gone(profiles: t.Iterable[KubeObject], names: t.Collection[str]) -> Readiness:
    """Return ready once no node has one of these profiles."""
    left = [name(profile) for profile in profiles if _profiles_of(profile) & set(names)]
    if not left:
        return ready("Gone", "no node has the profile")
    text = text_of("TUNE-LEFT", number=number_of(len(left), "node"), nodes=", ".join(left[:5]))
    return pending("Left", **text._asdict())


def summarize(wanted: Wanted, nodes: t.Iterable[KubeObject], profiles: t.Sequence[KubeObject]) -> KubeObject:
    """Return the pool's part of the module's result."""
    found = []
    for node in nodes:
        live, verdict = named(profiles, name(node)), judge_node(wanted, node, profiles)
        active = (live.get("status") or {}).get("tunedProfile", "")
        entry = {"name": name(node), "active": active, "ready": verdict.is_ready}
        found.append({**entry, "deferred": verdict.reason == "Deferred", "message": verdict.message})
    return {
        "name": wanted.tuning.name,
        "profile": wanted.profile,
        "nodes": found,
        "ready": all(one["ready"] for one in found),
    }


def _judge_object(wanted: Wanted, tuneds: t.Sequence[KubeObject]) -> Readiness:
    valid = conditions.find(named(tuneds, wanted.profile), "Valid")
    if valid.get("status") != "False":
        return ready()
    return failed("Invalid", **text_of("TUNE-INVALID", name=wanted.profile, answer=_text(valid))._asdict())


def _text(found: KubeObject) -> str:
    return " ".join(str(found.get("message") or found.get("reason")).split())


def _has_text(live: KubeObject, own: str, data: str) -> bool:
    """Return False if the Profile has another text; releases before 4.17 have none in it."""
    texts = [one["data"] for one in (live.get("spec") or {}).get("profile") or [] if one["name"] == own]
    return not texts or data in texts


def _is_observed(live: KubeObject, node: KubeObject) -> bool:
    """Return False if TuneD has not yet worked on the newest Profile.

    TuneD writes the status, with its generation, only if the active profile or a condition changes. The node
    then shows by an annotation which Tuned objects TuneD worked on; older releases have no such annotation.
    """
    seen = (live.get("status") or {}).get("observedGeneration")
    if seen is None or seen >= live["metadata"].get("generation", 0):
        return True
    newest = (live["metadata"].get("annotations") or {}).get(_WORKED_ON)
    return newest is None or (node["metadata"].get("annotations") or {}).get(_WORKED_ON) == newest


def _profiles_of(live: KubeObject) -> set[str]:
    spec, status = live.get("spec") or {}, live.get("status") or {}
    return {str((spec.get("config") or {}).get("tunedProfile")), str(status.get("tunedProfile"))}
