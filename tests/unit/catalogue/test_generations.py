"""Generations of GPUs, by the names of the catalogue and of GPU feature discovery."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import (
    driver_modules,
    generations,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.gpus import GPUS


@pytest.mark.parametrize(
    ("model", "generation"),
    [
        ("Tesla-V100-SXM2-16GB", "Volta"),
        ("Tesla-T4", "Turing"),
        ("NVIDIA-A10G", "Ampere"),
        ("NVIDIA-A100-SXM4-80GB", "Ampere"),
        ("NVIDIA-RTX-A6000", "Ampere"),
        ("NVIDIA RTX 6000 Ada Generation", "Ada"),
        ("l40s", "Ada"),
        ("NVIDIA-GH200-480GB", "Hopper"),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "Blackwell"),
        ("A1000", ""),
        ("MI300X", ""),
    ],
)
def test_generation_of_a_model(model: str, generation: str) -> None:
    assert generations.of(model) == generation


def test_every_gpu_of_the_catalogue_has_one() -> None:
    models = {gpu.model for gpu in GPUS.values() if gpu.vendor == "nvidia"}
    assert {model for model in models if not generations.of(model)} == set()


def test_generations_and_kernel_modules_say_the_same() -> None:
    kinds = {
        name: {driver_modules.only(model) for model in generations.models(name)} for name in generations.NAMES
    }
    assert {name for name, found in kinds.items() if found == {"proprietary"}} == {
        "Maxwell",
        "Pascal",
        "Volta",
    }
    assert {name for name, found in kinds.items() if found == {"open"}} == {"Blackwell"}


def test_the_first_branch() -> None:
    assert [generations.too_new(branch, "Blackwell") for branch in ("535", "570", "580")] == [
        True,
        False,
        False,
    ]
    assert not generations.too_new("535", "Hopper")
