# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools on the platform that a file names as its SCENARIO: the sandbox of the whole run for AWS, one of its own for each other."""

from __future__ import annotations

import os
import typing as t

import pytest
from cluster import running
from integration.platforms.pools import Pools
from integration.playbook import Playbook
from integration.wire import Audit


@pytest.fixture
def pools(platform: Pools) -> t.Iterator[Pools]:
    """What a test that failed has left is not the next one's trouble."""
    yield platform
    for name in platform.names():
        platform.remove({"name": name})


@pytest.fixture(scope="module")
def platform(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Pools]:
    scenario = request.module.SCENARIO
    if scenario == "aws":
        yield _on(request.getfixturevalue("cluster"), tmp_path_factory)
        return
    if os.environ.get("KUBECONFIG"):
        pytest.skip(f"needs a cluster of its own: scenario {scenario}")
    with running(scenario) as cluster:
        yield _on(cluster, tmp_path_factory)


def _on(cluster: t.Any, tmp_path_factory: pytest.TempPathFactory) -> Pools:
    sandbox = cluster.needs_sandbox()
    return Pools(
        cluster.client,
        sandbox,
        Playbook(tmp_path_factory.mktemp("platform"), cluster.kubeconfig),
        Audit(sandbox.directory / "audit.log", cluster.client),
    )
