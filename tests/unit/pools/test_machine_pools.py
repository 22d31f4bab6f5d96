"""Machines that are made from outside of the cluster: the command, the NodePool, and then the nodes."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit import engine
from unit.fake_server import FakeServer
from unit.pools.builders import PARAMS

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import infrastructure
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.infrastructure import (
    Infrastructure,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import machine_pools, plan, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool

Data = dict[str, t.Any]
T4: t.Final[Data] = {
    "name": "t4",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 2,
    "taints": [
        {"key": "nvidia.com/gpu", "value": "t4", "effect": "NoSchedule"},
        {"key": "team", "effect": "PreferNoSchedule"},
    ],
}
NAMED: t.Final[Data] = {"candidates": [{"instance_type": "big", "gpus": 2, "gpu_model": "L4"}]}
A100: t.Final[Data] = {"candidates": [{"instance_type": "Standard_NC24ads_A100_v4", "zones": ["1"]}]}
RELEASE: t.Final = machine_pools.Release("quay.io/release@sha256:1", "4.22.5")


def cluster(tool: str, platform: str = "AWS", **tags: str) -> Infrastructure:
    """Return the facts of a cluster whose machines this tool makes."""
    kinds = {"rosa": "rosa", "rosa hcp": "rosa", "osd": "osd"}
    given = {**({"red-hat-clustertype": kinds[tool]} if tool in kinds else {}), **tags}
    listed = [{"key": key, "value": value} for key, value in given.items()]
    topology = "HighlyAvailable" if tool in ("rosa", "osd") else "External"
    told = {"type": platform, "aws": {"resourceTags": listed}}
    status = {"infrastructureName": "demo-x7k2p", "controlPlaneTopology": topology, "platformStatus": told}
    return infrastructure.read(INFRASTRUCTURE | {"status": status})


INFRASTRUCTURE: t.Final[Data] = {
    "apiVersion": "config.openshift.io/v1",
    "kind": "Infrastructure",
    "metadata": {"name": "cluster"},
}


def planned(cloud: str | None = "aws", **changes: t.Any) -> Pool:
    (pool,) = plan.draft([{**T4, **changes}]).pools(Place(cloud))
    return pool


@pytest.mark.parametrize(
    ("tool", "changes", "command"),
    [
        (
            "rosa",
            {},
            "rosa create machinepool --cluster CLUSTER_NAME --name t4 --instance-type g4dn.xlarge "
            "--availability-zone us-east-2a --replicas 2 --labels gpu-pool=t4 "
            "--taints nvidia.com/gpu=t4:NoSchedule,team=:PreferNoSchedule",
        ),
        (
            "osd",
            {"taints": [], "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["a", "b"]}]},
            "ocm create machinepool --cluster CLUSTER_NAME --instance-type g4dn.xlarge --replicas 2 "
            "--labels gpu-pool=t4 t4",
        ),
        (
            "rosa",
            {
                "taints": [],
                "replicas": None,
                "autoscale": {"min": 1, "max": 3},
                "market": {"type": "spot", "max_price": "0.5"},
                "disk": {"size_gib": 200},
                "labels": {"team": "a"},
            },
            "rosa create machinepool --cluster CLUSTER_NAME --name t4 --instance-type g4dn.xlarge "
            "--availability-zone us-east-2a --enable-autoscaling --min-replicas 1 --max-replicas 3 "
            "--labels team=a,gpu-pool=t4 --disk-size 200GiB --use-spot-instances --spot-max-price 0.5",
        ),
        (
            "rosa hcp",
            {
                "name": "a-long-name-of-a-pool",
                "taints": [],
                "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a", "us-east-2b"]}],
            },
            "rosa create machinepool --cluster CLUSTER_NAME --name a-long-name-of "
            "--instance-type g4dn.xlarge --availability-zone us-east-2a --replicas 2 "
            "--labels gpu-pool=a-long-name-of-a-pool",
        ),
        ("hosted", {}, "oc apply -f hub/node-pool-t4.yaml"),
    ],
    ids=["rosa", "dedicated", "all options", "rosa hcp", "hosted"],
)
def test_the_command_has_all_that_the_pool_says(tool: str, changes: Data, command: str) -> None:
    found = machine_pools.make(planned(**changes), cluster(tool), RELEASE)
    assert found.command == command
    assert bool(found.manifests) == (tool in ("rosa hcp", "hosted"))


def test_the_command_of_azure_has_the_release_and_its_own_form_of_labels_and_taints() -> None:
    pool = planned("azure", **A100, disk={"size_gib": 256, "type": "Premium_LRS"})
    found = machine_pools.make(pool, cluster("aro", "Azure"), RELEASE)
    assert found.command == (
        "az aro hcp cluster nodepool create --resource-group RESOURCE_GROUP --cluster-name CLUSTER_NAME "
        "--location LOCATION --name t4 --version 4.22.5 --vm-size Standard_NC24ads_A100_v4 "
        '--availability-zone 1 --replicas 2 --labels "[{key:gpu-pool,value:t4}]" '
        '--taints "[{key:nvidia.com/gpu,value:t4,effect:NoSchedule},{key:team,effect:PreferNoSchedule}]" '
        "--disk-size 256 --disk-storage-account-type Premium_LRS"
    )
    assert {*found.placeholders} >= {"RESOURCE_GROUP", "CLUSTER_NAME", "LOCATION", "SUBNET_ID"}
    assert (found.left_out, {"VERSION", "RELEASE_IMAGE"} & {*found.placeholders}) == ([], set())
    assert (
        "VERSION" in machine_pools.make(pool, cluster("aro", "Azure"), machine_pools.Release()).placeholders
    )


def test_a_cluster_that_tells_its_name_needs_no_placeholder_for_it() -> None:
    found = machine_pools.make(planned(), cluster("rosa hcp", **{"api.openshift.com/name": "demo"}), RELEASE)
    assert "--cluster demo " in found.command
    assert found.manifests[0]["metadata"]["name"] == "demo-t4"
    assert "CLUSTER_NAME" not in found.placeholders


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("rosa", "rosa edit machinepool --cluster CLUSTER_NAME --replicas 2 t4"),
        ("osd", "ocm edit machinepool --cluster CLUSTER_NAME --replicas 2 t4"),
        ("hosted", "oc scale nodepool CLUSTER_NAME-t4 -n HUB_NAMESPACE --replicas 2"),
    ],
)
def test_another_number_of_nodes_is_a_command_too(tool: str, command: str) -> None:
    assert machine_pools.make(planned(), cluster(tool), RELEASE, is_resized=True).command == command


@pytest.mark.parametrize(
    ("tool", "changes", "left_out"),
    [
        ("rosa", {"market": "spot", "disk": {"size_gib": 200}}, []),
        ("rosa hcp", {"market": "spot", "health": {}}, ["market spot", "health"]),
        ("hosted", {"market": "spot", "health": {}, "tuning": {"profile": "accelerator"}}, []),
        ("hosted", {"disk": {"throughput_mib": 200, "size_gib": 200}}, ["disk.throughput_mib"]),
        (
            "osd",
            {
                "candidates": [
                    {
                        "instance_type": "g4dn.xlarge",
                        "zones": ["us-east-2a"],
                        "aws": {"tenancy": "dedicated"},
                    },
                    {"instance_type": "g5.xlarge", "zones": ["us-east-2a"]},
                ],
                "disk": {"size_gib": 200},
            },
            ["the candidates after the first", "disk.size_gib", "aws"],
        ),
    ],
)
def test_what_the_command_does_not_say_is_said(tool: str, changes: Data, left_out: list[str]) -> None:
    assert machine_pools.make(planned(**changes), cluster(tool), RELEASE).left_out == left_out


def test_the_node_pool_has_all_that_the_pool_says() -> None:
    pool = planned(
        labels={"team": "a"},
        disk={"size_gib": 200, "type": "gp3", "iops": 4000},
        market={"type": "on_demand", "reservation": "cr-0123456789abcdef0"},
        health={},
    )
    (found,) = machine_pools.make(pool, cluster("hosted"), RELEASE).manifests
    assert found == {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "NodePool",
        "metadata": {"name": "CLUSTER_NAME-t4", "namespace": "HUB_NAMESPACE"},
        "spec": {
            "clusterName": "CLUSTER_NAME",
            "release": {"image": "quay.io/release@sha256:1"},
            "arch": "amd64",
            "replicas": 2,
            "management": {
                "upgradeType": "Replace",
                "replace": {
                    "strategy": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1},
                },
                "autoRepair": True,
            },
            "nodeDrainTimeout": "0s",
            "nodeLabels": {"team": "a", "gpu-pool": "t4"},
            "taints": T4["taints"],
            "platform": {
                "type": "AWS",
                "aws": {
                    "instanceType": "g4dn.xlarge",
                    "subnet": {"id": "SUBNET_ID"},
                    "rootVolume": {"size": 200, "type": "gp3", "iops": 4000},
                    "placement": {
                        "marketType": "OnDemand",
                        "capacityReservation": {"id": "cr-0123456789abcdef0", "marketType": "OnDemand"},
                    },
                },
            },
        },
    }


@pytest.mark.parametrize(
    ("platform", "cloud", "changes", "given"),
    [
        (
            "Azure",
            "azure",
            A100,
            {
                "vmSize": "Standard_NC24ads_A100_v4",
                "subnetID": "SUBNET_ID",
                "availabilityZone": "1",
                "image": {"type": "ImageID", "imageID": "VM_IMAGE_ID"},
                "osDisk": {"sizeGiB": 120},
            },
        ),
        (
            "KubeVirt",
            None,
            NAMED,
            {
                "rootVolume": {"type": "Persistent", "persistent": {"size": "120Gi"}},
                "compute": {},
                "hostDevices": [{"deviceName": "DEVICE_NAME", "count": 2}],
            },
        ),
        ("None", None, NAMED, {"agentLabelSelector": {"matchLabels": {"AGENT_LABEL": "AGENT_LABEL"}}}),
    ],
)
def test_each_platform_has_its_own_part(platform: str, cloud: str | None, changes: Data, given: Data) -> None:
    (found,) = machine_pools.make(planned(cloud, **changes), cluster("hosted", platform), RELEASE).manifests
    kind = {"None": "Agent"}.get(platform, platform)
    assert found["spec"]["platform"] == {"type": kind, kind.lower(): given}
    assert found["spec"]["management"]["upgradeType"] == ("InPlace" if kind == "Agent" else "Replace")


def test_a_capacity_block_and_spot_are_markets_of_a_node_pool() -> None:
    block = planned(market={"type": "capacity_block", "reservation": "cr-0123456789abcdef0"})
    spot = planned(market={"type": "spot", "max_price": "0.5"})
    placed = [
        machine_pools.make(pool, cluster("hosted"), RELEASE).manifests[0]["spec"]["platform"]["aws"][
            "placement"
        ]
        for pool in (block, spot)
    ]
    assert placed == [
        {
            "marketType": "CapacityBlocks",
            "capacityReservation": {"id": "cr-0123456789abcdef0", "marketType": "CapacityBlocks"},
        },
        {"marketType": "Spot", "spot": {"maxPrice": "0.5"}},
    ]


def test_a_pool_with_tuning_brings_its_tuned_in_a_config_map() -> None:
    pool = planned(tuning={"profile": "accelerator"})
    config_map, node_pool = machine_pools.make(pool, cluster("hosted"), RELEASE).manifests
    assert config_map["metadata"] == {"name": "CLUSTER_NAME-t4-tuning", "namespace": "HUB_NAMESPACE"}
    assert node_pool["spec"]["tuningConfig"] == [{"name": "CLUSTER_NAME-t4-tuning"}]
    tuned = json.loads(config_map["data"]["tuning"])
    assert (config_map["apiVersion"], config_map["kind"], tuned["kind"]) == ("v1", "ConfigMap", "Tuned")
    assert tuned["spec"]["recommend"][0]["match"] == [{"label": "gpu-pool", "value": "t4"}]


def ask(server: FakeServer, *pools: Data, **params: t.Any) -> Data:
    given = {**PARAMS, "pools": list(pools), **params}
    return steps.plan(engine.api_on(server), t.cast(steps.GpuPlanParams, given))


def hosted(*pools: str, topology: str = "External") -> FakeServer:
    """Return a cluster with a hosted control plane, and a node for each name of a pool."""
    server = FakeServer("Infrastructure", "ClusterVersion", "Node")
    told = {"type": "AWS", "aws": {"resourceTags": [{"key": "red-hat-clustertype", "value": "rosa"}]}}
    status = {"infrastructureName": "demo", "controlPlaneTopology": topology, "platformStatus": told}
    server.put(INFRASTRUCTURE | {"status": status})
    desired = {"image": RELEASE.image, "version": RELEASE.version}
    version = {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion"}
    server.put({**version, "metadata": {"name": "version"}, "status": {"desired": desired}})
    for number, pool in enumerate(pools):
        labels = {"gpu-pool": pool}
        server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}", "labels": labels}})
    return server


OTHER: t.Final[Data] = {**T4, "name": "other"}
BY_HAND: t.Final[Data] = {
    "name": "own",
    "existing": {"node_selector": {"rack": "b2"}, "expected": {"nvidia.com/gpu": 4}},
}


def test_pools_without_nodes_are_refused_with_what_makes_them() -> None:
    server = hosted("other")
    with pytest.raises(AcceleratorError) as caught:
        ask(server, T4, OTHER, BY_HAND, {**T4, "name": "more", "market": "spot"})
    error = caught.value
    assert error.code == "MACH-NO-API"
    assert "its control plane is hosted elsewhere" in error.message
    t4, more = error.facts["machine_pools"]
    assert (t4["pool"], more["pool"]) == ("t4", "more")
    assert t4["manifests"][0]["spec"]["release"] == {"image": RELEASE.image}
    assert error.remedy == (
        f"Run `{t4['command']}`. Put in what this cluster does not tell: CLUSTER_NAME. When the nodes have "
        "joined, run the same again: pool t4 takes the nodes with the label gpu-pool=t4."
    )
    assert f"Pool more needs `{more['command']}` too." in error.evidence
    assert "Pool more: the command does not say market spot." in error.evidence
    assert "Pool t4: SUBNET_ID is the subnet of the nodes." in error.evidence
    assert server.writes() == []


@pytest.mark.parametrize("topology", ["External", "HighlyAvailable"])
def test_the_nodes_of_a_machine_pool_are_existing_nodes(topology: str) -> None:
    found = ask(hosted("t4", "t4", topology=topology), T4, BY_HAND)
    t4, own = found["pools"]
    assert (t4["existing"], t4["node_selector"], t4["candidates"]) == (True, {"gpu-pool": "t4"}, [])
    assert (t4["expected"], t4["taints"]) == ({"nvidia.com/gpu": 1}, T4["taints"])
    assert own["node_selector"] == {"rack": "b2"}
    assert [one["pool"] for one in found["machine_pools"]] == ["t4"]
    written = {"existing": {"node_selector": {"gpu-pool": "t4"}, "expected": {"nvidia.com/gpu": 1}}}
    by_hand = {"name": "t4", "taints": T4["taints"], **written}
    assert ask(hosted(topology=topology), by_hand, BY_HAND)["pools"] == found["pools"]


def test_nodes_that_are_fewer_than_the_pool_needs_are_told() -> None:
    few = "pool t4: 1 of 2 nodes have the label gpu-pool=t4"
    for nodes, told in ((["t4"], [few]), (["t4", "t4"], [])):
        api, given = engine.api_on(hosted(*nodes)), {**PARAMS, "pools": [T4]}
        steps.plan(api, t.cast(steps.GpuPlanParams, given))
        assert api.warnings == told


def test_shared_gpus_are_shared_once() -> None:
    (pool,) = ask(hosted("t4"), {**T4, "sharing": {"time_slicing": {"replicas": 4}}})["pools"]
    assert pool["expected"] == {"nvidia.com/gpu": 4}


def test_what_existing_nodes_cannot_have_is_found_before_somebody_makes_them() -> None:
    with pytest.raises(InputError) as caught:
        ask(hosted(), {**T4, "validate": {"gate": True}})
    assert [one["path"] for one in caught.value.facts["problems"]] == ["gpu_pools[0].validate.gate"]


def test_tuning_is_the_node_pools_where_the_control_plane_is_elsewhere() -> None:
    tuned = {**T4, "tuning": {"profile": "accelerator"}}
    assert ask(hosted("t4"), tuned)["tunings"] == []
    (tuning,) = ask(hosted("t4", topology="HighlyAvailable"), tuned)["tunings"]
    assert tuning["node_selector"] == {"gpu-pool": "t4"}


def test_a_removal_works_when_the_nodes_are_gone() -> None:
    (pool,) = ask(hosted(), T4, incomplete=["t4"])["pools"]
    assert pool["existing"]


def test_a_resize_is_the_tools_work_and_its_remedy_says_what_ends() -> None:
    with pytest.raises(AcceleratorError) as caught:
        ask(hosted("t4", "t4"), T4, replicas={"t4": 1})
    assert caught.value.remedy.startswith(
        "Run `rosa edit machinepool --cluster CLUSTER_NAME --replicas 1 t4`. Put in what this cluster does "
        "not tell: CLUSTER_NAME. Fewer nodes end the pods on those that go. When "
    )
