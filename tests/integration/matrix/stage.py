# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring about each cell of the matrix, run its playbook, and compare what happened with the page."""

from __future__ import annotations

import typing as t

import pytest
from integration.matrix import cells
from integration.matrix.situations import SITUATIONS, UNDO
from integration.matrix.snapshot import Snapshot
from integration.matrix.world import NEEDS_ALL, Data, World, code_of
from integration.playbook import Run

Action = t.Callable[[World], Run]


class Stage:
    """The world between two cells.

    It gets its first state back when the situation changes, and where an action would miss what an earlier
    one took away.
    """

    def __init__(self, world: World, snapshot: Snapshot, is_recorded: bool) -> None:
        self.world = world
        self.snapshot = snapshot
        self.is_recorded = is_recorded
        self._situations: tuple[str, ...] = ()
        self._is_changed = False
        # Where each cell begins afresh: what the situation made, and the variables that it adds.
        self._begun: tuple[Snapshot, Data] | None = None

    def check(self, action: str, do: Action, situations: tuple[str, ...]) -> None:
        """Run one action where all of these situations hold; each has this cell in its column."""
        page = cells.read()
        expected = {page.get((action, one), "") for one in situations}
        if not self.is_recorded and "" in expected:
            pytest.skip("docs/destructive.md says nothing about this cell yet")
        world = self.world
        self._ready(action, situations)
        start = world.audit.position()
        run = do(world)
        world.audit.flush()
        written = cells.kinds_written(world.audit.written(start))
        self._is_changed |= bool(written)
        seen = str(cells.Outcome(code_of(run), bool(written)))
        if self.is_recorded:
            cells.record(action, situations, seen, written)
            print(action, situations, seen, written, said(run), sep="\n  ")
            return
        assert expected == {seen}, (written, run.output[-3000:])
        assert written <= cells.read_writes()[action], run.output[-3000:]

    def _ready(self, action: str, situations: tuple[str, ...]) -> None:
        is_other = situations != self._situations
        if self._begun and not is_other:
            snapshot, self.world.more = self._begun
            snapshot.restore()
            return
        stays = is_other and not set(self._situations) <= set(UNDO)
        if stays or (self._is_changed and (is_other or needs_all(action, situations))):
            self.snapshot.restore()
            self._is_changed = False
        elif is_other:
            for one in self._situations:
                UNDO[one](self.world)
        self._situations = situations
        self.world.more = {}
        for one in situations:
            SITUATIONS[one](self.world)
        is_afresh = cells.AFRESH & set(situations)
        self._begun = (Snapshot(self.snapshot.sandbox), self.world.more) if is_afresh else None


def needs_all(action: str, situations: tuple[str, ...]) -> bool:
    """Return whether no earlier cell of these situations may have changed anything."""
    return action in NEEDS_ALL or bool(cells.AFRESH & set(situations))


def said(run: Run) -> str:
    """Return what a failed run says to its user."""
    if run.rc == 0:
        return "\n".join(line for line in run.output.splitlines() if "WARNING" in line)
    result = run.failure.result
    found = next((item for item in result.get("results", []) if item.get("failed")), result)
    return f"{run.failure.name}: {found.get('msg')} REMEDY {found.get('remedy')}"


def parameters(chosen: t.Iterable[tuple[str, tuple[str, ...]]]) -> list[t.Any]:
    """Return the parameters of a test: one action and its situations each."""
    rare = [pytest.mark.long("a cell of the matrix beside the dozen that every run checks")]
    return [
        pytest.param(
            action,
            situations,
            marks=[] if {(action, one) for one in situations} <= cells.SHORT else rare,
            id=" - ".join((action, *situations)),
        )
        for action, situations in chosen
    ]
