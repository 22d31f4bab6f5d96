"""The deadline of a task, and the time limit of work that has none."""

from __future__ import annotations

import threading

import pytest
from unit.engine import FakeClock

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline, within


def test_time_runs_out_and_never_below_zero() -> None:
    clock = FakeClock()
    deadline = Deadline(10, clock, clock.sleep)
    assert (deadline.elapsed(), deadline.remaining(), deadline.passed) == (0, 10, False)
    clock.sleep(12)
    assert (deadline.elapsed(), deadline.remaining(), deadline.passed) == (12, 0, True)


def test_a_sleep_ends_at_the_deadline() -> None:
    clock = FakeClock()
    deadline = Deadline(10, clock, clock.sleep)
    deadline.sleep(7)
    deadline.sleep(7)
    assert clock.slept == [7, 3]


def test_a_deadline_grows_and_never_shrinks() -> None:
    clock = FakeClock()
    deadline = Deadline(10, clock, clock.sleep)
    clock.sleep(8)
    deadline.grow(30)
    deadline.grow(5)
    assert (deadline.seconds, deadline.remaining()) == (30, 22)


def test_work_within_its_time_returns_or_raises_its_own() -> None:
    assert within(5.0, "the work", lambda: "done") == "done"

    def broken() -> None:
        raise ValueError("its own words")

    with pytest.raises(ValueError, match="its own words"):
        within(5.0, "the work", broken)


def test_work_beyond_its_time_is_named() -> None:
    release = threading.Event()
    try:
        with pytest.raises(TimeoutError, match="the login timed out after 0 s"):
            within(0.05, "the login", lambda: release.wait(10))
    finally:
        release.set()
