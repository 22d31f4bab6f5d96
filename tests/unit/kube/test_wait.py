"""Waiting, on a queue instead of a network: verdicts, settling, progress, the deadline's last words."""

from __future__ import annotations

import queue
import typing as t

import pytest
import urllib3
from unit.engine import FakeClock, api_on
from unit.fake_server import FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ForbiddenError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    failed,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.wait import Waiting

CONFIG_MAP = kinds.known("ConfigMap")


class Script:
    """News at given seconds (second, key, objects), in place of a queue."""

    def __init__(self, clock: FakeClock, *news: tuple[float, str, t.Any]) -> None:
        self._clock, self._news, self._start = clock, list(news), clock()

    def get(self, timeout: float) -> tuple[str, t.Any]:
        due = self._news[0][0] + self._start - self._clock() if self._news else timeout + 1
        if due > timeout:
            self._clock.sleep(timeout)
            raise queue.Empty
        self._clock.sleep(max(0.0, due))
        return self._news.pop(0)[1:]


def judge(snapshot: dict[str, list[dict[str, t.Any]]]) -> Readiness:
    words = snapshot["things"][0]["is"] if snapshot["things"] else "absent"
    return {
        "good": ready("Good", "good"),
        "old": ready("Good", "good", held=4),
        "bad": failed("Bad", "it broke", code="X-BAD", remedy="mend it", details=("thing a: broken",)),
    }.get(words, pending("Pending", f"still {words}", code="X-SLOW", details=(f"thing a: {words}",)))


def waiting(
    *news: tuple[float, str, t.Any], seconds: float = 100.0, settle: float = 0.0
) -> tuple[t.Callable[[], t.Any], FakeClock, list[str]]:
    clock = FakeClock()
    lines: list[str] = []
    loop = Waiting(
        Deadline(seconds, clock, clock.sleep), lines.append, judge, "things", settle, "WAIT-TIMEOUT"
    )
    first, *later = news
    return lambda: loop.until_ready({"things": first[2]}, Script(clock, *later)), clock, lines


def thing(state: str) -> list[dict[str, t.Any]]:
    return [{"is": state}]


def test_ready_ends_the_wait_at_once() -> None:
    run, clock, _lines = waiting((0, "things", thing("new")), (7, "things", thing("good")))
    assert run() == {"things": thing("good")}
    assert clock() == 1007


def test_failed_ends_the_wait_with_code_remedy_and_evidence() -> None:
    run, clock, _lines = waiting((0, "things", thing("new")), (3, "things", thing("bad")))
    with pytest.raises(NotReadyError) as caught:
        run()
    assert (caught.value.code, caught.value.remedy, caught.value.evidence) == (
        "X-BAD",
        "mend it",
        ["thing a: broken"],
    )
    assert clock() == 1003


def test_the_deadline_says_what_was_last_seen() -> None:
    run, clock, _lines = waiting((0, "things", thing("stuck")), seconds=40)
    with pytest.raises(WaitTimeoutError) as caught:
        run()
    assert caught.value.code == "X-SLOW"
    assert "last seen: still stuck" in caught.value.message
    assert caught.value.evidence == ["thing a: stuck"]
    assert 1040 <= clock() <= 1041


def test_ready_must_hold_while_it_settles() -> None:
    run, clock, _lines = waiting(
        (0, "things", thing("good")), (2, "things", thing("new")), (4, "things", thing("good")), settle=5
    )
    run()
    assert clock() == pytest.approx(1009)


def test_what_has_held_already_settles_the_sooner() -> None:
    run, clock, _lines = waiting((0, "things", thing("old")), settle=5)
    run()
    assert clock() == pytest.approx(1001)


def test_a_burst_is_judged_once_and_what_comes_after_silence_at_once() -> None:
    asked: list[float] = []
    clock = FakeClock()

    def verdict(snapshot: dict[str, list[dict[str, t.Any]]]) -> Readiness:
        asked.append(clock() - 1000)
        return judge(snapshot)

    loop = Waiting(
        Deadline(100, clock, clock.sleep), lambda _line: None, verdict, "things", 0.0, "WAIT-TIMEOUT"
    )
    states = ((0.5, "a"), (0.51, "b"), (0.52, "c"), (0.6, "d"), (0.9, "good"))
    news = [(second, "things", thing(state)) for second, state in states]
    loop.until_ready({"things": thing("new")}, Script(clock, *news))
    assert asked == pytest.approx([0, 0.5, 0.55, 0.6, 0.9])


