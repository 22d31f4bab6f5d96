# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster that tests run on: a sandbox of this test process, or the cluster that KUBECONFIG names."""

from __future__ import annotations

import contextlib
import itertools
import os
import typing as t
from dataclasses import dataclass
from pathlib import Path

import pytest

from openshift_sandbox import handover, lifecycle
from openshift_sandbox.client import Client, Object
from openshift_sandbox.sandbox import Sandbox

ROOT: t.Final = Path(__file__).resolve().parents[1]
# Each test process has its own sandbox. Its name has the pid: parallel runs do not share a sandbox, and a
# later run finds and removes the sandbox of a killed one.
FOLDER: t.Final = ROOT / ".sandbox-tests"
_NUMBERS: t.Final = itertools.count(1)
# Control planes without a cluster, which wait for the next test file.
_FREE: t.Final[list[Sandbox]] = []


@dataclass(frozen=True)
class Cluster:
    """A cluster under test.

    sandbox is None on a real cluster: there `needs_sandbox` skips the tests that stage trouble.
    """

    kubeconfig: Path
    client: Client
    sandbox: Sandbox | None

    def needs_sandbox(self) -> Sandbox:
        """Return the sandbox; skip the test on a real cluster."""
        if self.sandbox is None:
            pytest.skip("stages trouble: only on a sandbox")
        return self.sandbox


def must_get(
    client: Client, api_version: str, plural: str, name: str, namespace: str | None = None
) -> Object:
    """Return an object that must exist; fail the test if it does not."""
    found = client.get(api_version, plural, name, namespace)
    assert found is not None, f"there is no {name} among the {plural}"
    return found


@contextlib.contextmanager
def running(scenario: str = "") -> t.Iterator[Cluster]:
    """Yield the cluster of this test process, or a sandbox of `scenario`.

    The next one that asks for a sandbox gets the control plane of this one: `end` removes it.
    """
    if os.environ.get("KUBECONFIG"):
        kubeconfig = Path(os.environ["KUBECONFIG"])
        yield Cluster(kubeconfig, Client(kubeconfig, "integration-tests"), None)
        return
    sandbox = _FREE.pop() if _FREE else _new()
    try:
        lifecycle.up(sandbox, scenario or "aws")
        yield Cluster(sandbox.kubeconfig, Client(sandbox.kubeconfig, "integration-tests"), sandbox)
    finally:
        _release(sandbox)


def end() -> None:
    """Remove the sandboxes that nobody uses any more."""
    while _FREE:
        lifecycle.down(_FREE.pop())


def _new() -> Sandbox:
    """Return a sandbox that does not exist yet; remove those of killed test processes."""
    for left_behind in FOLDER.glob("*"):
        if not Path("/proc", left_behind.name.partition("-")[0]).exists():
            lifecycle.down(Sandbox(left_behind))
    return Sandbox(FOLDER / f"{os.getpid()}-{next(_NUMBERS)}")


def _release(sandbox: Sandbox) -> None:
    """Clear a sandbox for its next user; remove it if its control plane is not as it was made."""
    if handover.can_clear(sandbox):
        handover.clear(sandbox)
        _FREE.append(sandbox)
    else:
        lifecycle.down(sandbox)


@contextlib.contextmanager
def own(scenario: str) -> t.Iterator[Cluster]:
    """Yield a sandbox of `scenario`; skip the test if KUBECONFIG names a cluster."""
    if os.environ.get("KUBECONFIG"):
        pytest.skip(f"needs a cluster of its own: scenario {scenario}")
    with running(scenario) as cluster:
        yield cluster
