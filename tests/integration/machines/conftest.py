# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: a pool that lives for one test file, and pools that live for one test."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.machines.living_pool import SPACE, Pool
from integration.patience import until
from integration.platforms.pools import Pools
from integration.playbook import Playbook
from integration.wire import Audit


@pytest.fixture(scope="module")
def pool(cluster: Cluster, playbook: Playbook) -> t.Iterator[Pool]:
    cluster.needs_sandbox()
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    made = Pool(cluster, playbook)
    done = made.apply()
    assert not done.failed, done.result
    yield made
    cluster.client.delete("v1", "namespaces", SPACE)
    gone = made.apply(state="absent", on_busy="drain", delete_emptydir=True, evict_unmanaged=True)
    assert not gone.failed, gone.result
    until(lambda: cluster.client.get("v1", "namespaces", SPACE) is None, f"namespace {SPACE} gone")


@pytest.fixture(scope="module")
def all_pools(cluster: Cluster, playbook: Playbook, audit: Audit) -> Pools:
    return Pools(cluster.client, cluster.needs_sandbox(), playbook, audit)


@pytest.fixture
def pools(all_pools: Pools) -> t.Iterator[Pools]:
    """Remove all pools after the test, so that a failed test does not break the next one."""
    yield all_pools
    for name in all_pools.names():
        all_pools.remove({"name": name})


@pytest.fixture
def unscaled(cluster: Cluster, playbook: Playbook) -> t.Iterator[None]:
    """Remove the scaled pool and the ClusterAutoscaler after the test."""
    yield
    playbook.module("gpu_machineset", name="it-burst", state="absent")
    cluster.client.delete("autoscaling.openshift.io/v1", "clusterautoscalers", "default")
