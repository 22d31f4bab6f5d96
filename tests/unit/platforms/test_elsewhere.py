# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools elsewhere than in the three big clouds: what is copied, and what is asked for."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders
from unit.platforms.builders import CANDIDATES, GPUS, PARAMS, Data, cluster, lived, planned, single, value

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    candidates,
    machine_set,
    plan as machine_plan,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import (
    infrastructure,
    registry as platforms,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.platform import Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool
from openshift_sandbox import scenario
from openshift_sandbox.seed import cluster as seed_cluster

PLACES: t.Final = {
    "baremetal": "",
    "vsphere": "-fd-cluster-b",
    "openstack": "-az1",
    "nutanix": "-fd-pe-2",
    "ibmcloud": "-us-east-2",
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_set_is_derived_from_the_worker_set_of_its_zone(name: str) -> None:
    plan = planned(name)
    assert list(plan.manifests) == [f"demo-x7k2p-gpu{PLACES[name]}"]
    assert plan.warnings == []
    _found, workers = cluster(name)
    platform = platforms.PLATFORMS[_found.platform]
    assert [platforms.unknown_fields(platform, machine_set.provider_of(worker)) for worker in workers] == [
        []
    ] * len(workers)
    assert None not in value(plan).values()


@pytest.mark.parametrize("name", CANDIDATES)
def test_planning_again_changes_nothing(name: str) -> None:
    live = lived(planned(name))
    again = planned(name, live)
    assert (again.manifests, again.surplus, again.warnings) == (planned(name).manifests, [], [])


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_planned_pool_can_be_planned_again(name: str) -> None:
    found, _workers = cluster(name)
    first = single(name)
    assert Pool.from_result(first.as_result()) == first
    assert pool_builders.single(first.as_result(), found.cloud, found.name) == first


@pytest.mark.parametrize(
    ("name", "changes", "asked"),
    [
        (
            "baremetal",
            {},
            {"hostSelector": {"matchLabels": {"gpu": "l40s"}}, "customDeploy": {"method": "install_coreos"}},
        ),
        (
            "baremetal",
            {
                "baremetal": {
                    "host_expressions": [
                        {"key": "rack", "operator": "DoesNotExist"},
                        {"key": "row", "operator": "In", "values": ["1"]},
                    ]
                }
            },
            {
                "hostSelector": {
                    "matchLabels": {"gpu": "l40s"},
                    "matchExpressions": [
                        {"key": "rack", "operator": "!"},
                        {"key": "row", "operator": "in", "values": ["1"]},
                    ],
                }
            },
        ),
        (
            "baremetal",
            {"baremetal": {"image": {"url": "http://i", "checksum": "c"}}},
            {"image": {"url": "http://i", "checksum": "c"}, "customDeploy": None},
        ),
        ("vsphere", {}, {"template": "gpu-template", "numCPUs": 8, "snapshot": None, "dataDisks": None}),
        (
            "vsphere",
            {"vsphere": {"cpus": 16, "cores_per_socket": 8, "memory_gib": 64}, "disk": {"size_gib": 200}},
            {"numCPUs": 16, "numCoresPerSocket": 8, "memoryMiB": 65536, "diskGiB": 200},
        ),
        (
            "openstack",
            {},
            {
                "flavor": "g1.l40s.2",
                "serverGroupName": "demo-x7k2p-worker-az1",
                "image": "demo-x7k2p-rhcos",
                "availabilityZone": "az1",
            },
        ),
        (
            "openstack",
            {"openstack": {"server_group": "gpus"}, "disk": {"size_gib": 100}},
            {"serverGroupName": "gpus", "rootVolume": {"diskSize": 100}},
        ),
        (
            "nutanix",
            {},
            {
                "gpus": [{"type": "Name", "name": "Ada L40S"}, {"type": "DeviceID", "deviceID": 9909}],
                "dataDisks": None,
                "vcpuSockets": 8,
            },
        ),
        (
            "nutanix",
            {"nutanix": {"cpus": 16, "cores_per_socket": 4, "memory_gib": 2048}},
            {"vcpuSockets": 4, "vcpusPerSocket": 4, "memorySize": "2Ti"},
        ),
        (
            "ibmcloud",
            {"ibm": {"dedicated_host": "host-1"}},
            {"profile": "gx3-16x80x1l4", "dedicatedHost": "host-1", "zone": "us-east-2"},
        ),
        (
            "ibmcloud",
            {"provider_spec_patch": {"bootVolume": {"encryptionKey": "crn"}}},
            {"bootVolume": {"encryptionKey": "crn"}},
        ),
    ],
)
def test_what_is_asked_for(name: str, changes: Data, asked: Data) -> None:
    found = value(planned(name, **changes))
    assert {key: found.get(key) for key in asked} == asked


@pytest.mark.parametrize(
    ("name", "image", "field", "expected"),
    [
        ("vsphere", "other-template", "template", "other-template"),
        ("openstack", "rhcos-arm", "image", "rhcos-arm"),
        ("nutanix", "rhcos", "image", {"type": "name", "name": "rhcos"}),
        (
            "nutanix",
            "11111111-2222-3333-4444-555555555555",
            "image",
            {"type": "uuid", "uuid": "11111111-2222-3333-4444-555555555555"},
        ),
        ("ibmcloud", "rhcos", "image", "rhcos"),
    ],
)
def test_an_image_of_ones_own(name: str, image: str, field: str, expected: t.Any) -> None:
    assert value(planned(name, image=image))[field] == expected


@pytest.mark.parametrize(
    ("name", "field"), [("vsphere", "template"), ("openstack", "image"), ("ibmcloud", "image")]
)
def test_a_boot_image_that_somebody_else_changed_stays(name: str, field: str) -> None:
    live = lived(planned(name))
    live[0]["spec"]["template"]["spec"]["providerSpec"]["value"][field] = "newer"
    again = planned(name, live)
    assert (value(again)[field], again.warnings) == ("newer", [])


def test_vsphere_without_failure_domains_has_no_zones() -> None:
    found, workers = cluster("vsphere-one-zone")
    pool = pool_builders.single(
        {"name": "gpu", "candidates": [{"instance_type": "a", **GPUS}], "replicas": 1},
        found.cloud,
        found.name,
    )
    plan = machine_plan.plan(found, pool, candidates.start(pool, []).shares, workers, PARAMS)
    assert list(plan.manifests) == ["demo-x7k2p-gpu"]


def test_a_failure_domain_that_names_no_resource_pool_has_that_of_its_compute_cluster() -> None:
    workspace = {"server": "v", "datacenter": "dc", "datastore": "ds", "resourcePool": "/dc/host/c/Resources"}
    topology = {"datacenter": "dc", "datastore": "ds", "computeCluster": "/dc/host/c"}
    domains = (
        {"name": "a", "server": "v", "topology": {**topology, "computeCluster": "/dc/host/d"}},
        {"name": "b", "server": "v", "topology": topology},
    )
    assert platforms.on(platforms.PLATFORMS["VSphere"], domains).zone({"workspace": workspace}) == "b"
    assert (
        platforms.on(platforms.PLATFORMS["VSphere"], domains).zone(
            {"workspace": {**workspace, "vmGroup": "hosts"}}
        )
        == ""
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hosted", "hcp create nodepool"),
        ("single-node", "oc adm node-image create"),
        ("oci-external", "oci compute instance launch"),
    ],
)
def test_what_to_use_instead_of_a_machine_api(name: str, words: str) -> None:
    found = infrastructure.read(seed_cluster.infrastructure(scenario.load(name).cluster))
    assert found.obstacle
    assert words in found.instead
    assert "existing.node_selector" in found.instead


@pytest.mark.parametrize(
    ("tags", "product", "command"),
    [
        (
            {"red-hat-clustertype": "rosa", "red-hat-managed": "true"},
            "ROSA Classic",
            "rosa create machinepool",
        ),
        ({"red-hat-clustertype": "osd"}, "OpenShift Dedicated", "ocm create machinepool"),
    ],
)
def test_customers_of_red_hats_clusters_make_no_machines(
    tags: dict[str, str], product: str, command: str
) -> None:
    listed = [{"key": key, "value": value} for key, value in tags.items()]
    status = {
        "controlPlaneTopology": "HighlyAvailable",
        "platformStatus": {"type": "AWS", "aws": {"resourceTags": listed}},
    }
    found = infrastructure.read({"status": status})
    assert product in found.obstacle
    assert command in found.instead
    assert "existing.node_selector" in found.instead


def test_rosa_has_a_tool_of_its_own() -> None:
    tags = [{"key": "red-hat-clustertype", "value": "rosa"}]
    status = {
        "controlPlaneTopology": "External",
        "platformStatus": {"type": "AWS", "aws": {"resourceTags": tags}},
    }
    assert "rosa create machinepool" in infrastructure.read({"status": status}).instead


def test_an_instance_type_is_read_from_a_set_that_says_it() -> None:
    told = {"VSphere": {"template": "a"}, "OpenStack": {"flavor": "a"}, "IBMCloud": {"profile": "a"}}
    assert [platforms.PLATFORMS[name].instance_type(provider) for name, provider in told.items()] == ["a"] * 3
    assert [platforms.PLATFORMS[name].instance_type({}) for name in ("BareMetal", "Nutanix")] == ["", ""]
    assert Wanted("a").is_new
