# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hardware behind simulated nodes: what an instance type is made of, and what its GPUs call themselves."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

DESCRIPTION: t.Final = "sandbox.openshift/hardware"
"""Annotation of a Node whose labels do not tell what it is made of, as on vSphere or bare metal."""


@dataclass(frozen=True)
class Gpu:
    """One model of accelerator; the values are those that nvidia-smi and GPU feature discovery print."""

    name: str
    memory_mib: int
    family: str
    compute: str
    pci_device: str
    pci_vendor: str = "10de"
    pci_class: str = "0302"
    mig_capable: bool = False
    fp16_tflops: float = 60.0
    resource: str = "nvidia.com/gpu"

    @property
    def product(self) -> str:
        """Value of the label nvidia.com/gpu.product."""
        return self.name.replace(" ", "-")

    @property
    def nvidia(self) -> bool:
        return self.pci_vendor == "10de"


@dataclass(frozen=True)
class InstanceType:
    name: str
    vcpus: int
    memory_gib: int
    gpus: int = 0
    gpu: Gpu | None = None
    arch: str = "amd64"

    @property
    def has_nvidia_gpus(self) -> bool:
        return self.gpu is not None and self.gpu.nvidia and self.gpus > 0


GPUS: t.Final[dict[str, Gpu]] = {
    "V100-16": Gpu("Tesla V100-SXM2-16GB", 16384, "volta", "7.0", "1db1", fp16_tflops=95.0),
    "V100-32": Gpu("Tesla V100-SXM2-32GB", 32768, "volta", "7.0", "1db5", fp16_tflops=95.0),
    "T4": Gpu("Tesla T4", 15360, "turing", "7.5", "1eb8", fp16_tflops=42.0),
    "T4G": Gpu("NVIDIA T4G", 15360, "turing", "7.5", "1eb4"),
    "A100-40": Gpu("NVIDIA A100-SXM4-40GB", 40960, "ampere", "8.0", "20b0", mig_capable=True, fp16_tflops=251.0),
    "A100-80": Gpu("NVIDIA A100-SXM4-80GB", 81920, "ampere", "8.0", "20b2", mig_capable=True, fp16_tflops=258.0),
    "A40": Gpu("NVIDIA A40", 46068, "ampere", "8.6", "2235", fp16_tflops=120.0),
    "A10G": Gpu("NVIDIA A10G", 23028, "ampere", "8.6", "2237", fp16_tflops=67.0),
    "L4": Gpu("NVIDIA L4", 23034, "ada-lovelace", "8.9", "27b8", fp16_tflops=58.0),
    "L40S": Gpu("NVIDIA L40S", 46068, "ada-lovelace", "8.9", "26b9", fp16_tflops=182.0),
    "H100": Gpu("NVIDIA H100 80GB HBM3", 81559, "hopper", "9.0", "2330", mig_capable=True, fp16_tflops=652.0),
    "H200": Gpu("NVIDIA H200", 143771, "hopper", "9.0", "2335", mig_capable=True, fp16_tflops=668.0),
    "B200": Gpu("NVIDIA B200", 183359, "blackwell", "10.0", "2901", mig_capable=True, fp16_tflops=1480.0),
    "B300": Gpu("NVIDIA B300 SXM6 AC", 275040, "blackwell", "10.3", "3182", mig_capable=True, fp16_tflops=1510.0),
    "GB200": Gpu("NVIDIA GB200", 189471, "blackwell", "10.0", "2941", mig_capable=True, fp16_tflops=1540.0),
    "RTX6000": Gpu("NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, "blackwell", "12.0", "2bb5", mig_capable=True, fp16_tflops=402.0),
    "V520": Gpu("AMD Radeon Pro V520", 8192, "rdna", "0.0", "7362", "1002", "0300", resource="amd.com/gpu"),
    "GAUDI": Gpu("Gaudi HL-205", 32768, "gaudi", "0.0", "1000", "1da3", "1200", resource="habana.ai/gaudi"),
}

# family -> GPU model, arch, {size: (vCPUs, memory in GiB, GPUs)}
_FAMILIES: t.Final[dict[str, tuple[str | None, str, dict[str, tuple[int, int, int]]]]] = {
    "m5": (None, "amd64", {"xlarge": (4, 16, 0), "2xlarge": (8, 32, 0), "4xlarge": (16, 64, 0)}),
    "m6i": (None, "amd64", {"xlarge": (4, 16, 0), "2xlarge": (8, 32, 0), "4xlarge": (16, 64, 0), "8xlarge": (32, 128, 0)}),
    "m6g": (None, "arm64", {"xlarge": (4, 16, 0), "2xlarge": (8, 32, 0), "4xlarge": (16, 64, 0)}),
    "p3": ("V100-16", "amd64", {"2xlarge": (8, 61, 1), "8xlarge": (32, 244, 4), "16xlarge": (64, 488, 8)}),
    "p3dn": ("V100-32", "amd64", {"24xlarge": (96, 768, 8)}),
    "p4d": ("A100-40", "amd64", {"24xlarge": (96, 1152, 8)}),
    "p4de": ("A100-80", "amd64", {"24xlarge": (96, 1152, 8)}),
    "p5": ("H100", "amd64", {"4xlarge": (16, 256, 1), "48xlarge": (192, 2048, 8)}),
    "p5e": ("H200", "amd64", {"48xlarge": (192, 2048, 8)}),
    "p5en": ("H200", "amd64", {"48xlarge": (192, 2048, 8)}),
    "p6-b200": ("B200", "amd64", {"48xlarge": (192, 2048, 8)}),
    "p6-b300": ("B300", "amd64", {"48xlarge": (192, 4096, 8)}),
    "p6e-gb200": ("GB200", "arm64", {"36xlarge": (144, 960, 4)}),
    "g4dn": (
        "T4",
        "amd64",
        {
            "xlarge": (4, 16, 1),
            "2xlarge": (8, 32, 1),
            "4xlarge": (16, 64, 1),
            "8xlarge": (32, 128, 1),
            "12xlarge": (48, 192, 4),
            "16xlarge": (64, 256, 1),
            "metal": (96, 384, 8),
        },
    ),
    "g5": (
        "A10G",
        "amd64",
        {
            "xlarge": (4, 16, 1),
            "2xlarge": (8, 32, 1),
            "4xlarge": (16, 64, 1),
            "8xlarge": (32, 128, 1),
            "12xlarge": (48, 192, 4),
            "16xlarge": (64, 256, 1),
            "24xlarge": (96, 384, 4),
            "48xlarge": (192, 768, 8),
        },
    ),
    "g5g": (
        "T4G",
        "arm64",
        {"xlarge": (4, 8, 1), "2xlarge": (8, 16, 1), "4xlarge": (16, 32, 1), "8xlarge": (32, 64, 1), "16xlarge": (64, 128, 2), "metal": (64, 128, 2)},
    ),
    "g6": (
        "L4",
        "amd64",
        {
            "xlarge": (4, 16, 1),
            "2xlarge": (8, 32, 1),
            "4xlarge": (16, 64, 1),
            "8xlarge": (32, 128, 1),
            "12xlarge": (48, 192, 4),
            "16xlarge": (64, 256, 1),
            "24xlarge": (96, 384, 4),
            "48xlarge": (192, 768, 8),
        },
    ),
    "gr6": ("L4", "amd64", {"4xlarge": (16, 128, 1), "8xlarge": (32, 256, 1)}),
    "g6e": (
        "L40S",
        "amd64",
        {
            "xlarge": (4, 32, 1),
            "2xlarge": (8, 64, 1),
            "4xlarge": (16, 128, 1),
            "8xlarge": (32, 256, 1),
            "12xlarge": (48, 384, 4),
            "16xlarge": (64, 512, 1),
            "24xlarge": (96, 768, 4),
            "48xlarge": (192, 1536, 8),
        },
    ),
    "g7e": (
        "RTX6000",
        "amd64",
        {
            "2xlarge": (8, 64, 1),
            "4xlarge": (16, 128, 1),
            "8xlarge": (32, 256, 1),
            "12xlarge": (48, 512, 2),
            "24xlarge": (96, 1024, 4),
            "48xlarge": (192, 2048, 8),
        },
    ),
    "g4ad": (
        "V520",
        "amd64",
        {"xlarge": (4, 16, 1), "2xlarge": (8, 32, 1), "4xlarge": (16, 64, 1), "8xlarge": (32, 128, 2), "16xlarge": (64, 256, 4)},
    ),
    "dl1": ("GAUDI", "amd64", {"24xlarge": (96, 768, 8)}),
}


def _types() -> dict[str, InstanceType]:
    types = {}
    for family, (model, arch, sizes) in _FAMILIES.items():
        for size, (vcpus, memory, gpus) in sizes.items():
            name = f"{family}.{size}"
            types[name] = InstanceType(name, vcpus, memory, gpus, GPUS[model] if model else None, arch)
    return types


INSTANCE_TYPES: t.Final[dict[str, InstanceType]] = _types()


def instance_type(name: str | None) -> InstanceType | None:
    return INSTANCE_TYPES.get(name or "")


def described(text: str) -> InstanceType:
    """Hardware that no name of a type tells: vCPUs x GiB, and GPUs x model, as in 16x128x2xL40S."""
    vcpus, memory, *gpus = text.split("x", 3)
    count, model = gpus if gpus else ("0", "")
    return InstanceType(text, int(vcpus), int(memory), int(count), GPUS[model] if model else None)


def of_node(node: dict[str, t.Any]) -> InstanceType | None:
    """The hardware of a Node: as its annotation describes it, else by its well-known instance-type label."""
    metadata = node["metadata"]
    if text := (metadata.get("annotations") or {}).get(DESCRIPTION):
        return described(text)
    return instance_type((metadata.get("labels") or {}).get("node.kubernetes.io/instance-type"))
