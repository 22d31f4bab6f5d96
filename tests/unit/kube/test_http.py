"""Requests: what is tried again, for how long, and what a failure is called."""

from __future__ import annotations

import contextlib
import gc
import io
import json
from dataclasses import replace
from urllib.parse import unquote

import pytest
import urllib3
import yaml
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    answer as kube_answer,
    kinds,
    retry,
)

CONFIG_MAP = kinds.known("ConfigMap")
RESET = urllib3.exceptions.ProtocolError(
    "Connection aborted.", ConnectionResetError(104, "Connection reset by peer")
)
CUT_OFF = Answer(200, {"metadata": {}})
CUT_OFF._data = b'{"metadata": {"na'


def manifest(**data: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "x"},
        "data": data,
    }


FAULTS = {
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
    server.put(manifest(x="1") | {"metadata": {"name": "b", "namespace": "x"}})
    broken = FAULTS[fault]
    api = api_on(server, clock)
    copies = [
        Answer(broken.status, broken._data.decode(), dict(broken.headers))
        if isinstance(broken, Answer)
        else broken
        for _time in range(times)
    ]
    server.faults = list(copies)
    outcome = {
        "get": lambda: api.get(CONFIG_MAP, "b", "x"),
        "list": lambda: api.list(CONFIG_MAP, "x"),
        "apply": lambda: api.apply(manifest(x="2")),
        "delete": lambda: api.delete(CONFIG_MAP, "b", "x", owned_only=False, wait=False),
        "create": lambda: api.create(manifest(x="2")),
    }[verb]()
    assert outcome
    assert not server.faults
    assert len(clock.slept) == times
    assert len(server.objects) == {"get": 1, "list": 1, "apply": 2, "delete": 0, "create": 2}[verb]


def test_backoff_grows_and_is_capped() -> None:
    pause = retry.Pause()
    seconds = [pause.next() for _time in range(8)]
    assert seconds[0] <= 0.05
    assert 0.75 <= seconds[-1] <= 1.0


@pytest.mark.parametrize(("header", "least", "most"), [("2", 2, 2), ("3600", 60, 60), ("soon", 0, 0)])
def test_retry_after_is_honoured_and_capped(header: str, least: float, most: float) -> None:
    assert least <= retry.USUAL.asked(header) <= most


def test_a_hostile_retry_after_does_not_pass_the_deadline() -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [Answer(503, "later", {"Retry-After": "3600"}) for _time in range(9)]
    with pytest.raises(ApiError) as caught:
        api_on(server, clock, seconds=30).get(CONFIG_MAP, "b", "x")
    assert caught.value.code == "API-UNREACHABLE"
    assert sum(clock.slept) == pytest.approx(30)


def test_an_outage_of_twenty_seconds_is_survived_and_reported() -> None:
    server, clock, lines = FakeServer(), FakeClock(), []
    server.put(manifest(x="1"))

    class Refusing(FakeServer):
        def request(self, *args: object, **more: object) -> Answer:
            if clock() < 1020:
                raise urllib3.exceptions.NewConnectionError(
                    None, "Failed to establish a new connection: [Errno 111] Connection refused"
                )
            return server.request(*args, **more)

    api = api_on(Refusing(), clock, lines=lines)
    assert api.get(CONFIG_MAP, "a", "x")["data"] == {"x": "1"}
    assert 20 <= clock() - 1000 <= 21.2
    assert lines[0].startswith("waiting for https://api.example:6443: connection refused")


def test_an_unavailable_server_is_never_an_absent_object() -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [status(503, "ServiceUnavailable", "no") for _time in range(1000)]
    with pytest.raises(ApiError, match="503"):
        api_on(server, clock).get(CONFIG_MAP, "b", "x")
    assert clock() - 1000 <= retry.USUAL.outage + 2


@pytest.mark.parametrize(
    ("answer", "error", "code", "words"),
    [
        (
            status(
                403, "Forbidden", 'configmaps "b" is forbidden: User "joe" cannot get resource "configmaps"'
            ),
            ForbiddenError,
            "API-FORBIDDEN",
            "get configmaps",
        ),
        (
            status(403, "Forbidden", 'pods "p" is forbidden: exceeded quota: gpu-quota'),
            ForbiddenError,
            "API-REFUSED",
            "exceeded quota: gpu-quota",
        ),
        (status(400, "BadRequest", "unable to parse selector"), ApiError, "API-INVALID", "unable to parse"),
        (status(422, "Invalid", "data: Invalid value"), ApiError, "API-INVALID", "Invalid value"),
        (status(409, "Conflict", "the object has been modified"), ConflictError, "API-CONFLICT", "modified"),
        (
            Answer(404, "404 page not found"),
            KindNotServedError,
            "API-KIND-NOT-SERVED",
            "does not serve configmaps",
        ),
        (
            status(500, "", "failed to create typed patch object (x): .dta: field not declared"),
            ApiError,
            "API-INVALID",
            ".dta",
        ),
    ],
)
def test_an_error_fails_at_once_with_its_code(
    answer: Answer, error: type[ApiError], code: str, words: str
) -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [answer]
    with pytest.raises(error) as caught:
        api_on(server, clock).get(CONFIG_MAP, "b", "x")
    assert caught.value.code == code
    assert words in caught.value.message
    assert caught.value.remedy
    assert clock.slept == []


def test_unauthorized_is_tried_once_more_and_no_longer() -> None:
    server = FakeServer()
    server.put(manifest(x="1"))

    def unauthorized() -> Answer:
        return status(401, "Unauthorized", "Unauthorized")

    server.faults = [unauthorized()]
    assert api_on(server).get(CONFIG_MAP, "a", "x")
    server.faults = [unauthorized(), unauthorized()]
    with pytest.raises(ApiError) as caught:
        api_on(server).get(CONFIG_MAP, "a", "x")
    assert caught.value.code == "CRED-UNAUTHORIZED"


def test_a_conflict_names_the_other_manager_and_the_field() -> None:
    server = FakeServer()
    body = {"message": "Apply failed with 1 conflict", "details": {"name": "a", "causes": [
        {"reason": "FieldManagerConflict", "message": 'conflict with "argocd-controller" using v1', "field": ".data.x"}]}}  # fmt: skip
    server.put(manifest(x="1"))
    server.faults = [Answer(200, server.put(manifest(x="1"))), Answer(409, body)]
    with pytest.raises(ConflictError) as caught:
        api_on(server).apply(manifest(x="2"))
    assert ".data.x" in caught.value.message
    assert "argocd-controller" in caught.value.remedy


def test_a_list_that_expired_on_its_second_page_starts_over() -> None:
    server = FakeServer(page=2)
    for number in range(5):
        server.put({**manifest(), "metadata": {"name": f"m{number}", "namespace": "x"}})
    api = api_on(server)
    real, gone = server.request, [status(410, "Expired", "too old")]

    def request(method: str, url: str, **more: object) -> Answer:
        if "continue" in url and gone:
            return gone.pop()
        return real(method, url, **more)

    server.request = request
    assert [item["metadata"]["name"] for item in api.list(CONFIG_MAP, "x")] == ["m0", "m1", "m2", "m3", "m4"]


def test_pauses_that_the_server_asked_for_are_no_outage() -> None:
    server, clock = FakeServer(), FakeClock()
    server.put(manifest(x="1"))
    server.faults = [Answer(503, "later", {"Retry-After": "3600"}) for _time in range(5)]
    assert api_on(server, clock, seconds=1800).get(CONFIG_MAP, "a", "x")
    assert 300 <= clock() - 1000 <= 305


TIMED_OUT = urllib3.exceptions.ReadTimeoutError(None, "", "Read timed out.")


def test_a_silent_server_is_noticed_soon_and_a_slow_one_gets_its_time() -> None:
    server = FakeServer()
    server.put(manifest(x="1"))
    server.faults = [TIMED_OUT] * 5
    api, real, waits = api_on(server), server.request, []

    def request(method: str, url: str, timeout: urllib3.Timeout, **more: object) -> Answer:
        waits.append(timeout._read)
        return real(method, url, **more)

    server.request = request
    assert api.get(CONFIG_MAP, "a", "x")
    assert waits == [5, 10, 20, 40, 65, 65]
    assert sum(waits[:5]) < retry.USUAL.outage


@pytest.mark.parametrize("seconds", [30.0, 1800.0])
def test_an_answer_that_drips_for_ever_is_given_up(seconds: float) -> None:
    server, clock = FakeServer(), FakeClock()

    class Dripping(Answer):
        def read1(self, _size: int, decode_content: bool = True) -> bytes:
            clock.sleep(1.0)
            return b" "

    server.request = lambda *_args, **_more: Dripping(200, {})
    with pytest.raises(ApiError) as caught:
        api_on(server, clock, seconds=seconds).get(CONFIG_MAP, "a", "x")
    assert caught.value.code == "API-UNREACHABLE"
    assert clock() - 1000 <= min(seconds + 1, retry.USUAL.outage + retry.USUAL.answer + 2)


@pytest.mark.parametrize("code", [200, 404])
def test_an_answer_whose_headers_were_cut_off_says_nothing(code: int) -> None:
    server, clock = FakeServer(), FakeClock()
    server.put(manifest(x="1"))
    cut = Answer(code, "")
    cut.headers.clear()
    server.faults = [cut]
    assert api_on(server, clock).get(CONFIG_MAP, "a", "x")["data"] == {"x": "1"}
    assert len(clock.slept) == 1


@pytest.mark.parametrize("end", ["]", ""])
@pytest.mark.parametrize("collects", [True, False])
def test_a_long_answer_leaves_the_collector_of_garbage_as_it_was(collects: bool, end: str) -> None:
    body = b"[" + b"0," * (1 << 20) + b"0" + end.encode()
    raw = urllib3.HTTPResponse(
        io.BytesIO(body),
        {"Content-Type": "application/json", "Content-Length": str(len(body))},
        200,
        preload_content=False,
    )
    was_enabled = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with contextlib.nullcontext() if end else pytest.raises(ConnectionError, match="cut off"):
            assert len(kube_answer.read(raw, lambda: 1.0).body) == (1 << 20) + 1
        assert gc.isenabled() == collects
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_a_web_page_is_no_api_server() -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [Answer(200, "<html>log in</html>", {"Content-Type": "text/html"})]
    with pytest.raises(ApiError, match="instead of JSON"):
        api_on(server, clock).get(CONFIG_MAP, "a", "x")
    assert clock.slept == []


def test_a_list_that_always_expires_ends_at_the_deadline() -> None:
    server, clock = FakeServer(page=1), FakeClock()
    for name in ("a", "b"):
        server.put({**manifest(), "metadata": {"name": name, "namespace": "x"}})
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
    server.put(manifest(x="1"))
    server.faults = [
        RESET,
        *(Answer(early.status, early._data.decode(), dict(early.headers)) for _time in range(8)),
    ]
    assert api_on(server, clock).get(CONFIG_MAP, "a", "x")
    assert not server.faults


def test_a_missing_permission_is_told_soon_after_an_outage_too() -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [
        RESET,
        *(Answer(403, NO_ROLE._data.decode(), dict(NO_ROLE.headers)) for _time in range(50)),
    ]
    with pytest.raises(ForbiddenError):
        api_on(server, clock).get(CONFIG_MAP, "a", "x")
    assert clock() - 1000 <= retry.USUAL.settling + 2


@pytest.mark.parametrize("early", [NO_ROLE, status(401, "Unauthorized", "Unauthorized")], ids=["403", "401"])
def test_the_first_refusal_of_a_task_is_believed_only_from_a_server_that_is_ready(early: Answer) -> None:
    server = FakeServer()
    server.put(manifest(x="1"))

    def refusals(times: int) -> list[Answer]:
        return [Answer(early.status, early._data.decode(), dict(early.headers)) for _time in range(times)]

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
    server.put(manifest(x="1"))
    api = api_on(server, clock)
    assert api.get(CONFIG_MAP, "a", "x")
    server.faults, server.ready = [Answer(403, NO_ROLE._data.decode(), dict(NO_ROLE.headers))], 500
    with pytest.raises(ForbiddenError):
        api.get(CONFIG_MAP, "a", "x")
    assert clock.slept == []


def test_whether_a_server_is_ready_is_asked_without_credentials() -> None:
    server, asked = FakeServer(), []
    real = server.request
    server.faults = [Answer(403, NO_ROLE._data.decode(), dict(NO_ROLE.headers))]

    def request(method: str, url: str, headers: urllib3.HTTPHeaderDict, **more: object) -> Answer:
        asked.append((url.removeprefix("https://api.example:6443"), "authorization" in headers))
        return real(method, url, **more)

    server.request = request
    with pytest.raises(ForbiddenError):
        api_on(server).get(CONFIG_MAP, "a", "x")
    assert asked == [("/api/v1/namespaces/x/configmaps/a", True), ("/readyz", False)]


def test_a_certificate_that_is_not_trusted_is_tried_with_fresh_credentials_once() -> None:
    server, clock, opened = FakeServer(), FakeClock(), []
    server.put(manifest(x="1"))
    api = api_on(server, clock)
    connection = api.http.connection
    api.http._connect = lambda: (
        opened.append("again") or replace(connection, tokens=lambda: [f"token-{len(opened)}"])
    )
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
    """An apply is read as YAML, where half of a pair of surrogates is no character and U+2028 ends a line."""
    sent: list[bytes] = []
    server = FakeServer()
    real = server.request
    server.request = lambda method, url, body=None, **more: (
        sent.append(body or b"") or real(method, url, body=body, **more)
    )
    data = {"x": '🚀 日本 "\\u2028" \\ ü', "y": "\x00\x7f\x85\u2028\ufeff\uffff\n"}
    api_on(server).apply(manifest(**data))
    assert json.loads(sent[-1])["data"] == data
    assert yaml.safe_load(sent[-1])["data"] == data
    assert "🚀 日本".encode() in sent[-1]


@pytest.mark.parametrize("name", ["a?x=1", "a#b", "a/status", "../nodes/n", "a%2fb", "a b", ".", ".."])
def test_a_name_stays_one_part_of_the_path(name: str) -> None:
    path = CONFIG_MAP.path("x", name)
    head, _slash, last = path.rpartition("/")
    assert head == "/api/v1/namespaces/x/configmaps"
    assert unquote(last) == name
    assert not set(last) & set("?# ")
    assert last.strip(".")
    assert CONFIG_MAP.path(name, "a").split("/")[:4] == ["", "api", "v1", "namespaces"]


def test_a_selector_of_a_name_escapes_what_selectors_are_made_of() -> None:
    assert kinds.by_name("a=b,c\\d") == "metadata.name=a\\=b\\,c\\\\d"
    assert kinds.by_name("gpu-node.example.com") == "metadata.name=gpu-node.example.com"
