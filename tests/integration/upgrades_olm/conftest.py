# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: a sandbox for each test file, with its SCENARIO."""

from __future__ import annotations

import os
import typing as t
from pathlib import Path

import pytest
from cluster import Cluster, running
from integration.playbook import Playbook
from integration.wire import Audit


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> t.Iterator[Cluster]:
    scenario = request.module.SCENARIO
    if os.environ.get("KUBECONFIG"):
        pytest.skip(f"needs a cluster of its own: scenario {scenario}")
    with running(scenario) as found:
        yield found


@pytest.fixture(scope="module")
def playbook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, program: Path) -> Playbook:
    return Playbook(tmp_path_factory.mktemp("playbooks"), cluster.kubeconfig, program)


@pytest.fixture(scope="module")
def audit(cluster: Cluster) -> Audit:
    return Audit(cluster.sandbox.directory / "audit.log" if cluster.sandbox else None, cluster.client)
