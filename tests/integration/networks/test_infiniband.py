# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""examples/infiniband.yml: both operators, pools of addresses, and a NIC driver that comes first."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from cluster import Cluster, must_get
from integration.networks.test_gpu_network import SRIOV, Data, held
from integration.playbook import ROOT, Playbook
from integration.troubles.demo import PATIENT
from integration.wire import Audit

SCENARIO: t.Final = "networks"
pytestmark = pytest.mark.story("one cluster gets the networks of the example, and gives them back")

EXAMPLE: t.Final[Data] = yaml.safe_load((ROOT / "examples/infiniband.yml").read_text())
POOL: t.Final[Data] = EXAMPLE["gpu_pools"][0]
VARIABLES: t.Final[Data] = {
    **EXAMPLE,
    **PATIENT,
    "nvidia_network_operator_wait_timeout": 90,
    "gpu_pools": [
        POOL | {"existing": {"node_selector": {"rdma": "infiniband"}, "expected": {"nvidia.com/gpu": 8}}}
    ],
}


@pytest.fixture(scope="module", autouse=True)
def team(cluster: Cluster) -> None:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})


def test_the_example_brings_its_networks(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    run = playbook.playbook("enable_gpus", **VARIABLES)
    assert run.rc == 0, run.output
    offered = must_get(cluster.client, "v1", "nodes", "ib-0")["status"]["allocatable"]
    assert (offered["nvidia.com/gpu"], offered["openshift.io/ib_rail_0"]) == ("8", "8")
    config = must_get(
        cluster.client, "sriovnetwork.openshift.io/v1", "sriovoperatorconfigs", "default", SRIOV
    )
    assert "network.nvidia.com/operator.mofed.wait" in config["spec"]["configDaemonNodeSelector"]
    (pool, _storage) = cluster.client.list("nv-ipam.nvidia.com/v1alpha1", "ippools")
    assert [entry["nodeName"] for entry in pool["status"]["allocations"]] == ["ib-0", "ib-1"]
    again = playbook.playbook("enable_gpus", **VARIABLES)
    assert (again.rc, again.changed, audit.writes(*again.tasks)) == (0, 0, [])


def test_a_removal_gives_the_networks_back(cluster: Cluster, playbook: Playbook) -> None:
    run = playbook.playbook("remove_gpus", **VARIABLES)
    assert run.rc == 0, run.output
    assert {plural: names for plural, names in held(cluster).items() if names} == {}
    for plural in ("macvlannetworks", "ipoibnetworks", "hostdevicenetworks"):
        assert cluster.client.list("mellanox.com/v1alpha1", plural) == []
    assert cluster.client.list("nv-ipam.nvidia.com/v1alpha1", "ippools") == []
