# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Long outages during waits and writes: no API server, no etcd, a new certificate, a fresh start."""

from __future__ import annotations

import itertools
import signal
import ssl
import threading
import time
import typing as t
from urllib.parse import urlsplit

import own_cluster
import pytest
from cluster import Cluster
from faults.conftest import CONFIG_MAP, NAMESPACE, Bench, manifest, proxied
from faults.operations import before
from faults.proxy import Call
from integration.patience import until

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials, kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.retry import USUAL
from openshift_sandbox import faults, lifecycle
from openshift_sandbox.pki import Authority
from openshift_sandbox.programs import control_plane
from openshift_sandbox.sandbox import Sandbox

pytestmark = [
    pytest.mark.long("outages of minutes; test_matrix.py and test_outage.py have the short ones"),
]

SCENARIO: t.Final = "aws"
cluster = own_cluster.cluster
AWAY: t.Final = 120.0
# After its return a server may refuse for a moment, and the client may just have begun a pause.
BACK: t.Final = 1.2
REQUESTS_PER_SECOND: t.Final = 1.5


@pytest.fixture(scope="module")
def bench(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Bench]:
    with proxied(cluster, tmp_path_factory.mktemp("proxy")) as made:
        yield made


@pytest.fixture(autouse=True)
def _whole_again(cluster: Cluster) -> t.Iterator[None]:
    """Repair the control plane after each test, so that a failed test does not break the next one."""
    sandbox = cluster.needs_sandbox()
    yield
    lifecycle.repair(sandbox, time.monotonic())


def kill(sandbox: Sandbox, name: str) -> None:
    """Kill a process and wait until it is dead: a start does not replace a living process."""
    sandbox.processes.signal(name, signal.SIGKILL)
    until(lambda: not sandbox.processes.alive(name), f"the end of {name}", pause=0.01)


class Pair:
    """A wait in progress and a write that ends it.

    Both go through the proxy, which notes the time of each request.
    """

    def __init__(self, bench: Bench, name: str) -> None:
        before(bench, name, x="1")
        self.bench, self.name = bench, name
        self.waiter, self.writer = (self._api(role) for role in ("waiter", "writer"))
        # The proxy has no script for these clients: it passes their requests on and counts them.
        self.written = self.seen = 0.0
        self.failures: list[BaseException] = []
        self._threads = [self._start(self._wait)]
        assert bench.proxy.wait_for(f"{name}/waiter", "watch", 3)

    def _api(self, role: str) -> Api:
        return self.bench.api(f"{self.name}/{role}", seconds=300, limits=USUAL)

    def _start(self, act: t.Callable[[], None]) -> threading.Thread:
        def guarded() -> None:
            try:
                act()
            except BaseException as exc:
                self.failures.append(exc)

        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        return thread

    def _wait(self) -> None:
        def judge(snapshot: dict[str, list[dict[str, t.Any]]]) -> Readiness:
            assert len(snapshot["one"]) == 1
            return ready() if snapshot["one"][0]["data"] == {"x": "2"} else pending("Old", "still 1")

        # Three queries together must not ask more often than one.
        others = {
            "all": Query(CONFIG_MAP, NAMESPACE, labels="of=cell"),
            "spaces": Query(kinds.known("Namespace"), name=NAMESPACE),
        }
        self.waiter.wait({"one": Query(CONFIG_MAP, NAMESPACE, name=self.name), **others}, judge, "one")
        self.seen = time.monotonic()

    def write(self) -> None:
        def act() -> None:
            self.writer.apply(manifest(self.name, x="2"))
            self.written = time.monotonic()

        self._threads.append(self._start(act))

    def finish(self) -> None:
        for thread in self._threads:
            thread.join(timeout=60)
            assert not thread.is_alive(), [
                (call.agent, call.verb, round(call.at, 1))
                for role in ("waiter", "writer")
                for call in self._calls(role)
            ]
        assert self.failures == []
        live = self.bench.read(self.name)
        assert live is not None
        assert live["data"] == {"x": "2"}
        assert len(self.writer.changes) == 1
        again = self._api("again")
        again.apply(manifest(self.name, x="2"))
        assert again.changes == []

    def requests(self, role: str, start: float, end: float) -> list[float]:
        return [call.at for call in self._calls(role) if start < call.at < end]

    def _calls(self, role: str) -> list[Call]:
        return self.bench.proxy.calls(f"{self.name}/{role}")


@pytest.mark.parametrize("hang", [False, True], ids=["killed", "silent"])
def test_two_minutes_without_api(cluster: Cluster, bench: Bench, hang: bool) -> None:
    sandbox = cluster.needs_sandbox()
    pair = Pair(bench, f"long-{'silent' if hang else 'killed'}")
    outage = threading.Thread(target=faults.api_down, args=(sandbox, AWAY, hang))
    started = time.monotonic()
    outage.start()
    time.sleep(2.0)
    pair.write()
    outage.join()
    back = time.monotonic()
    pair.finish()
    print(
        f"written {pair.written - back:+.2f} s, seen {pair.seen - back:+.2f} s "
        "after the server was ready again"
    )
    assert pair.written - started > AWAY
    for role in ("waiter", "writer"):
        asked = pair.requests(role, started + 2, started + AWAY)
        print(f"{role}: {len(asked) / (AWAY - 2):.2f} requests a second")
        assert len(asked) <= REQUESTS_PER_SECOND * (AWAY - 2)
        gaps = [round(later - one, 2) for one, later in itertools.pairwise(asked)]
        assert hang or len(set(gaps[5:])) > 10, "the pauses do not jitter"
    if not hang:
        # A silent server answers the try in progress when it returns, so the bound holds only without a hang.
        assert max(pair.written, pair.seen) - back <= BACK


def test_tasks_that_start_while_the_server_does(cluster: Cluster, bench: Bench) -> None:
    """Check that no task gets a 401 or 403 while the server does not know accounts and roles yet."""
    sandbox = cluster.needs_sandbox()
    before(bench, "long-fresh", x="1")
    kill(sandbox, "kube-apiserver")
    control_plane.start_apiserver(sandbox)
    end = time.monotonic() + 8.0
    while time.monotonic() < end:
        # A new connection for each task: it has not seen any trouble yet.
        found = bench.api("long-fresh", connection=credentials.connect(bench.params, {})).get(
            CONFIG_MAP, "long-fresh", NAMESPACE
        )
        assert found is not None
        assert found["data"] == {"x": "1"}


def test_etcd_is_killed_and_comes_back(cluster: Cluster, bench: Bench) -> None:
    sandbox = cluster.needs_sandbox()
    pair = Pair(bench, "long-etcd")
    kill(sandbox, "etcd")
    time.sleep(1.0)
    pair.write()
    time.sleep(30.0)
    assert not pair.written
    lifecycle.repair(sandbox, time.monotonic())
    pair.finish()


def test_a_new_certificate_of_the_server_does_not_matter(cluster: Cluster, bench: Bench) -> None:
    sandbox = cluster.needs_sandbox()
    address = (urlsplit(sandbox.url).hostname or "", urlsplit(sandbox.url).port or 443)
    old = ssl.get_server_certificate(address)
    pair = Pair(bench, "long-certificate")
    pki = sandbox.run / "pki"
    for name in ("apiserver.crt", "apiserver.key"):
        (pki / name).unlink()
    Authority(pki).server("apiserver")
    sandbox.processes.stop("kube-apiserver")
    pair.write()
    control_plane.start_apiserver(sandbox)
    control_plane.wait_ready(sandbox)
    assert ssl.get_server_certificate(address) != old
    pair.finish()
