# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tuning of pools by playbooks: profiles on running nodes, what reboots them, and all given back."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
TUNED: t.Final = "tuned.openshift.io/v1"
SPACE: t.Final = "openshift-cluster-node-tuning-operator"
GROUP: t.Final = "machineconfiguration.openshift.io/v1"
POOL: t.Final = "gpu-inference"

pytestmark = pytest.mark.story("a pool is tuned, changed and given back")


def pools(**tuning: t.Any) -> list[Data]:
    selector = {"accelerators.openshift/pool": "inference"}
    existing = {"node_selector": selector, "expected": {"nvidia.com/gpu": 1}}
    return [{"name": "inference", "existing": existing, "tuning": tuning}]


def profiles(cluster: Cluster) -> dict[str, str]:
    """Return the active profile of each node."""
    found = cluster.client.list(TUNED, "profiles", SPACE)
    return {one["metadata"]["name"]: one["status"]["tunedProfile"] for one in found}


def gpu_nodes(cluster: Cluster) -> dict[str, str]:
    return {name: found for name, found in profiles(cluster).items() if name.startswith(("t4", "a100"))}


def objects(cluster: Cluster) -> dict[str, set[str]]:
    """Return the names of everything that tuning writes, by plural."""
    kinds = [(TUNED, "tuneds"), *((GROUP, one) for one in ("machineconfigpools", "kubeletconfigs"))]
    kinds.append(("performance.openshift.io/v2", "performanceprofiles"))
    return {
        plural: {one["metadata"]["name"] for one in cluster.client.list(version, plural)}
        for version, plural in kinds
    }


@pytest.fixture(scope="module")
def before(cluster: Cluster) -> dict[str, set[str]]:
    until(lambda: len(gpu_nodes(cluster)) == 3, "every node has a Profile")
    return objects(cluster)


def test_the_plan_names_the_object_and_no_reboot(
    cluster: Cluster, playbook: Playbook, before: dict[str, set[str]]
) -> None:
    run = playbook.playbook("tune_nodes", "--check", gpu_pools=pools(profile="accelerator"))
    assert run.rc == 0, run.output
    assert objects(cluster) == before


def test_the_nodes_of_the_pool_run_its_profile(cluster: Cluster, playbook: Playbook) -> None:
    run = playbook.playbook("tune_nodes", gpu_pools=pools(profile="accelerator"))
    assert run.rc == 0, run.output
    assert gpu_nodes(cluster) == {"t4-0": POOL, "t4-1": POOL, "a100-0": "openshift-node"}


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    run = playbook.playbook("tune_nodes", gpu_pools=pools(profile="accelerator"))
    assert (run.rc, run.changed) == (0, 0), run.output
    assert audit.written(since) == []


def test_what_reboots_nodes_is_refused_with_their_names(cluster: Cluster, playbook: Playbook) -> None:
    asked = pools(profile="accelerator", kernel_arguments=["iommu=pt"])
    run = playbook.playbook("tune_nodes", gpu_pools=asked)
    assert run.rc != 0
    assert run.failure["code"] == "REBOOT-NEVER"
    assert "t4-0, t4-1" in run.failure["msg"]
    assert POOL not in objects(cluster)["machineconfigpools"]


def test_planned_reboots_bring_all_settings(cluster: Cluster, playbook: Playbook) -> None:
    cpus = {"reserved": "0-1", "isolated": "2-3"}
    asked = pools(profile="accelerator", isolate=cpus, kernel_arguments=["iommu=pt"], reboot="planned")
    run = playbook.playbook("tune_nodes", gpu_pools=asked)
    assert run.rc == 0, run.output
    assert gpu_nodes(cluster) == {"t4-0": POOL, "t4-1": POOL, "a100-0": "openshift-node"}
    assert POOL in objects(cluster)["performanceprofiles"]
    again = playbook.playbook("tune_nodes", gpu_pools=asked)
    assert (again.rc, again.changed) == (0, 0), again.output


def test_a_removal_asks_before_its_first_write_for_pods_on_nodes_that_would_reboot(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    client, since = cluster.client, audit.position()
    container = {
        "name": "main",
        "image": "example.com/train",
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    metadata = {"name": "trainer", "namespace": "default"}
    spec = {"nodeName": "t4-0", "containers": [container], "terminationGracePeriodSeconds": 0}
    client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    asked = pools(profile="accelerator", kernel_arguments=["iommu=pt"], reboot="planned")
    run = playbook.playbook("remove_gpus", gpu_pools=asked)
    client.delete("v1", "pods", "trainer", "default")
    assert run.failure["code"] == "REBOOT-BUSY"
    assert "default/trainer" in run.failure["msg"]
    assert audit.written(since) == []


def test_without_them_the_nodes_go_back_to_worker(cluster: Cluster, playbook: Playbook) -> None:
    run = playbook.playbook("tune_nodes", gpu_pools=pools(profile="accelerator", reboot="planned"))
    assert run.rc == 0, run.output
    assert POOL not in objects(cluster)["machineconfigpools"]
    assert gpu_nodes(cluster)["t4-0"] == POOL


def test_everything_is_given_back(cluster: Cluster, playbook: Playbook, before: dict[str, set[str]]) -> None:
    found = playbook.module("node_tuning", pools=[{"name": "inference"}], state="absent")
    assert found.changed
    assert objects(cluster) == before
    assert set(gpu_nodes(cluster).values()) == {"openshift-node"}
