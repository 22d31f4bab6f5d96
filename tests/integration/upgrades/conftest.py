# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: a sandbox for each test file with its SCENARIO, the operators, and the upgrades on it."""

from __future__ import annotations

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.stack.operators.subscribed import subscribe
from integration.upgrades.upgrades import OPERATORS, Upgrades
from integration.wire import Audit
from own_cluster import cluster

__all__ = ["cluster"]


@pytest.fixture(scope="module")
def playbook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    made = Playbook(tmp_path_factory.mktemp("upgrades"), cluster.kubeconfig)
    subscribe(made, OPERATORS)
    return made


@pytest.fixture(scope="module")
def upgrades(cluster: Cluster, playbook: Playbook, audit: Audit) -> Upgrades:
    return Upgrades(cluster, playbook, audit)


@pytest.fixture(scope="module")
def installed(upgrades: Upgrades) -> Upgrades:
    """Install the stack with the old driver."""
    upgrades.install()
    return upgrades
