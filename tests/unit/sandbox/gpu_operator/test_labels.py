# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which labels the GPU operator puts on nodes."""

from __future__ import annotations

import pytest
from unit.sandbox.gpu_operator.builders import Object

from openshift_sandbox.stand_ins.gpu_operator import labels as gpu_labels

PCI = "feature.node.kubernetes.io/pci-0302_10de.present"
CAPABLE = {"nvidia.com/mig.capable": "true"}
DISABLED = {"default": "all-disabled"}


class TestNodeLabels:
    def test_a_gpu_node_gets_all_of_them(self) -> None:
        changes = gpu_labels.label_changes({PCI: "true"})
        assert changes.pop("nvidia.com/gpu.present") == "true"
        assert sorted(key.removeprefix("nvidia.com/gpu.deploy.") for key in changes) == [
            "client",
            "container-toolkit",
            "dcgm",
            "dcgm-exporter",
            "device-plugin",
            "driver",
            "gpu-feature-discovery",
            "node-status-exporter",
            "operator-validator",
        ]

    @pytest.mark.parametrize(
        ("labels", "changes"),
        [
            ({}, {}),
            ({"nvidia.com/gpu.present": "true"}, {"nvidia.com/gpu.present": "false"}),
            (
                {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.deploy.driver": "true"},
                {"nvidia.com/gpu.present": "false", "nvidia.com/gpu.deploy.driver": None},
            ),
        ],
    )
    def test_no_gpu_here(self, labels: dict[str, str], changes: Object) -> None:
        assert gpu_labels.label_changes(labels) == changes

    def test_a_value_that_is_there_is_honoured(self) -> None:
        assert "nvidia.com/gpu.deploy.dcgm" not in gpu_labels.label_changes(
            {PCI: "true", "nvidia.com/gpu.deploy.dcgm": "false"}
        )

    def test_a_node_can_opt_out(self) -> None:
        labels = {
            PCI: "true",
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.deploy.operands": "false",
            "nvidia.com/gpu.deploy.driver": "true",
        }
        assert gpu_labels.label_changes(labels) == {"nvidia.com/gpu.deploy.driver": None}

    @pytest.mark.parametrize(
        ("own", "sandbox", "runs"),
        [
            ("", {"enabled": True}, "driver"),
            ("", {"enabled": False, "defaultWorkload": "vm-passthrough"}, "driver"),
            ("", {"enabled": True, "defaultWorkload": "vm-passthrough"}, "vfio-manager"),
            ("container", {"enabled": True, "defaultWorkload": "vm-passthrough"}, "driver"),
            ("wrong", {"enabled": True, "defaultWorkload": "vm-vgpu"}, "vgpu-manager"),
            ("vm-passthrough", {"enabled": True, "mode": "kata"}, "kata-sandbox-device-plugin"),
        ],
    )
    def test_a_node_has_the_operands_of_its_workload(self, own: str, sandbox: Object, runs: str) -> None:
        deploy = "nvidia.com/gpu.deploy."
        before = {PCI: "true", "nvidia.com/gpu.present": "true"} | ({gpu_labels.WORKLOAD: own} if own else {})
        before |= {f"{deploy}{one}": "true" for one in ("driver", "device-plugin", "vfio-manager")}
        changes = gpu_labels.label_changes(before, sandbox)
        after = {key: value for key, value in (before | changes).items() if value}
        assert f"{deploy}{runs}" in after
        assert (f"{deploy}driver" in after) == (f"{deploy}device-plugin" in after) == (runs == "driver")
        assert (f"{deploy}vfio-manager" in after) == (runs in ("vfio-manager", "kata-sandbox-device-plugin"))
        assert gpu_labels.label_changes(after, sandbox) == {}

    @pytest.mark.parametrize(
        ("labels", "capable"),
        [
            ({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}, True),
            ({"nvidia.com/mig.capable": "false", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}, False),
            ({"nvidia.com/gpu.product": "Tesla-T4"}, False),
        ],
    )
    def test_mig_manager_only_where_it_can_do_something(self, labels: dict[str, str], capable: bool) -> None:
        assert (gpu_labels.MIG_MANAGER in gpu_labels.label_changes({PCI: "true"} | labels)) is capable

    @pytest.mark.parametrize(
        ("labels", "manager", "expected"),
        [
            (
                {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"},
                {"default": "all-disabled"},
                "all-disabled",
            ),
            (
                {"nvidia.com/mig.capable": "true", "nvidia.com/mig.config": "all-1g.5gb"},
                {"default": "x"},
                None,
            ),
            ({"nvidia.com/mig.capable": "true"}, {"default": ""}, None),
            ({"nvidia.com/mig.capable": "false"}, {"default": "all-disabled"}, None),
        ],
    )
    def test_the_default_of_the_mig_manager(
        self, labels: dict[str, str], manager: Object, expected: str | None
    ) -> None:
        changes = gpu_labels.uncut({PCI: "true"} | labels, {"config": manager})
        assert changes.get("nvidia.com/mig.config") == expected
        assert gpu_labels.uncut({PCI: "true"} | labels, {"config": manager, "enabled": False}) == {}
