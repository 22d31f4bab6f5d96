"""The catalogue of GPU instance types."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import instance_types
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.instance_types import FABRICS


@pytest.mark.parametrize(
    ("cloud", "name", "gpus", "model", "memory", "vcpus", "arch", "vendor", "mig"),
    [
        ("aws", "g4dn.xlarge", 1, "T4", 16, 4, "amd64", "nvidia", False),
        ("aws", "p4d.24xlarge", 8, "A100", 40, 96, "amd64", "nvidia", True),
        ("aws", "p4de.24xlarge", 8, "A100", 80, 96, "amd64", "nvidia", True),
        ("aws", "g5g.xlarge", 1, "T4G", 16, 4, "arm64", "nvidia", False),
        ("aws", "g4ad.16xlarge", 4, "V520", 8, 64, "amd64", "amd", False),
        ("aws", "dl1.24xlarge", 8, "Gaudi", 32, 96, "amd64", "intel", False),
        ("azure", "Standard_NC24ads_A100_v4", 1, "A100", 80, 24, "amd64", "nvidia", True),
        ("azure", "Standard_NP20s", 2, "Alveo-U250", 64, 20, "amd64", "fpga", False),
        ("gcp", "a2-megagpu-16g", 16, "A100", 40, 96, "amd64", "nvidia", True),
        ("gcp", "n1-standard-8+nvidia-tesla-t4:2", 2, "T4", 16, 8, "amd64", "nvidia", False),
        ("ibm", "gx3-24x120x1l40s", 1, "L40S", 48, 24, "amd64", "nvidia", False),
        ("oci", "BM.GPU.GB200.4", 4, "GB200", 192, 144, "arm64", "nvidia", True),
    ],
)
def test_what_a_type_is_made_of(
    cloud: str, name: str, gpus: int, model: str, memory: int, vcpus: int, arch: str, vendor: str, mig: bool
) -> None:
    found = instance_types.find(cloud, name)
    assert found is not None
    assert (found.gpus, found.gpu.model, found.gpu.memory_gib, found.vcpus) == (gpus, model, memory, vcpus)
    assert (found.arch, found.gpu.vendor, found.gpu.mig_capable) == (arch, vendor, mig)


def test_the_catalogue_is_sound() -> None:
    for kind in instance_types.everything():
        assert 1 <= kind.gpus <= 16, kind
        assert kind.arch in ("amd64", "arm64")
        assert kind.memory_gib == 0 or kind.memory_gib >= 4
        assert "/" not in kind.accelerator
        assert kind.fabric in ("", *FABRICS)
        assert not kind.rdma or kind.fabric
        assert kind.as_of == instance_types.AS_OF[kind.cloud] >= "2026-06-01"
        assert instance_types.find(kind.cloud, kind.name) == kind
    assert {kind.cloud for kind in instance_types.everything()} == set(instance_types.CLOUDS)
    assert len(instance_types.everything()) > 220
    assert len({(kind.cloud, kind.name) for kind in instance_types.everything()}) == len(
        instance_types.everything()
    )


def test_a_share_has_the_memory_of_a_share() -> None:
    shares = [kind for kind in instance_types.everything() if kind.share != "1"]
    assert len(shares) > 15
    for kind in shares:
        whole = max(
            one.gpu.memory_gib
            for one in instance_types.everything(kind.cloud)
            if one.gpu.model == kind.gpu.model
        )
        assert kind.gpu.memory_gib == whole * Fraction(kind.share), kind
        assert kind.grid == (kind.gpu.vendor == "nvidia"), kind
        assert not kind.gpu.mig_capable
    assert {kind.name for kind in instance_types.everything() if kind.gpu.part} == {
        kind.name for kind in shares
    }


@pytest.mark.parametrize(
    ("cloud", "name", "fabric", "rdma", "nvlink"),
    [
        ("aws", "p5.48xlarge", "efa", True, True),
        ("aws", "p3dn.24xlarge", "efa", False, True),
        ("aws", "g5.48xlarge", "efa", False, None),
        ("aws", "g6.4xlarge", "", False, False),
        ("azure", "Standard_ND96isr_H100_v5", "infiniband", True, True),
        ("azure", "Standard_NC80adis_H100_v5", "", False, None),
        ("gcp", "a3-ultragpu-8g", "roce", True, True),
        ("gcp", "a3-megagpu-8g", "", False, True),
        ("ibm", "gx3d-160x1792x8h100", "roce", True, True),
        ("ibm", "gx3-64x320x4l4", "", False, False),
        ("oci", "BM.GPU.A100-v2.8", "roce", True, True),
    ],
)
def test_networks_and_links(cloud: str, name: str, fabric: str, rdma: bool, nvlink: bool | None) -> None:
    found = instance_types.find(cloud, name)
    assert found is not None
    assert (found.fabric, found.rdma, found.nvlink) == (fabric, rdma, nvlink)


def test_confidential_types() -> None:
    assert {kind.name for kind in instance_types.everything() if kind.confidential} == {
        "Standard_NCC40ads_H100_v5",
        "a3-highgpu-1g",
        "g4-standard-48",
    }


@pytest.mark.parametrize(
    "name", ["NC24ads_A100_v4", "standard_nc24ads_a100_v4", "Standard_NC24ads_A100_v4", "nc24ADS_a100_V4"]
)
def test_azure_names_as_people_write_them(name: str) -> None:
    found = instance_types.find("azure", name)
    assert found is not None
    assert found.name == "Standard_NC24ads_A100_v4"
    assert instance_types.clouds_with(name) == ["azure"]


def test_other_clouds_take_names_by_the_letter() -> None:
    assert instance_types.find("aws", "P4D.24xlarge") is None


@pytest.mark.parametrize(
    ("machine", "accelerator", "count", "vcpus"),
    [
        ("n1-standard-8", "nvidia-tesla-t4", 1, 8),
        ("n1-custom-12-65536", "nvidia-tesla-v100", 8, 12),
        ("custom-4-16384", "nvidia-tesla-p4", 4, 4),
    ],
)
def test_gpus_are_attached_to_n1_machines(machine: str, accelerator: str, count: int, vcpus: int) -> None:
    found = instance_types.attached(machine, accelerator, count)
    assert found is not None
    assert (found.gpus, found.vcpus, found.machine_type, found.accelerator_type, found.attachable) == (
        count,
        vcpus,
        machine,
        accelerator,
        True,
    )
    assert instance_types.find("gcp", f"{machine}+{accelerator}:{count}") == found


@pytest.mark.parametrize(
    ("machine", "accelerator", "count"),
    [
        ("n1-standard-8", "nvidia-tesla-t4", 3),
        ("n1-standard-8", "nvidia-l4", 1),
        ("n2-standard-8", "nvidia-tesla-t4", 1),
        ("g2-standard-4", "nvidia-l4", 1),
    ],
)
def test_what_cannot_be_attached(machine: str, accelerator: str, count: int) -> None:
    assert instance_types.attached(machine, accelerator, count) is None
    assert instance_types.find("gcp", f"{machine}+{accelerator}:{count}") is None


def test_an_n1_machine_alone_has_no_gpu() -> None:
    assert instance_types.find("gcp", "n1-standard-8") is None
    assert instance_types.find("gcp", "n1-standard-8+nvidia-tesla-t4") is None


def test_built_in_gpus_of_gcp_have_the_clouds_name() -> None:
    names = {kind.name: kind.accelerator_type for kind in instance_types.everything("gcp")}
    assert all(names.values())
    assert (names["g2-standard-24"], names["a3-megagpu-8g"]) == ("nvidia-l4", "nvidia-h100-mega-80gb")


def test_gcp_variants_without_local_disks() -> None:
    found = instance_types.find("gcp", "a3-highgpu-8g-nolssd")
    assert found is not None
    assert (found.name, found.gpus) == ("a3-highgpu-8g-nolssd", 8)


def test_who_is_not_nvidia() -> None:
    vendors = {kind.gpu.vendor for kind in instance_types.everything()}
    assert vendors == {"nvidia", "amd", "intel", "aws", "qualcomm", "fpga"}
    for name in (
        "Standard_NP40s",
        "Standard_NV4as_v4",
        "Standard_ND96isr_MI300X_v5",
        "Standard_NV28adms_V710_v5",
    ):
        found = instance_types.find("azure", name)
        assert found is not None
        assert found.gpu.vendor != "nvidia"
        assert found.driver == ""


def test_ibm_spells_out_its_figures() -> None:
    for kind in instance_types.everything("ibm"):
        vcpus, memory, gpus = kind.name.split("-", 1)[1].split("x", 2)
        assert (kind.vcpus, kind.memory_gib) == (int(vcpus), int(memory))
        assert gpus.startswith(str(kind.gpus))


@pytest.mark.parametrize(
    ("name", "cloud", "first"),
    [
        ("g4dn.xlrage", "aws", "g4dn.xlarge"),
        ("P4D.24XLARGE", "aws", "p4d.24xlarge"),
        ("a2-highgpu1g", None, "a2-highgpu-1g"),
        ("NC24ad_A100_v4", "azure", "Standard_NC24ads_A100_v4"),
    ],
)
def test_near_names(name: str, cloud: str | None, first: str) -> None:
    assert instance_types.nearest(name, cloud)[0] == first


@pytest.mark.parametrize(
    ("name", "cloud", "gpus"),
    [
        ("p4d.8xlarge", "aws", {"A100"}),
        ("p5.24xlarge", "aws", {"H100"}),
        ("Standard_NC32ads_A100_v4", "azure", {"A100"}),
        ("a3-highgpu-16g", "gcp", {"H100"}),
        ("VM.GPU.A10.3", "oci", {"A10"}),
    ],
)
def test_a_wrong_size_of_a_family_gets_types_with_the_same_gpu(name: str, cloud: str, gpus: set[str]) -> None:
    near = [instance_types.find(cloud, one) for one in instance_types.nearest(name, cloud)]
    assert {kind.gpu.model for kind in near if kind} == gpus


def test_a_type_of_another_cloud() -> None:
    assert instance_types.find("azure", "g4dn.xlarge") is None
    assert instance_types.clouds_with("g4dn.xlarge") == ["aws"]
