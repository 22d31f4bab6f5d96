"""Pauses and turns: all threads together ask a server that is away no more often than one would."""

from __future__ import annotations

import threading
import typing as t

import pytest
import urllib3
from unit.engine import CONFIG_MAP, FakeClock, api_on, config_map
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ApiError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.retry import (
    USUAL,
    Patience,
    Pause,
    Trouble,
)


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


def test_the_clock_of_a_test_lets_watches_have_their_turns() -> None:
    """They only look at the clock: if it moved with sleeps alone, they would wait for one another forever."""
    trouble = Trouble(FakeClock(), USUAL)
    have_asked = threading.Barrier(2)
    looks: list[int] = []

    def watch() -> None:
        is_early = trouble.turn(1.0)
        have_asked.wait(10)
        looks.append(next((look for look in range(1000) if not is_early()), 1000))

    watches = [threading.Thread(target=watch) for _time in range(2)]
    for one in watches:
        one.start()
    for one in watches:
        one.join()
    assert len(looks) == 2
    assert max(looks) < 100, looks


def test_backoff_grows_and_is_capped() -> None:
    pause = Pause()
    seconds = [pause.next() for _time in range(8)]
    assert seconds[0] <= 0.05
    assert 0.75 <= seconds[-1] <= 1.0


@pytest.mark.parametrize(("header", "least", "most"), [("2", 2, 2), ("3600", 60, 60), ("soon", 0, 0)])
def test_retry_after_is_followed_and_capped(header: str, least: float, most: float) -> None:
    assert least <= USUAL.asked(header) <= most


class Contacts(set[str]):
    """The servers that have answered a run."""

    def has(self, host: str) -> bool:
        return host in self


def tried(problem: BaseException | Answer, contacts: Contacts, answers: int = 0) -> float:
    """Return the seconds that a request is tried while the problem lasts, after so many answers."""
    server, clock = FakeServer(), FakeClock()
    server.put(config_map(x="1"))
    api = api_on(server, clock)
    api.http.patience = Patience(USUAL, contacts, lambda: "https://api.example:6443")
    for _time in range(answers):
        api.get(CONFIG_MAP, "a", "x")

    def request(*_arguments: t.Any, **_more: t.Any) -> Answer:
        if isinstance(problem, BaseException):
            raise problem
        return problem.copy()

    server.request = request
    with pytest.raises(ApiError) as caught:
        api.get(CONFIG_MAP, "a", "x")
    assert caught.value.code == "API-UNREACHABLE"
    return clock() - 1000


NOWHERE: t.Final = urllib3.connection.HTTPConnection("api.example")
REFUSED: t.Final = urllib3.exceptions.NewConnectionError(NOWHERE, "[Errno 111] Connection refused")
NO_NAME: t.Final = urllib3.exceptions.NewConnectionError(NOWHERE, "NameResolutionError: not known")


@pytest.mark.parametrize("problem", [REFUSED, NO_NAME], ids=["refused", "no name"])
def test_a_run_that_meets_nobody_at_the_address_ends_after_30_seconds(problem: BaseException) -> None:
    assert 30 <= tried(problem, Contacts()) <= 32


@pytest.mark.parametrize(
    "problem", [TimeoutError("timed out"), ConnectionResetError("reset"), status(503, "", "starting")]
)
def test_a_server_that_is_there_but_does_not_work_gets_its_time(problem: BaseException | Answer) -> None:
    assert tried(problem, Contacts()) >= USUAL.outage


def test_a_server_that_has_answered_the_task_gets_its_time() -> None:
    contacts = Contacts()
    assert tried(REFUSED, contacts, answers=1) >= USUAL.outage
    assert contacts == {"https://api.example:6443"}


def test_a_server_that_has_answered_an_earlier_task_of_the_run_gets_its_time() -> None:
    assert tried(REFUSED, Contacts(["https://api.example:6443"])) >= USUAL.outage
