# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers on the wire that are compressed, cut off, slow, huge or missing."""

from __future__ import annotations

import gzip
import json
import math
import random
import time
import tracemalloc
import typing as t
from concurrent.futures import ThreadPoolExecutor

import pytest
from faults.served import Exchange, Served
from faults.wire.asking import CONFIG_MAP, TOKEN, api_of, manifest
from integration.patience import at_best, until

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import pending, ready
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds as kube_kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import Connection

MIB: t.Final = 1 << 20


def nodes(number: int, size: int) -> bytes:
    """Return a list of objects as JSON; random annotations of `size` bits limit its compression."""
    chance = random.Random(number)
    items = [
        {
            "metadata": {
                "name": f"n{item}",
                "namespace": "x",
                "annotations": {"ä": f"{chance.getrandbits(size):x}"},
            },
            "data": {"pad": "label" * (size // 8)},
        }
        for item in range(number)
    ]
    return json.dumps({"metadata": {"resourceVersion": "1"}, "items": items}).encode()


def test_a_compressed_list_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "is_near", False)
    with Served() as served:
        for number in range(60):
            served.state.put(manifest(f"m{number}", x="grün " * 1000))
        found = api_of({"host": served.url, **TOKEN}).list(CONFIG_MAP, "x")
        assert len(found) == 60
        assert {item["data"]["x"] for item in found} == {"grün " * 1000}
        assert [one.headers["accept-encoding"] for one in served.seen] == ["gzip"]


def test_on_loopback_nothing_is_compressed() -> None:
    with Served() as served:
        api_of({"host": served.url, **TOKEN}).list(CONFIG_MAP, "x")
        assert [one.headers.get("accept-encoding", "identity") for one in served.seen] == ["identity"]


def compressed(body: bytes) -> bytes:
    return gzip.compress(body, 1)


GZIP: t.Final = (("Content-Type", "application/json"), ("Content-Encoding", "gzip"))


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_a_compressed_answer_that_is_cut_off_is_asked_for_again(
    chunked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "is_near", False)
    whole, tries = compressed(nodes(20, 20000)), []

    def act(exchange: Exchange) -> None:
        tries.append(1)
        if len(tries) > 3:
            exchange.reply(200, whole, *GZIP)
            return
        half = whole[: len(whole) * len(tries) // 4]
        if chunked:
            exchange.begin(200, ("Transfer-Encoding", "chunked"), *GZIP)
            exchange.wfile.write(
                b"%x\r\n%s\r\n" % (len(half), half) + (b"0\r\n\r\n" if len(tries) == 2 else b"")
            )
        else:
            exchange.begin(200, ("Content-Length", str(len(half) if len(tries) == 2 else len(whole))), *GZIP)
            exchange.wfile.write(half)
        exchange.wfile.flush()
        exchange.close_connection = True
        exchange.connection.shutdown(2)

    with Served(act=act) as served:
        found = api_of({"host": served.url, **TOKEN}).list(CONFIG_MAP, "x")
        assert len(found) == 20
        assert len(served.seen) == 4


def drip_headers_then_silence(exchange: Exchange) -> None:
    """Send a part of the headers, then nothing.

    Only the socket's timeout between bytes limits headers: no code sees them before they are complete.
    """
    exchange.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Slow: ")
    drip(exchange, b"a", 2)
    exchange.connection.recv(1)


def drip_body(exchange: Exchange) -> None:
    exchange.begin(200, ("Content-Type", "application/json"), ("Content-Length", "9000000"))
    drip(exchange, b" ")


def drip_long_body(exchange: Exchange) -> None:
    """Send 2 MiB before the slow part, so that the client reads the body in big pieces."""
    exchange.begin(200, ("Content-Type", "application/json"), ("Content-Length", "9000000"))
    exchange.wfile.write(b" " * (2 * MIB))
    drip(exchange, b" ")


def drip_compressed(exchange: Exchange) -> None:
    data = compressed(nodes(20, 20000))
    exchange.begin(200, ("Content-Length", str(len(data))), *GZIP)
    for start in range(len(data)):
        drip(exchange, data[start : start + 1], 1)


def drip_then_silence(exchange: Exchange) -> None:
    exchange.begin(200, ("Content-Type", "application/json"), ("Content-Length", "9000000"))
    drip(exchange, b" ", 18)
    exchange.connection.recv(1)


def drip(exchange: Exchange, data: bytes, times: float = math.inf) -> None:
    while times > 0:
        exchange.wfile.write(data)
        exchange.wfile.flush()
        time.sleep(0.05)
        times -= 1


DRIPS: t.Final = {
    act.__name__: act
    for act in (drip_headers_then_silence, drip_body, drip_long_body, drip_compressed, drip_then_silence)
}


def test_a_dripping_answer_does_not_keep_us_past_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "is_near", False)

    def once(act: t.Callable[[Exchange], None]) -> float:
        with Served(act=act) as served:
            started = time.monotonic()
            with pytest.raises(AcceleratorError) as caught:
                api_of({"host": served.url, **TOKEN}, seconds=1.0).list(CONFIG_MAP, "x")
            assert caught.value.code == "API-UNREACHABLE"
            return time.monotonic() - started

    def taken(act: t.Callable[[Exchange], None]) -> float:
        return at_best(lambda: once(act), 2.1)

    with ThreadPoolExecutor(len(DRIPS)) as workers:
        seconds = dict(zip(DRIPS, workers.map(taken, DRIPS.values()), strict=True))
    assert all(0.9 <= one <= 2.1 for one in seconds.values()), seconds


def test_an_answer_that_drips_and_ends_is_read() -> None:
    def act(exchange: Exchange) -> None:
        body = json.dumps(
            {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "a"}}]}
        ).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        for byte in head + body:
            exchange.wfile.write(bytes((byte,)))
            exchange.wfile.flush()

    with Served(act=act) as served:
        assert len(api_of({"host": served.url, **TOKEN}).list(CONFIG_MAP, "x")) == 1
        assert len(served.seen) == 1


