# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters on platforms that are no public cloud: what their installer writes, and what does not exist."""

from __future__ import annotations

import typing as t

import pytest

from openshift_sandbox import scenario
from openshift_sandbox.hardware import instance_types
from openshift_sandbox.seed import cluster as seed_cluster, installer, mirrored
from openshift_sandbox.seed.platforms import baremetal, vsphere
from openshift_sandbox.seed.platforms.registry import PLATFORMS

Object = dict[str, t.Any]

PLACE = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type")
MACHINE_PLACE = tuple(f"machine.openshift.io/{key}" for key in ("region", "zone", "instance-type"))


def cluster_of(name: str) -> Object:
    return scenario.load(name).cluster


def value(name: str, number: int = 0) -> Object:
    found: Object = installer.machine_sets(cluster_of(name))[number]["spec"]["template"]["spec"][
        "providerSpec"
    ]["value"]
    return found


def nodes(name: str) -> list[Object]:
    cluster = cluster_of(name)
    return [*(node for node, _machine in installer.machines(cluster, {})), *installer.other_nodes(cluster)]


def labels_of(obj: Object, keys: tuple[str, ...]) -> tuple[str | None, ...]:
    return tuple(obj["metadata"]["labels"].get(key) for key in keys)


@pytest.mark.parametrize("name", scenario.names())
def test_every_platform_is_known(name: str) -> None:
    assert cluster_of(name)["platform"] in PLATFORMS


@pytest.mark.parametrize(
    "name",
    [
        "baremetal",
        "vsphere",
        "vsphere-one-zone",
        "openstack",
        "nutanix",
        "ibmcloud",
        "hosted",
        "single-node",
        "oci-external",
    ],
)
def test_nodes_have_names_addresses_and_instances_of_their_own(name: str) -> None:
    found = nodes(name)
    assert len({node["metadata"]["name"] for node in found}) == len(found)
    assert len({node["status"]["addresses"][0]["address"] for node in found}) == len(found)
    instances = [node["spec"]["providerID"] for node in found if node["spec"].get("providerID")]
    assert len(set(instances)) == len(instances)


@pytest.mark.parametrize(
    ("name", "machine_set", "kind", "provider_id", "node_place", "machine_place"),
    [
        (
            "baremetal",
            "demo-x7k2p-worker-0",
            "BareMetalMachineProviderSpec",
            "baremetalhost:///openshift-machine-api/master-0/",
            (None,) * 3,
            (None,) * 3,
        ),
        (
            "vsphere",
            "demo-x7k2p-worker-0",
            "VSphereMachineProviderSpec",
            "vsphere://",
            ("dc-east", "cluster-a", "vsphere-vm.cpu-8.mem-32gb.os-unknown"),
            ("dc-east", "cluster-a", None),
        ),
        (
            "vsphere-one-zone",
            "demo-x7k2p-worker-0",
            "VSphereMachineProviderSpec",
            "vsphere://",
            (None, None, "vsphere-vm.cpu-8.mem-32gb.os-unknown"),
            (None,) * 3,
        ),
        (
            "openstack",
            "demo-x7k2p-worker-0",
            "OpenstackProviderSpec",
            "openstack:///",
            ("regionOne", "az0", "m1.xlarge"),
            ("regionOne", "az0", "m1.xlarge"),
        ),
        (
            "nutanix",
            "demo-x7k2p-worker-0",
            "NutanixMachineProviderConfig",
            "nutanix://",
            ("prism-central", "pe-1", "ahv-vm"),
            ("prism-central", "pe-1", "AHV"),
        ),
        (
            "ibmcloud",
            "demo-x7k2p-worker-1",
            "IBMCloudMachineProviderSpec",
            "ibm://",
            ("us-east", "us-east-1", "bx2-4x16"),
            ("us-east", "us-east-1", "bx2-4x16"),
        ),
    ],
)
def test_what_the_installer_leaves(
    name: str, machine_set: str, kind: str, provider_id: str, node_place: t.Any, machine_place: t.Any
) -> None:
    cluster = cluster_of(name)
    made = installer.machine_sets(cluster)[0]
    assert (made["metadata"]["name"], value(name)["kind"]) == (machine_set, kind)
    node, machine = installer.machines(cluster, {})[0]
    assert node["spec"]["providerID"].startswith(provider_id)
    assert machine["spec"]["providerID"] == node["spec"]["providerID"]
    assert labels_of(node, PLACE) == node_place
    assert labels_of(machine, MACHINE_PLACE) == machine_place
    status = seed_cluster.infrastructure(cluster)
    assert (
        {*status["spec"]["platformSpec"]}
        == {*status["status"]["platformStatus"]}
        == {"type", cluster["platform"].lower()}
    )


def test_a_failure_domain_of_vsphere_is_a_datacenter_and_a_compute_cluster() -> None:
    cluster = cluster_of("vsphere")
    first, second = vsphere.failure_domains(cluster)
    assert {value("vsphere", number)["workspace"]["resourcePool"] for number in (0, 1)} == {
        one["topology"]["resourcePool"] for one in (first, second)
    }
    assert value("vsphere")["template"] == first["topology"]["template"]
    assert [vsphere.tags(value("vsphere", number)) for number in (0, 1)] == [
        ("dc-east", "cluster-a"),
        ("dc-east", "cluster-b"),
    ]
    assert vsphere.tags(value("vsphere-one-zone")) == ("", "")


def test_identifiers_of_nutanix_are_spelt_as_each_api_does() -> None:
    domain = seed_cluster.infrastructure(cluster_of("nutanix"))["spec"]["platformSpec"]["nutanix"][
        "failureDomains"
    ][0]
    assert (domain["cluster"]["type"], value("nutanix")["cluster"]["type"]) == ("UUID", "uuid")
    assert domain["cluster"]["uuid"] == value("nutanix")["cluster"]["uuid"]
    assert value("nutanix")["failureDomain"] == {"name": domain["name"]}


