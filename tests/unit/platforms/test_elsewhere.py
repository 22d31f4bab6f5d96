# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools elsewhere than in the three big clouds: what is copied, what is asked for, what is refused."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._core import ownership
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    bare_metal,
    candidates,
    drift,
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
from openshift_sandbox.seed import cluster as seed_cluster, nodes
from openshift_sandbox.seed.platforms.registry import platform as seeded

Data = dict[str, t.Any]
GPUS: t.Final = {"gpus": 2, "gpu_model": "L40S"}
PARAMS: t.Final = {"namespace": "openshift-machine-api"}
CANDIDATES: t.Final[dict[str, Data]] = {
    "baremetal": {"instance_type": "l40s-server", **GPUS, "baremetal": {"host_selector": {"gpu": "l40s"}}},
    "vsphere": {"instance_type": "gpu-template", **GPUS, "zones": ["fd-cluster-b"]},
    "openstack": {"instance_type": "g1.l40s.2", **GPUS, "zones": ["az1"]},
    "nutanix": {
        "instance_type": "two",
        **GPUS,
        "zones": ["fd-pe-2"],
        "nutanix": {"gpus": [{"name": "Ada L40S"}, {"device_id": 9909}]},
    },
    "ibmcloud": {"instance_type": "gx3-16x80x1l4", "zones": ["us-east-2"]},
}
PLACES: t.Final = {
    "baremetal": "",
    "vsphere": "-fd-cluster-b",
    "openstack": "-az1",
    "nutanix": "-fd-pe-2",
    "ibmcloud": "-us-east-2",
}


def cluster(name: str) -> tuple[infrastructure.Infrastructure, list[Data]]:
    """Infrastructure and worker sets as the installer leaves them."""
    shape = scenario.load(name).cluster
    found = infrastructure.read(seed_cluster.infrastructure(shape))
    sets = []
    for zone in shape["zones"]:
        value = seeded(shape).provider_spec(shape, "worker", zone, shape["workers"]["instance_type"])
        sets.append(nodes.machine_set(shape, seeded(shape).machine_set(shape, zone), value, "", 1))
    return found, sets


def single(name: str, **changes: t.Any) -> Pool:
    found, _sets = cluster(name)
    return pool_builders.single(
        {"name": "gpu", "candidates": [CANDIDATES[name]], "replicas": 1, **changes}, found.cloud, found.name
    )


def planned(
    name: str, live: t.Sequence[Data] = (), image: str = "", **changes: t.Any
) -> machine_plan.MachinePlan:
    found, workers = cluster(name)
    pool = single(name, **changes)
    held = machine_plan.held(found, pool, live)
    return machine_plan.plan(
        found, pool, candidates.start(pool, held).shares, [*workers, *live], {**PARAMS, "image": image}
    )


def lived(plan: machine_plan.MachinePlan) -> list[Data]:
    """The sets as the cluster has them once they are made."""
    made = copy.deepcopy(list(plan.manifests.values()))
    for one in made:
        one["metadata"]["labels"] |= ownership.MANAGED_BY
    return made


def value(plan: machine_plan.MachinePlan) -> Data:
    (manifest,) = plan.manifests.values()
    return machine_set.provider_of(manifest)


def problem(name: str, **changes: t.Any) -> tuple[str, str]:
    with pytest.raises(AcceleratorError) as caught:
        single(name, **changes)
    (found,) = caught.value.facts["problems"]
    return found["code"], found["path"]


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_set_is_derived_from_the_worker_set_of_its_zone(name: str) -> None:
    plan = planned(name)
    assert list(plan.manifests) == [f"demo-x7k2p-gpu{PLACES[name]}"]
    assert plan.remarks == []
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
    assert (again.manifests, again.surplus, again.remarks) == (planned(name).manifests, [], [])


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