def test_a_list_with_an_object_of_twenty_megabytes() -> None:
    big = json.dumps(
        {
            "metadata": {"resourceVersion": "1"},
            "items": [manifest("big", x="y" * (20 * MIB)), manifest("small")],
        }
    ).encode()
    with Served(
        act=lambda exchange: exchange.reply(200, big, ("Content-Type", "application/json"))
    ) as served:
        api, another = (api_of({"host": served.url, **TOKEN}) for _task in range(2))
        tracemalloc.start()
        found = api.list(CONFIG_MAP, "x")
        _now, whole = tracemalloc.get_traced_memory()
        assert [len(item["data"].get("x", "")) for item in found] == [20 * MIB, 0]
        # An Api caches what it has listed, for a wait that may follow: it has to be freed too.
        del found, api
        tracemalloc.reset_peak()
        kept = another.list(CONFIG_MAP, "x", keep=lambda item: item["metadata"])
        left, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert [item["name"] for item in kept] == ["big", "small"]
        # The client never holds all of these at once: the bytes in pieces, the joined bytes, the text, the
        # value.
        assert max(whole, peak) < 70 * MIB
        assert left < 2 * MIB


def counted_tries(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list that gets the moment of each request, also of those that reach no server."""
    tries: list[float] = []
    real = Connection.send

    def send(*args: t.Any, **more: t.Any) -> t.Any:
        tries.append(time.monotonic())
        return real(*args, **more)

    monkeypatch.setattr(Connection, "send", send)
    return tries


def put_one_of_each(served: Served, kinds: t.Iterable[kube_kinds.Kind]) -> None:
    for kind in kinds:
        namespace = {"namespace": "x"} if kind.namespaced else {}
        served.state.put(
            {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "late", **namespace}}
        )


def test_a_wait_of_three_queries_asks_a_server_that_is_away_as_often_as_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served()
    kinds = [kube_kinds.known(name) for name in ("ConfigMap", "Pod", "Namespace")]
    queries = {kind.plural: Query(kind, "x" if kind.namespaced else None) for kind in kinds}
    api = api_of({"host": served.url, **TOKEN}, seconds=60)
    tries = counted_tries(monkeypatch)

    def done(seen: t.Any) -> t.Any:
        return ready() if all(seen.values()) else pending("Absent", "absent")

    with ThreadPoolExecutor(1) as worker:
        waiting = worker.submit(api.wait, queries, done, "three")
        until(
            lambda: sum("watch=" in one.path for one in list(served.seen)) >= 3, "three watches", pause=0.01
        )
        served.close()
        gone = time.monotonic()
        time.sleep(8.0)
        back = time.monotonic()
        put_one_of_each(served, kinds)
        with Served(port=served.port, state=served.state):
            waiting.result(timeout=20)
            seen = time.monotonic()
    asked = [one for one in tries if gone < one < back]
    # Three quick tries at once for about a second, then at most 1.5 tries a second.
    assert 5 <= len(asked) <= 3 * 5 + 1.5 * (back - gone), len(asked)
    late = [one for one in asked if one > gone + 3]
    assert len(late) <= 1.5 * (back - gone - 3) + 1, len(late)
    assert seen - back <= 1.7
