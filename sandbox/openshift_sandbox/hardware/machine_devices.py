# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What virtual machines see of GPUs: names of PCI devices, and the types of vGPU of each model.

The names are those of pci.ids of 2026 for the models that the sandbox has; models that are missing here are
missing in the device plugin too. The types are a part of NVIDIA's: series Q, and C from 4 GiB on.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

PREFIX: t.Final = "nvidia.com/"
PCI_NAMES: t.Final = {
    "13f2": "GM204GL [Tesla M60]",
    "15f8": "GP100GL [Tesla P100 PCIe 16GB]",
    "1bb3": "GP104GL [Tesla P4]",
    "1db1": "GV100GL [Tesla V100 SXM2 16GB]",
    "1db4": "GV100GL [Tesla V100 PCIe 16GB]",
    "1db5": "GV100GL [Tesla V100 SXM2 32GB]",
    "1eb8": "TU104GL [Tesla T4]",
    "20b0": "GA100 [A100 SXM4 40GB]",
    "20b2": "GA100 [A100 SXM4 80GB]",
    "20b5": "GA100 [A100 PCIe 80GB]",
    "2235": "GA102GL [A40]",
    "2236": "GA102GL [A10]",
    "2237": "GA102GL [A10G]",
    "2321": "GH100 [H100L 94GB]",
    "2330": "GH100 [H100 SXM5 80GB]",
    "2335": "GH100 [H200 SXM 141GB]",
    "26b9": "AD102GL [L40S]",
    "27b8": "AD104GL [L4]",
}
"""Device id -> the name in pci.ids."""


@dataclass(frozen=True)
class Slices:
    """The types of vGPU of one model: what their names begin with, and the GiB of one and of the whole."""

    brand: str
    memory: int
    sizes: tuple[int, ...]

    @property
    def model(self) -> str:
        """Return the name of the model in the names of types."""
        return self.brand.rpartition(" ")[2]

    def types(self) -> dict[str, int]:
        """Return how many of each type fit on one GPU."""
        series = [("Q", size) for size in self.sizes] + [("C", size) for size in self.sizes if size >= _C]
        return {f"{self.model}-{size}{one}": min(self.memory // size, _MOST) for one, size in series}

    def half(self) -> str:
        """Return the type of which two fit: the configuration `default` makes two of it."""
        return f"{self.model}-{self.memory // 2}Q"

    def mdev_name(self, kind: str) -> str:
        """Return the name of a type as the kernel shows it."""
        return f"{self.brand.removesuffix(self.model)}{kind}"


_C, _MOST = 4, 32
SLICES: t.Final = {
    "1eb8": Slices("GRID T4", 16, (1, 2, 4, 8, 16)),
    "2235": Slices("NVIDIA A40", 48, (1, 2, 3, 4, 6, 8, 12, 16, 24, 48)),
    "2236": Slices("NVIDIA A10", 24, (1, 2, 3, 4, 6, 8, 12, 24)),
    "26b9": Slices("NVIDIA L40S", 48, (1, 2, 3, 4, 6, 8, 12, 16, 24, 48)),
    "27b8": Slices("NVIDIA L4", 24, (1, 2, 3, 4, 6, 8, 12, 24)),
}
"""Device id -> its types of vGPU."""


def passthrough_resource(device: str, names: t.Mapping[str, str] = PCI_NAMES) -> str:
    """Return the resource of a whole GPU, as the device plugin makes it of the name of its device."""
    name = names.get(device, "")
    if not name:
        return f"{PREFIX}{device}"
    name = re.sub(r"\s+", "_", name.upper().replace("/", "_").replace(".", "_"))
    return PREFIX + re.sub(r"[^a-zA-Z0-9_.]+", "", name)


def vgpu_resource(device: str, kind: str) -> str:
    """Return the resource of a type of vGPU."""
    return PREFIX + re.sub(r"\s+", "_", SLICES[device].mdev_name(kind))