def test_an_error_of_a_watch_ends_the_wait() -> None:
    run, _clock, _lines = waiting(
        (0, "things", thing("new")), (1, "things", ForbiddenError("API-FORBIDDEN", "no", "grant"))
    )
    with pytest.raises(ForbiddenError):
        run()


def test_a_line_is_shown_on_every_change_and_every_thirty_seconds() -> None:
    run, _clock, lines = waiting(
        (0, "things", thing("new")), (5, "things", thing("older")), (90, "things", thing("good"))
    )
    run()
    assert lines == [
        "    0 s  things: thing a: new",
        "    5 s  things: thing a: older",
        "   35 s  things: thing a: older",
        "   65 s  things: thing a: older",
        "   90 s  things: good",
    ]


def test_all_that_is_awaited_is_reported_without_what_is_ready() -> None:
    clock, lines, awaited = FakeClock(), list[str](), list[list[str]]()
    verdicts = iter(
        [pending("P", "two", details=("a: new", "b: new")), pending("P", "one", details=("b: new",))]
    )
    loop = Waiting(
        Deadline(10, clock, clock.sleep),
        lines.append,
        lambda _snapshot: next(verdicts),
        "things",
        0.0,
        "WAIT-TIMEOUT",
        awaited=awaited.append,
    )
    assert not loop.is_ready({})
    assert not loop.is_ready({})
    assert awaited == [["things: a: new", "things: b: new"], ["things: b: new"]]
    # Nothing is new, so no line of progress says it.
    assert len(lines) == 2


def test_only_what_changed_is_shown() -> None:
    lines: list[str] = []
    clock = FakeClock()
    verdicts = iter(
        [
            pending("P", "two", details=("a: new", "b: new")),
            pending("P", "two", details=("a: new", "b: better")),
        ]
    )
    loop = Waiting(
        Deadline(10, clock, clock.sleep),
        lines.append,
        lambda _snapshot: next(verdicts),
        "things",
        0.0,
        "WAIT-TIMEOUT",
    )
    assert not loop.is_ready({})
    assert not loop.is_ready({})
    assert [line.split(": ", 1)[1] for line in lines] == ["a: new", "b: new", "b: better"]


def test_what_is_ready_at_once_says_nothing_and_watches_nothing() -> None:
    server = FakeServer()
    lines: list[str] = []
    api = api_on(server, lines=lines)
    api.wait({"things": Query(CONFIG_MAP, "x")}, lambda _snapshot: ready("Good", "good"), "things")
    assert lines == []
    assert ["watch" in query for _method, _path, query in server.requests] == [False]


def test_a_query_of_a_kind_that_is_not_served_finds_nothing() -> None:
    api = api_on(FakeServer("Namespace"), check_mode=True)
    assert api.wait({"things": Query(CONFIG_MAP, "x")}, judge, "things") == {"things": []}


def test_forbidden_while_listing_is_not_an_empty_list() -> None:
    server = FakeServer()
    server.faults = [
        status(403, "Forbidden", 'configmaps is forbidden: User "joe" cannot list resource "configmaps"')
    ]
    with pytest.raises(ForbiddenError, match="may not list configmaps"):
        api_on(server).list(CONFIG_MAP, "x")


def test_a_watch_goes_on_from_its_list() -> None:
    server = FakeServer()
    first = server.put(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "x"}, "is": "new"}
    )
    real = server.request

    def request(method: str, url: str, **more: t.Any) -> t.Any:
        if "watch=" in url and first["is"] == "new":
            server.put({**first, "is": "good"})
        return real(method, url, **more)

    server.request = request
    found = api_on(server).wait({"things": Query(CONFIG_MAP, "x", "a")}, judge, "things")
    assert found["things"][0]["is"] == "good"
    (listed, watched), version = [query for _method, _path, query in server.requests][:2], "2"
    assert listed == {"limit": "500", "fieldSelector": "metadata.name=a"}
    assert watched == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": "300",
        "fieldSelector": "metadata.name=a",
    }


def test_a_certificate_that_is_not_trusted_any_more_ends_the_wait() -> None:
    server = FakeServer()
    real = server.request
    asked: list[str] = []

    def request(method: str, url: str, **more: t.Any) -> t.Any:
        asked.append("watch" if "watch=" in url else "list")
        if len(asked) > 1:
            raise urllib3.exceptions.SSLError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed")
        return real(method, url, **more)

    server.request = request
    with pytest.raises(ApiError) as caught:
        api_on(server).wait({"things": Query(CONFIG_MAP, "x")}, judge, "things")
    assert caught.value.code == "API-TLS"
    assert asked == ["list", "watch", "list", "list"]
