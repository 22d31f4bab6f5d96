# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks with networks: what plan.yml names, what enable_gpus.yml brings, what a removal leaves."""

from __future__ import annotations

import json
import typing as t

import pytest
from cluster import Cluster, must_get
from integration.networks.test_gpu_network import MACVLAN, RAIL, SRIOV, Data, held
from integration.playbook import Playbook
from integration.troubles.demo import QUICK
from integration.wire import Audit

SCENARIO: t.Final = "networks"
pytestmark = pytest.mark.story("one cluster gets GPUs with networks, and gives both back")

NETWORKS: t.Final = [{**network, "pools": ["eth"], "namespaces": ["team-a"]} for network in (MACVLAN, RAIL)]
VARIABLES: t.Final[Data] = {
    **QUICK,
    "gpu_pools": [
        {
            "name": "eth",
            "existing": {"node_selector": {"rdma": "ethernet"}, "expected": {"nvidia.com/gpu": 2}},
        }
    ],
    "gpu_networks": NETWORKS,
}


@pytest.fixture(scope="module", autouse=True)
def team(cluster: Cluster) -> None:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})


def test_a_wrong_network_is_refused_before_anything_else(playbook: Playbook, audit: Audit) -> None:
    twice = [*NETWORKS, {**NETWORKS[1], "name": "rail-1"}]
    run = playbook.playbook("enable_gpus", **{**VARIABLES, "gpu_networks": twice})
    codes = [problem["code"] for problem in run.failure["problems"]]
    assert codes == ["NET-OVERLAP", "NET-VF-OVERLAP"]
    assert audit.writes(*run.tasks) == []


def test_a_plan_names_the_nodes_that_may_reboot(playbook: Playbook, audit: Audit) -> None:
    run = playbook.playbook("plan", **VARIABLES)
    assert run.rc == 0, run.output
    assert audit.writes(*run.tasks) == []
    assert f"reboot  eth-0, eth-1 (SriovNetworkNodePolicy {SRIOV}/rail-0-eth)" in run.output
    assert "make    NetworkAttachmentDefinition team-a/storage" in run.output


def test_a_plan_names_the_nic_driver_before_its_operator_is_there(playbook: Playbook, audit: Audit) -> None:
    driver: dict[str, t.Any] = {"nvidia_network_operator_nic_cluster_policy": {"ofed_driver": {}}}
    run = playbook.playbook("plan", **VARIABLES, **driver)
    assert run.rc == 0, run.output
    assert audit.writes(*run.tasks) == []
    assert "make    NicClusterPolicy nic-cluster-policy" in run.output


def test_a_run_brings_gpus_and_networks(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    run = playbook.playbook("enable_gpus", **VARIABLES)
    assert run.rc == 0, run.output
    offered = must_get(cluster.client, "v1", "nodes", "eth-1")["status"]["allocatable"]
    assert (offered["nvidia.com/gpu"], offered["openshift.io/rail_0"]) == ("2", "8")
    again = playbook.playbook("enable_gpus", **VARIABLES)
    assert (again.rc, again.changed, audit.writes(*again.tasks)) == (0, 0, [])


def test_nothing_differs_then(playbook: Playbook, audit: Audit) -> None:
    run = playbook.playbook("drift", **VARIABLES)
    assert run.rc == 0, run.output
    assert audit.writes(*run.tasks) == []


def test_drift_tells_what_somebody_changed_and_what_the_list_lost(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    place = ("sriovnetwork.openshift.io/v1", "sriovnetworknodepolicies", "rail-0-eth", SRIOV)
    cluster.client.patch(*place, {"spec": {"numVfs": 4}})
    refused = playbook.playbook("enable_gpus", "--tags", "gpu_network", **VARIABLES)
    assert refused.failure["code"] == "API-CONFLICT"
    assert "rail-0-eth: spec.numVfs is 4" in refused.failure["message"]
    assert audit.writes(*refused.tasks) == []
    run = playbook.playbook("drift", **{**VARIABLES, "gpu_networks": NETWORKS[1:]})
    shown = next(task["msg"] for task in run.tasks if task.name == "Show it as JSON")
    found = {entry["object"]: entry for entry in json.loads(shown.removeprefix("drift "))["findings"]}
    policy, lost = found[f"SriovNetworkNodePolicy {SRIOV}/rail-0-eth"], found["network storage"]
    assert policy["fields"] == [{"field": "spec.numVfs", "live": 4, "wanted": 8}]
    assert policy["command"].endswith("enable_gpus -e @FILE --tags gpu_network -e gpu_network_adopt=take")
    assert '"networks": [{"name": "storage"}], "state": "absent"' in lost["command"]
    assert audit.writes(*run.tasks) == []


def test_the_command_of_drift_takes_the_change_back(cluster: Cluster, playbook: Playbook) -> None:
    """The name of a network alone is enough for the other command."""
    more = {"gpu_network_adopt": "take", "gpu_on_busy": "drain"}
    run = playbook.playbook("enable_gpus", "--tags", "gpu_network", **VARIABLES, **more)
    assert run.rc == 0, run.output
    gone = playbook.module("gpu_network", networks=[{"name": "storage"}], state="absent")
    assert not gone.failed, gone.result
    found = held(cluster)
    assert (found["network-attachment-definitions"], found["sriovnetworks"]) == ({"rail-0"}, {"rail-0"})
    run = playbook.playbook("drift", **{**VARIABLES, "gpu_networks": NETWORKS[1:]})
    assert run.rc == 0, run.output


def test_a_pool_that_goes_leaves_the_network(cluster: Cluster, playbook: Playbook) -> None:
    """The nodes stay: this pool has nodes that were there before."""
    run = playbook.playbook("remove_pool", "--tags", "gpu_network", gpu_pool="eth")
    assert run.rc == 0, run.output
    found = held(cluster)
    assert (found["sriovnetworknodepolicies"], found["sriovnetworks"]) == (set(), {"rail-0"})


def test_a_removal_gives_the_networks_back(cluster: Cluster, playbook: Playbook) -> None:
    """The GPU operator stays: nodes of no pool have GPUs too."""
    run = playbook.playbook("remove_gpus", **VARIABLES)
    assert run.rc == 0, run.output
    assert {plural: names for plural, names in held(cluster).items() if names} == {}
    assert cluster.client.get("v1", "namespaces", SRIOV) is None
    node = must_get(cluster.client, "v1", "nodes", "eth-1")
    assert node["status"]["allocatable"].get("openshift.io/rail_0", "0") == "0"
