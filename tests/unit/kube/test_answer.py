"""Answers that drip, are cut off, long, compressed, or from another kind of server."""

from __future__ import annotations

import contextlib
import gc
import gzip
import io
import json
import types
import typing as t

import pytest
import urllib3
from unit.engine import CONFIG_MAP, FakeClock, api_on, config_map, data_of
from unit.fake_server import Answer, FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ApiError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import answer as kube_answer, retry


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
    server.put(config_map(x="1"))
    cut = Answer(code, "")
    cut.headers.clear()
    server.faults = [cut]
    assert data_of(api_on(server, clock)) == {"x": "1"}
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


class Socket:
    """A socket that only knows its timeout."""

    def __init__(self) -> None:
        self.timeout: float | None = 5.0

    def gettimeout(self) -> float | None:
        return self.timeout

    def settimeout(self, seconds: float) -> None:
        self.timeout = seconds


class Slow(Answer):
    """An answer that arrives byte by byte, a second for each."""

    def __init__(self, clock: FakeClock, body: t.Any) -> None:
        super().__init__(200, body)
        self._clock = clock
        self.connection = types.SimpleNamespace(sock=Socket())

    def read1(self, _size: int, decode_content: bool = True) -> bytes:
        assert not decode_content
        piece, self._data = self._data[:1], self._data[1:]
        self._clock.sleep(1.0)
        return piece


def test_the_wait_for_the_next_piece_never_goes_beyond_the_deadline() -> None:
    clock, seen = FakeClock(), list[float]()
    raw = Slow(clock, {"a": 1})

    def remaining() -> float:
        left = 1009.5 - clock()
        seen.append(raw.connection.sock.timeout)
        return left

    assert kube_answer.read(raw, remaining).body == {"a": 1}
    assert seen == [5.0, 5.0, 5.0, 5.0, 5.0, 4.5, 3.5]
    with pytest.raises(TimeoutError, match="timed out"):
        kube_answer.read(Slow(clock, {"a": 1}), lambda: 1011.0 - clock())


@pytest.mark.parametrize("left", [1.0, 0.5])
def test_a_compressed_answer_is_unpacked_when_it_is_whole(left: float) -> None:
    body = gzip.compress(json.dumps({"text": "grün " * 1000}).encode())
    answer = Answer(200, {}, {"Content-Encoding": "gzip", "Content-Length": str(len(body))})
    answer._data = body[: int(len(body) * left)]
    if left == 1.0:
        assert kube_answer.read(answer, lambda: 1.0).body == {"text": "grün " * 1000}
        return
    with pytest.raises(ConnectionError, match="cut off"):
        kube_answer.read(answer, lambda: 1.0)


def test_a_compressed_answer_with_a_wrong_byte_is_a_broken_connection() -> None:
    answer = Answer(200, "no gzip", {"Content-Encoding": "gzip"})
    with pytest.raises(ConnectionError, match="compression is broken"):
        kube_answer.read(answer, lambda: 1.0)
