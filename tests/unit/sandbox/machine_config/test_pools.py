"""The machine-config operator's stand-ins: boot images that change under a MachineSet, and pools that count their nodes."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.machine_config.boot_images import BootImages
from openshift_sandbox.stand_ins.machine_config.daemon import MachineConfigDaemon
from openshift_sandbox.stand_ins.machine_config.pools import MachineConfigPools

NAMESPACE = "openshift-machine-api"
CONFIGURATION = "rendered-worker-0123"
GCP = "projects/rhcos-cloud/global/images/"

Data = dict[str, t.Any]


def booted(platform: str, value: Data, image: str = "new", **more: t.Any) -> Data:
    """The provider specification after an update to `image`."""
    world = World(
        BootImages(),
        cluster={"image_id": "ami-installed"},
        troubles=[{"type": "boot_image_update", "image": image}],
    )
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": platform}}})
    metadata = {"name": "gpu", "namespace": NAMESPACE} | more
    spec = {"template": {"spec": {"providerSpec": {"value": value}}}}
    world.api.create(
        {
            "apiVersion": "machine.openshift.io/v1beta1",
            "kind": "MachineSet",
            "metadata": metadata,
            "spec": spec,
        }
    )
    world.settle()
    before = len(world.api.writes)
    world.settle(5)
    assert len(world.api.writes) == before
    return t.cast(
        Data,
        world.api.get("MachineSet", "gpu", NAMESPACE)["spec"]["template"]["spec"]["providerSpec"]["value"],
    )


class TestBootImages:
    def test_aws(self) -> None:
        value = {"ami": {"id": "ami-installed"}, "instanceType": "g4dn.xlarge"}
        assert booted("AWS", value, "ami-new") == {"ami": {"id": "ami-new"}, "instanceType": "g4dn.xlarge"}

    @pytest.mark.parametrize("ami", [{"id": "ami-of-my-own"}, {"filters": [{"name": "tag:Name"}]}])
    def test_an_image_of_somebody_else_stays(self, ami: Data) -> None:
        assert booted("AWS", {"ami": ami}, "ami-new") == {"ami": ami}

    def test_gcp_changes_the_boot_disk(self) -> None:
        disks = [{"boot": True, "image": f"{GCP}old", "sizeGb": 128}, {"boot": False, "image": f"{GCP}data"}]
        assert booted("GCP", {"disks": disks})["disks"] == [
            {"boot": True, "image": f"{GCP}new", "sizeGb": 128},
            disks[1],
        ]

    def test_gcp_leaves_a_custom_image(self) -> None:
        disks = [{"boot": True, "image": "projects/mine/global/images/x"}]
        assert booted("GCP", {"disks": disks})["disks"] == disks

    def test_azure_goes_to_the_marketplace(self) -> None:
        image = booted(
            "Azure",
            {
                "image": {
                    "resourceID": "/resourceGroups/x/gen2",
                    "offer": "",
                    "publisher": "",
                    "sku": "",
                    "version": "",
                }
            },
            "422.1.2",
        )["image"]
        assert (image["resourceID"], image["publisher"], image["version"], image["type"]) == (
            "",
            "azureopenshift",
            "422.1.2",
            "MarketplaceNoPlan",
        )

    def test_azure_leaves_confidential_machines(self) -> None:
        value = {
            "image": {"resourceID": "x"},
            "securityProfile": {"settings": {"securityType": "ConfidentialVM"}},
        }
        assert booted("Azure", value) == value

    def test_vsphere(self) -> None:
        assert booted("VSphere", {"template": "old"}) == {"template": "new"}

    def test_owned_sets_are_left_alone(self) -> None:
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}
        assert booted("AWS", {"ami": {"id": "ami-installed"}}, ownerReferences=[owner]) == {
            "ami": {"id": "ami-installed"}
        }

    def test_other_platforms_have_none(self) -> None:
        assert booted("OpenStack", {"image": "rhcos"}) == {"image": "rhcos"}


def pool(name: str = "worker") -> Data:
    selector = {"matchLabels": {f"node-role.kubernetes.io/{name}": ""}}
    spec = {"configuration": {"name": CONFIGURATION}, "nodeSelector": selector}
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": name},
        "spec": spec,
        "status": {},
    }


def node(name: str, *roles: str, ready: bool = True, state: str = "Done", cordoned: bool = False) -> Data:
    keys = "machineconfiguration.openshift.io/"
    annotations = {
        f"{keys}currentConfig": CONFIGURATION,
        f"{keys}desiredConfig": CONFIGURATION,
        f"{keys}state": state,
    }
    labels = {f"node-role.kubernetes.io/{role}": "" for role in roles or ("worker",)}
    metadata = {"name": name, "labels": labels, "annotations": annotations}
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": {"unschedulable": True} if cordoned else {},
        "status": status,
    }


def counted(*objects: Data, name: str = "worker") -> Data:
    world = World(MachineConfigPools())
    for obj in objects:
        world.api.create(obj)
    world.settle(2)
    return t.cast(Data, world.api.get("MachineConfigPool", name)["status"])


def numbers(status: Data) -> tuple[int, ...]:
    return tuple(
        status[f"{kind}MachineCount"] if kind else status["machineCount"]
        for kind in ("", "updated", "ready", "unavailable", "degraded")
    )


def states(status: Data) -> dict[str, str]:
    return {one["type"]: one["status"] for one in status["conditions"]}


class TestPools:
    def test_a_pool_whose_nodes_are_all_right(self) -> None:
        status = counted(pool(), node("a"), node("b"), node("m", "master"))
        assert numbers(status) == (2, 2, 2, 0, 0)
        assert states(status) == {"Updated": "True", "Updating": "False"}
        assert (status["observedGeneration"], status["configuration"]) == (1, {"name": CONFIGURATION})

    @pytest.mark.parametrize(
        ("bad", "expected"),
        [
            (node("b", ready=False), (2, 2, 1, 1, 0)),
            (node("b", cordoned=True), (2, 2, 1, 1, 0)),
            (node("b", state="Working"), (2, 1, 1, 1, 0)),
            (node("b", state="Degraded"), (2, 1, 1, 0, 1)),
            (node("b", state="Unreconcilable"), (2, 1, 1, 0, 1)),
        ],
    )
    def test_one_that_is_not(self, bad: Data, expected: tuple[int, ...]) -> None:
        status = counted(pool(), node("a"), bad)
        assert numbers(status) == expected
        assert states(status) == {"Updated": "False", "Updating": "True"}

    def test_a_custom_pool_takes_its_nodes_from_the_workers(self) -> None:
        objects = (pool(), pool("gpu"), node("a"), node("b", "worker", "gpu"))
        assert numbers(counted(*objects)) == (1, 1, 1, 0, 0)
        assert numbers(counted(*objects, name="gpu")) == (1, 1, 1, 0, 0)


KERNEL, RHCOS = "5.14.0-611.5.1.el9_7.x86_64", "9.8.20260815-0"


def rolling(*objects: Data, delays: dict[str, float] | None = None, **update: t.Any) -> World:
    """Workers and their pool while an update of the operating system goes on."""
    trouble = {"type": "os_update", "new_kernel": KERNEL, "new_ostree_version": RHCOS, **update}
    world = World(
        MachineConfigPools(),
        MachineConfigDaemon(),
        troubles=[trouble],
        delays={"os_update_reboot": 1, **(delays or {})},
    )
    for obj in objects:
        if obj["kind"] == "Node":
            obj["status"]["nodeInfo"] = {
                "kernelVersion": "old",
                "osImage": "Red Hat Enterprise Linux CoreOS 9.8.1-0 (Plow)",
                "bootID": "first",
            }
        world.api.create(obj)
    return world


def says(world: World, name: str) -> tuple[str, str, bool]:
    found = world.api.get("Node", name)
    state = found["metadata"]["annotations"]["machineconfiguration.openshift.io/state"]
    return found["status"]["nodeInfo"]["kernelVersion"], state, bool(found["spec"].get("unschedulable"))


def worker_pod(name: str, node_name: str) -> Data:
    metadata = {
        "name": name,
        "namespace": "default",
        "ownerReferences": [{"kind": "ReplicaSet", "uid": "x", "controller": True}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": node_name},
        "status": {"phase": "Running"},
    }


class TestUpdates:
    def test_one_node_after_the_other(self) -> None:
        world = rolling(pool(), node("a"), node("b"), node("m", "master"), worker_pod("p", "a"))
        world.settle()
        assert says(world, "a") == ("old", "Working", True)
        assert says(world, "b") == ("old", "Done", False)
        world.settle(0.5)
        assert not world.api.all("Pod")
        assert states(world.api.get("MachineConfigPool", "worker")["status"]) == {
            "Updated": "False",
            "Updating": "True",
        }
        world.settle(1)
        assert (says(world, "a"), says(world, "b")[1]) == ((KERNEL, "Done", False), "Working")
        world.settle(2)
        assert [says(world, name) for name in ("a", "b", "m")] == [(KERNEL, "Done", False)] * 2 + [
            ("old", "Done", False)
        ]
        assert world.api.get("Node", "a")["status"]["nodeInfo"]["bootID"] != "first"
        assert states(world.api.get("MachineConfigPool", "worker")["status"]) == {
            "Updated": "True",
            "Updating": "False",
        }

    def test_a_node_that_cannot_be_drained_is_given_up(self) -> None:
        world = rolling(pool(), node("a"), worker_pod("p", "a"), delays={"os_update_drain_timeout": 3})
        world.api.budgeted = {"p"}
        world.settle(5)
        assert says(world, "a") == ("old", "Degraded", True)
        reason = world.api.get("Node", "a")["metadata"]["annotations"][
            "machineconfiguration.openshift.io/reason"
        ]
        assert reason == "failed to drain node: a after 1 hour"
        assert numbers(world.api.get("MachineConfigPool", "worker")["status"])[4] == 1

    def test_a_paused_pool_waits(self) -> None:
        paused = pool()
        paused["spec"]["paused"] = True
        world = rolling(paused, node("a"))
        world.settle(3)
        assert says(world, "a") == ("old", "Done", False)

    def test_a_single_node(self) -> None:
        world = rolling(pool(), node("a"), node("b"), node="b")
        world.settle(3)
        assert (says(world, "a")[0], says(world, "b")[0]) == ("old", KERNEL)
