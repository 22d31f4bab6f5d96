# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API servers to measure: the sandbox's etcd and kube-apiserver with the platform's CRDs.

A part of the benchmark starts nothing else but what it needs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
import typing as t
from pathlib import Path

from openshift_sandbox import audit, lifecycle, scenario
from openshift_sandbox.catalogue import crds
from openshift_sandbox.client import Client
from openshift_sandbox.programs import control_plane, kwok, oauth
from openshift_sandbox.sandbox import Sandbox

FLUSH_SECONDS: t.Final = 10.0
OPERATORS: t.Final = ("nfd", "gpu-operator-certified")
# Left out, so that there is a kind which everybody knows and this cluster does not serve.
NOT_SERVED: t.Final = "nvidiadrivers.nvidia.com"
# A kubelet renews a lease of 40 s every 10 s. 5,000 nodes make 500 writes a second: on a small machine we
# would measure those.
# Renewed every few hours: never during a part.
NODE_LEASE_SECONDS: t.Final = 86400


class BenchCluster:
    """One API server; counts what was asked of it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.kubeconfig = sandbox.kubeconfig
        self.client: Client = sandbox.client("benchmark")
        self._flush = sandbox.client("benchmark-flush")

    def mark(self) -> int:
        """Where the audit log ends now, with everything in it that was answered."""
        log, offset = self.sandbox.audit_log, audit.position(self.sandbox.audit_log)
        self._flush.get("v1", "namespaces", "default")
        deadline = time.monotonic() + FLUSH_SECONDS
        while not audit.read(log, offset, "benchmark-flush"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{log}: no audit event within {FLUSH_SECONDS:.0f} s")
            time.sleep(0.005)
        return audit.position(log)

    def requests(self, since: int, agent: str | None = None) -> list[audit.Request]:
        """What was asked after that mark, a watch counted once."""
        self.mark()
        found = audit.read(self.sandbox.audit_log, since, agent)
        return [
            one
            for one in found
            if one.event["stage"] != "ResponseStarted"
            and not one.user_agent.startswith("benchmark")
            and one.user == "admin"
        ]


@contextlib.contextmanager
def plain(directory: Path, with_crds: bool = True) -> t.Iterator[BenchCluster]:
    """etcd and kube-apiserver alone; gone afterwards."""
    sandbox = Sandbox(directory)
    lifecycle.down(sandbox)
    sandbox.create()
    try:
        scenario.save(scenario.load("aws"), sandbox.directory)
        control_plane.prepare(sandbox)
        oauth.prepare(sandbox)
        control_plane.start_etcd(sandbox)
        control_plane.start_apiserver(sandbox)
        control_plane.wait_ready(sandbox)
        cluster = BenchCluster(sandbox)
        if with_crds:
            wanted = [*crds.platform_crds(), *(crd for name in OPERATORS for crd in crds.operator_crds(name))]
            crds.load(cluster.client, [crd for crd in wanted if crd["metadata"]["name"] != NOT_SERVED])
            cluster.client.create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "openshift-machine-api"}}
            )
        yield cluster
    finally:
        lifecycle.down(sandbox)


@contextlib.contextmanager
def kubelets(directory: Path) -> t.Iterator[BenchCluster]:
    """KWOK beside them: it makes nodes Ready."""
    with plain(directory, with_crds=False) as cluster:
        found = scenario.read(cluster.sandbox.directory)
        scenario.save(
            dataclasses.replace(found, delays={**found.delays, "node_lease": NODE_LEASE_SECONDS}),
            cluster.sandbox.directory,
        )
        kwok.start(cluster.sandbox)
        yield cluster


Cluster = t.Callable[[Path], contextlib.AbstractContextManager[BenchCluster]]


def of_scenario(name: str) -> Cluster:
    """The whole sandbox with its controllers and stand-ins, as `make demo` has it; gone afterwards."""

    @contextlib.contextmanager
    def running(directory: Path) -> t.Iterator[BenchCluster]:
        sandbox = Sandbox(directory)
        try:
            lifecycle.up(sandbox, name, fresh=True)
            yield BenchCluster(sandbox)
        finally:
            lifecycle.down(sandbox)

    return running


whole: t.Final = of_scenario("aws")
