# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the task asks before it writes a NicClusterPolicy, and what it refuses."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.impact.test_consent import node as node_with
from unit.managed import live
from unit.nodes.builders import pod
from unit.remedies.case import checked

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import merge
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import driver
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.steps import (
    example_csvs,
    installed_csvs,
)
from ansible_collections.accelerators.openshift.plugins.modules import special_resource

Data = dict[str, t.Any]
NIC: t.Final = dict([driver.NIC_NODES.split("=")])
IMAGE: t.Final = {"version": "doca3.5.0", "repository": "nvcr.io/nvidia/mellanox"}
VERSION: t.Final = "mellanox.com/v1alpha1"


def nics(**driver_parts: t.Any) -> Data:
    spec = {"ofedDriver": {"image": "doca-driver", **IMAGE, "version": "doca3.4.0", **driver_parts}}
    metadata = {"name": "nic-cluster-policy"}
    return {"apiVersion": VERSION, "kind": "NicClusterPolicy", "metadata": metadata, "spec": spec}


def using(resource: str) -> Data:
    container = {"name": "c", "image": "i", "resources": {"limits": {resource: "1"}}}
    found = pod("mpi", node="n1")
    return {**found, "apiVersion": "v1", "kind": "Pod", "spec": {**found["spec"], "containers": [container]}}


def network(**more: t.Any) -> Data:
    adapter = {"name": "ens1f0np0", "type": "ethernet", "state": "up", "driver": "mlx5_core", **more}
    return {
        "apiVersion": "nmstate.io/v1beta1",
        "kind": "NodeNetworkState",
        "metadata": {"name": "n1"},
        "status": {"currentState": {"interfaces": [adapter], "routes": {"running": []}}},
    }


USED: t.Final = {"ipv4": {"address": [{"ip": "192.168.7.2"}]}}


def server_with(*objects: Data) -> FakeServer:
    server = FakeServer(
        "NicClusterPolicy",
        "NicNodePolicy",
        "NodeNetworkState",
        "ClusterServiceVersion",
        "PackageManifest",
        "Node",
        "Pod",
        "DaemonSet",
        "ControllerRevision",
    )
    for one in (node_with("n1", **NIC), *objects):
        server.put(one)
    return server


def run(server: FakeServer, **options: t.Any) -> Api:
    api = api_on(server, check_mode=True)
    given = {"backend": "nicclusterpolicy", "nic_cluster_policy": {"ofed_driver": IMAGE}, **options}
    special_resource.ensure(api, checked("special_resource", given))
    return api


def refused(server: FakeServer, **options: t.Any) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as caught:
        run(server, **options)
    assert server.writes() == []
    return caught.value


@pytest.mark.parametrize("resource", ["rdma/rdma_a", "openshift.io/mlnx_vfs", "nvidia.com/hostdev"])
@pytest.mark.parametrize("there", [[], [live(nics())]], ids=["first driver", "another version"])
def test_pods_with_network_devices_alone_are_work(resource: str, there: list[Data]) -> None:
    found = refused(server_with(network(), using(resource), *there))
    assert found.code == "NIC-BUSY"
    assert f"n1: pod team/mpi of ReplicaSet o: 1 {resource}" in "; ".join(found.evidence)


def test_a_node_that_sends_through_its_adapter_keeps_the_driver_unless_told() -> None:
    found = refused(server_with(network(**USED)))
    assert found.code == "NIC-TRAFFIC"
    assert "n1: ens1f0np0 has the node's address 192.168.7.2" in found.message
    assert run(server_with(network(**USED)), node_traffic="accept").warnings == []
    assert run(server_with(network())).warnings == []


def test_nodes_that_nobody_shows_are_told() -> None:
    (warning,) = run(server_with()).warnings
    assert "the task cannot tell whether n1 send through NVIDIA adapters" in warning


def test_a_removal_and_a_change_of_the_driver_look_at_the_traffic_too() -> None:
    for options in ({}, {"state": "absent", "nic_cluster_policy": None}):
        assert refused(server_with(live(nics()), network(**USED)), **options).code == "NIC-TRAFFIC"
    same = live(merge(nics(**IMAGE), {"spec": {"ofedDriver": {"upgradePolicy": {"maxParallelUpgrades": 2}}}}))
    assert run(server_with(same, network(**USED))).warnings == [], "the driver stays as it is"


def test_a_policy_from_the_operators_sample_is_told() -> None:
    forced = {"drain": {"force": True, "deleteEmptyDir": True}}
    sample = nics(upgradePolicy={"autoUpgrade": True, **forced})

    def told(**options: t.Any) -> int:
        warnings = run(server_with(sample, network()), **options).warnings
        return sum("as the operator's sample does" in warning for warning in warnings)

    assert told() == 1
    assert told(adopt="take") == 0, "it gets false for both"
    assert told(nic_cluster_policy={"ofed_driver": {**IMAGE, "upgrade_policy": forced}}) == 0, "the user asks"


def test_a_driver_that_a_node_policy_brings_is_refused_with_its_path() -> None:
    theirs = {
        "apiVersion": VERSION,
        "kind": "NicNodePolicy",
        "metadata": {"name": "training"},
        "spec": {"ofedDriver": {"image": "doca-driver"}},
    }
    found = refused(server_with(theirs, network()))
    assert found.code == "NIC-TWICE"
    assert found.message.startswith("nic_cluster_policy.ofed_driver: NicNodePolicy training has ofedDriver")


def package_with(head: Data) -> Data:
    """Return the package of the operator, whose newest CSV the catalogue describes so."""
    channel = {"name": "stable", "currentCSV": "nvidia-network-operator.v26.7.0", "currentCSVDesc": head}
    return {
        "apiVersion": "packages.operators.coreos.com/v1",
        "kind": "PackageManifest",
        "metadata": {"name": "nvidia-network-operator", "namespace": "openshift-marketplace"},
        "status": {"channels": [channel]},
    }


def test_only_a_dry_run_before_the_operator_looks_into_the_catalogue() -> None:
    server = server_with(package_with({"version": "26.7.0"}))
    package, space = "nvidia-network-operator", "nvidia-network-operator"
    dry = api_on(server, check_mode=True)
    (found,) = example_csvs(dry, space, None, package)
    assert found["metadata"]["name"] == "nvidia-network-operator.v26.7.0"
    # An operator that OLM did not install has a policy and no CSV: a run finds none either.
    assert example_csvs(dry, space, nics(), package) == []
    assert example_csvs(api_on(server), space, None, package) == []
    assert installed_csvs(dry, space) == []


def test_a_dry_run_before_the_operator_takes_the_driver_of_the_catalogue() -> None:
    place = "nvcr.io/nvidia/mellanox"
    sample = {"kind": "NicClusterPolicy", "spec": {"ofedDriver": {"image": "doca-driver", **IMAGE}}}
    head = {
        "version": "26.7.0",
        "annotations": {"alm-examples": json.dumps([sample])},
        "relatedImages": [f"{place}/doca-driver@sha256:1", f"{place}/nvidia-k8s-ipam@sha256:{'ab' * 32}"],
    }
    api = run(
        server_with(network(), package_with(head)), nic_cluster_policy={"ofed_driver": {}, "nv_ipam": {}}
    )
    (change,) = api.changes
    spec = change.after["spec"]
    assert (spec["ofedDriver"]["version"], spec["nvIpam"]["version"]) == (
        IMAGE["version"],
        f"sha256:{'ab' * 32}",
    )
    assert refused(server_with(network()), nic_cluster_policy={"ofed_driver": {}}).code == "INPUT-IMAGE"
