"""An Api on the in-memory server, a clock that moves when the client sleeps or waits, and a ConfigMap."""

from __future__ import annotations

import threading
import typing as t

from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import Connection
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.http import Http
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.retry import LOOK

CONFIG_MAP: t.Final = kinds.known("ConfigMap")


class FakeClock:
    """A clock of a test, which moves when the test's thread sleeps.

    Watches have threads of their own, which look at the clock until it is their turn: each look moves it.
    seconds: now. slept: the seconds of each sleep.
    """

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.slept: list[float] = []
        self._of_the_test = threading.get_ident()

    def __call__(self) -> float:
        if threading.get_ident() != self._of_the_test:
            self.seconds += LOOK
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


class TickingClock(FakeClock):
    """A clock that each look moves, so a wait that looks again and again ends without real time.

    step: the seconds of a look.
    """

    def __init__(self, step: float) -> None:
        super().__init__()
        self.step = step

    def __call__(self) -> float:
        self.seconds += self.step
        return self.seconds


def api_on(server: FakeServer, clock: FakeClock | None = None, seconds: float = 300.0, **more: t.Any) -> Api:
    """Return an Api whose task has so many seconds. more: `lines` for its progress, and fields of Api."""
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


def config_map(**data: str) -> KubeObject:
    """Return the ConfigMap x/a with this data."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "x"},
        "data": data,
    }


def data_of(api: Api) -> t.Any:
    """Return the data of the ConfigMap x/a, or None without it."""
    found = api.get(CONFIG_MAP, "a", "x")
    return found and found["data"]
