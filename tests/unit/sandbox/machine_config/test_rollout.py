"""How nodes get the configuration of their pool."""

from __future__ import annotations

import pytest
from unit.sandbox.machine_config import rolling
from unit.sandbox.machine_config.rolling import (
    API,
    BASE,
    GPU,
    KEYS,
    add,
    boot,
    cluster,
    configuration,
    gpu_pool,
    machine_config,
    says,
    states,
    worker,
)
from unit.sandbox.machine_config.test_daemon import worker_pod

from openshift_sandbox.stand_ins.machine_config.daemon import max_unavailable

CHANGE = machine_config("99-gpu", "gpu-training", "iommu=pt")
TRAINING = (worker("g0", "training"), worker("g1", "training"), worker("w"))


class TestRollouts:
    def test_a_node_that_moves_to_a_pool_with_the_same_content_does_not_reboot(self) -> None:
        world = cluster(*TRAINING, gpu_pool())
        assert says(world, "g0") == says(world, "g1") == (configuration(world), "Done", False)
        assert boot(world, "g0") == "first"
        assert says(world, "w")[0] == BASE

    def test_one_node_after_the_other(self) -> None:
        world = cluster(*TRAINING, gpu_pool())
        add(world, CHANGE)
        wanted = configuration(world)
        assert [says(world, name)[1:] for name in ("g0", "g1")] == [("Rebooting", True), ("Done", False)]
        assert states(world)["Updating"] == "True"
        world.settle(1)
        assert says(world, "g0") == (wanted, "Done", False)
        assert says(world, "g1")[1:] == ("Rebooting", True)
        world.settle(2)
        assert says(world, "g1") == (wanted, "Done", False)
        assert boot(world, "g0") not in ("first", boot(world, "g1"))
        assert (says(world, "w")[0], boot(world, "w")) == (BASE, "first")
        assert states(world)["Updated"] == "True"
        found = rolling.pool(world)
        assert found["status"]["configuration"]["name"] == wanted
        assert found["status"]["observedGeneration"] == found["metadata"]["generation"]

    def test_zones_in_turn(self) -> None:
        world = cluster(
            worker("b", "training", "b"), worker("c", "training"), worker("a", "training", "b"), gpu_pool()
        )
        add(world, CHANGE)
        assert [name for name in "abc" if says(world, name)[1] != "Done"] == ["c"]

    def test_several_at_a_time(self) -> None:
        world = cluster(*TRAINING, gpu_pool(maxUnavailable=2))
        add(world, CHANGE)
        assert [says(world, name)[1] for name in ("g0", "g1")] == ["Rebooting"] * 2

    @pytest.mark.parametrize(
        ("value", "count", "expected"), [("50%", 5, 2), ("10%", 5, 1), (3, 5, 3), (0, 5, 1)]
    )
    def test_max_unavailable(self, value: int | str, count: int, expected: int) -> None:
        assert max_unavailable({"spec": {"maxUnavailable": value}}, count) == expected

    def test_a_cordoned_node_holds_up_its_pool(self) -> None:
        world = cluster(*TRAINING, gpu_pool())
        world.api.patch("v1", "nodes", "g1", None, {"spec": {"unschedulable": True}})
        add(world, CHANGE, 3)
        assert [says(world, name)[1] for name in ("g0", "g1")] == ["Done", "Done"]
        world.api.patch("v1", "nodes", "g1", None, {"spec": {"unschedulable": None}})
        world.settle(5)
        assert says(world, "g1") == (configuration(world), "Done", False)

    def test_a_change_that_comes_during_a_rollout_reboots_the_first_node_twice(self) -> None:
        world = cluster(*TRAINING, gpu_pool())
        add(world, CHANGE)
        add(world, machine_config("98-more", "gpu-training", "audit=1"), 0.5)
        world.settle(0.5)
        once = boot(world, "g0")
        world.settle(5)
        assert says(world, "g0")[0] == says(world, "g1")[0] == configuration(world)
        assert boot(world, "g0") not in ("first", once)

    def test_back_to_the_workers(self) -> None:
        world = cluster(*TRAINING, gpu_pool(), CHANGE, seconds=6)
        world.api.delete(API, "machineconfigpools", "gpu-training")
        world.settle(6)
        assert says(world, "g0") == says(world, "g1") == (BASE, "Done", False)

    def test_huge_pages_and_reserved_cpus_change_the_resources(self) -> None:
        pages = machine_config(
            "99-pages", "gpu-training", "default_hugepagesz=1G", "hugepagesz=1G", "hugepages=16"
        )
        world = cluster(
            worker("g0", "training"), gpu_pool(), pages, rolling.kubelet_config(reservedSystemCPUs="0-3,48")
        )
        world.settle(3)
        status = world.api.get("Node", "g0")["status"]
        assert status["capacity"] == {
            "cpu": "96",
            "memory": "1024Gi",
            "nvidia.com/gpu": "8",
            "hugepages-1Gi": "16384Mi",
        }
        assert status["allocatable"] == {
            "cpu": "91000m",
            "memory": "1031066Mi",
            "nvidia.com/gpu": "8",
            "hugepages-1Gi": "16384Mi",
        }
        world.api.delete(API, "machineconfigs", "99-pages")
        world.settle(4)
        assert "hugepages-1Gi" not in world.api.get("Node", "g0")["status"]["capacity"]


