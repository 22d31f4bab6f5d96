"""Wishes for GPUs in words, and what comes nearest to them."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.instance_types import (
    everything,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.query import (
    Fit,
    Wish,
    nearest_to,
    read_wish,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError


def near(text: str, cloud: str | None = None) -> list[Fit]:
    return nearest_to(read_wish(text, everything()), everything(cloud))


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("8x H100 80GB", Wish(8, "H100", 80)),
        ("A100", Wish(0, "A100")),
        ("4 L40S", Wish(4, "L40S")),
        ("2x24GB", Wish(2, "", 24)),
        ("4xL40S", Wish(4, "L40S")),
        ("8 \N{MULTIPLICATION SIGN} H200", Wish(8, "H200")),
        ("8\N{MULTIPLICATION SIGN}H200", Wish(8, "H200")),
        ("24 GB", Wish(0, "", 24)),
        ("2 x 80 GiB", Wish(2, "", 80)),
        ("a10g", Wish(0, "A10G")),
        ("A100-80GB", Wish(0, "A100", 80)),
        ("NVIDIA H100 80", Wish(0, "H100", 80)),
        ("nvidia rtx pro 6000", Wish(0, "RTX-PRO-6000")),
        ("2x H100 NVL", Wish(2, "H100-NVL")),
        ("8x A100 SXM4", Wish(8, "A100", nvlink=True)),
        ("2 A100 PCIe 80G", Wish(2, "A100", 80, nvlink=False)),
        ("1/6 A10", Wish(0, "A10", share="1/6")),
        ("1/4 of an RTX PRO 6000", Wish(0, "RTX-PRO-6000", share="1/4")),
        ("8 GPUs with 80 GB", Wish(8, "", 80)),
        ("mi300x", Wish(0, "MI300X")),
    ],
)
def test_what_is_understood(text: str, wish: Wish) -> None:
    assert read_wish(text, everything()) == wish


@pytest.mark.parametrize("text", ["", "  ", "8", "0x A100", "gpus"])
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_wish(text, everything())
    assert caught.value.code == "INPUT-WISH"
    assert "8x H100 80GB" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "offered"),
    [("8x H1000", "H100"), ("L45S", "L40S"), ("H100 80GB 90GB", "H100"), ("-3x A100", "A100")],
)
def test_a_model_that_does_not_exist(text: str, offered: str) -> None:
    with pytest.raises(InputError) as caught:
        read_wish(text, everything())
    assert caught.value.code == "INPUT-GPU-MODEL"
    assert offered in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "cloud", "first"),
    [
        ("8x H100 80GB", "aws", "p5.48xlarge"),
        ("8x H100 80GB", "azure", "Standard_ND96isr_H100_v5"),
        ("8x H100 80GB", "ibm", "gx3d-160x1792x8h100"),
        ("A100", "aws", "p4d.24xlarge"),
        ("A100 80GB", "aws", "p4de.24xlarge"),
        ("A100", "gcp", "a2-highgpu-1g"),
        ("4 L40S", "aws", "g6e.12xlarge"),
        ("2x24GB", "gcp", "g2-standard-24"),
        ("T4", "aws", "g4dn.xlarge"),
        ("1/3 A10", "azure", "Standard_NV12ads_A10_v5"),
        ("A10", "azure", "Standard_NC8ads_A10_v4"),
        ("8x A100 NVLink", "azure", "Standard_ND96asr_v4"),
        ("4x A100", "azure", "Standard_NC96ads_A100_v4"),
    ],
)
def test_the_nearest(text: str, cloud: str, first: str) -> None:
    fit = near(text, cloud)[0]
    assert (fit.kind.name, fit.meets) == (first, True)


def test_more_gpus_meet_a_wish_and_are_said() -> None:
    fit = near("H100 80GB", "oci")[0]
    assert (fit.kind.name, fit.meets, fit.differs, fit.nodes) == ("BM.GPU.H100.8", True, ("7 GPUs more",), 1)


def test_fewer_gpus_are_so_many_nodes() -> None:
    fit = near("24x H100", "aws")[0]
    assert (fit.kind.name, fit.meets, fit.differs, fit.nodes) == ("p5.48xlarge", False, ("16 GPUs fewer",), 3)


def test_a_model_that_the_cloud_lacks() -> None:
    fits = near("H100 80GB", "oci")
    other = next(fit for fit in fits if fit.kind.gpu.model != "H100")
    assert not other.meets
    assert other.differs[0] == f"{other.kind.gpu.model} instead of H100"
    assert all(not fit.meets for fit in fits if fit.kind.gpu.model != "H100")


def test_memory_as_sold_is_met_by_what_the_device_has() -> None:
    assert near("B200 192GB", "aws")[0].meets
    assert (
        "40 GiB instead of 80"
        in next(fit for fit in near("A100 80GB", "aws") if fit.kind.name == "p4d.24xlarge").differs
    )


def test_devices_of_others_come_last_unless_named() -> None:
    fits = near("32 GB")
    vendors = [fit.kind.gpu.vendor == "nvidia" for fit in fits]
    assert vendors == sorted(vendors, reverse=True)
    assert near("Gaudi3")[0].kind.name == "gx3d-160x1792x8gaudi3"


def test_the_order_does_not_depend_on_the_order_before() -> None:
    wish = read_wish("2x24GB", everything())
    assert nearest_to(wish, everything()) == nearest_to(wish, list(reversed(everything())))
