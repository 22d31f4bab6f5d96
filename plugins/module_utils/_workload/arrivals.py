# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge of the pools whose machines are on their way: which have their devices, and what others wait for."""

from __future__ import annotations

import collections
import typing as t
from dataclasses import replace

from .._core.objects import KubeObject, Snapshot, number_of
from .._core.ownership import pool_of
from .._core.readiness import Readiness, pending, ready
from .._machines import machine as machine_facts, trouble
from .._nodes import claims as gpu_claims
from .._nodes.labels import has_nvidia_pci, labels
from .._nodes.node import is_ready
from . import obstacles, pods
from .turns import Turn

# Seconds that an instance may take to join as a node before another task looks for the cause.
OVERDUE: t.Final = 600.0
# The progress line names so many pools.
SHOWN: t.Final = 8
Machines = t.Sequence[KubeObject]


class Arrivals:
    """Judge until pools have their devices, or until no machine is on its way any more.

    turns: the pools to validate. joining: names of the pools whose machines may be on their way. now: returns
    epoch seconds. shown: returns a time of the day. arrived: the pools that have their devices now. is_over:
    whether every machine is a Ready node, or one needs another task.
    """

    def __init__(
        self,
        turns: t.Sequence[Turn],
        joining: t.Sequence[str],
        now: t.Callable[[], float],
        shown: t.Callable[[], str],
    ) -> None:
        self._open, self._joining, self._now, self._shown = list(turns), joining, now, shown
        self._since: dict[str, tuple[str, str]] = {}
        self.arrived: list[Turn] = []
        self.is_over = False

    def __call__(self, snapshot: Snapshot) -> Readiness:
        """Return ready if a pool has arrived or the wait is over, else one line on what each pool awaits."""
        machines = {name: _of(snapshot["machines"], name) for name in self._joining}
        nodes = {one["metadata"]["name"]: one for one in snapshot["nodes"]}
        late = {name for name, found in machines.items() if any(not _is_node(one, nodes) for one in found)}
        late |= {turn.pool for turn in self._open if turn.pool in machines and not self._has_all(turn, nodes)}
        self.arrived = [
            turn for turn in self._open if turn.pool not in late and not _step(turn, snapshot, [])
        ]
        self.is_over = not late or any(map(self._needs_help, snapshot["machines"]))
        if self.arrived or self.is_over:
            return ready("Arrived")
        steps = {turn.pool: _step(turn, snapshot, machines.get(turn.pool, [])) for turn in self._open}
        others = {name: _of_machines(machines[name], nodes) for name in sorted(late - steps.keys())}
        line = self._line({**steps, **others})
        return pending("Open", line, details=(line,))

    def leave(self, done: t.Collection[Turn]) -> None:
        """Drop the pools that are validated."""
        self._open = [turn for turn in self._open if not any(turn is one for one in done)]

    def _has_all(self, turn: Turn, nodes: t.Mapping[str, KubeObject]) -> bool:
        found = pods.selected(nodes.values(), turn.params.node_selector or {})
        return len(found) >= turn.params.min_nodes

    def _needs_help(self, machine: KubeObject) -> bool:
        """Return whether the wait for this Machine is a matter of another task: a refusal, or no node."""
        if pool_of(machine) not in self._joining:
            return False
        since = trouble.phase_since(machine)
        is_overdue = machine_facts.awaits_node(machine) and (
            machine_facts.seconds_since(since, self._now()) >= OVERDUE
        )
        refusal, _text = machine_facts.refused(machine, self._now(), 0)
        return is_overdue or trouble.find(machine) is not None or bool(refusal)

    def _line(self, steps: t.Mapping[str, str]) -> str:
        """Return one line with what each pool waits for, and since when this wait has seen that."""
        self._since = {
            pool: before if (before := self._since.get(pool, ("", "")))[0] == step else (step, self._shown())
            for pool, step in steps.items()
        }
        told = [f"{pool}: {step} since {since}" for pool, (step, since) in self._since.items()]
        more = [f"{len(told) - SHOWN} more pools"] if len(told) > SHOWN else []
        return "; ".join([*told[:SHOWN], *more])


def _of(machines: Machines, pool: str) -> list[KubeObject]:
    found = (one for one in machines if pool_of(one) == pool)
    return [one for one in found if not one["metadata"].get("deletionTimestamp")]


def _is_node(machine: KubeObject, nodes: t.Mapping[str, KubeObject]) -> bool:
    node = nodes.get(machine_facts.node_name(machine))
    return node is not None and is_ready(node)


def _step(turn: Turn, snapshot: Snapshot, machines: Machines) -> str:
    """Return what the pool waits for, an empty text if all of its nodes offer their devices."""
    nodes = pods.selected(snapshot["nodes"], turn.params.node_selector or {})
    by_name = {one["metadata"]["name"]: one for one in nodes}
    if step := _of_machines(machines, by_name):
        return step
    if len(nodes) < max(1, turn.params.min_nodes):
        return f"{len(nodes)} of {number_of(max(1, turn.params.min_nodes), 'node')}"
    if down := [one for one in nodes if not is_ready(one)]:
        return f"{number_of(len(down), 'node')} not Ready"
    if bare := [one for one in nodes if not has_nvidia_pci(labels(one))]:
        return f"labels of {number_of(len(bare), 'node')}"
    offers = nodes
    if turn.params.claims:
        offers = [gpu_claims.offering(one, snapshot["slices"]) for one in nodes]
    if lacking := [one for one in offers if obstacles.problem([one], replace(turn.params, min_nodes=0))]:
        return f"driver and devices of {number_of(len(lacking), 'node')}"
    return ""


def _of_machines(machines: Machines, nodes: t.Mapping[str, KubeObject]) -> str:
    """Return the phases of the Machines that are no Ready nodes, an empty text if all of them are."""
    phases = collections.Counter(machine_facts.phase(one) for one in machines if not _is_node(one, nodes))
    return ", ".join(f"{number_of(number, 'machine')} {phase}" for phase, number in sorted(phases.items()))
