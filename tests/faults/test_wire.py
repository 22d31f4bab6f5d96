# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Between client and server: proxies, addresses, certificates that change, compressed, huge and dripping answers, a server that is away."""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import time
import tracemalloc
import typing as t
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from faults.served import Exchange, Served, Tunnel, authority
from integration.patience import at_best, until

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ApiError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import pending, ready
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials,
    kinds as kube_kinds,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import Connection
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.http import Http
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.limits import USUAL, Limits

CONFIG_MAP: t.Final = kube_kinds.known("ConfigMap")
TOKEN: t.Final = {"api_key": "token-of-test"}
MIB: t.Final = 1 << 20


def api_of(params: dict[str, t.Any], seconds: float = 20.0, limits: Limits = USUAL) -> Api:
    return Api(
        Http(lambda: credentials.connect(params, {}), Deadline(seconds), "test", lambda _line: None, limits)
    )


def manifest(name: str = "a", **data: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "x"},
        "data": data,
    }


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Path, Path]]:
    return authority(tmp_path_factory.mktemp("pki"))


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def everything(api: Api) -> None:
    """Each way to ask, once."""
    api.apply(manifest(x="1"))
    assert api.get(CONFIG_MAP, "a", "x")["data"] == {"x": "1"}
    assert [item["metadata"]["name"] for item in api.list(CONFIG_MAP, "x")] == ["a"]
    looks: list[int] = []

    def judge(_seen: t.Any) -> t.Any:
        looks.append(1)
        return ready() if len(looks) > 1 else pending("Once", "more")

    api.wait({"a": Query(CONFIG_MAP, "x")}, judge, "a")
    assert api.delete(CONFIG_MAP, "a", "x", wait=False)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("prefix", ["", "/k8s/clusters/c-m-1"])
@pytest.mark.parametrize("end", ["", "//"])
def test_addresses(pki: tuple[Path, tuple[Path, Path]], address: str, prefix: str, end: str) -> None:
    with Served(address, prefix=prefix, certificate=pki[1]) as served:
        everything(api_of({"host": served.url + end, "ca_cert": str(pki[0]), **TOKEN}))
        assert {one.path.partition("/api/v1/")[0] for one in served.seen} == {prefix}
        assert any("watch=true" in one.path for one in served.seen)
        host = f"[{address}]" if ":" in address else address
        assert {one.headers["host"] for one in served.seen} == {f"{host}:{served.port}"}


