# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels of GPU feature discovery about GPUs that are shared or cut by MIG."""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import mig
from openshift_sandbox.hardware.gpus import Gpu
from openshift_sandbox.stand_ins.gpu_operator.sharing import geometry
from openshift_sandbox.stand_ins.gpu_operator.sharing.config import GPU, NONE, Config
from openshift_sandbox.stand_ins.gpu_operator.sharing.geometry import Cut

Labels = dict[str, str]


def labels(gpu: Gpu, cuts: t.Sequence[Cut], strategy: str, shared: Config) -> Labels:
    """Return the labels of each resource of a node; `strategy` is that of MIG."""
    found = _whole(gpu, cuts, shared)
    if strategy == "none":
        return found
    found["nvidia.com/mig.strategy"] = strategy
    parts = geometry.totals(cuts)
    if strategy == "mixed":
        for name, count in parts.items():
            found |= _part(gpu, geometry.resource(name), name, count, shared)
    elif any(cut is not None for cut in cuts):
        if geometry.invalid(cuts):
            return found | _invalid(gpu)
        ((name, count),) = parts.items()
        found |= _part(gpu, GPU, name, count, shared)
    return found


def _whole(gpu: Gpu, cuts: t.Sequence[Cut], shared: Config) -> Labels:
    """Return the labels of whole GPUs; those that are all cut are not shared."""
    base = {f"{GPU}.memory": str(gpu.memory_mib)}
    if any(cut is None for cut in cuts):
        return base | _base(GPU, gpu.product, len(cuts), shared)
    own = {"product": gpu.product, "count": str(len(cuts)), "replicas": "0", "sharing-strategy": NONE}
    return base | {f"{GPU}.{key}": value for key, value in own.items()}


def _part(gpu: Gpu, resource: str, profile: str, count: int, shared: Config) -> Labels:
    product = f"{gpu.product}-MIG-{profile.replace('+', '')}"
    more = {f"{resource}.{key}": value for key, value in mig.attributes(gpu, profile).items()}
    return _base(resource, product, count, shared) | more


def _invalid(gpu: Gpu) -> Labels:
    own = {
        "product": f"{gpu.product}-MIG-INVALID",
        "count": "0",
        "replicas": "0",
        "sharing-strategy": "",
        "memory": "0",
    }
    return {f"{GPU}.{key}": value for key, value in own.items()}


def _base(resource: str, product: str, count: int, shared: Config) -> Labels:
    replicas = shared.replicas_of(resource)
    own = {
        "product": product + ("-SHARED" if replicas > 1 and not shared.renames else ""),
        "count": str(count),
        "replicas": str(replicas),
        "sharing-strategy": shared.strategy if replicas > 1 else NONE,
    }
    return {f"{resource}.{key}": value for key, value in own.items()}
