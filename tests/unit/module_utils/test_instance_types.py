"""The catalogue of GPU instance types."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils import _instance_types as types


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
        ("gcp", "n1-standard-8+nvidia-tesla-t4:2", 2, "T4", 16, 0, "amd64", "nvidia", False),
        ("ibm", "gx3-24x120x1l40s", 1, "L40S", 48, 24, "amd64", "nvidia", False),
        ("oci", "BM.GPU.GB200.4", 4, "GB200", 192, 0, "arm64", "nvidia", True),
    ],
)
def test_what_a_type_is_made_of(cloud: str, name: str, gpus: int, model: str, memory: int, vcpus: int, arch: str, vendor: str, mig: bool) -> None:
    found = types.find(cloud, name)
    assert found is not None
    assert (found.gpus, found.gpu.model, found.gpu.memory_gib, found.vcpus) == (gpus, model, memory, vcpus)
    assert (found.arch, found.gpu.vendor, found.gpu.mig_capable) == (arch, vendor, mig)


def test_the_catalogue_is_sound() -> None:
    for kind in types.everything():
        assert 1 <= kind.gpus <= 16, kind
        assert kind.arch in ("amd64", "arm64")
        assert kind.memory_gib == 0 or kind.memory_gib >= 4
        assert "/" not in kind.accelerator
    assert {kind.cloud for kind in types.everything()} == set(types.CLOUDS)
    assert len(types.everything()) > 180


def test_ibm_spells_out_its_figures() -> None:
    for kind in types.everything("ibm"):
        vcpus, memory, gpus = kind.name.split("-", 1)[1].split("x", 2)
        assert (kind.vcpus, kind.memory_gib) == (int(vcpus), int(memory))
        assert gpus.startswith(str(kind.gpus))


@pytest.mark.parametrize(
    ("name", "cloud", "first"), [("g4dn.xlrage", "aws", "g4dn.xlarge"), ("P4D.24XLARGE", "aws", "p4d.24xlarge"), ("a2-highgpu1g", None, "a2-highgpu-1g")]
)
def test_near_names(name: str, cloud: str | None, first: str) -> None:
    assert types.nearest(name, cloud)[0] == first


def test_a_type_of_another_cloud() -> None:
    assert types.find("azure", "g4dn.xlarge") is None
    assert types.clouds_with("g4dn.xlarge") == ["aws"]
