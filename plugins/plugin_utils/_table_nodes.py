# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""What the results of a run have of each pool, and what they left out because they were too large."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping, Sequence

from ansible_collections.accelerators.openshift.plugins.module_utils._core.bounded import missing

Data = Mapping[str, t.Any]
# Expected, allocatable and validated GPUs; None if nothing says it.
Counts = tuple[int | None, int | None, int | None]


class More(t.NamedTuple):
    """The nodes of a pool that results left out. counts: of the columns, as for a node."""

    number: int
    counts: Counts


NOTHING: t.Final = More(0, (None, None, None))


class Found(t.NamedTuple):
    """What the results have of one pool, and what they left out of it. Each may lack other nodes."""

    operands: list[Data]
    machines: list[Data]
    validated: list[Data]
    left: tuple[list[Data], list[Data], list[Data]]

    @classmethod
    def of(cls, pool: str, nodes: Data | None, stack: Data | None, validation: Data | None) -> Found:
        """Return what the results say of the pool."""
        mine = [result for result in parts(nodes) if pool_of(result) == pool]
        runs = parts(validation)
        return cls(
            [row for row in entries_of(stack, "special_resource") if row.get("pool") == pool],
            [node for result in mine for node in result.get("nodes") or []],
            [row for result in runs for row in entries_of(result, "workload") if row.get("pool") == pool],
            (
                missing(stack or {}, "special_resource.nodes", pool),
                [gap for result in mine for gap in missing(result, "nodes")],
                [gap for result in runs for gap in missing(result, "workload.nodes", pool)],
            ),
        )

    def more(self, seen: Sequence[Counts]) -> More:
        """Return the sums of the nodes that no line of the table can show."""
        if not any(self.left):
            return NOTHING
        operands, machines, validated = self.left
        wholes = [len(self.operands) + _left(operands), len(self.machines) + _left(machines)]
        source = (self.operands, operands) if wholes[0] >= wholes[1] else (self.machines, machines)
        whole = (
            _whole(*source, "expected"),
            _whole(self.operands, operands, "allocatable", "offered"),
            _whole(self.validated, validated, "validated"),
        )
        known = [total(counts[column] for counts in seen) or 0 for column in range(3)]
        left = [None if every is None else every - part for every, part in zip(whole, known, strict=True)]
        return More(max(wholes) - len(seen), (left[0], left[1], left[2]))


def _left(gone: Iterable[Data]) -> int:
    return sum(int(gap["number"]) for gap in gone)


def _whole(entries: Iterable[Data], gone: Iterable[Data], *keys: str) -> int | None:
    """Return the sum of the numbers under one of these keys, of the entries and of those left out."""
    every = [*entries, *(gap["sums"] for gap in gone)]
    found = [entry[key] for entry in every for key in keys if entry.get(key) is not None]
    return total(int(value) if isinstance(value, (int, float)) else count(value) for value in found)


def total(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def count(resources: Data | None) -> int | None:
    return sum(int(number) for number in resources.values()) if resources else None


def entries_of(result: Data | None, noun: str) -> list[Data]:
    nodes: list[Data] = ((result or {}).get(noun) or {}).get("nodes") or []
    return nodes


def parts(result: Data | None) -> list[Data]:
    """Return the results of a loop's items, or the one result as a list; empty without a result."""
    if not result:
        return []
    return list(result["results"]) if "results" in result else [result]


def pool_of(result: Data) -> str:
    arguments: Data = (result.get("invocation") or {}).get("module_args") or {}
    item = result.get(result.get("ansible_loop_var", "item"))
    return str(item.get("name", "") if isinstance(item, Mapping) else arguments.get("name", ""))
