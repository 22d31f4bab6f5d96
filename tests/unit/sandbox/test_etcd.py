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
    """Stands in for urllib3's pool with an etcd behind it: range, and transactions of puts and deletes."""

    def __init__(self, content: Content) -> None:
        self.content = dict(content)
        self.transactions: list[list[dict[str, t.Any]]] = []
        self.status = 200

    def request(self, _method: str, url: str, body: bytes) -> types.SimpleNamespace:
        asked = json.loads(body)
        answer = self._range(asked) if url.endswith("/v3/kv/range") else self._commit(asked["success"])
        return types.SimpleNamespace(status=self.status, data=json.dumps(answer).encode())

    def _range(self, asked: dict[str, t.Any]) -> dict[str, t.Any]:
        start, end = (base64.b64decode(asked[key]) for key in ("key", "range_end"))
        found = sorted(key for key in self.content if start <= key < end)
        page = [{"key": text(key), "value": text(self.content[key])} for key in found[: asked["limit"]]]
        return {"kvs": page, "more": len(found) > asked["limit"]}

    def _commit(self, operations: list[dict[str, t.Any]]) -> dict[str, t.Any]:
        self.transactions.append(operations)
        for one in operations:
            if put := one.get("request_put"):
                self.content[base64.b64decode(put["key"])] = base64.b64decode(put["value"])
            else:
                del self.content[base64.b64decode(one["request_delete_range"]["key"])]
        return {"succeeded": True}


def text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def behind(content: Content, monkeypatch: pytest.MonkeyPatch) -> tuple[Etcd, Gateway]:
    gateway = Gateway(content)
    monkeypatch.setattr(etcd.urllib3, "PoolManager", lambda **_options: gateway)
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
    assert sum(map(len, gateway.transactions)) == 3, "what is the same is not written again"


def test_webhooks_go_before_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    webhook = etcd.FIRST + b"validatingwebhookconfigurations/x"
    client, gateway = behind({b"/registry/a": b"1", webhook: b"2"}, monkeypatch)
    client.replace({})
    [[first, _second]] = gateway.transactions
    assert first == {"request_delete_range": {"key": text(webhook)}}


def test_a_transaction_has_no_more_than_etcd_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    many = {b"/registry/%03d" % number: b"x" for number in range(etcd.BATCH_OPERATIONS + 1)}
    client, gateway = behind({}, monkeypatch)
    client.replace(many)
    assert [len(one) for one in gateway.transactions] == [etcd.BATCH_OPERATIONS, 1]
    large = {b"/registry/%03d" % number: b"y" * (etcd.BATCH_BYTES // 2 + 1) for number in range(3)}
    gateway.transactions.clear()
    client.replace(large | {key: many[key] for key in many.keys() - large.keys()})
    assert [len(one) for one in gateway.transactions] == [1, 1, 1]


def test_a_refusal_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    client, gateway = behind({}, monkeypatch)
    gateway.status = 503
    with pytest.raises(EtcdError, match="etcd refuses range"):
        client.read()
