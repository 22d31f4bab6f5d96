# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: a sandbox for each test file, with the scenario that the file names as its SCENARIO."""

from __future__ import annotations

import functools
import time
import typing as t

import pytest
from cluster import own
from integration.patience import until
from integration.sandbox.machine_sets import API, MACHINES, Data, copied, machines, worker

from openshift_sandbox import audit, faults
from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.loop import USER_AGENT


@pytest.fixture(scope="module")
def sandbox(request: pytest.FixtureRequest) -> t.Iterator[Sandbox]:
    with own(request.module.SCENARIO) as cluster:
        yield cluster.needs_sandbox()


@pytest.fixture(scope="module")
def client(sandbox: Sandbox) -> Client:
    return sandbox.client("test")


@pytest.fixture
def machine_set(client: Client) -> t.Iterator[t.Callable[..., str]]:
    """Yield a function that makes a GPU machine set in a zone; delete the sets after the test."""
    made: list[str] = []

    def make(
        pool: str,
        replicas: int = 1,
        zone: str = "us-east-2a",
        labels: Data | None = None,
        taints: t.Sequence[Data] = (),
        **provider: t.Any,
    ) -> str:
        name = f"demo-x7k2p-{pool}-{zone}"
        wanted = {"instanceType": "g4dn.xlarge"} | provider
        client.create(
            copied(worker(client, zone), name, replicas, {"pool": pool} | (labels or {}), taints, **wanted)
        )
        made.append(name)
        return name

    yield make
    for name in made:
        client.delete(API, "machinesets", name, MACHINES)
        until(functools.partial(_no_machines, client, name), f"the machines of {name} gone")


def _no_machines(client: Client, name: str) -> bool:
    return not machines(client, name)


@pytest.fixture
def rest(sandbox: Sandbox) -> t.Callable[[], bool]:
    """Return a function that tells whether the stand-ins write nothing for three seconds."""

    def look() -> bool:
        start = audit.position(sandbox.audit_log)
        time.sleep(3.0)
        return not audit.writes(audit.read(sandbox.audit_log, start, USER_AGENT))

    return look


@pytest.fixture
def trouble(sandbox: Sandbox) -> t.Iterator[t.Callable[..., None]]:
    yield lambda kind, **fields: faults.add(sandbox, kind, fields)
    faults.clear(sandbox, None, {})
