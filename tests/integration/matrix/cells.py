# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens in each cell: docs/destructive.md says it, and the tests compare it with what they see.

To write the page after a change: `pytest tests/integration/matrix --record`, then read each cell.
"""

from __future__ import annotations

import typing as t

from integration.matrix.situations import SITUATIONS
from integration.matrix.world import ACTIONS, GEOMETRY, NIC_IMAGES, TUNING
from integration.playbook import ROOT

Cells = dict[tuple[str, str], str]

PAGE: t.Final = ROOT / "docs/destructive.md"
MARK, WRITES = "<!-- matrix -->", "<!-- writes -->"
ROWS: t.Final = [*reversed(ACTIONS), NIC_IMAGES, TUNING, GEOMETRY]
# Situations whose cells do not follow one another: each begins with what the situation made.
AFRESH: t.Final = {"a budget keeps the pods", "a run was killed before"}
# These run in every `make test`: each action, each situation, and what ends people's work.
SHORT: t.Final = {
    ("remove_gpus", "GPU pods run"),
    ("remove_gpus", "another file has a pool"),
    ("remove_gpus", "another run holds the lease"),
    ("remove_pool", "GPU pods run"),
    ("resize_pool to one node", "GPU pods run"),
    ("resize_pool to one node", "scaled by hand"),
    ("repair_node", "GPU pods run"),
    ("replace_node", "GPU pods run"),
    ("replace_node", "a run was killed before"),
    ("enable_gpus, operator upgraded", "GPU pods run"),
    ("enable_gpus, a taint of a second pool", "GPU pods run"),
    ("enable_gpus, driver options changed", "GPU pods run"),
    ("enable_gpus, driver options changed", "Argo CD owns a field"),
}
# Cells that cannot be.
WORDS: t.Final = {
    (row, "scaled by hand"): "the nodes of this row have no machine set" for row in (NIC_IMAGES, GEOMETRY)
}


class Outcome(t.NamedTuple):
    """code: of the failure, or `done`. wrote: the run changed something."""

    code: str
    wrote: bool

    def __str__(self) -> str:
        if self.code == "done":
            return "done" if self.wrote else "nothing to do"
        return f"{'stops' if self.wrote else 'refuses'}: `{self.code}`"


def kinds_written(written: t.Iterable[str]) -> set[str]:
    """Return what the audit log has about writes, without the group of each resource."""
    return {one.partition(".")[0] for one in written}


def read() -> Cells:
    """Return the text of each cell of the page."""
    names, *rows = _table(MARK)
    return {
        (row[0], situation): text for row in rows for situation, text in zip(names[1:], row[1:], strict=True)
    }


def read_writes() -> dict[str, set[str]]:
    """Return what each playbook may write, as the page says it."""
    _head, *rows = _table(WRITES)
    return {name: set(filter(None, text.split(", "))) for name, text in rows}


def record(action: str, situations: t.Iterable[str], seen: str, written: set[str]) -> None:
    """Write one cell, for each of the situations, and what was written."""
    found = read() | {(action, one): seen for one in situations} | WORDS
    head = ["", *SITUATIONS]
    _write(MARK, [head, *([row, *(found.get((row, one), "") for one in SITUATIONS)] for row in ROWS)])
    writes = read_writes()
    writes[action] = writes.get(action, set()) | written
    _write(WRITES, [["", "writes"], *([row, ", ".join(sorted(writes.get(row, ())))] for row in ROWS)])


def _table(mark: str) -> list[list[str]]:
    """Return the rows of the table behind a mark, the first one with the names of the columns."""
    rows: list[list[str]] = []
    for line in PAGE.read_text().partition(mark)[2].strip().splitlines():
        if not line.startswith("|"):
            break
        rows.append([one.strip() for one in line.strip("|").split("|")])
    head, _rule, *rest = rows
    return [head, *rest]


def _write(mark: str, rows: t.Sequence[t.Sequence[str]]) -> None:
    before, mark, after = PAGE.read_text().partition(mark)
    lines = after.strip().splitlines()
    while lines and lines[0].startswith("|"):
        lines.pop(0)
    head, *rest = [f"| {' | '.join(row)} |" for row in rows]
    table = "\n".join([head, "|---" * len(rows[0]) + "|", *rest])
    PAGE.write_text(f"{before}{mark}\n\n{table}\n\n{chr(10).join(lines).strip()}".rstrip() + "\n")
