"""Kernel modules and driver branches by the generation of a GPU."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import driver_modules


@pytest.mark.parametrize(
    ("model", "only"),
    [
        ("B300", "open"),
        ("NVIDIA-GH200-480GB", "open"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "open"),
        ("NVIDIA-GB10", "open"),
        ("V100", "proprietary"),
        ("Tesla-P40", "proprietary"),
        ("Tesla-M10", "proprietary"),
        ("Quadro-P4000", "proprietary"),
        ("T4", ""),
        ("Tesla-T4", ""),
        ("Quadro-RTX-8000", ""),
        ("NVIDIA-A100-SXM4-40GB", ""),
        ("H100", ""),
        ("L40S", ""),
    ],
)
def test_what_a_gpu_takes(model: str, only: str) -> None:
    assert driver_modules.only(model) == only


@pytest.mark.parametrize(
    ("version", "models", "wrong"),
    [
        ("580.126.09", ["V100"], ""),
        ("580", ["V100"], ""),
        ("595.91.07", ["T4", "A100"], ""),
        ("sha256:0", ["V100"], ""),
        (None, ["V100"], ""),
        ("590.48.01", ["V100", "T4", "P100"], "580 is the last branch with a driver for P100 and V100 GPUs"),
    ],
)
def test_the_last_branch_for_old_gpus(version: str | None, models: list[str], wrong: str) -> None:
    assert driver_modules.outgrown(version, models) == wrong


@pytest.mark.parametrize(
    ("gds", "kind", "wrong"),
    [
        ({"enabled": True, "version": "2.17.5"}, "auto", True),
        ({"enabled": True, "version": "v2.20.5"}, "proprietary", True),
        ({"enabled": True, "version": "sha256:0"}, "auto", True),
        ({"enabled": True, "version": "2.20.5"}, "open", False),
        ({"enabled": True, "version": "2.16.1"}, "proprietary", False),
        ({"enabled": True}, "auto", False),
        ({"version": "2.20.5"}, "auto", False),
    ],
)
def test_storage_and_open_modules(gds: dict[str, t.Any], kind: str, wrong: bool) -> None:
    assert bool(driver_modules.storage(gds, kind)) is wrong
