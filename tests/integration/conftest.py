# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One sandbox (or the cluster of KUBECONFIG) for all integration tests, playbooks against it, and its audit log."""

from __future__ import annotations

import os
import typing as t
from dataclasses import dataclass
from pathlib import Path

import pytest
from integration.playbook import ROOT, Playbook
from integration.wire import Audit

from openshift_sandbox import lifecycle
from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox

# One sandbox a test process, named after it: runs do not meet, and what a killed one left is found.
FOLDER: t.Final = ROOT / ".sandbox-tests"


@dataclass(frozen=True)
class Cluster:
    """sandbox is None on a real cluster: there troubles cannot be staged, and a test that needs one is skipped."""

    kubeconfig: Path
    client: Client
    sandbox: Sandbox | None

    def needs_sandbox(self) -> Sandbox:
        if self.sandbox is None:
            pytest.skip("stages trouble: only on a sandbox")
        return self.sandbox


@pytest.fixture(scope="session")
def cluster() -> t.Iterator[Cluster]:
    if os.environ.get("KUBECONFIG"):
        kubeconfig = Path(os.environ["KUBECONFIG"])
        yield Cluster(kubeconfig, Client(kubeconfig, "integration-tests"), None)
        return
    for left_behind in FOLDER.glob("*"):
        if not Path("/proc", left_behind.name).exists():
            lifecycle.down(Sandbox(left_behind))
    sandbox = Sandbox(FOLDER / str(os.getpid()))
    try:
        lifecycle.up(sandbox, "aws", fresh=True)
        yield Cluster(sandbox.kubeconfig, Client(sandbox.kubeconfig, "integration-tests"), sandbox)
    finally:
        lifecycle.down(sandbox)


@pytest.fixture(scope="session")
def playbook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    return Playbook(tmp_path_factory.mktemp("playbooks"), cluster.kubeconfig)


@pytest.fixture(scope="session")
def audit(cluster: Cluster) -> Audit:
    return Audit(cluster.sandbox.directory / "audit.log" if cluster.sandbox else None, cluster.client)


@pytest.fixture(params=[True, False], ids=["in-process", "module"])
def in_process(request: pytest.FixtureRequest) -> bool:
    """Both ways to run a module."""
    return bool(request.param)
