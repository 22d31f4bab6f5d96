"""What follows from the workload of a pool: its labels and its provider."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._virtualization import schema


def test_only_virtual_machines_have_labels() -> None:
    assert schema.node_labels("", {}) == schema.node_labels("container", {}) == {}
    assert schema.provider({}) == "operator"


def test_an_arm_node_needs_no_argument_for_its_iommu() -> None:
    class Candidate:
        arch = "arm64"

    pool = {
        "workload": "vm_passthrough",
        "resolved": [Candidate()],
        "virtual_machines": {"device": "10de:2342"},
    }
    assert schema.tuning(pool) == {}


@pytest.mark.parametrize(
    ("model", "kind", "is_right"),
    [
        ("A10", "A10-8Q", True),
        ("A10", "A100-8C", False),
        ("A100", "A10-8Q", False),
        ("A100", "A100D-1-10C", True),
        ("L4", "L40S-8Q", False),
        ("T4", "GRID_T4-8Q", True),
        ("T4", "T40-8Q", False),
        ("NVIDIA-A100-SXM4-80GB", "A100D-80C", True),
        ("NVIDIA-A10", "T4-8Q", False),
        ("NVIDIA-RTX-A6000", "RTXA6000-8Q", True),
        ("A10", "default", True),
        ("H100-NVL", "H100L-94C", True),
        ("RTX-PRO-6000", "RTX_Pro_6000_Blackwell_DC-12Q", True),
        ("", "A10-8Q", True),
    ],
)
def test_a_type_of_vgpu_names_the_gpu(model: str, kind: str, is_right: bool) -> None:
    assert schema.fits({"type": kind}, model) is is_right
    assert schema.fits({"type": kind, "config_map": "own"}, model)


@pytest.mark.parametrize(
    ("kind", "is_virtual"),
    [
        ("g4dn.metal", False),
        ("g4dn.12xlarge", True),
        ("p6-b200.48xlarge", True),
        ("Standard_NC24ads_A100_v4", True),
        ("VM.GPU.A100.80G.1", True),
        ("BM.GPU4.8", False),
        ("gx3-16x80x1l4", True),
        ("a2-highgpu-1g", True),
        ("a4x-maxgpu-4g-metal", False),
        ("n1-standard-8", True),
        ("dgx-h100", False),
        ("", False),
    ],
)
def test_machines_of_clouds_are_mostly_virtual(kind: str, is_virtual: bool) -> None:
    assert schema.is_virtual(kind) is is_virtual
