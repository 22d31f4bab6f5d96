# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the process of a run still runs, on real processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import process


@pytest.fixture(autouse=True)
def no_run_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(process.VARIABLE, raising=False)


def child() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)


def run_of(pid: int) -> Run:
    return process.own_run()._replace(pid=pid, started=process._started(pid))


def test_a_run_is_this_process_and_lives() -> None:
    run = process.own_run("77")
    assert (run.pid, run.job) == (os.getpid(), "77")
    assert run.started
    assert run.machine
    assert not process.is_gone(run)


def test_a_killed_process_is_gone_also_before_its_parent_looks() -> None:
    one = child()
    run = run_of(one.pid)
    assert not process.is_gone(run)
    one.kill()
    os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)  # a zombie now
    assert process.is_gone(run)
    one.communicate(timeout=10)
    assert process.is_gone(run)


def test_another_process_with_the_same_pid_is_another_run() -> None:
    assert process.is_gone(process.own_run()._replace(started="1"))


@pytest.mark.parametrize("changed", [{"machine": "elsewhere.1"}, {"machine": ""}, {"pid": 0}])
def test_nothing_is_said_of_what_cannot_be_seen_from_here(changed: dict[str, t.Any]) -> None:
    assert not process.is_gone(process.own_run()._replace(started="1", **changed))


def _parent_of_run(results: multiprocessing.SimpleQueue[int]) -> None:
    results.put(process.own_run().pid)


def test_a_worker_belongs_to_the_process_that_forked_it() -> None:
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    worker = context.Process(target=_parent_of_run, args=(results,))
    worker.start()
    worker.join(timeout=10)
    assert results.get() == os.getpid()


def test_a_module_of_its_own_process_gets_its_run_from_the_action_plugin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run("root", "bastion", "boot.1", 4711, "998", "12")
    monkeypatch.setenv(process.VARIABLE, run.id)
    assert process.own_run() == run


def test_a_task_that_outlives_its_playbook_has_no_process() -> None:
    assert process.own_run(outlives=True).pid == 0
