"""The cluster that the installer leaves: Nodes, Machines and MachineSets that agree with each other."""

from __future__ import annotations

import pytest

from openshift_sandbox import scenario
from openshift_sandbox.hardware import instance_types
from openshift_sandbox.seed import cluster as seed_cluster, installer
from openshift_sandbox.seed.nodes import node_manifest

AWS = scenario.load("aws").cluster


def test_three_control_plane_nodes_and_a_worker_in_each_zone() -> None:
    pairs = installer.machines(AWS, {})
    nodes = [node for node, _machine in pairs]
    zones = [node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in nodes]
    assert zones == AWS["zones"] * 2
    masters = [node for node in nodes if "node-role.kubernetes.io/master" in node["metadata"]["labels"]]
    assert len(masters) == 3
    assert all(node["spec"]["taints"] for node in masters)
    assert len({node["metadata"]["name"] for node in nodes}) == 6


def test_a_machine_and_its_node_name_each_other() -> None:
    for node, machine in installer.machines(AWS, {}):
        assert machine["status"]["nodeRef"]["name"] == node["metadata"]["name"]
        assert machine["spec"]["providerID"] == node["spec"]["providerID"]
        assert node["metadata"]["annotations"]["machine.openshift.io/machine"].endswith(
            machine["metadata"]["name"]
        )


def test_machine_sets_are_as_the_installer_makes_them() -> None:
    sets = installer.machine_sets(AWS)
    assert [one["metadata"]["name"] for one in sets] == [f"demo-x7k2p-worker-{zone}" for zone in AWS["zones"]]
    value = sets[0]["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert value["ami"] == {"id": AWS["image_id"]}
    assert value["subnet"]["filters"][0]["values"] == ["demo-x7k2p-subnet-private-us-east-2a"]
    assert value["userDataSecret"] == {"name": "worker-user-data"}
    labels = sets[0]["spec"]["template"]["metadata"]["labels"]
    assert sets[0]["spec"]["selector"]["matchLabels"].items() <= labels.items()


def test_a_cluster_without_machine_api_has_nodes_that_no_machine_owns() -> None:
    cluster = AWS | {"absent_groups": ["machine.openshift.io"]}
    assert all(
        "machine.openshift.io/machine" not in node["metadata"]["annotations"]
        for node, _machine in installer.machines(cluster, {})
    )


def test_a_gpu_node_has_its_types_size_and_none_of_its_gpus_yet() -> None:
    node = node_manifest(
        AWS,
        name="n",
        instance_type_name="g5g.xlarge",
        zone="us-east-2a",
        address="10.0.1.1",
        provider_id="aws:///x",
        labels={"team": "ml"},
    )
    assert node["status"]["capacity"]["cpu"] == "4"
    assert "nvidia.com/gpu" not in node["status"]["capacity"]
    assert node["status"]["nodeInfo"]["kernelVersion"].endswith(".aarch64")
    assert node["metadata"]["labels"]["team"] == "ml"


def test_the_driver_toolkit_has_the_running_release() -> None:
    tags = [tag["name"] for tag in seed_cluster.driver_toolkit(AWS)["spec"]["tags"]]
    assert AWS["ostree_version"] in tags


@pytest.mark.parametrize(
    ("name", "machine_set", "kind", "field", "provider_id", "node", "zone"),
    [
        (
            "azure",
            "demo-x7k2p-worker-eastus1",
            "AzureMachineProviderSpec",
            ("vmSize", "Standard_D4s_v3"),
            "azure:///subscriptions/5d2b7c1e-8f34-4a6e-9c0d-1b7a3e5f9d24/resourceGroups/demo-x7k2p-rg"
            "/providers/Microsoft.Compute/virtualMachines/demo-x7k2p-master-0",
            "demo-x7k2p-master-0",
            ("1", "eastus-1"),
        ),
        (
            "gcp",
            "demo-x7k2p-worker-a",
            "GCPMachineProviderSpec",
            ("machineType", "n2-standard-4"),
            "gce://demo-project/us-central1-a/demo-x7k2p-master-0",
            "demo-x7k2p-master-0.c.demo-project.internal",
            ("us-central1-a", "us-central1-a"),
        ),
    ],
)
def test_a_cluster_of_another_cloud_speaks_its_language(
    name: str,
    machine_set: str,
    kind: str,
    field: tuple[str, str],
    provider_id: str,
    node: str,
    zone: tuple[str, str],
) -> None:
    cluster = scenario.load(name).cluster
    made = installer.machine_sets(cluster)[0]
    value = made["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert (made["metadata"]["name"], value["kind"], value[field[0]], value["zone"]) == (
        machine_set,
        kind,
        field[1],
        zone[0],
    )
    assert made["metadata"]["annotations"]["machine.openshift.io/memoryMb"] == str(16 * 1024)
    first, machine = installer.machines(cluster, {})[0]
    assert (first["metadata"]["name"], first["spec"]["providerID"]) == (node, provider_id)
    assert first["metadata"]["labels"]["topology.kubernetes.io/zone"] == zone[1]
    assert not [label for label in first["metadata"]["labels"] if "ebs" in label]
    assert machine["metadata"]["labels"]["machine.openshift.io/zone"] == zone[0]
    assert instance_types.of_node(first) is not None
    assert seed_cluster.infrastructure(cluster)["status"]["platformStatus"].keys() == {"type", name}


def test_every_node_of_azure_and_google_has_an_address_of_its_own() -> None:
    for name in ("azure", "gcp"):
        cluster = scenario.load(name).cluster
        assert (
            len(
                {
                    node["status"]["addresses"][0]["address"]
                    for node, _machine in installer.machines(cluster, {})
                }
            )
            == 6
        )
