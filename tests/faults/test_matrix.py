# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every fault on every request of every operation, once and five times in a row.

All operations converge, write nothing twice and report `changed` correctly. All cells run at the same time,
because they mostly sleep; each test then checks its own cell.
"""

from __future__ import annotations

import itertools
import typing as t
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from faults import faults
from faults.conftest import NAMESPACE, SHORT, Bench, manifest
from faults.operations import LISTED, OPERATIONS
from faults.proxy import Call, Fault

ASKED: t.Final = {
    "429-retry-after-1": 1.0,
    "503-retry-after-1": 1.0,
    "429-retry-after-3600": SHORT.longest_pause,
    "503-retry-after-3600": SHORT.longest_pause,
}
WRITING: t.Final = {
    "create": ("create",),
    "apply-new": ("apply",),
    "apply-change": ("apply", "dry-run"),
    "merge-patch": ("patch",),
    "delete": ("delete",),
}
WAITING: t.Final = {"wait": ("watch",), "wait-deleted": ("watch",)}
# These faults do not break an operation, so the client does not repeat the request. One 401 means that a
# token has just expired; two in a row mean that access is denied.
# in a row mean no access.
HARMLESS: t.Final = {"dripping", "doubled_events", "unauthorized"}
WORKERS: t.Final = 40

Cell = tuple[str, str, int]


def specials(operation: str) -> dict[str, Fault]:
    if operation in WRITING:
        return faults.WRITES_ONLY
    if operation in WAITING:
        return faults.WATCH_ONLY
    return faults.PAGE_ONLY if operation == "list" else {}


CELLS: t.Final[dict[Cell, Fault]] = {
    (operation, name, times): fault
    for operation in OPERATIONS
    for name, fault in {**faults.ANY_REQUEST, **specials(operation)}.items()
    for times in (1, 5)
}


def script(cell: Cell, fault: Fault) -> faults.Each:
    operation, name, times = cell
    only: t.Container[str] | None = None
    if name in specials(operation):
        only = {**WRITING, **WAITING, "list": ("page",)}[operation]
    return faults.Each(
        fault, 1 if fault is faults.unauthorized else times, only, watches=1 if name in HARMLESS else times
    )


@pytest.fixture(scope="module")
def outcomes(bench: Bench) -> t.Iterator[dict[Cell, Future[list[Call]]]]:
    for name in LISTED:
        bench.client.apply(manifest(name, label="listed"))

    def run(cell: Cell, fault: Fault) -> list[Call]:
        operation, name, times = cell
        where = f"{operation}-{name}-{times}"
        OPERATIONS[operation](bench, bench.api(where, script(cell, fault)), where.replace("_", "-"))
        return bench.proxy.calls(where)

    with ThreadPoolExecutor(WORKERS) as workers:
        # Cells that take longest start first.
        order = sorted(CELLS.items(), key=lambda item: (-item[0][2], item[0][1] not in ASKED))
        yield {cell: workers.submit(run, cell, fault) for cell, fault in order}
    bench.client.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/configmaps")


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: "-".join(map(str, cell)))
def test_a_fault_passes(outcomes: dict[Cell, Future[list[Call]]], cell: Cell) -> None:
    _operation, name, times = cell
    calls = outcomes[cell].result()
    hit = [call for call in calls if call.fault]
    assert len(hit) >= (1 if name in HARMLESS else times), "the fault did not happen"
    if name in ASKED:
        waits = [later.at - call.at for call, later in itertools.pairwise(calls) if call.fault]
        assert all(ASKED[name] <= seconds <= ASKED[name] + 3 for seconds in waits)
