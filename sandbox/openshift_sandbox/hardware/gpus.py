# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The accelerators and network adapters that the sandbox's machines have, and what an instance type is."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """One model of accelerator, with the values that nvidia-smi and GPU feature discovery print."""

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
    virtual: bool = False
    """A vGPU: a slice of a board, which only the GRID driver can use."""

    @property
    def product(self) -> str:
        """Return the value of the label nvidia.com/gpu.product."""
        return self.name.replace(" ", "-")

    @property
    def nvidia(self) -> bool:
        return self.pci_vendor == "10de"


@dataclass(frozen=True)
class Nic:
    """One model of RDMA-capable network adapter, as /sys shows one of its ports. speed: Gb/s."""

    pci_device: str
    pci_class: str = "0200"
    pci_vendor: str = "15b3"
    speed: int = 400

    @property
    def link(self) -> str:
        """Return the type of the link as the SR-IOV operator writes it."""
        return "IB" if self.pci_class == "0207" else "ETH"


NICS: t.Final[dict[str, Nic]] = {
    "CX6": Nic("101b", speed=200),
    "CX7": Nic("1021"),
    "CX7-IB": Nic("1021", "0207"),
    "BF3": Nic("a2dc"),
}


@dataclass(frozen=True)
class InstanceType:
    """What a machine of one type is made of."""

    name: str
    vcpus: int
    memory_gib: int
    gpus: int = 0
    gpu: Gpu | None = None
    arch: str = "amd64"
    nics: int = 0
    nic: Nic | None = None

    @property
    def has_nvidia_gpus(self) -> bool:
        """Return whether it has GPUs of NVIDIA."""
        return self.gpu is not None and self.gpu.nvidia and self.gpus > 0


GPUS: t.Final[dict[str, Gpu]] = {
    "V100-16": Gpu("Tesla V100-SXM2-16GB", 16384, "volta", "7.0", "1db1", fp16_tflops=95.0),
    "V100-32": Gpu("Tesla V100-SXM2-32GB", 32768, "volta", "7.0", "1db5", fp16_tflops=95.0),
    "T4": Gpu("Tesla T4", 15360, "turing", "7.5", "1eb8", fp16_tflops=42.0),
    "T4G": Gpu("NVIDIA T4G", 15360, "turing", "7.5", "1eb4"),
    "A100-40": Gpu(
        "NVIDIA A100-SXM4-40GB", 40960, "ampere", "8.0", "20b0", mig_capable=True, fp16_tflops=251.0
    ),
    "A100-80": Gpu(
        "NVIDIA A100-SXM4-80GB", 81920, "ampere", "8.0", "20b2", mig_capable=True, fp16_tflops=258.0
    ),
    "A40": Gpu("NVIDIA A40", 46068, "ampere", "8.6", "2235", fp16_tflops=120.0),
    "A10G": Gpu("NVIDIA A10G", 23028, "ampere", "8.6", "2237", fp16_tflops=67.0),
    "L4": Gpu("NVIDIA L4", 23034, "ada-lovelace", "8.9", "27b8", fp16_tflops=58.0),
    "L40S": Gpu("NVIDIA L40S", 46068, "ada-lovelace", "8.9", "26b9", fp16_tflops=182.0),
    "H100": Gpu("NVIDIA H100 80GB HBM3", 81559, "hopper", "9.0", "2330", mig_capable=True, fp16_tflops=652.0),
    "H200": Gpu("NVIDIA H200", 143771, "hopper", "9.0", "2335", mig_capable=True, fp16_tflops=668.0),
    "B200": Gpu("NVIDIA B200", 183359, "blackwell", "10.0", "2901", mig_capable=True, fp16_tflops=1480.0),
    "B300": Gpu(
        "NVIDIA B300 SXM6 AC", 275040, "blackwell", "10.3", "3182", mig_capable=True, fp16_tflops=1510.0
    ),
    "GB200": Gpu("NVIDIA GB200", 189471, "blackwell", "10.0", "2941", mig_capable=True, fp16_tflops=1540.0),
    "RTX6000": Gpu(
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        97887,
        "blackwell",
        "12.0",
        "2bb5",
        mig_capable=True,
        fp16_tflops=402.0,
    ),
    "V520": Gpu("AMD Radeon Pro V520", 8192, "rdna", "0.0", "7362", "1002", "0300", resource="amd.com/gpu"),
    "GAUDI": Gpu("Gaudi HL-205", 32768, "gaudi", "0.0", "1000", "1da3", "1200", resource="habana.ai/gaudi"),
    "V100-PCIE": Gpu("Tesla V100-PCIE-16GB", 16384, "volta", "7.0", "1db4", fp16_tflops=87.0),
    "P100": Gpu("Tesla P100-PCIE-16GB", 16384, "pascal", "6.0", "15f8", fp16_tflops=17.0),
    "P4": Gpu("Tesla P4", 7680, "pascal", "6.1", "1bb3", fp16_tflops=5.0),
    "M60": Gpu("Tesla M60", 8192, "maxwell", "5.2", "13f2", pci_class="0300", fp16_tflops=4.0),
    "A10": Gpu("NVIDIA A10", 23028, "ampere", "8.6", "2236", fp16_tflops=67.0),
    "A10-4Q": Gpu("NVIDIA A10-4Q", 4096, "ampere", "8.6", "2236", virtual=True),
    "A10-8Q": Gpu("NVIDIA A10-8Q", 8192, "ampere", "8.6", "2236", virtual=True),
    "A10-12Q": Gpu("NVIDIA A10-12Q", 12288, "ampere", "8.6", "2236", virtual=True),
    "A10-24Q": Gpu("NVIDIA A10-24Q", 24512, "ampere", "8.6", "2236", virtual=True),
    "A100-PCIE": Gpu(
        "NVIDIA A100 80GB PCIe", 81920, "ampere", "8.0", "20b5", mig_capable=True, fp16_tflops=240.0
    ),
    "H100-NVL": Gpu("NVIDIA H100 NVL", 95830, "hopper", "9.0", "2321", mig_capable=True, fp16_tflops=600.0),
    "MI25": Gpu(
        "AMD Radeon Instinct MI25", 16384, "vega", "0.0", "686c", "1002", "0300", resource="amd.com/gpu"
    ),
    "MI300X": Gpu(
        "AMD Instinct MI300X", 196608, "cdna3", "0.0", "74b5", "1002", "1200", resource="amd.com/gpu"
    ),
    "ALVEO": Gpu(
        "AMD Xilinx Alveo U250", 65536, "fpga", "0.0", "5004", "10ee", "1200", resource="amd.com/fpga"
    ),
}


class Sizes(t.NamedTuple):
    """Instance types that differ only in size: {size: (vCPUs, memory in GiB, GPUs)}."""

    gpu: str | None
    arch: str
    sizes: dict[str, tuple[int, int, int]]


def instance_types(
    families: t.Mapping[str, Sizes], joined: str = "{family}{size}"
) -> dict[str, InstanceType]:
    """Return the instance types of all families by name, which `joined` makes of family and size."""
    types = {}
    for family, (gpu, arch, sizes) in families.items():
        for size, (vcpus, memory, gpus) in sizes.items():
            name = joined.format(family=family, size=size)
            types[name] = InstanceType(name, vcpus, memory, gpus, GPUS[gpu] if gpu else None, arch)
    return types
