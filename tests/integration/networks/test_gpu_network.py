# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks on nodes with cards: a pod with two interfaces, virtual functions, refusals, a removal."""

from __future__ import annotations

import json
import typing as t

import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, TaskResult
from integration.wire import Audit

SCENARIO: t.Final = "networks"
Data = dict[str, t.Any]
pytestmark = pytest.mark.story("one cluster gets its networks, uses them, and gives them back")

SRIOV: t.Final = "openshift-sriov-network-operator"
POOLS: t.Final = [{"name": "eth", "node_selector": {"rdma": "ethernet"}}]
MACVLAN: t.Final[Data] = {
    "name": "storage",
    "kind": "macvlan",
    "pools": POOLS,
    "namespaces": ["team-a", "team-b"],
    "ipam": {"type": "whereabouts", "range": "192.168.100.0/24"},
    "macvlan": {"master": "ens1f0np0", "mode": "bridge"},
}
RAIL: t.Final[Data] = {
    "name": "rail-0",
    "kind": "sriov",
    "pools": POOLS,
    "namespaces": ["team-a"],
    "ipam": {"type": "whereabouts", "range": "10.10.0.0/16"},
    "mtu": 9000,
    "sriov": {"vfs": 8, "interfaces": ["ens2f0np0"]},
}
BOTH: t.Final[Data] = {"networks": [MACVLAN, RAIL], "wait_timeout": 120}


def run(playbook: Playbook, **options: t.Any) -> TaskResult:
    found = playbook.module("gpu_network", **options)
    assert not found.failed, found.result
    return found


@pytest.fixture(scope="module")
def before(cluster: Cluster, playbook: Playbook) -> dict[str, set[str]]:
    """Make the namespaces of the teams, install the SR-IOV operator, and return the objects of networks."""
    for space in ("team-a", "team-b"):
        cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
    operator: Data = {"name": "sriov-network-operator", "namespace": SRIOV, "source": "redhat-operators"}
    found = playbook.module("olm_operator", **operator)
    assert not found.failed, found.result
    return held(cluster)


def held(cluster: Cluster) -> dict[str, set[str]]:
    """Return the names of the objects of networks."""
    kinds = ("networks", "ibnetworks", "networknodepolicies", "networknodestates", "networkpoolconfigs")
    paths = [("sriovnetwork.openshift.io/v1", f"sriov{one}") for one in (*kinds, "operatorconfigs")]
    paths.append(("k8s.cni.cncf.io/v1", "network-attachment-definitions"))
    return {
        plural: {one["metadata"]["name"] for one in cluster.client.list(version, plural)}
        for version, plural in paths
    }


def test_a_run_brings_both_networks(cluster: Cluster, playbook: Playbook, before: Data) -> None:
    check = playbook.module("gpu_network", check=True, **BOTH)
    assert check["rebooted"] == ["eth-0", "eth-1"]
    found = run(playbook, **BOTH)
    storage, rail = found["networks"]
    assert (storage["state"], rail["state"]) == ("ready", "ready")
    assert rail["nodes"] == {"eth-0": 8, "eth-1": 8}
    assert rail["resources"] == {"openshift.io/rail_0": 1}
    made = must_get(cluster.client, "v1", "nodes", "eth-0")["status"]["allocatable"]
    assert made["openshift.io/rail_0"] == "8"


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    again = run(playbook, **BOTH)
    assert (again.changed, audit.writes(again)) == (False, [])


def test_a_pod_has_both_interfaces(cluster: Cluster) -> None:
    annotations = {"k8s.v1.cni.cncf.io/networks": "storage@net0,rail-0"}
    container = {
        "name": "c",
        "image": "registry.access.redhat.com/ubi9/ubi",
        "command": ["sleep", "infinity"],
        "resources": {"limits": {"openshift.io/rail_0": "1"}},
    }
    metadata = {"name": "two", "namespace": "team-a", "annotations": annotations}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
    cluster.client.apply(pod)

    def status() -> list[Data]:
        live = must_get(cluster.client, "v1", "pods", "two", "team-a")
        found: list[Data] = json.loads(
            live["metadata"]["annotations"].get("k8s.v1.cni.cncf.io/network-status", "[]")
        )
        return found

    until(lambda: len(status()) == 3, "three interfaces")
    own, first, second = status()
    assert (own["interface"], first["interface"], second["name"]) == ("eth0", "net0", "team-a/rail-0")
    assert first["ips"][0].startswith("192.168.100.")


def test_a_change_that_drains_a_busy_node_is_refused(playbook: Playbook, audit: Audit) -> None:
    fewer = {**RAIL, "sriov": {**RAIL["sriov"], "vfs": 4}}
    found = playbook.module("gpu_network", networks=[MACVLAN, fewer])
    assert (found["code"], audit.writes(found)) == ("NET-BUSY", [])
    assert "team-a/two" in found["message"]


@pytest.mark.parametrize(
    ("network", "code", "says"),
    [
        (
            {**RAIL, "sriov": {"vfs": 8, "interfaces": ["ens9"]}},
            "NET-REFUSED",
            "no supported NIC is selected",
        ),
        ({**RAIL, "namespaces": ["team-x"]}, "NET-NAMESPACE", "gpu_networks[0].namespaces[0]"),
        (
            {**RAIL, "ipam": {"type": "whereabouts", "range": "10.128.0.0/16"}},
            "NET-OVERLAP",
            "which the cluster gives to pods",
        ),
        (
            {
                **MACVLAN,
                "kind": "ipoib",
                "name": "ib",
                "macvlan": None,
                "ipoib": {"master": "ens1f0np0"},
                "namespaces": ["team-a"],
            },
            "NET-NO-OPERATOR",
            "gpu_networks[0].kind",
        ),
        (
            {**MACVLAN, "ipam": {"type": "whereabouts", "range": "192.168.100.0/32"}},
            "NET-TOO-SMALL",
            "ipam.range",
        ),
    ],
)
def test_what_cannot_work_is_refused(
    playbook: Playbook, audit: Audit, network: Data, code: str, says: str
) -> None:
    found = playbook.module("gpu_network", networks=[network], on_busy="drain")
    assert (found["code"], audit.writes(found)) == (code, [])
    assert says in found["message"]


def test_a_removal_gives_everything_back(cluster: Cluster, playbook: Playbook, before: Data) -> None:
    refused = playbook.module("gpu_network", state="absent", **BOTH)
    assert refused["code"] == "NET-BUSY"
    found = run(playbook, state="absent", on_busy="drain", **BOTH)
    assert found["needed_by"] == []
    until(lambda: held(cluster) == before, "everything back")
    node = must_get(cluster.client, "v1", "nodes", "eth-0")
    assert node["status"]["allocatable"].get("openshift.io/rail_0", "0") == "0"
    assert not node["spec"].get("unschedulable")
