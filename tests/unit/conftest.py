"""Unit tests open no socket and do not wait."""

from __future__ import annotations

import socket
import time
import typing as t

import pytest


@pytest.fixture(autouse=True)
def _no_network_no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(what: str) -> t.Callable[..., t.NoReturn]:
        def refused(*_args: object, **_more: object) -> t.NoReturn:
            raise AssertionError(f"a unit test must not {what}: hand the effect in")

        return refused

    monkeypatch.setattr(socket.socket, "connect", refuse("open a connection"))
    monkeypatch.setattr(time, "sleep", refuse("sleep"))
