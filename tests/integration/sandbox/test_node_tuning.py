# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node tuning in the sandbox: Profiles switch by a label, and pools reboot the nodes that they change."""

from __future__ import annotations

import typing as t

import pytest
from cluster import must_get
from integration.patience import until

from openshift_sandbox.client import Client

SCENARIO = "node-tuning"
pytestmark = [
    pytest.mark.long("the sandbox itself: the tests of node_tuning use what this one tests piece by piece"),
    pytest.mark.story("a Tuned, then a pool, then its rollout, then a PerformanceProfile"),
]
Data = dict[str, t.Any]

TUNED = "tuned.openshift.io/v1"
NAMESPACE = "openshift-cluster-node-tuning-operator"
CONFIG = "machineconfiguration.openshift.io/v1"
KEYS = "machineconfiguration.openshift.io/"
POOL = "accelerators.openshift/pool"
NODES = ("gpu-0", "gpu-1")
TEXT = "[main]\ninclude=openshift-node\n[sysctl]\nnet.core.rmem_max=536870912\n"
NAME = "gpu-training"


def profile(client: Client, node: str) -> tuple[str, str, dict[str, str]]:
    """Return wanted and active profile, and the conditions, of a node."""
    found = must_get(client, TUNED, "profiles", node, NAMESPACE)
    states = {one["type"]: one["status"] for one in found["status"]["conditions"]}
    return found["spec"]["config"]["tunedProfile"], found["status"]["tunedProfile"], states


def boot(client: Client, node: str) -> str:
    return str(must_get(client, "v1", "nodes", node)["status"]["nodeInfo"]["bootID"])


def is_done(client: Client, arguments: list[str]) -> bool:
    """Return whether the pool has rolled out a configuration with these kernel arguments."""
    pool = must_get(client, CONFIG, "machineconfigpools", NAME)
    wanted = (pool["spec"].get("configuration") or {}).get("name")
    status = pool.get("status") or {}
    if not wanted or (status.get("configuration") or {}).get("name") != wanted:
        return False
    spec = must_get(client, CONFIG, "machineconfigs", wanted)["spec"]
    states = {one["type"]: one["status"] for one in status["conditions"]}
    return bool(
        spec.get("kernelArguments") == arguments
        and states["Updated"] == "True"
        and status["updatedMachineCount"] == status["machineCount"] == len(NODES)
        and status["observedGeneration"] == pool["metadata"]["generation"]
    )


def test_a_fresh_cluster_has_a_profile_for_each_node(client: Client) -> None:
    nodes = {one["metadata"]["name"] for one in client.list("v1", "nodes")}
    assert {one["metadata"]["name"] for one in client.list(TUNED, "profiles", NAMESPACE)} == nodes
    healthy = {"Applied": "True", "Degraded": "False"}
    assert profile(client, "gpu-0") == ("openshift-node", "openshift-node", healthy)


def test_a_tuned_switches_the_nodes_with_a_label(client: Client) -> None:
    rule = {"profile": NAME, "priority": 20, "match": [{"label": POOL, "value": "training"}]}
    client.create(
        {
            "apiVersion": TUNED,
            "kind": "Tuned",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "spec": {"profile": [{"name": NAME, "data": TEXT}], "recommend": [rule]},
        }
    )
    healthy = {"Applied": "True", "Degraded": "False"}
    until(
        lambda: all(profile(client, node) == (NAME, NAME, healthy) for node in NODES),
        f"{NAME} on the nodes of the pool",
    )
    assert profile(client, "gpu-2")[0] == "openshift-node"


def test_a_pool_that_adds_nothing_reboots_no_node(client: Client) -> None:
    before = [boot(client, node) for node in NODES]
    roles = {"key": f"{KEYS}role", "operator": "In", "values": ["worker", NAME]}
    client.create(
        {
            "apiVersion": CONFIG,
            "kind": "MachineConfigPool",
            "metadata": {"name": NAME, "labels": {POOL: "training"}},
            "spec": {
                "machineConfigSelector": {"matchExpressions": [roles]},
                "nodeSelector": {"matchLabels": {POOL: "training"}},
            },
        }
    )
    until(lambda: is_done(client, []), "the pool has its two nodes")
    assert [boot(client, node) for node in NODES] == before


def test_a_machine_config_reboots_each_node_once(client: Client) -> None:
    before = {node: boot(client, node) for node in (*NODES, "gpu-2")}
    client.create(
        {
            "apiVersion": CONFIG,
            "kind": "MachineConfig",
            "metadata": {"name": f"99-{NAME}-kernel", "labels": {f"{KEYS}role": NAME}},
            "spec": {"kernelArguments": ["iommu=pt"]},
        }
    )
    until(lambda: is_done(client, ["iommu=pt"]), "the rollout ends")
    nodes = [must_get(client, "v1", "nodes", node) for node in NODES]
    assert all(boot(client, node) != before[node] for node in NODES)
    assert boot(client, "gpu-2") == before["gpu-2"]
    assert not any(node["spec"].get("unschedulable") for node in nodes)
    assert {node["metadata"]["annotations"][f"{KEYS}state"] for node in nodes} == {"Done"}


def test_a_performance_profile_makes_one_rollout(client: Client) -> None:
    client.create(
        {
            "apiVersion": "performance.openshift.io/v2",
            "kind": "PerformanceProfile",
            "metadata": {"name": NAME},
            "spec": {
                "cpu": {"isolated": "4-191", "reserved": "0-3"},
                "nodeSelector": {POOL: "training"},
                "machineConfigLabel": {f"{KEYS}role": NAME},
                "workloadHints": {"realTime": False},
            },
        }
    )
    client.delete(TUNED, "tuneds", NAME, NAMESPACE)
    arguments = ["nohz=on", "rcu_nocbs=4-191", "isolcpus=managed_irq,4-191", "iommu=pt"]
    until(lambda: is_done(client, arguments), "the rollout of the PerformanceProfile")
    until(
        lambda: must_get(client, "v1", "nodes", "gpu-0")["status"]["allocatable"]["cpu"] == "188",
        "four CPUs are reserved",
    )
    client.delete("performance.openshift.io/v2", "performanceprofiles", NAME)
    until(lambda: is_done(client, ["iommu=pt"]), "the rollback")
    assert client.get("performance.openshift.io/v2", "performanceprofiles", NAME) is None


def test_the_pool_gives_its_nodes_back(client: Client) -> None:
    client.delete(CONFIG, "machineconfigs", f"99-{NAME}-kernel")
    client.delete(CONFIG, "machineconfigpools", NAME)
    worker = must_get(client, CONFIG, "machineconfigpools", "worker")["spec"]["configuration"]["name"]

    def are_workers() -> bool:
        nodes = [must_get(client, "v1", "nodes", node) for node in NODES]
        notes = [node["metadata"]["annotations"] for node in nodes]
        return all((one[f"{KEYS}currentConfig"], one[f"{KEYS}state"]) == (worker, "Done") for one in notes)

    until(are_workers, "the nodes are workers again")


def test_stand_ins_rest_when_nothing_happens(rest: t.Callable[[], bool]) -> None:
    assert until(rest, "three seconds without a write")
