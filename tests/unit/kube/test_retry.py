"""Pauses and turns: all threads together ask a server that is away no more often than one would."""

from __future__ import annotations

import pytest
from unit.engine import FakeClock

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.retry import USUAL, Pause, Trouble


def test_turns_are_a_pause_apart() -> None:
    clock = FakeClock()
    trouble = Trouble(clock, USUAL)
    waiting = [trouble.turn(1.0) for _thread in range(3)]
    free = []
    while waiting:
        clock.sleep(0.5)
        for is_early in [one for one in waiting if not one()]:
            waiting.remove(is_early)
            free.append(clock() - 1000)
    assert free == [1.0, 2.0, 3.0]


def test_an_answer_sets_everybody_free() -> None:
    clock = FakeClock()
    trouble = Trouble(clock, USUAL)
    waiting = [trouble.turn(1.0) for _thread in range(3)]
    assert all(is_early() for is_early in waiting)
    trouble.is_over()
    assert not any(is_early() for is_early in waiting)
    # What follows has its own trouble, and no queue before it.
    is_early = trouble.turn(1.0)
    clock.sleep(1.0)
    assert not is_early()


def test_a_lone_thread_waits_only_for_its_pause() -> None:
    clock = FakeClock()
    trouble = Trouble(clock, USUAL)
    for _try in range(5):
        is_early = trouble.turn(0.5)
        clock.sleep(0.5)
        assert not is_early()
        clock.sleep(5.0)


def test_backoff_grows_and_is_capped() -> None:
    pause = Pause()
    seconds = [pause.next() for _time in range(8)]
    assert seconds[0] <= 0.05
    assert 0.75 <= seconds[-1] <= 1.0


@pytest.mark.parametrize(("header", "least", "most"), [("2", 2, 2), ("3600", 60, 60), ("soon", 0, 0)])
def test_retry_after_is_followed_and_capped(header: str, least: float, most: float) -> None:
    assert least <= USUAL.asked(header) <= most
