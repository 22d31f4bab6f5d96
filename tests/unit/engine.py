"""An Api on the in-memory server and a clock that only moves when somebody sleeps."""

from __future__ import annotations

import typing as t

from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import Connection
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.http import Http


class FakeClock:
    """seconds: now. slept: how long each sleep was."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


def api_on(server: FakeServer, clock: FakeClock | None = None, seconds: float = 300.0, **more: t.Any) -> Api:
    clock = clock or FakeClock()
    lines: list[str] = more.pop("lines", [])
    connection = Connection(
        "https://api.example:6443", server, True, lambda: [("authorization", "Bearer token-of-test")]
    )
    return Api(
        Http(
            lambda: connection,
            Deadline(seconds, clock, clock.sleep),
            "accelerators.openshift/test",
            lines.append,
        ),
        progress=lines.append,
        **more,
    )
