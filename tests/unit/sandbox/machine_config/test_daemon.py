"""An update of the operating system, node by node."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World
from unit.sandbox.machine_config.builders import HEALTHY, Data, node, numbers, pool, states

from openshift_sandbox.stand_ins.machine_config.daemon import MachineConfigDaemon
from openshift_sandbox.stand_ins.machine_config.pools import MachineConfigPools

KERNEL, RHCOS = "5.14.0-611.5.1.el9_7.x86_64", "9.8.20260815-0"


def rolling(*objects: Data, delays: dict[str, float] | None = None, **update: t.Any) -> World:
    """Return a world with workers and their pool during an update of the operating system."""
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
        assert (
            states(world.api.get("MachineConfigPool", "worker")["status"])
            == {
                "Updated": "False",
                "Updating": "True",
            }
            | HEALTHY
        )
        world.settle(1)
        assert (says(world, "a"), says(world, "b")[1]) == ((KERNEL, "Done", False), "Rebooting")
        world.settle(2)
        assert [says(world, name) for name in ("a", "b", "m")] == [(KERNEL, "Done", False)] * 2 + [
            ("old", "Done", False)
        ]
        assert world.api.get("Node", "a")["status"]["nodeInfo"]["bootID"] != "first"
        assert (
            states(world.api.get("MachineConfigPool", "worker")["status"])
            == {
                "Updated": "True",
                "Updating": "False",
            }
            | HEALTHY
        )

    def test_a_node_that_cannot_be_drained_is_given_up(self) -> None:
        world = rolling(pool(), node("a"), worker_pod("p", "a"), delays={"os_update_drain_timeout": 3})
        world.api.budgeted = {"p"}
        world.settle(5)
        assert says(world, "a") == ("old", "Degraded", True)
        reason = world.api.get("Node", "a")["metadata"]["annotations"][
            "machineconfiguration.openshift.io/reason"
        ]
        assert reason == (
            "failed to drain node: a after 1 hour. "
            "Please see machine-config-controller logs for more information"
        )
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
