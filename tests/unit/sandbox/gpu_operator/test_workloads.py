# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods get GPUs, what they print and how they end."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import NAMESPACE, Object, add_driver, make, pod_annotations

from openshift_sandbox.stand_ins.gpu_operator import output, workloads
from openshift_sandbox.stand_ins.gpu_operator.logs import GpuLogs
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import OperandPods
from openshift_sandbox.stand_ins.gpu_operator.workloads import DEVICES, EXIT_CODE, GpuWorkloads


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
        assert sorted(pod_annotations(world, f"pod-{number}", "default")[DEVICES] for number in range(4)) == [
            "0",
            "1",
            "2",
            "3",
        ]
        logs = [written(tmp_path, f"pod-{number}") for number in range(4)]
        assert len({log[0] for log in logs}) == 4
        assert all(log[1:] == list(output.VECTOR_ADD) for log in logs)
        assert {pod_annotations(world, f"pod-{number}", "default")[EXIT_CODE] for number in range(4)} == {"0"}

    def test_devices_count_that_are_given_and_not_seen_yet(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A list of pods may be older than the last devices that were given."""
        world = make(GpuWorkloads(), directory=tmp_path)
        for number in range(5):
            add_workload(world, f"pod-{number}")
        listed = world.cluster.objects
        first = copy.deepcopy(world.api.all("Pod"))
        monkeypatch.setattr(world.cluster, "objects", lambda kind: first if kind == "Pod" else listed(kind))
        world.settle()
        for number in range(5, 8):
            add_workload(world, f"pod-{number}")
        later = copy.deepcopy(world.api.all("Pod"))
        for one in later:
            one["metadata"].pop("annotations", None)
        monkeypatch.setattr(world.cluster, "objects", lambda kind: later if kind == "Pod" else listed(kind))
        world.settle(1)
        given = [pod_annotations(world, f"pod-{number}", "default")[DEVICES] for number in range(8)]
        assert sorted(given) == sorted("0123" * 2)

    def test_the_log_is_there_before_the_pod_ends(self, tmp_path: Path) -> None:
        world = make(GpuWorkloads(), directory=tmp_path)
        add_workload(world, "pod", phase="Pending")
        world.settle(2)
        assert EXIT_CODE not in pod_annotations(world, "pod", "default")
        world.api.patch("v1", "pods", "pod", "default", {"status": {"phase": "Running"}}, "status")
        world.settle()
        assert written(tmp_path, "pod")
        assert EXIT_CODE not in pod_annotations(world, "pod", "default")

    @pytest.mark.parametrize(("seconds", "is_over"), [("3", True), ("60", True), ("900", False)])
    def test_a_pod_that_sleeps_for_long_runs_until_it_is_deleted(
        self, tmp_path: Path, seconds: str, is_over: bool
    ) -> None:
        world = make(GpuWorkloads(), directory=tmp_path)
        add_workload(world, "pod")
        script = {"name": "cuda", "command": ["/bin/sh", "-c", f"nvidia-smi -L\nsleep {seconds}\nexit 0"]}
        limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
        world.api.patch("v1", "pods", "pod", "default", {"spec": {"containers": [script | limits]}})
        world.settle(1)
        assert written(tmp_path, "pod")
        assert (EXIT_CODE in pod_annotations(world, "pod", "default")) is is_over

    def test_cuda_that_fails(self, tmp_path: Path) -> None:
        world = make(
            GpuWorkloads(),
            directory=tmp_path,
            troubles=[{"type": "cuda_fails", "pool": "test", "text": "CUDA error", "exit_code": 3}],
        )
        add_workload(world, "pod")
        world.settle(1)
        assert pod_annotations(world, "pod", "default")[EXIT_CODE] == "3"
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
