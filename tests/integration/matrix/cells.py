# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens in each cell: docs/destructive.md says it, and the tests compare it with what they see.

To write the page after a change: `pytest tests/integration/matrix --record`, then read each cell.
"""

from __future__ import annotations

import typing as t

from integration.matrix.situations import SITUATIONS
from integration.matrix.world import ACTIONS
from integration.playbook import ROOT

PAGE: t.Final = ROOT / "docs/destructive.md"
MARK: t.Final = "<!-- matrix -->"
# These run in every `make test`: each action, each situation, and what ends people's work.
SHORT: t.Final = {
    ("remove_gpus", "GPU pods run"),
    ("remove_gpus", "another file has a pool"),
    ("remove_gpus", "another run holds the lease"),
    ("remove_pool", "GPU pods run"),
    ("resize_pool to one node", "GPU pods run"),
    ("resize_pool to one node", "scaled by hand"),
    ("replace_node", "GPU pods run"),
    ("replace_node", "a run was killed before"),
    ("enable_gpus, operator upgraded", "GPU pods run"),
    ("enable_gpus, a taint of a second pool", "GPU pods run"),
    ("enable_gpus, driver options changed", "GPU pods run"),
    ("enable_gpus, driver options changed", "Argo CD owns a field"),
}


class Outcome(t.NamedTuple):
    """code: of the failure, or `done`. wrote: the run changed something."""

    code: str
    wrote: bool

    def __str__(self) -> str:
        if self.code == "done":
            return "done" if self.wrote else "nothing to do"
        return f"{'stops' if self.wrote else 'refuses'}: `{self.code}`"


def read() -> dict[tuple[str, str], str]:
    """Return the text of each cell of the page."""
    head, _rule, *rows = PAGE.read_text().partition(MARK)[2].strip().splitlines()
    names = [one.strip() for one in head.strip("|").split("|")][1:]
    cells: dict[tuple[str, str], str] = {}
    for row in rows:
        if not row.startswith("|"):
            break
        name, *texts = [one.strip() for one in row.strip("|").split("|")]
        cells |= {(name, situation): text for situation, text in zip(names, texts, strict=True)}
    return cells


def write(cells: t.Mapping[tuple[str, str], str]) -> None:
    """Write the table into the page."""
    before, mark, after = PAGE.read_text().partition(MARK)
    rest = "\n".join(line for line in after.splitlines() if not line.startswith("|")).strip()
    rows = [
        f"| {action} | " + " | ".join(cells.get((action, one), "") for one in SITUATIONS) + " |"
        for action in ACTIONS
    ]
    head = ["| | " + " | ".join(SITUATIONS) + " |", "|---" * (len(SITUATIONS) + 1) + "|"]
    PAGE.write_text(f"{before}{mark}\n\n" + "\n".join([*head, *rows]) + f"\n\n{rest}\n")
