"""What the containers of the GPU operator print."""

from __future__ import annotations

from pathlib import Path

from unit.sandbox.gpu_operator.builders import NAMESPACE, add_driver, add_operand, make, pod_annotations

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core import pod_logs
from openshift_sandbox.stand_ins.gpu_operator import output, workloads
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.logs import GpuLogs
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import CRASH, OperandPods


def test_an_operand_that_ends_again_and_again_prints_what_it_was_told_to(tmp_path: Path) -> None:
    app = "nvidia-device-plugin-daemonset"
    troubles = [
        {"type": "operand_crashloop", "operand": app},
        {"type": "log_line", "operand": "nvidia-device", "container": "one", "text": "no NVML"},
    ]
    world = make(OperandPods(), GpuLogs(), directory=tmp_path, troubles=troubles)
    add_driver(world)
    add_operand(world, app, hold=None, ready=True)
    world.settle(1)
    assert pod_annotations(world, app) == {CRASH: "true"}
    assert "no NVML" in (tmp_path / "pod-logs" / f"{NAMESPACE}_{app}_one.log").read_text()
    assert "no NVML" not in (tmp_path / "pod-logs" / f"{NAMESPACE}_nvidia-driver-daemonset.log").read_text()
    world.scenario.now.troubles.clear()
    world.settle(1)
    assert pod_annotations(world, app) == {}
    assert "no NVML" not in (tmp_path / "pod-logs" / f"{NAMESPACE}_{app}.log").read_text()


def test_a_lost_gpu_has_its_xid_in_the_log(tmp_path: Path) -> None:
    world = make(GpuLogs(), directory=tmp_path, troubles=[{"type": "gpu_lost", "count": 2, "xid": 79}])
    add_operand(world, "nvidia-device-plugin-daemonset", hold=None, ready=True)
    world.settle(1)
    text = (tmp_path / "pod-logs" / f"{NAMESPACE}_nvidia-device-plugin-daemonset.log").read_text()
    assert text.count("XidCriticalError: Xid=79 on Device=GPU-") == 2


def test_a_gpu_that_a_reboot_brings_back_has_no_xid_after_it(tmp_path: Path) -> None:
    trouble = {"type": "gpu_lost", "count": 1, "xid": 79, "until": "reboot"}
    world = make(GpuLogs(), directory=tmp_path, troubles=[trouble])
    add_operand(world, "nvidia-device-plugin-daemonset", hold=None, ready=True)
    log = tmp_path / "pod-logs" / f"{NAMESPACE}_nvidia-device-plugin-daemonset.log"
    (node,) = world.api.list("v1", "nodes")
    name, first = node["metadata"]["name"], "0" * 32
    for boot, number in (("00000000-0000-0000-0000-000000000000", 1), ("second", 0)):
        info = {"nodeInfo": {"bootID": boot, "machineID": first}}
        world.api.patch("v1", "nodes", name, None, {"status": info}, "status")
        world.settle(1)
        text = log.read_text() if log.exists() else ""
        assert text.count("XidCriticalError") == number, boot


def test_a_driver_refuses_a_gpu_that_its_branch_no_longer_supports(tmp_path: Path) -> None:
    world = make(OperandPods(), GpuLogs(), directory=tmp_path)
    (node,) = world.api.list("v1", "nodes")
    marks = {"node.kubernetes.io/instance-type": "p3.2xlarge"}
    world.api.patch("v1", "nodes", node["metadata"]["name"], None, {"metadata": {"labels": marks}})
    add_driver(world)
    world.settle(1)
    assert CRASH not in pod_annotations(world, "nvidia-driver-daemonset"), "580 is the last branch for it"
    container = {"name": "one", "image": "nvcr.io/nvidia/driver:595.91.07"}
    newer = {"spec": {"containers": [container]}, "metadata": {"annotations": {HOLD: "ready"}}}
    world.api.patch("v1", "pods", "nvidia-driver-daemonset", NAMESPACE, newer)
    world.settle(1)
    text = (tmp_path / "pod-logs" / f"{NAMESPACE}_nvidia-driver-daemonset.log").read_text()
    assert pod_annotations(world, "nvidia-driver-daemonset") == {CRASH: "true"}
    assert "NVRM: installed in this system is not supported by the" in text
    assert "NVRM: NVIDIA 595.91.07 driver release." in text


T4 = instance_types.GPUS["T4"]


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
