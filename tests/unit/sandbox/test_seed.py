"""The cluster that the installer leaves: Nodes, Machines and MachineSets that agree with each other."""

from __future__ import annotations

from openshift_sandbox import scenario, seed, seed_cluster
from openshift_sandbox.seed_nodes import node_manifest

AWS = scenario.load("aws").cluster


def test_three_control_plane_nodes_and_a_worker_in_each_zone() -> None:
    pairs = seed.machines(AWS, {})
    nodes = [node for node, _machine in pairs]
    zones = [node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in nodes]
    assert zones == AWS["zones"] * 2
    masters = [node for node in nodes if "node-role.kubernetes.io/master" in node["metadata"]["labels"]]
    assert len(masters) == 3
    assert all(node["spec"]["taints"] for node in masters)
    assert len({node["metadata"]["name"] for node in nodes}) == 6


def test_a_machine_and_its_node_name_each_other() -> None:
    for node, machine in seed.machines(AWS, {}):
        assert machine["status"]["nodeRef"]["name"] == node["metadata"]["name"]
        assert machine["spec"]["providerID"] == node["spec"]["providerID"]
        assert node["metadata"]["annotations"]["machine.openshift.io/machine"].endswith(machine["metadata"]["name"])


def test_machine_sets_are_as_the_installer_makes_them() -> None:
    sets = seed.machine_sets(AWS)
    assert [one["metadata"]["name"] for one in sets] == [f"demo-x7k2p-worker-{zone}" for zone in AWS["zones"]]
    value = sets[0]["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert value["ami"] == {"id": AWS["image_id"]}
    assert value["subnet"]["filters"][0]["values"] == ["demo-x7k2p-subnet-private-us-east-2a"]
    assert value["userDataSecret"] == {"name": "worker-user-data"}
    labels = sets[0]["spec"]["template"]["metadata"]["labels"]
    assert sets[0]["spec"]["selector"]["matchLabels"].items() <= labels.items()


def test_a_cluster_without_machine_api_has_nodes_that_no_machine_owns() -> None:
    cluster = AWS | {"absent_groups": ["machine.openshift.io"]}
    assert all("machine.openshift.io/machine" not in node["metadata"]["annotations"] for node, _machine in seed.machines(cluster, {}))


def test_a_gpu_node_has_its_types_size_and_none_of_its_gpus_yet() -> None:
    node = node_manifest(AWS, name="n", instance_type_name="g5g.xlarge", zone="us-east-2a", address="10.0.1.1", provider_id="aws:///x", labels={"team": "ml"})
    assert node["status"]["capacity"]["cpu"] == "4"
    assert "nvidia.com/gpu" not in node["status"]["capacity"]
    assert node["status"]["nodeInfo"]["kernelVersion"].endswith(".aarch64")
    assert node["metadata"]["labels"]["team"] == "ml"


def test_the_driver_toolkit_has_the_running_release() -> None:
    tags = [tag["name"] for tag in seed_cluster.driver_toolkit(AWS)["spec"]["tags"]]
    assert AWS["ostree_version"] in tags
