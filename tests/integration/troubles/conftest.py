# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: runs of the demo against the cluster of the tests, and the diagnosis of a cluster."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.troubles.demo import PATIENT, Demo
from integration.troubles.diagnosed import POOLS, Diagnosis


@pytest.fixture(scope="module")
def demo(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Demo]:
    cluster.needs_sandbox()
    made = Demo(tmp_path_factory.mktemp("troubles"), cluster.kubeconfig)
    yield made
    assert made.remove().rc == 0


@pytest.fixture(scope="module")
def diagnosis(request: pytest.FixtureRequest, cluster: Cluster, playbook: Playbook) -> Diagnosis:
    cluster.needs_sandbox()
    return Diagnosis(cluster, playbook, bool(request.config.getoption("--record")))


@pytest.fixture(scope="module")
def working(diagnosis: Diagnosis) -> Diagnosis:
    """Bring the stack to the nodes of scenario gpu-nodes."""
    run = diagnosis.playbook.playbook("enable_gpus", gpu_pools=POOLS, **PATIENT)
    assert run.rc == 0, run.output[-3000:]
    return diagnosis
