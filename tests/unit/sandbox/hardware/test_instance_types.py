"""What instance types are made of, and how a text describes hardware."""

# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from openshift_sandbox.hardware import gcp, instance_types


@pytest.mark.parametrize(
    ("name", "vcpus", "memory", "gpus", "product", "arch"),
    [
        ("g4dn.xlarge", 4, 16, 1, "Tesla-T4", "amd64"),
        ("p4d.24xlarge", 96, 1152, 8, "NVIDIA-A100-SXM4-40GB", "amd64"),
        ("p5.48xlarge", 192, 2048, 8, "NVIDIA-H100-80GB-HBM3", "amd64"),
        ("g5g.16xlarge", 64, 128, 2, "NVIDIA-T4G", "arm64"),
    ],
)
def test_what_a_gpu_instance_is_made_of(
    name: str, vcpus: int, memory: int, gpus: int, product: str, arch: str
) -> None:
    found = instance_types.instance_type(name)
    assert found is not None
    assert found.gpu is not None
    assert (found.vcpus, found.memory_gib, found.gpus, found.gpu.product, found.arch) == (
        vcpus,
        memory,
        gpus,
        product,
        arch,
    )
    assert found.has_nvidia_gpus


@pytest.mark.parametrize("name", ["m6i.2xlarge", "g4ad.xlarge", "dl1.24xlarge"])
def test_types_without_an_nvidia_gpu(name: str) -> None:
    found = instance_types.instance_type(name)
    assert found is not None
    assert not found.has_nvidia_gpus


def test_a_node_is_known_by_its_instance_type_label() -> None:
    node = {"metadata": {"labels": {"node.kubernetes.io/instance-type": "g6.xlarge"}}}
    assert instance_types.of_node(node) is instance_types.instance_type("g6.xlarge")
    assert instance_types.of_node({"metadata": {}}) is None


@pytest.mark.parametrize(
    ("text", "made_of"), [("16x128x2xL40S", (16, 128, 2, "NVIDIA-L40S")), ("8x32", (8, 32, 0, None))]
)
def test_a_node_may_say_what_no_label_of_it_tells(
    text: str, made_of: tuple[int, int, int, str | None]
) -> None:
    labels = {"node.kubernetes.io/instance-type": "g6.xlarge"}
    found = instance_types.of_node(
        {"metadata": {"labels": labels, "annotations": {instance_types.DESCRIPTION: text}}}
    )
    assert found is not None
    assert (found.vcpus, found.memory_gib, found.gpus, found.gpu.product if found.gpu else None) == made_of


@pytest.mark.parametrize(
    ("name", "gpus", "product", "virtual"),
    [
        ("Standard_NC4as_T4_v3", 1, "Tesla-T4", False),
        ("Standard_NV6ads_A10_v5", 1, "NVIDIA-A10-4Q", True),
        ("Standard_NV72ads_A10_v5", 2, "NVIDIA-A10-24Q", True),
        ("Standard_ND96isr_H100_v5", 8, "NVIDIA-H100-80GB-HBM3", False),
        ("g2-standard-24", 2, "NVIDIA-L4", False),
        ("a3-ultragpu-8g", 8, "NVIDIA-H200", False),
    ],
)
def test_gpus_of_azure_and_google(name: str, gpus: int, product: str, virtual: bool) -> None:
    found = instance_types.instance_type(name)
    assert found is not None
    assert found.gpu is not None
    assert (found.gpus, found.gpu.product, found.gpu.virtual) == (gpus, product, virtual)


@pytest.mark.parametrize("name", ["Standard_NP10s", "Standard_NV4as_v4", "Standard_ND96isr_MI300X_v5"])
def test_what_azure_counts_as_gpus_without_their_being_nvidia_s(name: str) -> None:
    found = instance_types.instance_type(name)
    assert found is not None
    assert found.gpus >= 1
    assert not found.has_nvidia_gpus


def test_an_n1_with_gpus_is_described() -> None:
    text = gcp.description("n1-standard-4", "nvidia-tesla-t4", 2)
    assert text == "4x15x2xT4"
    assert instance_types.described(text).gpus == 2
    assert gcp.description("n1-standard-4", "nvidia-l4", 1) is None


@pytest.mark.parametrize(
    "name", [name for name in instance_types.INSTANCE_TYPES if name.startswith(("gx", "bx"))]
)
def test_a_profile_of_ibm_cloud_says_its_size(name: str) -> None:
    found = instance_types.INSTANCE_TYPES[name]
    vcpus, memory, *gpus = name.partition("-")[2].split("x", 2)
    assert (found.vcpus, found.memory_gib, str(found.gpus)) == (
        int(vcpus),
        int(memory),
        gpus[0][0] if gpus else "0",
    )
