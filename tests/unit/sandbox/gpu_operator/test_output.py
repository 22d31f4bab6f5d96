# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What programs on GPUs print."""

from __future__ import annotations

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core import pod_logs
from openshift_sandbox.stand_ins.gpu_operator import output, workloads

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
