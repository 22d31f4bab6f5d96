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