@pytest.mark.parametrize("how", ["option", "environment", "kubeconfig"])
def test_a_proxy_that_wants_to_know_us(
    pki: tuple[Path, tuple[Path, Path]], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tunnel = Tunnel("joe:secret")
    named = tunnel.url.replace("//", "//joe:secret@")
    with Served(certificate=pki[1]) as served:
        params: dict[str, t.Any] = {"host": served.url, "ca_cert": str(pki[0]), **TOKEN}
        if how == "option":
            params |= {"proxy": tunnel.url, "proxy_headers": {"proxy_basic_auth": "joe:secret"}}
        elif how == "environment":
            monkeypatch.setenv("HTTPS_PROXY", named)
        else:
            params = {"kubeconfig": kubeconfig(served.url, pki[0], **{"proxy-url": named})}
        everything(api_of(params))
        assert set(tunnel.asked) == {f"CONNECT 127.0.0.1:{served.port}"}
        assert not any("proxy-authorization" in one.headers for one in served.seen)
    tunnel.close()


def kubeconfig(url: str, ca: Path, **cluster: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority": str(ca), **cluster}}],
        "users": [{"name": "u", "user": {"token": TOKEN["api_key"]}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


def test_a_proxy_that_refuses_us_is_told_at_once(pki: tuple[Path, tuple[Path, Path]]) -> None:
    tunnel = Tunnel("joe:secret")
    with Served(certificate=pki[1]) as served:
        with pytest.raises(ApiError) as caught:
            api_of({"host": served.url, "ca_cert": str(pki[0]), "proxy": tunnel.url, **TOKEN}).get(
                CONFIG_MAP, "a", "x"
            )
        assert caught.value.code == "API-PROXY"
        assert "407" in caught.value.message
        assert served.seen == []
        assert len(tunnel.asked) == 1
    tunnel.close()


@pytest.mark.parametrize(
    ("host", "no_proxy", "direct"),
    [
        ("https://api.gpu.example.com:6443", "api.gpu.example.com", True),
        ("https://api.gpu.example.com:6443", ".example.com", True),
        ("https://api.gpu.example.com:6443", "example.com", True),
        ("https://api.gpu.example.com:6443", "other.test, gpu.example.com", True),
        ("https://api.gpu.example.com:6443", "ample.com", False),
        ("https://api.gpu.example.com:6443", "10.0.0.0/8", False),
        ("https://10.1.2.3:6443", "10.0.0.0/8", True),
        ("https://10.1.2.3:6443", "10.1.2.3", True),
        ("https://11.1.2.3:6443", "10.0.0.0/8", False),
        ("https://[fd00::1]:6443", "fd00::/8", True),
        ("https://api.gpu.example.com:6443", "*", True),
        ("https://api.gpu.example.com:6443", "", False),
    ],
)
@pytest.mark.parametrize("how", ["option", "environment"])
def test_no_proxy(host: str, no_proxy: str, direct: bool, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    params = {"host": host, **TOKEN}
    if how == "option":
        params |= {"proxy": "http://proxy.test:3128", "no_proxy": no_proxy}
    else:
        monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:3128")
        monkeypatch.setenv("NO_PROXY", no_proxy)
    assert (credentials.connect(params, {}).pool.proxy is None) is direct


def nodes(number: int, size: int) -> bytes:
    """A page of objects of that size, in which not everything repeats."""
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


def drip_headers(exchange: Exchange) -> None:
    exchange.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Slow: ")
    drip(exchange, b"a")


def drip_body(exchange: Exchange) -> None:
    exchange.begin(200, ("Content-Type", "application/json"), ("Content-Length", "9000000"))
    drip(exchange, b" ")


def drip_long_body(exchange: Exchange) -> None:
    """After so much that it is read in big pieces."""
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
    act.__name__: act for act in (drip_headers, drip_body, drip_long_body, drip_compressed, drip_then_silence)
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
        # An Api remembers what it has listed, for the wait that may follow.
        del found, api
        tracemalloc.reset_peak()
        kept = another.list(CONFIG_MAP, "x", keep=lambda item: item["metadata"])
        left, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert [item["name"] for item in kept] == ["big", "small"]
        # The bytes as they came in pieces and as one, then the text, then its value: never all of them.
        assert max(whole, peak) < 70 * MIB
        assert left < 2 * MIB


def test_a_new_authority_of_the_server(tmp_path: Path) -> None:
    """The files that the credentials name have been replaced as well."""
    ca, certificate = authority(tmp_path / "old")
    named = tmp_path / "kubeconfig"
    (tmp_path / "ca.crt").write_bytes(ca.read_bytes())
    served = Served(certificate=certificate)
    served.state.put(manifest(x="1"))
    named.write_text(yaml.safe_dump(kubeconfig(served.url, tmp_path / "ca.crt")))
    api = api_of({"kubeconfig": str(named)})
    assert api.get(CONFIG_MAP, "a", "x")
    served.close()
    ca, certificate = authority(tmp_path / "new")
    with Served(port=served.port, certificate=certificate, state=served.state) as again:
        started = time.monotonic()
        with pytest.raises(ApiError) as caught:
            api.get(CONFIG_MAP, "a", "x")
        assert caught.value.code == "API-TLS"
        assert time.monotonic() - started < 10, "it was tried until the deadline"
        assert again.seen == []
        (tmp_path / "ca.crt").write_bytes(ca.read_bytes())
        assert api.get(CONFIG_MAP, "a", "x")
        assert len(again.seen) == 1


def test_a_fork_opens_a_connection_of_its_own(pki: tuple[Path, tuple[Path, Path]]) -> None:
    """Ansible's main process may have asked something (a lookup in the play's own variables) before it forks its workers."""
    with Served(certificate=pki[1]) as served:
        served.state.put(manifest(x="1"))
        api = api_of({"host": served.url, "ca_cert": str(pki[0]), **TOKEN})
        assert api.get(CONFIG_MAP, "a", "x")
        workers = []
        for _worker in range(2):
            pid = os.fork()
            if pid == 0:
                found = None
                try:
                    found = api.get(CONFIG_MAP, "a", "x")
                finally:
                    os._exit(0 if found else 1)
            workers.append(pid)
        assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers] == [0, 0]
        # The one that was there before is still good.
        assert api.get(CONFIG_MAP, "a", "x")
        peers = [one.peer for one in served.seen]
        assert peers[0] == peers[3]
        assert len(set(peers)) == 3


def test_a_wait_of_three_queries_asks_a_server_that_is_away_as_often_as_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served()
    kinds = [kube_kinds.known(name) for name in ("ConfigMap", "Pod", "Namespace")]
    api = api_of({"host": served.url, **TOKEN}, seconds=60)
    tries: list[float] = []
    real = Connection.send

    def send(*args: t.Any, **more: t.Any) -> t.Any:
        tries.append(time.monotonic())
        return real(*args, **more)

    monkeypatch.setattr(Connection, "send", send)
    gone = back = 0.0

    def done(seen: t.Any) -> t.Any:
        return ready() if all(seen.values()) else pending("Absent", "absent")

    with ThreadPoolExecutor(1) as worker:
        waiting = worker.submit(
            api.wait,
            {kind.plural: Query(kind, "x" if kind.namespaced else None) for kind in kinds},
            done,
            "three",
        )
        until(
            lambda: sum("watch=" in one.path for one in list(served.seen)) >= 3, "three watches", pause=0.01
        )
        served.close()
        gone = time.monotonic()
        time.sleep(8.0)
        back = time.monotonic()
        for kind in kinds:
            namespace = {"namespace": "x"} if kind.namespaced else {}
            served.state.put(
                {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "late", **namespace}}
            )
        with Served(port=served.port, state=served.state):
            waiting.result(timeout=20)
            seen = time.monotonic()
    asked = [one for one in tries if gone < one < back]
    # A second of quick first tries, three at once, and then one and a half a second at most.
    assert 5 <= len(asked) <= 3 * 5 + 1.5 * (back - gone), len(asked)
    late = [one for one in asked if one > gone + 3]
    assert len(late) <= 1.5 * (back - gone - 3) + 1, len(late)
    assert seen - back <= 1.7
