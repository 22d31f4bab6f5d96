# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: a sandbox for each test file with its SCENARIO, the operators, and the upgrades on it."""

from __future__ import annotations

import os
import typing as t
from pathlib import Path

import pytest
from cluster import Cluster, running
from integration.playbook import Playbook
from integration.twelve_steps import task
from integration.upgrades.upgrades import OPERATORS, Upgrades
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
    made = Playbook(tmp_path_factory.mktemp("upgrades"), cluster.kubeconfig, program)
    run = made.tasks(
        *(task("olm_operator", name=name, namespace=namespace) for name, namespace in OPERATORS.items()),
        task("nfd_labels"),
    )
    assert run.rc == 0, run.output[-3000:]
    return made


@pytest.fixture(scope="module")
def audit(cluster: Cluster) -> Audit:
    return Audit(cluster.needs_sandbox().audit_log, cluster.client)


@pytest.fixture(scope="module")
def upgrades(cluster: Cluster, playbook: Playbook, audit: Audit) -> Upgrades:
    return Upgrades(cluster, playbook, audit)
