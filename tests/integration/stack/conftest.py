# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: a sandbox for each test file with its SCENARIO, node labels and the file's OPERATORS."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, own, running
from integration.playbook import Playbook
from integration.stack.operators.subscribed import subscribe
from integration.wire import Audit


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> t.Iterator[Cluster]:
    scenario = request.module.SCENARIO
    with running(scenario) if scenario == "aws" else own(scenario) as found:
        yield found


@pytest.fixture(scope="module")
def playbook(
    cluster: Cluster,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Playbook:
    made = Playbook(tmp_path_factory.mktemp(request.path.stem), cluster.kubeconfig)
    operators: dict[str, str] = getattr(request.module, "OPERATORS", {})
    if operators:
        subscribe(made, operators)
    return made


@pytest.fixture(scope="module")
def audit(cluster: Cluster) -> Audit:
    return Audit(cluster.needs_sandbox().directory / "audit.log", cluster.client)
