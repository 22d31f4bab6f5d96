# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the GPU operator's pods start, wait for each other and fail."""

from __future__ import annotations

from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import add_driver, add_operand, make, pod_annotations, set_ready

from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import CRASH, INIT_CRASH, OperandPods


def held(world: World, app: str) -> bool:
    return HOLD in pod_annotations(world, app)


class TestOperandPods:
    def test_each_waits_for_the_one_before(self) -> None:
        world = make(OperandPods())
        add_driver(world)
        for app in ("nvidia-container-toolkit-daemonset", "nvidia-dcgm", "nvidia-operator-validator"):
            add_operand(world, app)
        world.settle(1)
        assert held(world, "nvidia-driver-daemonset")
        world.settle(2)
        assert not held(world, "nvidia-driver-daemonset")
        assert held(world, "nvidia-container-toolkit-daemonset")
        set_ready(world, "nvidia-driver-daemonset")
        world.settle()
        assert not held(world, "nvidia-container-toolkit-daemonset")
        assert held(world, "nvidia-dcgm")
        set_ready(world, "nvidia-container-toolkit-daemonset")
        world.settle()
        assert not held(world, "nvidia-dcgm")
        assert held(world, "nvidia-operator-validator")
        world.api.patch(
            "v1", "nodes", "gpu-0", None, {"status": {"allocatable": {"nvidia.com/gpu": "4"}}}, "status"
        )
        world.settle()
        assert not held(world, "nvidia-operator-validator")

    def test_a_slow_driver(self) -> None:
        world = make(OperandPods(), troubles=[{"type": "slow_driver", "seconds": 30, "pool": "test"}])
        add_driver(world)
        world.settle(30)
        assert held(world, "nvidia-driver-daemonset")
        world.settle(3)
        assert not held(world, "nvidia-driver-daemonset")

    def test_a_crash_begins_and_ends_with_its_trouble(self) -> None:
        world = make(OperandPods(), troubles=[{"type": "driver_crashloop", "node": "gpu-0"}])
        add_driver(world)
        world.settle(1)
        assert pod_annotations(world, "nvidia-driver-daemonset") == {CRASH: "true"}
        world.scenario.now.troubles.clear()
        world.settle(1)
        assert pod_annotations(world, "nvidia-driver-daemonset") == {}

    def test_trouble_elsewhere_does_not_matter(self) -> None:
        world = make(OperandPods(), troubles=[{"type": "driver_crashloop", "pool": "other"}])
        add_driver(world)
        world.settle(3)
        assert pod_annotations(world, "nvidia-driver-daemonset") == {}

    def test_a_validator_whose_pod_is_refused_crashes_until_it_is_let_through(self) -> None:
        world = make(OperandPods())
        add_driver(world)
        for app in ("nvidia-container-toolkit-daemonset", "nvidia-operator-validator"):
            add_operand(world, app)
        world.settle(3)
        for app in ("nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset"):
            set_ready(world, app)
        offered = {"status": {"allocatable": {"nvidia.com/gpu": "4"}}}
        world.api.refuses_pods = True
        world.api.patch("v1", "nodes", "gpu-0", None, offered, "status")
        world.settle(2)
        assert pod_annotations(world, "nvidia-operator-validator")[INIT_CRASH] == "true"
        world.api.refuses_pods = False
        world.settle(2)
        assert pod_annotations(world, "nvidia-operator-validator") == {}


def test_a_pod_whose_config_map_or_secret_is_missing_does_not_start() -> None:
    world = make(OperandPods())
    add_driver(world)
    pod = next(one for one in world.api.list("v1", "pods") if "nvidia-driver" in one["metadata"]["name"])
    volumes = [{"name": "topology-config", "configMap": {"name": "mine"}}]
    volumes += [{"name": "licensing-config", "secret": {"secretName": "licence"}}]
    place = (pod["metadata"]["name"], pod["metadata"]["namespace"])
    world.api.patch("v1", "pods", *place, {"spec": {"volumes": volumes}})
    world.settle(5)
    assert held(world, "nvidia-driver-daemonset")
    for kind, name in (("ConfigMap", "mine"), ("Secret", "licence")):
        metadata = {"name": name, "namespace": place[1]}
        world.api.create({"apiVersion": "v1", "kind": kind, "metadata": metadata})
        world.settle(5)
    said = [one["message"] for one in world.api.list("v1", "events") if one["reason"] == "FailedMount"]
    assert said == [
        'MountVolume.SetUp failed for volume "topology-config" : configmap "mine" not found',
        'MountVolume.SetUp failed for volume "licensing-config" : secret "licence" not found',
    ]
    assert not held(world, "nvidia-driver-daemonset")