def test_an_image_that_one_word_cannot_name_is_refused() -> None:
    with pytest.raises(AcceleratorError, match="image: rhcos") as caught:
        planned("baremetal", image="rhcos.raw")
    assert (caught.value.code, caught.value.layer) == ("POOL-PLATFORM", "input")
    assert "baremetal.image" in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "field"), [("vsphere", "template"), ("openstack", "image"), ("ibmcloud", "image")]
)
def test_a_boot_image_that_somebody_else_changed_stays(name: str, field: str) -> None:
    live = lived(planned(name))
    live[0]["spec"]["template"]["spec"]["providerSpec"]["value"][field] = "newer"
    again = planned(name, live)
    assert (value(again)[field], again.remarks) == ("newer", [])


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        (
            "baremetal",
            {"candidates": [{"instance_type": "any", **GPUS}]},
            ("POOL-REQUIRED", "candidates[0].baremetal.host_selector"),
        ),
        (
            "baremetal",
            {"candidates": [{"instance_type": "any", "baremetal": {"host_selector": {"gpu": "l40s"}}}]},
            ("POOL-REQUIRED", "candidates[0].gpus"),
        ),
        (
            "baremetal",
            {"candidates": [{**CANDIDATES["baremetal"], "zones": ["rack-1"]}]},
            ("POOL-ZONE", "candidates[0].zones"),
        ),
        ("baremetal", {"disk": {"size_gib": 200}}, ("POOL-DISK", "disk.size_gib")),
        (
            "baremetal",
            {"baremetal": {"host_expressions": [{"key": "a", "operator": "In"}]}},
            ("POOL-REQUIRED", "candidates[0].baremetal.host_expressions[0].values"),
        ),
        (
            "baremetal",
            {"baremetal": {"host_expressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}},
            ("POOL-CONFLICT", "candidates[0].baremetal.host_expressions[0].values"),
        ),
        (
            "vsphere",
            {"candidates": [{"instance_type": "gpu-template"}]},
            ("POOL-REQUIRED", "candidates[0].gpus"),
        ),
        ("vsphere", {"market": "spot"}, ("POOL-MARKET", "market.type")),
        (
            "vsphere",
            {"market": {"type": "on_demand", "reservation": "r"}},
            ("POOL-MARKET", "market.reservation"),
        ),
        ("vsphere", {"disk": {"type": "thin"}}, ("POOL-DISK", "disk.type")),
        (
            "vsphere",
            {"vsphere": {"cpus": 6, "cores_per_socket": 4}},
            ("POOL-CONFLICT", "vsphere.cores_per_socket"),
        ),
        (
            "vsphere",
            {"provider_spec_patch": {"pciDevices": []}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.pciDevices"),
        ),
        (
            "vsphere",
            {
                "mixed": True,
                "candidates": [
                    CANDIDATES["vsphere"],
                    {**CANDIDATES["vsphere"], "instance_type": "one", "gpus": 1},
                ],
            },
            ("POOL-CONFLICT", "mixed"),
        ),
        ("openstack", {"openstack": {"server_grp": "a"}}, ("POOL-UNKNOWN-KEY", "openstack.server_grp")),
        (
            "openstack",
            {"provider_spec_patch": {"flavour": "g1"}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.flavour"),
        ),
        (
            "nutanix",
            {"candidates": [{"instance_type": "two", **GPUS}]},
            ("POOL-REQUIRED", "candidates[0].nutanix.gpus"),
        ),
        (
            "nutanix",
            {"candidates": [{"instance_type": "two", **GPUS, "nutanix": {"gpus": [{"name": "a"}]}}]},
            ("POOL-GPUS", "candidates[0].nutanix.gpus"),
        ),
        (
            "nutanix",
            {"candidates": [{"instance_type": "two", **GPUS, "nutanix": {"gpus": [{"name": "a"}, {}]}}]},
            ("POOL-CONFLICT", "candidates[0].nutanix.gpus[1]"),
        ),
        ("nutanix", {"nutanix": {"cores_per_socket": 2}}, ("POOL-REQUIRED", "candidates[0].nutanix.cpus")),
        (
            "nutanix",
            {"provider_spec_patch": {"memorysize": "64Gi"}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.memorysize"),
        ),
        (
            "ibmcloud",
            {"candidates": [{"instance_type": "gx3-16x80x1l4"}]},
            ("POOL-REQUIRED", "candidates[0].zones"),
        ),
        ("ibmcloud", {"disk": {"size_gib": 200}}, ("POOL-DISK", "disk.size_gib")),
        (
            "ibmcloud",
            {
                "ibm": {"dedicated_host": "h"},
                "candidates": [{"instance_type": "gx3-16x80x1l4", "zones": ["us-east-1", "us-east-2"]}],
            },
            ("POOL-PLACEMENT", "ibm.dedicated_host"),
        ),
        (
            "ibmcloud",
            {"candidates": [{"instance_type": "gx3d-208x1792x8mi300x", "zones": ["us-east-1"]}]},
            ("POOL-VENDOR", "candidates[0].instance_type"),
        ),
        ("ibmcloud", {"vsphere": {"cpus": 4}}, ("POOL-PLATFORM", "vsphere")),
    ],
)
def test_what_is_refused(name: str, changes: Data, expected: tuple[str, str]) -> None:
    assert problem(name, **changes) == expected


def test_what_an_own_type_is_is_told_in_the_platforms_words() -> None:
    with pytest.raises(AcceleratorError, match="a template that has the GPUs"):
        single("vsphere", candidates=[{"instance_type": "gpu-template"}])


def test_a_zone_of_vsphere_is_a_failure_domain() -> None:
    with pytest.raises(AcceleratorError) as caught:
        planned("vsphere", candidates=[{**CANDIDATES["vsphere"], "zones": ["cluster-b"]}])
    assert caught.value.code == "MACH-NO-REFERENCE"
    assert "fd-cluster-a, fd-cluster-b" in caught.value.remedy


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


class TestAnyOther:
    """PowerVS stands for all platforms of which nothing is known."""

    POWER: t.Final = infrastructure.Infrastructure("demo-x7k2p", "PowerVS", "powervs", "HighlyAvailable")
    CANDIDATE: t.Final = {"instance_type": "big", **GPUS, "provider_spec_patch": {"processors": 16}}
    WORKER: t.Final = {
        "kind": "PowerVSMachineProviderConfig",
        "metadata": {"creationTimestamp": None},
        "processors": "0.5",
        "memoryGiB": 32,
        "loadBalancers": None,
    }

    def test_a_worker_set_is_copied_whole_and_patched(self) -> None:
        shape = scenario.load("openstack").cluster
        worker = nodes.machine_set(shape, "demo-x7k2p-worker", self.WORKER, "", 1)
        pool = pool_builders.single({"name": "gpu", "candidates": [self.CANDIDATE], "replicas": 1}, "powervs")
        plan = machine_plan.plan(self.POWER, pool, candidates.start(pool, []).shares, [worker], PARAMS)
        assert value(plan) == {"kind": "PowerVSMachineProviderConfig", "processors": 16, "memoryGiB": 32}
        assert "provider_spec_patch was not checked" in plan.remarks[0]

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            (
                {"candidates": [{"instance_type": "big", **GPUS}]},
                ("POOL-REQUIRED", "candidates[0].provider_spec_patch"),
            ),
            ({"candidates": [{**CANDIDATE, "zones": ["a"]}]}, ("POOL-ZONE", "candidates[0].zones")),
            ({"disk": {"size_gib": 200}}, ("POOL-DISK", "disk.size_gib")),
            ({"market": "spot"}, ("POOL-MARKET", "market.type")),
            ({"aws": {"efa": True}}, ("POOL-PLATFORM", "aws")),
        ],
    )
    def test_what_is_refused(self, changes: Data, expected: tuple[str, str]) -> None:
        with pytest.raises(AcceleratorError) as caught:
            pool_builders.single(
                {"name": "gpu", "candidates": [self.CANDIDATE], "replicas": 1, **changes}, "powervs"
            )
        assert [(one["code"], one["path"]) for one in caught.value.facts["problems"]] == [expected]


class TestHosts:
    def test_who_is_free(self) -> None:
        hosts = [
            self.host("free"),
            self.host("taken", spec={"consumerRef": {"name": "m-1"}}),
            self.host("outside", spec={"externallyProvisioned": True}),
            self.host(
                "broken",
                status={
                    "errorType": "inspection error",
                    "errorMessage": "time\nout",
                    "provisioning": {"state": "inspecting"},
                },
            ),
            self.host("soon", status={"provisioning": {"state": "deprovisioning"}}),
            self.host("new", status={}),
            self.host("other", labels={"gpu": "t4"}),
        ]
        supply = bare_metal.supply(hosts, {"matchLabels": {"gpu": "h100"}})
        assert (supply.matching, supply.free, supply.coming) == (6, 1, 2)
        assert (
            supply.told({"matchLabels": {"gpu": "h100"}})
            == "1 of 6 hosts that match gpu=h100 are free, 2 soon"
        )
        assert supply.lines == (
            "host broken: inspection error: time out",
            "host new: registering",
            "host outside: provisioned by somebody else",
            "host soon: deprovisioning",
            "host taken: taken by m-1",
        )

    @pytest.mark.parametrize(
        ("expression", "matches"),
        [
            ({"key": "gpu", "operator": "in", "values": ["h100", "h200"]}, True),
            ({"key": "gpu", "operator": "notin", "values": ["h100"]}, False),
            ({"key": "gpu", "operator": "exists"}, True),
            ({"key": "gpu", "operator": "!"}, False),
            ({"key": "rack", "operator": "!"}, True),
        ],
    )
    def test_expressions(self, expression: Data, matches: bool) -> None:
        assert bare_metal.selects({"matchExpressions": [expression]}, self.host("a")) is matches

    @staticmethod
    def host(
        name: str, labels: Data | None = None, spec: Data | None = None, status: Data | None = None
    ) -> Data:
        state = {"provisioning": {"state": "available"}} if status is None else status
        return {
            "metadata": {"name": name, "labels": labels or {"gpu": "h100"}},
            "spec": spec or {},
            "status": state,
        }


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
    ("wanted", "held"),
    [
        ("ClusterAPI", "ClusterAPI"),
        ("MachineAPI", "Migrating"),
        ("ClusterAPI", ""),
        ("MachineAPI", "ClusterAPI"),
    ],
)
def test_a_set_that_cluster_api_writes_is_not_ours_to_write(wanted: str, held: str) -> None:
    live = lived(planned("openstack"))[0]
    drift.check(live | {"spec": live["spec"] | {"authoritativeAPI": "MachineAPI"}})
    with pytest.raises(AcceleratorError) as caught:
        drift.check(
            live | {"spec": live["spec"] | {"authoritativeAPI": wanted}, "status": {"authoritativeAPI": held}}
        )
    assert caught.value.code == "MACH-MIRRORED"


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
