"""Requests: what the client tries again, and for how long."""

from __future__ import annotations

import json
import typing as t
from dataclasses import replace

import pytest
import urllib3
import yaml
from unit.engine import CONFIG_MAP, FakeClock, api_on, config_map, data_of
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ForbiddenError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import retry
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import Connection

RESET = urllib3.exceptions.ProtocolError(
    "Connection aborted.", ConnectionResetError(104, "Connection reset by peer")
)


CUT_OFF = Answer(200, {"metadata": {}})


CUT_OFF._data = b'{"metadata": {"na'


FAULTS: dict[str, Answer | BaseException] = {
    "429": status(429, "TooManyRequests", "slow down"),
    "500": status(500, "InternalError", "etcdserver: leader changed"),
    "502": Answer(502, "bad gateway"),
    "503": status(503, "ServiceUnavailable", "apiserver is shutting down"),
    "504": status(504, "Timeout", "request did not complete"),
    "reset": RESET,
    "cut off": CUT_OFF,
}


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("verb", ["get", "list", "apply", "delete", "create"])
def test_a_passing_fault_does_not_matter(verb: str, fault: str, times: int) -> None:
    server, clock = FakeServer(), FakeClock()
    server.put(config_map(x="1") | {"metadata": {"name": "b", "namespace": "x"}})
    broken = FAULTS[fault]
    api = api_on(server, clock)
    server.faults = [broken.copy() if isinstance(broken, Answer) else broken for _time in range(times)]
    outcomes: dict[str, t.Callable[[], t.Any]] = {
        "get": lambda: api.get(CONFIG_MAP, "b", "x"),
        "list": lambda: api.list(CONFIG_MAP, "x"),
        "apply": lambda: api.apply(config_map(x="2")),
        "delete": lambda: api.delete(CONFIG_MAP, "b", "x", owned_only=False, wait=False),
        "create": lambda: api.create(config_map(x="2")),
    }
    assert outcomes[verb]()
    assert not server.faults
    assert len(clock.slept) == times
    assert len(server.objects) == {"get": 1, "list": 1, "apply": 2, "delete": 0, "create": 2}[verb]


def test_a_hostile_retry_after_does_not_pass_the_deadline() -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [Answer(503, "later", {"Retry-After": "3600"}) for _time in range(9)]
    with pytest.raises(ApiError) as caught:
        api_on(server, clock, seconds=30).get(CONFIG_MAP, "b", "x")
    assert caught.value.code == "API-UNREACHABLE"
    assert sum(clock.slept) == pytest.approx(30)


def test_an_outage_of_twenty_seconds_is_survived_and_reported() -> None:
    server, clock = FakeServer(), FakeClock()
    lines: list[str] = []
    server.put(config_map(x="1"))

    def request(method: str, url: str, **more: t.Any) -> Answer:
        if clock() < 1020:
            raise urllib3.exceptions.NewConnectionError(
                urllib3.connection.HTTPConnection("api.example"),
                "Failed to establish a new connection: [Errno 111] Connection refused",
            )
        return server.answer(method, url, **more)

    server.request = request
    api = api_on(server, clock, lines=lines)
    assert data_of(api) == {"x": "1"}
    assert 20 <= clock() - 1000 <= 21.2
    assert lines[0].startswith("waiting for https://api.example:6443: connection refused")


def test_an_unavailable_server_is_never_an_absent_object() -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [status(503, "ServiceUnavailable", "no") for _time in range(1000)]
    with pytest.raises(ApiError, match="503"):
        api_on(server, clock).get(CONFIG_MAP, "b", "x")
    assert clock() - 1000 <= retry.USUAL.outage + 2


def test_unauthorized_is_tried_once_more_and_no_longer() -> None:
    server = FakeServer()
    server.put(config_map(x="1"))

    def unauthorized() -> Answer:
        return status(401, "Unauthorized", "Unauthorized")

    server.faults = [unauthorized()]
    assert api_on(server).get(CONFIG_MAP, "a", "x")
    server.faults = [unauthorized(), unauthorized()]
    with pytest.raises(ApiError) as caught:
        api_on(server).get(CONFIG_MAP, "a", "x")
    assert caught.value.code == "CRED-UNAUTHORIZED"


def test_a_list_that_expired_on_its_second_page_starts_over() -> None:
    server = FakeServer(page=2)
    for number in range(5):
        server.put({**config_map(), "metadata": {"name": f"m{number}", "namespace": "x"}})
    api = api_on(server)
    real, gone = server.request, [status(410, "Expired", "too old")]

    def request(method: str, url: str, **more: t.Any) -> Answer:
        if "continue" in url and gone:
            return gone.pop()
        return real(method, url, **more)

    server.request = request
    assert [item["metadata"]["name"] for item in api.list(CONFIG_MAP, "x")] == ["m0", "m1", "m2", "m3", "m4"]


def test_pauses_that_the_server_asked_for_are_no_outage() -> None:
    server, clock = FakeServer(), FakeClock()
    server.put(config_map(x="1"))
    server.faults = [Answer(503, "later", {"Retry-After": "3600"}) for _time in range(5)]
    assert api_on(server, clock, seconds=1800).get(CONFIG_MAP, "a", "x")
    assert 300 <= clock() - 1000 <= 305


TIMED_OUT = urllib3.exceptions.ReadTimeoutError(
    urllib3.HTTPConnectionPool("api.example"), "", "Read timed out."
)