class TestPaused:
    def test_a_paused_pool_is_rendered_and_not_rolled_out(self) -> None:
        world = cluster(*TRAINING, gpu_pool())
        world.api.patch(API, "machineconfigpools", "gpu-training", None, {"spec": {"paused": True}})
        before = configuration(world)
        add(world, CHANGE, 3)
        assert configuration(world) != before
        assert says(world, "g0") == (before, "Done", False)
        assert (states(world)["Updated"], states(world)["Updating"]) == ("False", "False")
        assert rolling.message(world, "Updating") == (
            f"Pool is paused; will not update to MachineConfig {configuration(world)}"
        )
        assert rolling.pool(world)["status"]["configuration"]["name"] == before
        world.api.patch(API, "machineconfigpools", "gpu-training", None, {"spec": {"paused": False}})
        world.settle(4)
        assert says(world, "g1")[0] == configuration(world)

    def test_a_node_that_has_begun_ends(self) -> None:
        world = cluster(*TRAINING, gpu_pool())
        add(world, CHANGE)
        world.api.patch(API, "machineconfigpools", "gpu-training", None, {"spec": {"paused": True}})
        world.settle(4)
        assert says(world, "g0") == (configuration(world), "Done", False)
        assert says(world, "g1")[0] != configuration(world)


class TestFailures:
    def test_a_degraded_node_names_its_reason_and_stops_the_pool(self) -> None:
        trouble = {"type": "node_degraded", "node": "g0", "reason": "disk full"}
        world = cluster(*TRAINING, gpu_pool(), CHANGE, troubles=[trouble], seconds=4)
        assert says(world, "g0")[1] == "Degraded"
        assert says(world, "g1")[0] != configuration(world)
        assert (states(world)["NodeDegraded"], states(world)["Degraded"]) == ("True", "True")
        assert rolling.message(world, "NodeDegraded") == 'Node g0 is reporting: "disk full"'
        assert rolling.pool(world)["status"]["degradedMachineCount"] == 1
        world.scenario.now.troubles.clear()
        world.settle(6)
        assert says(world, "g0") == says(world, "g1") == (configuration(world), "Done", False)
        assert states(world)["Degraded"] == "False"
        assert f"{KEYS}reason" not in world.api.get("Node", "g0")["metadata"]["annotations"]

    def test_a_budget_that_never_yields(self) -> None:
        world = cluster(*TRAINING, gpu_pool(), worker_pod("p", "g0"), delays={"os_update_drain_timeout": 3})
        world.api.budgeted = {"p"}
        add(world, CHANGE, 2)
        assert says(world, "g0")[1:] == ("Working", True)
        world.settle(3)
        assert says(world, "g0")[1:] == ("Degraded", True)
        assert rolling.message(world, "NodeDegraded").startswith(
            'Node g0 is reporting: "failed to drain node: g0'
        )
        world.api.budgeted = set()
        world.settle(6)
        assert says(world, "g0") == says(world, "g1") == (configuration(world), "Done", False)

    def test_a_node_that_two_custom_pools_select_is_left_alone(self) -> None:
        world = cluster(*TRAINING, gpu_pool())
        before = configuration(world)
        add(world, gpu_pool("other"))
        add(world, CHANGE, 3)
        assert says(world, "g0") == (before, "Done", False)
        assert rolling.pool(world)["status"]["machineCount"] == 0
        world.api.delete(API, "machineconfigpools", "other")
        world.settle(5)
        assert says(world, "g0")[0] == configuration(world)


class TestNewNodes:
    def test_one_with_the_workers_configuration_reboots_once(self) -> None:
        world = cluster(*TRAINING, gpu_pool(), CHANGE, seconds=6)
        add(world, worker("new", "training"), 4)
        assert says(world, "new") == (configuration(world), "Done", False)
        assert boot(world, "new") != "first"

    def test_one_with_the_pools_configuration_does_not(self) -> None:
        world = cluster(*TRAINING, gpu_pool(), CHANGE, seconds=6)
        new = worker("new", "training")
        new["metadata"]["annotations"] |= dict.fromkeys(
            (f"{KEYS}currentConfig", f"{KEYS}desiredConfig"), configuration(world)
        )
        add(world, new, 4)
        assert (says(world, "new")[1], boot(world, "new")) == ("Done", "first")

    def test_a_label_is_enough(self) -> None:
        world = cluster(*TRAINING, gpu_pool(), CHANGE, seconds=6)
        world.api.patch("v1", "nodes", "w", None, {"metadata": {"labels": {GPU: "training"}}})
        world.settle(4)
        assert says(world, "w")[0] == configuration(world)