class TestBareMetal:
    CLUSTER = cluster_of("baremetal") | {"host_uids": {"worker-1": "uid-1"}}

    def test_hosts_are_consumed_by_the_machines_that_run_on_them(self) -> None:
        hosts = {one["metadata"]["name"]: one for one in baremetal.hosts(self.CLUSTER)}
        for node, machine in installer.machines(self.CLUSTER, {}):
            host = hosts[node["metadata"]["name"]]
            assert host["spec"]["consumerRef"]["name"] == machine["metadata"]["name"]
            assert (
                machine["metadata"]["annotations"]["metal3.io/BareMetalHost"]
                == f"openshift-machine-api/{host['metadata']['name']}"
            )
            assert (
                machine["metadata"]["annotations"]["machine.openshift.io/instance-state"]
                == host["status"]["provisioning"]["state"]
            )
            assert node["status"]["addresses"][0]["address"] == host["status"]["hardware"]["nics"][0]["ip"]
            assert "providerStatus" not in machine["status"]

    def test_states_are_those_of_installer_machine_and_nobody(self) -> None:
        states = {
            one["metadata"]["name"]: one["status"]["provisioning"]["state"]
            for one in baremetal.hosts(self.CLUSTER)
        }
        assert (states["master-0"], states["worker-0"], states["gpu-0"]) == (
            "externally provisioned",
            "provisioned",
            "available",
        )

    def test_a_provider_id_ends_with_the_host_s_uid(self) -> None:
        found = {
            node["metadata"]["name"]: node["spec"]["providerID"]
            for node, _machine in installer.machines(self.CLUSTER, {})
        }
        assert found["worker-1"] == "baremetalhost:///openshift-machine-api/worker-1/uid-1"

    def test_a_node_has_its_host_s_gpus_and_a_size(self) -> None:
        found = {node["metadata"]["name"]: node for node, _machine in installer.machines(self.CLUSTER, {})}
        made_of = instance_types.of_node(found["worker-1"])
        assert made_of is not None
        assert (
            made_of.gpus,
            found["worker-1"]["status"]["capacity"]["cpu"],
            found["worker-1"]["metadata"]["labels"]["rack"],
        ) == (4, "64", "b2")


class TestWithoutMachineApi:
    @pytest.mark.parametrize(
        ("name", "platform", "control_plane", "gpus"),
        [
            ("hosted", "AWS", "External", 2),
            ("single-node", "None", "SingleReplica", 2),
            ("oci-external", "External", "HighlyAvailable", 5),
        ],
    )
    def test_nodes_with_gpus_are_there_and_no_machines(
        self, name: str, platform: str, control_plane: str, gpus: int
    ) -> None:
        cluster = cluster_of(name)
        status = seed_cluster.infrastructure(cluster)["status"]
        assert (status["platformStatus"]["type"], status["controlPlaneTopology"]) == (platform, control_plane)
        assert not installer.has_machine_api(cluster)
        assert sum(made_of.gpus for node in nodes(name) if (made_of := instance_types.of_node(node))) == gpus

    def test_a_hosted_cluster_has_neither_control_plane_nor_pools(self) -> None:
        assert seed_cluster.counts(cluster_of("hosted")) == {}
        assert not [
            node for node in nodes("hosted") if "node-role.kubernetes.io/master" in node["metadata"]["labels"]
        ]

    def test_a_single_node_has_every_role_and_nothing_that_a_cloud_tells(self) -> None:
        [node] = nodes("single-node")
        roles = {label for label in node["metadata"]["labels"] if label.startswith("node-role.")}
        assert roles == {f"node-role.kubernetes.io/{one}" for one in ("control-plane", "master", "worker")}
        assert labels_of(node, PLACE) == (None, None, None)
        assert "providerID" not in node["spec"]
        assert "taints" not in node["spec"]
        assert seed_cluster.counts(cluster_of("single-node")) == {"master": 1, "worker": 0}

    def test_an_external_platform_is_named(self) -> None:
        infrastructure = seed_cluster.infrastructure(cluster_of("oci-external"))
        assert infrastructure["spec"]["platformSpec"]["external"] == {"platformName": "oci"}
        assert labels_of(nodes("oci-external")[-2], PLACE) == ("us-phoenix-1", "PHX-AD-1", "BM.GPU.L40S.4")


class TestMirrored:
    CLUSTER = cluster_of("mirrored-machine-set")

    def test_sets_of_two_kinds_are_mirrored_and_the_others_are_not(self) -> None:
        authorities = {
            one["metadata"]["name"]: one["spec"].get("authoritativeAPI")
            for one in installer.machine_sets(self.CLUSTER)
        }
        assert {name for name, authority in authorities.items() if authority == "ClusterAPI"} == {
            "demo-x7k2p-worker-us-east-2b",
            "demo-x7k2p-t4-us-east-2a",
        }
        assert len(authorities) == 4

    def test_machines_follow_their_set(self) -> None:
        found = [
            machine
            for _node, machine in installer.machines(self.CLUSTER, {})
            if machine["spec"].get("authoritativeAPI")
        ]
        assert [machine["metadata"]["name"].rpartition("-")[0] for machine in found] == [
            "demo-x7k2p-worker-us-east-2b"
        ]
        assert found[0]["status"]["authoritativeAPI"] == "ClusterAPI"

    def test_only_such_a_cluster_has_the_policy(self) -> None:
        assert [one["kind"] for one in mirrored.policies(self.CLUSTER)] == [
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
        ]
        assert mirrored.policies(cluster_of("aws")) == []
