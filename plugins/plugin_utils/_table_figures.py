# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""The lines of the final table about what programs measured."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping, Sequence

from ansible_collections.accelerators.openshift.plugins.plugin_utils._table_nodes import entries_of

Data = Mapping[str, t.Any]


class Line(t.NamedTuple):
    """One figure of one node: the worst of its devices. number: of devices. what: program and figure."""

    pool: str
    node: str
    what: str
    number: int
    worst: Data

    def __str__(self) -> str:
        limit = "at least" if self.worst["better"] == "higher" else "at most"
        beside = [(f"worst of {self.number}", "")] if self.number > 1 else []
        beside += [
            (word, shown(self.worst[key]))
            for word, key in ((limit, "expected"), ("peers", "peers"), ("before", "baseline"))
            if self.worst.get(key) is not None
        ]
        more = ", ".join(" ".join(pair).strip() for pair in beside)
        value = f"{shown(self.worst['value'])} {self.worst['unit']}".strip()
        end = f" {self.worst['code']}" if self.worst.get("code") else ""
        return f"figure - {self.node} {self.what} {value}{f' ({more})' if more else ''}{end}"


def lines(results: Iterable[Data], many: int) -> list[str]:
    """Return a line for each figure of each node; for more lines than so many one for each of a pool."""
    found = [
        line
        for result in results
        for node in entries_of(result, "workload")
        for program in node.get("programs") or []
        for line in _of(node, program)
    ]
    if len(found) <= many:
        return [str(line) for line in found]
    alike: dict[tuple[str, str], list[Line]] = {}
    for line in found:
        alike.setdefault((line.pool, line.what), []).append(line)
    bad = [str(line) for line in found if line.worst.get("code")]
    more = [f"figure - {len(bad) - many} more are too low"] if len(bad) > many else []
    return [*(_sum(pool, what, each) for (pool, what), each in alike.items()), *bad[:many], *more]


def _of(node: Data, program: Data) -> t.Iterator[Line]:
    by_name: dict[str, list[Data]] = {}
    for figure in program.get("figures") or []:
        by_name.setdefault(figure["name"], []).append(figure)
    for name, each in by_name.items():
        sign = 1 if each[0]["better"] == "higher" else -1
        worst = min(each, key=lambda one: sign * one["value"])
        what = _what(program["program"].split(":"), name, by_name)
        yield Line(str(node.get("pool") or ""), node["name"], what, len(each), worst)


def _what(label: Sequence[str], name: str, names: t.Collection[str]) -> str:
    """Return program and figure; of a program of the user's own its name alone, of matmul no types twice."""
    program, *options = label
    if program == "own":
        return options[0] if len(options) > 1 else program
    return f"{':'.join([program, *(one for one in options if one not in names)])} {name}"


def _sum(pool: str, what: str, each: Sequence[Line]) -> str:
    values = sorted(line.worst["value"] for line in each)
    span = f"{shown(values[0])} to {shown(values[-1])} {each[0].worst['unit']}".strip()
    nodes = len({line.node for line in each})
    return f"figure - {pool} {nodes} {'node' if nodes == 1 else 'nodes'} {what} {span}".replace("  ", " ")


def shown(value: float) -> str:
    """Return a number with as many places as a reader needs."""
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
