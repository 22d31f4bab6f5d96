# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How GPUs can be cut, what the device plugin offers of them, and how they are described."""

from __future__ import annotations

import pytest

from openshift_sandbox.hardware import mig
from openshift_sandbox.hardware.gpus import GPUS
from openshift_sandbox.stand_ins.gpu_operator.sharing import geometry, part_labels
from openshift_sandbox.stand_ins.gpu_operator.sharing.config import Config
from openshift_sandbox.stand_ins.gpu_operator.sharing.geometry import Cut, GeometryError

A100, H100 = GPUS["A100-40"], GPUS["H100"]
SMALL: Cut = {"1g.5gb": 7}
MIXED: Cut = {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}
CUSTOM = """
version: v1
mig-configs:
  half:
  - {devices: [0, 1], mig-enabled: true, mig-devices: {1g.5gb: 7}}
  - {devices: [3], mig-enabled: false}
  others:
  - {device-filter: "0x233010DE", devices: all, mig-enabled: true, mig-devices: {1g.10gb: 7}}
"""


@pytest.mark.parametrize(
    ("cuts", "strategy", "expected"),
    [
        ([None] * 8, "mixed", {"nvidia.com/gpu": 8}),
        ([None] * 8, "single", {"nvidia.com/gpu": 8}),
        ([SMALL] * 8, "mixed", {"nvidia.com/gpu": 0, "nvidia.com/mig-1g.5gb": 56}),
        ([{"3g.20gb": 2}] * 2, "single", {"nvidia.com/gpu": 4}),
        ([SMALL] * 8, "none", {"nvidia.com/gpu": 8}),
        (
            [None, MIXED, {"1g.5gb+me": 1}],
            "mixed",
            {
                "nvidia.com/gpu": 1,
                "nvidia.com/mig-1g.5gb": 2,
                "nvidia.com/mig-2g.10gb": 1,
                "nvidia.com/mig-3g.20gb": 1,
                "nvidia.com/mig-1g.5gb.me": 1,
            },
        ),
    ],
)
def test_what_the_plugin_offers(cuts: list[Cut], strategy: str, expected: dict[str, int]) -> None:
    assert geometry.devices(cuts, strategy) == expected
    for resource, count in expected.items():
        assert len(geometry.indexes(cuts, strategy, resource)) == count


@pytest.mark.parametrize(
    ("cuts", "why"),
    [
        ([SMALL, None], "same migEnabled value"),
        ([SMALL, {}], "was not configured correctly"),
        ([MIXED, MIXED], "more than one MIG device type"),
    ],
)
def test_the_strategy_single_needs_one_kind(cuts: list[Cut], why: str) -> None:
    with pytest.raises(GeometryError, match=why):
        geometry.devices(cuts, "single")
    labels = part_labels.labels(A100, cuts, "single", Config())
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-40GB-MIG-INVALID"
    assert labels["nvidia.com/gpu.count"] == "0"


@pytest.mark.parametrize(
    ("devices", "fits"),
    [
        ({"1g.5gb": 7}, True),
        (MIXED, True),
        ({"3g.20gb": 2}, True),
        ({"4g.20gb": 1, "3g.20gb": 1}, True),
        ({"1g.5gb+me": 1, "1g.5gb": 6}, True),
        ({"1g.5gb": 8}, False),
        ({"1g.5gb+me": 2}, False),
        ({"3g.20gb": 2, "1g.5gb": 1}, False),
        ({"7g.40gb": 1, "1g.5gb": 1}, False),
        ({"1g.10gb": 7}, False),
    ],
)
def test_what_fits_on_a_gpu(devices: dict[str, int], fits: bool) -> None:
    assert (mig.misfit(A100, devices) == "") is fits


def test_what_mig_parted_finds_out_about_the_hardware() -> None:
    text = geometry.generated(A100)
    whole: list[Cut] = [None, None]
    assert geometry.wanted(text, "all-1g.5gb", A100, whole) == [SMALL, SMALL]
    assert geometry.wanted(text, "all-balanced", A100, whole) == [MIXED, MIXED]
    assert geometry.wanted(text, "all-1g.5gb.me", A100, whole) == [{"1g.5gb+me": 1}] * 2
    assert geometry.wanted(text, "all-enabled", A100, whole) == [{}, {}]
    assert geometry.wanted(text, "all-disabled", A100, [SMALL, None]) == whole
    assert geometry.wanted(text, "all-1g.18gb", A100, whole) is None
    every = geometry.generated(*geometry.models())
    assert geometry.wanted(every, "all-1g.10gb", A100, [None]) == [{"1g.10gb": 4}]
    assert geometry.wanted(every, "all-1g.10gb", H100, [None]) == [{"1g.10gb": 7}]


def test_a_configuration_of_a_user() -> None:
    whole: list[Cut] = [None] * 4
    assert geometry.wanted(CUSTOM, "half", A100, whole) == [SMALL, SMALL, None, None]
    assert geometry.wanted(CUSTOM, "half", A100, [{}, {}, {}, {}]) == [SMALL, SMALL, {}, None]
    assert geometry.wanted(CUSTOM, "others", A100, whole) == whole
    assert geometry.wanted(CUSTOM, "others", H100, whole) == [{"1g.10gb": 7}] * 4
    for text in ("", "[]", "{", "mig-configs: {}"):
        assert geometry.wanted(text, "half", A100, whole) is None


def test_labels_of_parts() -> None:
    single = part_labels.labels(A100, [SMALL] * 8, "single", Config("time-slicing", {"nvidia.com/gpu": 2}))
    assert single["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED"
    assert (single["nvidia.com/gpu.count"], single["nvidia.com/gpu.replicas"]) == ("56", "2")
    assert (single["nvidia.com/gpu.memory"], single["nvidia.com/gpu.slices.gi"]) == ("4864", "1")
    mixed = part_labels.labels(A100, [MIXED] * 8, "mixed", Config())
    assert mixed["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-40GB"
    assert (mixed["nvidia.com/gpu.count"], mixed["nvidia.com/gpu.replicas"]) == ("8", "0")
    assert mixed["nvidia.com/mig-3g.20gb.count"] == "8"
    assert mixed["nvidia.com/mig-3g.20gb.product"] == "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb"
    assert mixed["nvidia.com/mig.strategy"] == "mixed"
    none = part_labels.labels(A100, [MIXED] * 8, "none", Config())
    assert not [key for key in none if "mig" in key]


def test_the_dra_driver_finds_whole_gpus_and_the_parts_of_others() -> None:
    assert geometry.dra_devices([None, {"1g.5gb": 2, "1g.5gb+me": 1}, {}]) == {
        "gpu-0": "0",
        "gpu-1-mig-1g5gb-0": "1:1g.5gb:0",
        "gpu-1-mig-1g5gb-1": "1:1g.5gb:1",
        "gpu-1-mig-1g5gb-me-0": "1:1g.5gb+me:0",
    }