def test_a_silent_server_is_noticed_soon_and_a_slow_one_gets_its_time() -> None:
    server = FakeServer()
    server.put(config_map(x="1"))
    server.faults = [TIMED_OUT] * 5
    api, real = api_on(server), server.request
    waits: list[float] = []

    def request(method: str, url: str, timeout: urllib3.Timeout, **more: t.Any) -> Answer:
        assert isinstance(timeout.read_timeout, (int, float))
        waits.append(timeout.read_timeout)
        return real(method, url, **more)

    server.request = request
    assert api.get(CONFIG_MAP, "a", "x")
    assert waits == [5, 10, 20, 40, 65, 65]
    assert sum(waits[:5]) < retry.USUAL.outage


def test_a_list_that_always_expires_ends_at_the_deadline() -> None:
    server, clock = FakeServer(page=1), FakeClock()
    for name in ("a", "b"):
        server.put({**config_map(), "metadata": {"name": name, "namespace": "x"}})
    real = server.request
    server.request = lambda method, url, **more: (
        status(410, "Expired", "too old") if "continue" in url else real(method, url, **more)
    )
    with pytest.raises(ApiError, match="too old"):
        api_on(server, clock, seconds=30).list(CONFIG_MAP, "x")
    assert clock() == pytest.approx(1030)


NO_ROLE = status(403, "Forbidden", 'configmaps "a" is forbidden: User "joe" cannot get resource "configmaps"')


@pytest.mark.parametrize("early", [NO_ROLE, status(401, "Unauthorized", "Unauthorized")], ids=["403", "401"])
def test_a_server_that_has_just_come_back_is_not_believed_at_once(early: Answer) -> None:
    server, clock = FakeServer(), FakeClock()
    server.put(config_map(x="1"))
    server.faults = [
        RESET,
        *(early.copy() for _time in range(8)),
    ]
    assert api_on(server, clock).get(CONFIG_MAP, "a", "x")
    assert not server.faults


def test_a_missing_permission_is_told_soon_after_an_outage_too() -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [
        RESET,
        *(NO_ROLE.copy() for _time in range(50)),
    ]
    with pytest.raises(ForbiddenError):
        api_on(server, clock).get(CONFIG_MAP, "a", "x")
    assert clock() - 1000 <= retry.USUAL.settling + 2


@pytest.mark.parametrize("early", [NO_ROLE, status(401, "Unauthorized", "Unauthorized")], ids=["403", "401"])
def test_the_first_refusal_of_a_task_is_believed_only_from_a_server_that_is_ready(early: Answer) -> None:
    server = FakeServer()
    server.put(config_map(x="1"))

    def refusals(times: int) -> list[Answer]:
        return [early.copy() for _time in range(times)]

    server.faults, server.ready = refusals(8), 500
    assert api_on(server).get(CONFIG_MAP, "a", "x")
    assert not server.faults
    server.faults, server.ready = refusals(2), 200
    clock = FakeClock()
    with pytest.raises(ApiError):
        api_on(server, clock).get(CONFIG_MAP, "a", "x")
    assert clock.slept == []


def test_a_server_that_has_answered_is_believed_its_refusals() -> None:
    server, clock = FakeServer(), FakeClock()
    server.put(config_map(x="1"))
    api = api_on(server, clock)
    assert api.get(CONFIG_MAP, "a", "x")
    server.faults, server.ready = [NO_ROLE.copy()], 500
    with pytest.raises(ForbiddenError):
        api.get(CONFIG_MAP, "a", "x")
    assert clock.slept == []


def test_whether_a_server_is_ready_is_asked_without_credentials() -> None:
    server = FakeServer()
    asked: list[tuple[str, bool]] = []
    real = server.request
    server.faults = [NO_ROLE.copy()]

    def request(method: str, url: str, headers: urllib3.HTTPHeaderDict, **more: t.Any) -> Answer:
        asked.append((url.removeprefix("https://api.example:6443"), "authorization" in headers))
        return real(method, url, **more)

    server.request = request
    with pytest.raises(ForbiddenError):
        api_on(server).get(CONFIG_MAP, "a", "x")
    assert asked == [("/api/v1/namespaces/x/configmaps/a", True), ("/readyz", False)]


def test_a_certificate_that_is_not_trusted_is_tried_with_fresh_credentials_once() -> None:
    server, clock = FakeServer(), FakeClock()
    opened: list[str] = []
    server.put(config_map(x="1"))
    api = api_on(server, clock)
    connection = api.http.connection

    def connect() -> Connection:
        opened.append("again")
        return replace(connection, tokens=lambda: [f"token-{len(opened)}"])

    api.http._connect = connect
    untrusted = urllib3.exceptions.SSLError("certificate verify failed: CERTIFICATE_VERIFY_FAILED")
    server.faults = [untrusted]
    assert api.get(CONFIG_MAP, "a", "x")
    assert (opened, clock.slept) == (["again"], [])
    assert len(api.http.connection.tokens()) == 1
    server.faults = [untrusted, untrusted]
    with pytest.raises(ApiError, match="cannot be trusted") as caught:
        api.get(CONFIG_MAP, "a", "x")
    assert caught.value.code == "API-TLS"
    assert opened == ["again"] * 2
    assert len(api.http.connection.tokens()) == 2


def test_what_is_sent_is_json_and_yaml() -> None:
    """The server reads an apply as YAML: half of a surrogate pair is no character, U+2028 ends a line."""
    sent: list[bytes] = []
    server = FakeServer()
    real = server.request

    def request(method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        sent.append(body or b"")
        return real(method, url, body=body, **more)

    server.request = request
    data = {"x": '🚀 日本 "\\u2028" \\ ü', "y": "\x00\x7f\x85\u2028\ufeff\uffff\n"}
    api_on(server).apply(config_map(**data))
    assert json.loads(sent[-1])["data"] == data
    assert yaml.safe_load(sent[-1])["data"] == data
    assert "🚀 日本".encode() in sent[-1]
