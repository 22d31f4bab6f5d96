# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens on a GPU node: pods that wait for each other, the advertised devices, labels, and what programs print."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core import pod_logs
from openshift_sandbox.stand_ins.core.loop import Reconciler
from openshift_sandbox.stand_ins.gpu_operator import feature_discovery, output, workloads
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.feature_discovery import GpuFeatureDiscovery
from openshift_sandbox.stand_ins.gpu_operator.logs import GpuLogs
from openshift_sandbox.stand_ins.gpu_operator.node import GpuNode
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import CRASH, OperandPods
from openshift_sandbox.stand_ins.gpu_operator.workloads import DEVICES, EXIT_CODE, GpuWorkloads
from openshift_sandbox.stand_ins.people.taints import ForeignTaints

Object = dict[str, t.Any]

NAMESPACE = "nvidia-gpu-operator"
INSTANCE = "g4dn.12xlarge"
T4 = instance_types.GPUS["T4"]


def make(*reconcilers: Reconciler, directory: Path = Path("/nonexistent"), **scenario: t.Any) -> World:
    world = World(*reconcilers, directory=directory, **scenario)
    labels = {"node.kubernetes.io/instance-type": INSTANCE, "accelerators.openshift/pool": "test"}
    world.api.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "gpu-0", "labels": labels},
            "spec": {},
            "status": {},
        }
    )
    return world


def add_operand(
    world: World, app: str, hold: str | None = "init", ready: bool = False, **labels: str
) -> None:
    metadata = {
        "name": app,
        "namespace": NAMESPACE,
        "labels": {"app": app} | labels,
        "annotations": {HOLD: hold} if hold else {},
    }
    world.api.create(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": app, "namespace": NAMESPACE, "labels": {"app": app} | labels},
            "spec": {},
        }
    )
    spec = {"nodeName": "gpu-0", "containers": [{"name": "one", "image": "nvcr.io/nvidia/driver:580.1"}]}
    world.api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": spec,
            "status": {"phase": "Pending", "conditions": conditions(ready)},
        }
    )


def add_driver(world: World, ready: bool = False) -> None:
    add_operand(
        world, "nvidia-driver-daemonset", "ready", ready, **{"app.kubernetes.io/component": "nvidia-driver"}
    )


def conditions(ready: bool) -> list[Object]:
    return [
        {"type": "Initialized", "status": "True"},
        {"type": "Ready", "status": "True" if ready else "False"},
    ]


def set_ready(world: World, app: str, ready: bool = True) -> None:
    world.api.patch("v1", "pods", app, NAMESPACE, {"status": {"conditions": conditions(ready)}}, "status")


def annotations(world: World, name: str, namespace: str = NAMESPACE) -> Object:
    return t.cast(Object, world.api.get("Pod", name, namespace)["metadata"].get("annotations", {}))


def held(world: World, app: str) -> bool:
    return HOLD in annotations(world, app)


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
        assert annotations(world, "nvidia-driver-daemonset") == {CRASH: "true"}
        world.scenario.now.troubles.clear()
        world.settle(1)
        assert annotations(world, "nvidia-driver-daemonset") == {}

    def test_trouble_elsewhere_does_not_matter(self) -> None:
        world = make(OperandPods(), troubles=[{"type": "driver_crashloop", "pool": "other"}])
        add_driver(world)
        world.settle(3)
        assert annotations(world, "nvidia-driver-daemonset") == {}


