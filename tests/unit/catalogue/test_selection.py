"""Instance types by name, by the options of the lookup gpu_instance_types, and by a wish."""

from __future__ import annotations

import typing as t

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.lookup import gpu_instance_types
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.overrides import extended
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.selection import entries
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError

OPTIONS: t.Final = yaml.safe_load(gpu_instance_types.DOCUMENTATION)["options"]


def names(*terms: str, **options: t.Any) -> list[str]:
    assert set(options) <= set(OPTIONS)
    return [str(one["instance_type"]) for one in entries(list(terms), options)]


def test_by_name_in_the_order_asked_for() -> None:
    assert names("p4d.24xlarge", "g4dn.xlarge") == ["p4d.24xlarge", "g4dn.xlarge"]
    assert names("nc24ads_a100_v4", "n1-standard-4+nvidia-tesla-t4:1") == [
        "Standard_NC24ads_A100_v4",
        "n1-standard-4+nvidia-tesla-t4:1",
    ]


@pytest.mark.parametrize("model", ["A100", "a100", "nvidia-a100", "NVIDIA A100"])
def test_by_model(model: str) -> None:
    assert names(platform="aws", gpu_model=model) == ["p4d.24xlarge", "p4de.24xlarge"]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"platform": "aws", "vendor": "intel"}, ["dl1.24xlarge"]),
        ({"platform": "aws", "gpu_model": "T4", "gpus": 4}, ["g4dn.12xlarge"]),
        ({"platform": "aws", "gpu_model": "T4", "min_gpus": 4}, ["g4dn.12xlarge", "g4dn.metal"]),
        ({"platform": "aws", "min_gpu_memory_gib": 200}, ["p6-b300.48xlarge"]),
        (
            {"platform": "ibm", "min_gpu_memory_total_gib": 1128, "vendor": "nvidia"},
            ["gx4d-232x3840x8b300", "gx3d-160x1792x8h200"],
        ),
        ({"platform": "aws", "arch": "arm64", "mig": True}, ["p6e-gb200.36xlarge"]),
        ({"platform": "ibm", "rdma": True}, ["gx3d-160x1792x8h100", "gx3d-160x1792x8h200"]),
        ({"platform": "ibm", "mig": True, "rdma": False, "min_gpus": 8}, ["gx4d-232x3840x8b300"]),
        ({"platform": "gcp", "confidential": True}, ["a3-highgpu-1g", "g4-standard-48"]),
        (
            {"platform": "azure", "gpu_model": "A10", "fractional": True},
            ["Standard_NV6ads_A10_v5", "Standard_NV12ads_A10_v5", "Standard_NV18ads_A10_v5"],
        ),
        ({"platform": "aws", "gpu_model": "A100", "nearest": "A100 80GB", "most": 1}, ["p4de.24xlarge"]),
        ({"platform": "oci", "gpu_model": "T4"}, []),
    ],
)
def test_filters(options: dict[str, t.Any], found: list[str]) -> None:
    assert names(**options) == found


def test_a_filter_also_holds_for_names() -> None:
    assert names("p4d.24xlarge", "g4dn.xlarge", mig=True) == ["p4d.24xlarge"]


def test_without_names_the_result_is_sorted() -> None:
    found = entries([], {})
    assert [one["platform"] for one in found] == sorted(one["platform"] for one in found)
    assert names(platform="gcp", gpu_model="L4") == [
        f"g2-standard-{size}" for size in (4, 8, 12, 16, 32, 24, 48, 96)
    ]


def test_a_wish_says_what_is_met() -> None:
    found = entries([], {"nearest": "16x H100 80GB", "platform": "aws"})
    assert len(found) == 5
    assert {key: found[0][key] for key in ("instance_type", "meets", "differs", "nodes")} == {
        "instance_type": "p5.48xlarge",
        "meets": False,
        "differs": ["8 GPUs fewer"],
        "nodes": 2,
    }


@pytest.mark.parametrize(
    ("terms", "options", "code"),
    [
        (["g4dn.xlrage"], {"platform": "aws"}, "POOL-INSTANCE-TYPE"),
        (["g4dn.xlarge"], {"platform": "azure"}, "POOL-INSTANCE-TYPE"),
        ([], {"gpu_model": "A1000"}, "INPUT-GPU-MODEL"),
        ([], {"nearest": "8"}, "INPUT-WISH"),
        ([], {"most": 0}, "INPUT-OPTION"),
    ],
)
def test_errors_have_codes(terms: list[str], options: dict[str, t.Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        entries(terms, options)
    assert caught.value.code == code


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        names("g4dn.xlrage", platform="aws")
    assert caught.value.remedy.startswith("Nearest: g4dn.xlarge")


def test_types_of_ones_own_are_found_by_their_model() -> None:
    own = extended([{"platform": "openstack", "instance_type": "gpu.large", "gpus": 2, "gpu_model": "R100"}])
    found = entries([], {"gpu_model": "r100"}, own)
    assert [one["instance_type"] for one in found] == ["gpu.large"]
    assert entries([], {"nearest": "2x R100"}, own)[0]["instance_type"] == "gpu.large"
