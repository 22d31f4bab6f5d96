# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of an upgrade in the cluster: a ConfigMap, from which any later run goes on."""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass, field, replace

from .._core.errors import NotReadyError
from .._core.objects import KubeObject
from .options import Triple

NAME: t.Final = "gpu-driver-upgrade"
# A run looks for this annotation between two waves.
PAUSE: t.Final = "accelerators.openshift/pause-driver-upgrade"
RUNNING, ROLLING_BACK = "running", "rolling-back"
PAUSED, WAITING = "paused", "outside-window"
FAILED, ROLLED_BACK, DONE = "failed", "rolled-back", "done"
# The cluster has no state.
NONE: t.Final = "none"
# A run in one of these phases has work left.
OPEN: t.Final = (RUNNING, ROLLING_BACK, PAUSED, WAITING)
_KEY: t.Final = "state.json"


@dataclass(frozen=True)
class State:
    """What a later run needs to know.

    before: name of each object -> its driver and upgradePolicy before the upgrade. waves: names of nodes.
    passed: nodes that passed the gate. seconds: how long each node took, the last time. failure: why the
    upgrade stopped. run: the id of the run that wrote the state. queues: name of each ClusterQueue that the
    upgrade stopped -> its stopPolicy before and now, the pools that need it, and the run.
    """

    phase: str
    wanted: Triple
    before: dict[str, dict[str, t.Any]] = field(default_factory=dict)
    waves: tuple[tuple[str, ...], ...] = ()
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    failure: str = ""
    run: str = ""
    is_pausing: bool = False
    queues: dict[str, dict[str, t.Any]] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Return whether the upgrade has work left."""
        return self.phase in OPEN

    @property
    def left(self) -> tuple[tuple[str, ...], ...]:
        """Return the waves of an upgrade that is open or failed, without the nodes that passed the gate."""
        if not self.is_open and self.phase != FAILED:
            return ()
        return tuple(tuple(node for node in wave if node not in self.passed) for wave in self.waves)

    @property
    def is_paused(self) -> bool:
        """Return whether the upgrade waits for the action `resume`."""
        return self.is_open and (self.is_pausing or self.phase == PAUSED)

    def at(self, **changes: t.Any) -> State:
        """Return a copy with these fields changed."""
        return replace(self, **changes)

    def manifest(self, namespace: str) -> KubeObject:
        """Return the ConfigMap to apply."""
        stored = {
            "wanted": list(self.wanted),
            "before": self.before,
            "waves": [list(one) for one in self.waves],
            "passed": list(self.passed),
            "failed": list(self.failed),
            "seconds": {node: round(one, 1) for node, one in sorted(self.seconds.items())},
            "failure": self.failure,
            "run": self.run,
            "queues": self.queues,
        }
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": NAME, "namespace": namespace},
            "data": {"phase": self.phase, _KEY: json.dumps(stored, sort_keys=True)},
        }

    def as_result(self) -> dict[str, t.Any]:
        """Return the state for the module's result."""
        return {
            "phase": self.phase,
            "wanted": dict(self.wanted._asdict()),
            "waves": [list(one) for one in self.waves],
            "passed": list(self.passed),
            "failed": list(self.failed),
            "failure": self.failure,
            "pausing": self.is_pausing,
            "stopped_queues": sorted(self.queues),
        }


def read(live: KubeObject | None) -> State | None:
    """Return the stored state; None without one. Raise NotReadyError if nobody can read it."""
    if live is None:
        return None
    data = live.get("data") or {}
    try:
        stored = json.loads(data[_KEY])
        return State(
            str(data["phase"]),
            Triple(*stored["wanted"]),
            dict(stored["before"]),
            tuple(tuple(one) for one in stored["waves"]),
            tuple(stored["passed"]),
            tuple(stored["failed"]),
            {str(node): float(one) for node, one in stored["seconds"].items()},
            str(stored["failure"]),
            str(stored["run"]),
            (live["metadata"].get("annotations") or {}).get(PAUSE) == "true",
            # An upgrade that an older release began has none.
            dict(stored.get("queues") or {}),
        )
    except (KeyError, TypeError, ValueError) as exc:
        namespace = live["metadata"].get("namespace")
        raise NotReadyError("UPGRADE-STATE", error=repr(exc), namespace=namespace) from exc


def fresh(wanted: Triple, last: State | None) -> State:
    """Return the state at the beginning of an upgrade.

    It remembers the seconds of the last one, and the queues that the last one did not give back.
    """
    if last is None:
        return State(RUNNING, wanted)
    return State(RUNNING, wanted, seconds=dict(last.seconds), queues=dict(last.queues))


def refuse_other(found: State | None, wanted: Triple, namespace: str) -> None:
    """Raise NotReadyError if an upgrade to another driver has work left."""
    if found is None or not found.is_open or found.wanted == wanted:
        return
    passed = set(found.passed)
    raise NotReadyError(
        "UPGRADE-OTHER",
        driver=found.wanted.path,
        phase=found.phase,
        other=wanted.path,
        passed=len(passed),
        nodes=len(passed.union(*found.waves)),
        namespace=namespace,
    )