class TestGpuNode:
    @pytest.mark.parametrize(
        ("troubles", "amounts"),
        [
            ([], ("4", "4")),
            ([{"type": "gpu_lost"}], ("4", "3")),
            ([{"type": "gpu_lost", "count": 9}], ("4", "0")),
            ([{"type": "device_plugin_short", "count": 2}], ("2", "2")),
        ],
    )
    def test_what_it_advertises(self, troubles: list[Object], amounts: tuple[str, str]) -> None:
        world = make(GpuNode(), troubles=troubles)
        add_operand(world, "nvidia-device-plugin-daemonset", ready=True)
        world.settle(1)
        assert self.amounts(world) == amounts

    def test_a_plugin_that_goes_leaves_zero(self) -> None:
        world = make(GpuNode())
        add_operand(world, "nvidia-device-plugin-daemonset")
        world.settle(1)
        assert self.amounts(world) == (None, None)
        set_ready(world, "nvidia-device-plugin-daemonset")
        world.settle(1)
        set_ready(world, "nvidia-device-plugin-daemonset", ready=False)
        world.settle(1)
        assert self.amounts(world) == ("4", "0")

    def amounts(self, world: World) -> tuple[str | None, str | None]:
        status = world.api.get("Node", "gpu-0")["status"]
        return status.get("capacity", {}).get("nvidia.com/gpu"), status.get("allocatable", {}).get(
            "nvidia.com/gpu"
        )


class TestFeatureDiscovery:
    def test_labels(self) -> None:
        made_of = instance_types.instance_type("p4d.24xlarge")
        assert made_of is not None
        labels = feature_discovery.labels(made_of, "595.91.07")
        wanted = {
            "gpu.product": "NVIDIA-A100-SXM4-40GB",
            "gpu.count": "8",
            "gpu.memory": "40960",
            "gpu.family": "ampere",
            "mig.capable": "true",
        }
        wanted |= {
            "cuda.driver-version.full": "595.91.07",
            "cuda.driver-version.revision": "07",
            "gpu.compute.major": "8",
            "gpu.compute.minor": "0",
        }
        assert (
            wanted.items()
            <= {key.removeprefix("nvidia.com/"): value for key, value in labels.items()}.items()
        )

    def test_a_node_feature_with_the_version_that_runs(self) -> None:
        world = make(GpuFeatureDiscovery())
        add_driver(world, ready=True)
        add_operand(world, "gpu-feature-discovery", ready=True)
        world.settle()
        feature = world.api.get("NodeFeature", "nvidia-features-for-gpu-0", NAMESPACE)
        assert feature["metadata"]["labels"] == {"nfd.node.kubernetes.io/node-name": "gpu-0"}
        assert feature["spec"]["labels"]["nvidia.com/cuda.driver-version.full"] == "580.1"


class TestForeignTaints:
    def test_a_taint_is_added_once(self) -> None:
        world = make(ForeignTaints(), troubles=[{"type": "node_taint", "key": "team", "value": "ml"}])
        world.settle(2)
        assert world.api.get("Node", "gpu-0")["spec"]["taints"] == [
            {"key": "team", "value": "ml", "effect": "NoSchedule"}
        ]
        assert world.api.writes.count(("patch", "Node", "gpu-0")) == 1


def add_workload(
    world: World, name: str, benchmark: str = "vectoradd", phase: str = "Running", count: int = 1
) -> None:
    metadata = {"name": name, "namespace": "default", "labels": {workloads.BENCHMARK: benchmark}}
    container = {
        "name": "cuda",
        "image": "cuda",
        "resources": {"limits": {"nvidia.com/gpu": str(count), "cpu": "1"}},
    }
    spec = {"nodeName": "gpu-0", "restartPolicy": "Never", "containers": [container]}
    world.api.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}
    )


def written(directory: Path, name: str) -> list[str]:
    lines = (directory / "pod-logs" / f"default_{name}.log").read_text().splitlines()
    assert all(line.split(" ")[1:3] == ["stdout", "F"] for line in lines)
    return [line.split(" ", 3)[3] for line in lines]


