# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What gpu_diagnose says of a cluster, now or as it would say some time later."""

from __future__ import annotations

import contextlib
import re
import time
import types
import typing as t
from unittest import mock

import pytest
from cluster import Cluster
from documents import troubles
from integration.patience import SECONDS, until
from integration.playbook import Playbook, call
from integration.troubles.staging import staged
from integration.wire import Audit

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import walk
from openshift_sandbox import faults

Row = dict[str, t.Any]
Data = dict[str, t.Any]
POOLS: t.Final[list[Data]] = [
    {
        "name": name,
        "existing": {
            "node_selector": {"accelerators.openshift/pool": name},
            "expected": {"nvidia.com/gpu": gpus},
        },
    }
    for name, gpus in (("inference", 1), ("training", 8))
]
# Requests that a walk over a healthy cluster takes at most.
MOST: t.Final = 25
# Objects that a command could name only in general.
_GENERAL: t.Final = re.compile(r"\b(?:POD|NODE|NAMESPACE|POLICY|CLUSTER|MACHINE)\b")
# Machines and upgrades that go on count as trouble after that many seconds at most.
LATER: t.Final = 7200.0


class Diagnosis:
    """The diagnosis of one cluster."""

    def __init__(self, cluster: Cluster, playbook: Playbook, is_recorded: bool) -> None:
        self.cluster, self.playbook, self._is_recorded = cluster, playbook, is_recorded

    def look(self, pod: str = "", later: float = 0.0) -> Data:
        """Return what the module says. later: as if so many seconds had passed."""
        chosen: Data = {"pod": pod} if pod else {}
        clock = types.SimpleNamespace(time=lambda: time.time() + later)
        with mock.patch.object(walk, "time", clock):
            made = call(self.cluster.kubeconfig, "gpu_diagnose", **chosen)
        assert not made.failed, made.result
        return made.result

    def finds(self, row: Row) -> Data:
        """Return the first cause; assert that it is the one of the row, with names that exist."""
        seen: Data = {}

        def is_found() -> bool:
            seen.update(self.look(row.get("pod", ""), LATER))
            cause = first(seen, bool(row.get("passes")))
            return (cause["code"], cause["layer"]) == (row["code"], row["layer"])

        try:
            until(is_found, row["what"], 20)
        except AssertionError:
            cause = first(seen)
            if self._is_recorded:
                troubles.record(row, cause["code"], cause["layer"], cause["remedy"])
            raise AssertionError("\n".join(seen["table"])) from None
        cause = first(seen, bool(row.get("passes")))
        assert cause["remedy"]
        assert not _GENERAL.search(cause["remedy"]), cause["remedy"]
        assert seen["diagnosis"]["code"] == ("" if row.get("passes") else row["code"])
        if self._is_recorded:
            troubles.record(row, cause["code"], cause["layer"], cause["remedy"])
        return cause

    @contextlib.contextmanager
    def staged(self, row: Row) -> t.Iterator[None]:
        """Stage a row; with a stack wait at the end until nothing is wrong and nothing goes on."""
        try:
            with staged(self.cluster, row["staged"]):
                yield
        finally:
            if row.get("begin") != "bare":
                self.is_healthy()

    def end_outside(self, row: Row) -> None:
        """End what a person ends elsewhere, such as a limit of the account, before the remedy helps."""
        sandbox = self.cluster.needs_sandbox()
        for kind in row.get("outside") or []:
            faults.clear(sandbox, kind, {})

    def is_quiet(self, audit: Audit) -> Data:
        """Assert that nothing is wrong now, and that few requests have shown it; return the result."""
        made = call(self.cluster.kubeconfig, "gpu_diagnose")
        assert not made.failed, made.result
        assert made["diagnosis"]["healthy"], "\n".join(made["table"])
        assert made["diagnosis"]["unread"] == []
        assert 0 < len(audit.of(made)) <= MOST, audit.counted(made)
        return made.result

    def is_quiet_until(self, is_over: t.Callable[[], bool]) -> None:
        """Look again and again while something goes on; assert that each look finds nothing wrong."""

        def look() -> bool:
            seen = self.look()
            assert seen["diagnosis"]["healthy"], "\n".join(seen["table"])
            return is_over()

        until(look, "the end", 3 * SECONDS)

    def is_healthy(self) -> None:
        seen: Data = {}

        def is_well() -> bool:
            seen.update(self.look(later=LATER))
            return bool(seen["diagnosis"]["healthy"]) and not seen["diagnosis"]["troubles"]

        try:
            until(is_well, "a healthy cluster", SECONDS)
        except AssertionError:
            raise AssertionError("\n".join(seen["table"])) from None


def first(result: Data, passes: bool = False) -> Data:
    """Return the first cause, or empty texts.

    passes: look among the causes that end by themselves.
    """
    every = (one for one in result["diagnosis"]["troubles"] if not one["cause"] and one["busy"] == passes)
    return next(every, {"code": "", "layer": "", "remedy": ""})


def parameters(
    rows: t.Iterable[Row], begin: str, chosen: t.Callable[[Row], bool] = lambda _row: True
) -> list[t.Any]:
    """Return the parameters of a test: the rows that begin so, the rare ones marked as long."""
    rare = [pytest.mark.long("a pain beside the commonest, which every run of test_diagnosis.py stages")]
    return [
        pytest.param(row, id=troubles.title(row)[:60], marks=[] if row.get("common") else rare)
        for row in rows
        if row.get("staged") and row.get("begin", "working") == begin and chosen(row)
    ]
