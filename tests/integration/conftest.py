# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the integration tests: the playbook runner, the audit log, both ways to run a module.

The runner and the log are made for each file, because some folders replace `cluster` for each file.
"""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.twelve_steps import Walks
from integration.wire import Audit


@pytest.fixture(scope="module")
def playbook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    return Playbook(tmp_path_factory.mktemp("playbooks"), cluster.kubeconfig)


@pytest.fixture(scope="module")
def audit(cluster: Cluster) -> Audit:
    return Audit(cluster.sandbox.directory / "audit.log" if cluster.sandbox else None, cluster.client)


@pytest.fixture(scope="session")
def team(cluster: Cluster) -> t.Iterator[str]:
    """Yield the namespace of a team: gpu_quota refuses those of the platform, such as `default`."""
    metadata = {"name": "it-team"}
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    yield metadata["name"]
    cluster.client.delete("v1", "namespaces", metadata["name"])


@pytest.fixture(params=[True, False], ids=["in-process", "module"])
def in_process(request: pytest.FixtureRequest) -> bool:
    """Run the test twice: with the module in Ansible's process, and with the module as a program."""
    return bool(request.param)


@pytest.fixture(scope="module")
def walks(playbook: Playbook, audit: Audit) -> Walks:
    return Walks(playbook, audit)