class TestWorkloads:
    def test_pods_at_the_same_time_get_different_devices(self, tmp_path: Path) -> None:
        world = make(GpuWorkloads(), directory=tmp_path)
        for number in range(4):
            add_workload(world, f"pod-{number}")
        world.settle(1)
        assert sorted(annotations(world, f"pod-{number}", "default")[DEVICES] for number in range(4)) == [
            "0",
            "1",
            "2",
            "3",
        ]
        logs = [written(tmp_path, f"pod-{number}") for number in range(4)]
        assert len({log[0] for log in logs}) == 4
        assert all(log[1:] == list(output.VECTOR_ADD) for log in logs)
        assert {annotations(world, f"pod-{number}", "default")[EXIT_CODE] for number in range(4)} == {"0"}

    def test_the_log_is_there_before_the_pod_ends(self, tmp_path: Path) -> None:
        world = make(GpuWorkloads(), directory=tmp_path)
        add_workload(world, "pod", phase="Pending")
        world.settle(2)
        assert EXIT_CODE not in annotations(world, "pod", "default")
        world.api.patch("v1", "pods", "pod", "default", {"status": {"phase": "Running"}}, "status")
        world.settle()
        assert written(tmp_path, "pod")
        assert EXIT_CODE not in annotations(world, "pod", "default")

    def test_cuda_that_fails(self, tmp_path: Path) -> None:
        world = make(
            GpuWorkloads(),
            directory=tmp_path,
            troubles=[{"type": "cuda_fails", "pool": "test", "text": "CUDA error", "exit_code": 3}],
        )
        add_workload(world, "pod")
        world.settle(1)
        assert annotations(world, "pod", "default")[EXIT_CODE] == "3"
        assert written(tmp_path, "pod")[-1] == "CUDA error"

    def test_files_go_with_their_pods(self, tmp_path: Path) -> None:
        world = make(GpuWorkloads(), directory=tmp_path)
        add_workload(world, "pod")
        world.settle(1)
        world.api.delete("v1", "pods", "pod", "default")
        world.settle(1)
        assert [path.name for path in (tmp_path / "pod-logs").iterdir()] == ["silent.log"]

    def test_the_driver_says_why_it_crashes(self, tmp_path: Path) -> None:
        world = make(
            OperandPods(),
            GpuLogs(),
            directory=tmp_path,
            troubles=[{"type": "driver_crashloop", "text": "no elfutils"}],
        )
        add_driver(world)
        world.settle(1)
        assert (
            "no elfutils" in (tmp_path / "pod-logs" / f"{NAMESPACE}_nvidia-driver-daemonset.log").read_text()
        )

    @pytest.mark.parametrize(
        ("container", "name"),
        [
            ({"image": "cuda-sample:vectoradd-cuda12.5.0-ubi8"}, "vectoradd"),
            ({"image": "ubi", "command": ["sh", "-c", "nvidia-smi"]}, "nvidia_smi"),
            ({"image": "pytorch", "args": ["matmul.py"]}, "matmul"),
            ({"image": "ubi"}, None),
        ],
    )
    def test_which_program_runs(self, container: Object, name: str | None) -> None:
        assert workloads.program({"metadata": {}, "spec": {"containers": [container]}}) == name

    def test_devices_in_turn(self) -> None:
        assert workloads.choose(2, 4, {}) == [0, 1]
        assert workloads.choose(1, 3, {0: (0, 7), 1: (1, 1), 2: (0, 5)}) == [2]
        assert workloads.choose(1, 0, {}) == []


class TestOutput:
    def test_a_device_keeps_its_name(self) -> None:
        assert output.device_uuid("node", 0) == output.device_uuid("node", 0) != output.device_uuid("node", 1)

    def test_nvidia_smi_names_driver_and_devices(self) -> None:
        text = "\n".join(workloads.output("nvidia_smi", T4, "node", [0, 1], "595.91.07"))
        assert text.count("(UUID: GPU-") == 2
        assert "Driver Version: 595.91.07" in text

    def test_matmul_prints_one_figure(self) -> None:
        [line] = [
            line
            for line in workloads.output("matmul", T4, "node", [0], "595.91.07")
            if line.startswith("matmul ")
        ]
        assert "device=Tesla-T4 size=8192" in line
        assert line.endswith("tflops=42.0 finite=true")

    def test_container_runtime_form(self) -> None:
        assert pod_logs.cri(["a", "b"]).count(" stdout F ") == 2
