"""How the SR-IOV operator configures nodes: states, drains, reboots, resources."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.networks.builders import SRIOV, Object, deployment, node, pod, policy, sriov

from openshift_sandbox.hardware.instance_types import described
from openshift_sandbox.hardware.ports import ports
from openshift_sandbox.stand_ins.sriov.daemon import SriovDaemon
from openshift_sandbox.stand_ins.sriov.drain import SriovDrain, most
from openshift_sandbox.stand_ins.sriov.operator import SriovOperator
from openshift_sandbox.stand_ins.sriov.policies import desired, discovered

STATE, DESIRED, CURRENT = (
    f"sriovnetwork.openshift.io/{key}" for key in ("state", "desired-state", "current-state")
)


def cluster(*objects: Object, **config: t.Any) -> World:
    """Return a world with the operator, its configuration, the pool `worker` and these objects."""
    world = World(SriovOperator(), SriovDaemon(), SriovDrain())
    pool = {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": "worker"},
        "spec": {
            "configuration": {"name": "rendered-worker-1"},
            "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}},
        },
        "status": {"configuration": {"name": "rendered-worker-1"}},
    }
    for obj in (
        deployment("sriov-network-operator", SRIOV),
        sriov("SriovOperatorConfig", "default", **config),
        pool,
        *objects,
    ):
        world.api.create(obj)
    world.settle(3)
    return world


def add(world: World, *objects: Object, seconds: float = 6) -> None:
    for obj in objects:
        world.api.create(obj)
    world.settle(seconds)


def state(world: World, name: str = "a") -> Object:
    return world.api.get("SriovNetworkNodeState", name, SRIOV)


def marks(world: World, name: str = "a") -> tuple[str, str, str]:
    annotations = state(world, name)["metadata"]["annotations"]
    return annotations[DESIRED], annotations[CURRENT], state(world, name)["status"]["syncStatus"]


def offers(world: World, name: str = "a") -> dict[str, str]:
    allocatable = world.api.get("Node", name)["status"]["allocatable"]
    return {key: value for key, value in allocatable.items() if key.startswith("openshift.io/")}


class TestStates:
    def test_a_state_lists_the_adapters_of_a_node(self) -> None:
        world = cluster(node("a"), node("b", "1xCX7-IB"), node("c", ""))
        found = {name: state(world, name)["status"] for name in "abc"}
        assert [one["name"] for one in found["a"]["interfaces"]] == ["ens1f0np0", "ens2f0np0"]
        assert found["a"]["interfaces"][0] | {"mac": ""} == {
            "name": "ens1f0np0",
            "mac": "",
            "driver": "mlx5_core",
            "pciAddress": "0000:1a:00.0",
            "vendor": "15b3",
            "deviceID": "1021",
            "mtu": 1500,
            "linkSpeed": "400000 Mb/s",
            "linkType": "ETH",
            "linkAdminState": "up",
            "eSwitchMode": "legacy",
            "totalvfs": 8,
        }
        assert [(one["name"], one["linkType"]) for one in found["b"]["interfaces"]] == [("ibs1", "IB")]
        assert (found["c"]["interfaces"], found["c"]["syncStatus"]) == ([], "Succeeded")
        assert marks(world) == ("Idle", "Idle", "Succeeded")

    def test_the_daemon_waits_for_the_labels_of_its_selector(self) -> None:
        selector = {"network.nvidia.com/operator.mofed.wait": "false"}
        world = cluster(node("a"), configDaemonNodeSelector=selector)
        assert world.api.all("SriovNetworkNodeState") == []
        world.cluster.patch("Node", "a", None, {"metadata": {"labels": selector}})
        world.settle(3)
        assert marks(world) == ("Idle", "Idle", "Succeeded")

    def test_a_state_outlives_the_label_for_a_while(self) -> None:
        loaded = {"network.nvidia.com/operator.mofed.wait": "false"}
        world = cluster(node("a", **loaded), configDaemonNodeSelector=loaded)
        add(world, policy(numVfs=4))
        boot = world.api.get("Node", "a")["status"]["nodeInfo"]["bootID"]
        loading = {"network.nvidia.com/operator.mofed.wait": "true"}
        world.cluster.patch("Node", "a", None, {"metadata": {"labels": loading}})
        world.settle(3)
        assert "sriovnetwork.openshift.io/keep-state-until" in state(world)["metadata"]["annotations"]
        assert offers(world) == {"openshift.io/rail": "0"}
        world.cluster.patch("Node", "a", None, {"metadata": {"labels": loaded}})
        world.settle(3)
        assert "sriovnetwork.openshift.io/keep-state-until" not in state(world)["metadata"]["annotations"]
        assert offers(world) == {"openshift.io/rail": "8"}
        assert world.api.get("Node", "a")["status"]["nodeInfo"]["bootID"] == boot
        world.cluster.patch("Node", "a", None, {"metadata": {"labels": loading}})
        world.settle(1810, step=30)
        assert world.api.all("SriovNetworkNodeState") == []

    def test_the_configuration_leaves_with_its_webhooks(self) -> None:
        world = cluster(node("a"))
        config = world.api.get("SriovOperatorConfig", "default", SRIOV)
        assert config["metadata"]["finalizers"] == ["operatorconfig.finalizers.sriovnetwork.openshift.io"]
        world.api.delete(config["apiVersion"], "sriovoperatorconfigs", "default", SRIOV)
        world.settle(3)
        assert world.api.all("SriovOperatorConfig") == []


class TestPolicies:
    def test_the_first_functions_need_no_drain(self) -> None:
        world = cluster(node("a"), pod("job", "a", requests={"openshift.io/rail": "1"}))
        add(world, policy())
        assert marks(world) == ("Idle", "Idle", "Succeeded")
        interface = state(world)["status"]["interfaces"][1]
        assert (interface["numVfs"], len(interface["Vfs"]), interface["Vfs"][7]["pciAddress"]) == (
            8,
            8,
            "0000:2a:01.0",
        )
        assert offers(world) == {"openshift.io/rail": "16"}
        assert world.api.get("Node", "a")["status"]["nodeInfo"]["bootID"] == "first"
        assert world.api.get("Pod", "job", "work")
        assert state(world)["spec"]["interfaces"][0]["vfGroups"] == [
            {"resourceName": "rail", "deviceType": "netdevice", "vfRange": "0-7", "policyName": "rail"}
        ]

    def test_other_firmware_restarts_the_nodes_one_after_the_other(self) -> None:
        world = cluster(node("a"), node("b"), pod("job", "a"), pod("other", "b"))
        add(world, policy(numVfs=4), seconds=0.5)
        world.settle(1)
        assert [marks(world, name)[:2] for name in "ab"] == [
            ("Reboot_Required", "DrainComplete"),
            ("Reboot_Required", "Idle"),
        ]
        pool = world.api.get("MachineConfigPool", "worker")
        assert (pool["spec"]["paused"], pool["metadata"]["annotations"][STATE]) == (True, "Paused")
        assert world.api.get("Node", "a")["spec"]["unschedulable"]
        world.settle(12)
        assert {marks(world, name) for name in "ab"} == {("Idle", "Idle", "Succeeded")}
        assert all(world.api.get("Node", name)["status"]["nodeInfo"]["bootID"] != "first" for name in "ab")
        assert not any(world.api.get("Node", name)["spec"].get("unschedulable") for name in "ab")
        pool = world.api.get("MachineConfigPool", "worker")
        assert (pool["spec"]["paused"], pool["metadata"]["annotations"][STATE]) == (False, "Idle")
        assert offers(world, "b") == {"openshift.io/rail": "8"}
        assert world.api.all("Pod") == []

    def test_a_policy_that_goes_evicts_only_users_of_its_functions(self) -> None:
        world = cluster(node("a"))
        add(world, policy())
        add(world, pod("user", "a", requests={"openshift.io/rail": "1"}), pod("other", "a"), seconds=0)
        world.api.delete("sriovnetwork.openshift.io/v1", "sriovnetworknodepolicies", "rail", SRIOV)
        world.settle(8)
        assert [one["metadata"]["name"] for one in world.api.all("Pod")] == ["other"]
        assert marks(world) == ("Idle", "Idle", "Succeeded")
        assert offers(world) == {"openshift.io/rail": "0"}
        assert "numVfs" not in state(world)["status"]["interfaces"][0]
        assert world.api.get("Node", "a")["status"]["nodeInfo"]["bootID"] == "first"

    def test_a_budget_holds_the_drain(self) -> None:
        world = cluster(node("a"), pod("job", "a"))
        world.api.budgeted = {"job"}
        add(world, policy(numVfs=4), seconds=8)
        assert marks(world) == ("Reboot_Required", "Draining", "InProgress")
        assert world.api.get("Node", "a")["spec"]["unschedulable"]
        assert world.api.get("MachineConfigPool", "worker")["spec"]["paused"]
        messages = {one["message"] for one in world.api.all("Event")}
        assert messages == {"failed to drain node"}
        world.api.budgeted = set()
        world.settle(8)
        assert marks(world) == ("Idle", "Idle", "Succeeded")

    def test_no_drain_begins_while_the_pool_updates(self) -> None:
        world = cluster(node("a"), pod("job", "a"))
        world.cluster.patch(
            "MachineConfigPool", "worker", None, {"spec": {"configuration": {"name": "rendered-worker-2"}}}
        )
        add(world, policy(numVfs=4))
        assert marks(world) == ("Reboot_Required", "Draining", "InProgress")
        assert not world.api.get("Node", "a")["spec"].get("unschedulable")

    def test_a_pool_configuration_lets_more_nodes_drain(self) -> None:
        nodes = [node(name, pool="gpu") for name in "abc"]
        pool = sriov(
            "SriovNetworkPoolConfig",
            "gpu",
            maxUnavailable=2,
            nodeSelector={"matchLabels": {"pool": "gpu"}},
        )
        world = cluster(*nodes, pool)
        add(world, policy(numVfs=4), seconds=1)
        assert [marks(world, name)[1] for name in "abc"].count("Idle") == 1

    def test_without_drains_the_node_restarts_at_once(self) -> None:
        world = cluster(node("a"), pod("job", "a"), disableDrain=True)
        add(world, policy(numVfs=4))
        assert marks(world) == ("Idle", "Idle", "Succeeded")
        assert world.api.get("Node", "a")["status"]["nodeInfo"]["bootID"] != "first"

    def test_a_failure_stays_until_it_is_mended(self) -> None:
        world = cluster(node("a"))
        world.scenario.now.troubles.append({"type": "sriov_sync_fails", "node": "a", "text": "no memory"})
        add(world, policy())
        assert (marks(world)[2], state(world)["status"]["lastSyncError"]) == ("Failed", "no memory")
        world.scenario.now.troubles.clear()
        world.settle(5)
        assert (marks(world)[2], state(world)["status"]["lastSyncError"]) == ("Succeeded", "")

    @pytest.mark.parametrize(
        ("spec", "reboots"),
        [({"deviceType": "vfio-pci"}, True), ({"linkType": "ib"}, True), ({"mtu": 9000}, False)],
    )
    def test_what_needs_a_reboot(self, spec: Object, reboots: bool) -> None:
        world = cluster(node("a"))
        add(world, policy(**spec), seconds=10)
        assert marks(world) == ("Idle", "Idle", "Succeeded")
        assert (world.api.get("Node", "a")["status"]["nodeInfo"]["bootID"] != "first") is reboots
        interface = state(world)["status"]["interfaces"][0]
        assert (interface["mtu"], interface["linkType"], interface["Vfs"][0]["driver"]) == (
            spec.get("mtu", 1500),
            spec.get("linkType", "eth").upper(),
            spec.get("deviceType", "mlx5_core"),
        )

    def test_two_policies_share_an_adapter(self) -> None:
        first = policy("one", nicSelector={"pfNames": ["ens1f0np0#0-3"]}, mtu=9000)
        second = policy("two", nicSelector={"pfNames": ["ens1f0np0#4-7"]})
        found = [discovered(port) for port in ports("a", described("8x32+1xCX7"))]
        [interface] = desired([first, second], found)
        assert {group["resourceName"]: group["vfRange"] for group in interface["vfGroups"]} == {
            "one": "0-3",
            "two": "4-7",
        }
        assert (interface["numVfs"], interface["mtu"]) == (8, 9000)


@pytest.mark.parametrize(("wanted", "most_of_five"), [(None, 5), (2, 2), ("50%", 2), ("100%", 5)])
def test_how_many_nodes_of_a_pool_drain_at_once(wanted: int | str | None, most_of_five: int) -> None:
    assert most(wanted, 5) == most_of_five
