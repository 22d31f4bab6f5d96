# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client of the sandbox's etcd, on a dictionary that answers as etcd's JSON gateway does."""

from __future__ import annotations

import base64
import json
import types
import typing as t

import pytest

from openshift_sandbox import etcd
from openshift_sandbox.etcd import Content, Etcd, EtcdError


class Gateway:
    """Stands in for urllib3's pool with an etcd behind it: range, put and deleterange."""

    def __init__(self, content: Content) -> None:
        self.content = dict(content)
        self.written: list[bytes] = []
        self.status = 200

    def request(self, _method: str, url: str, body: bytes) -> types.SimpleNamespace:
        asked = json.loads(body)
        answer = getattr(self, url.rpartition("/")[2])(asked)
        return types.SimpleNamespace(status=self.status, data=json.dumps(answer).encode())

    def range(self, asked: dict[str, t.Any]) -> dict[str, t.Any]:
        start, end = (base64.b64decode(asked[key]) for key in ("key", "range_end"))
        found = sorted(key for key in self.content if start <= key < end)
        page = [{"key": text(key), "value": text(self.content[key])} for key in found[: asked["limit"]]]
        return {"kvs": page, "more": len(found) > asked["limit"]}

    def put(self, asked: dict[str, t.Any]) -> dict[str, t.Any]:
        self.written.append(base64.b64decode(asked["key"]))
        self.content[self.written[-1]] = base64.b64decode(asked["value"])
        return {}

    def deleterange(self, asked: dict[str, t.Any]) -> dict[str, t.Any]:
        self.written.append(base64.b64decode(asked["key"]))
        del self.content[self.written[-1]]
        return {}


def text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def behind(content: Content, monkeypatch: pytest.MonkeyPatch) -> tuple[Etcd, Gateway]:
    gateway = Gateway(content)
    monkeypatch.setattr("urllib3.PoolManager", lambda **_options: gateway)
    return Etcd(2379), gateway


def test_all_keys_of_the_api_server_are_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {b"/registry/pods/%04d" % number: bytes([number % 256]) for number in range(etcd.PAGE * 2 + 1)}
    client, _gateway = behind({**keys, b"/other/key": b"x", b"/registry": b"y"}, monkeypatch)
    assert client.read() == keys


def test_the_content_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {b"/registry/a": b"same", b"/registry/b": b"old", b"/registry/c": b"goes", b"/other": b"stays"}
    client, gateway = behind(before, monkeypatch)
    client.replace({b"/registry/a": b"same", b"/registry/b": b"new", b"/registry/d": b"comes"})
    assert gateway.content == {
        b"/registry/a": b"same",
        b"/registry/b": b"new",
        b"/registry/d": b"comes",
        b"/other": b"stays",
    }
    assert len(gateway.written) == 3, "what is the same is not written again"


def test_webhooks_go_before_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(etcd, "THREADS", 1)
    webhook = etcd.FIRST + b"validatingwebhookconfigurations/x"
    client, gateway = behind({b"/registry/a": b"1", webhook: b"2"}, monkeypatch)
    client.replace({})
    assert gateway.written == [webhook, b"/registry/a"]


def test_a_refusal_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    client, gateway = behind({}, monkeypatch)
    gateway.status = 503
    with pytest.raises(EtcdError, match="etcd refuses range"):
        client.read()
