# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Candidates of a pool: what the instance types that it names are made of."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._geometry import GeometryError, geometry
from ansible_collections.accelerators.openshift.plugins.module_utils._instance_types import CLOUDS, InstanceType, clouds_with, everything, find, nearest
from ansible_collections.accelerators.openshift.plugins.module_utils._instance_types._gpus import GPUS, Gpu
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_platform import own_options
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_problems import Problems

Data = dict[str, t.Any]


def resolve(candidate: Data, cloud: str | None, path: str, problems: Problems) -> InstanceType | None:
    """From the catalogue, else from what the candidate says of itself; None where a problem was noted."""
    name = candidate.get("instance_type")
    if not name:
        return None
    where = cloud or next(iter(clouds_with(name)), None)
    found = find(where, name) if where else None
    if found is None and "gpus" in candidate:
        return InstanceType(name, cloud or "", candidate["gpus"], 0, 0, "amd64", _gpu(candidate.get("gpu_model", "")))
    if found is None:
        _unknown(name, cloud, path, problems)
        return None
    if found.gpu.vendor != "nvidia":
        others = ", ".join(nearest(name, cloud)[1:]) or "one with NVIDIA GPUs"
        problems.add(
            "POOL-VENDOR",
            f"{path}.instance_type",
            f"{name} has {found.gpu.model} devices ({found.gpu.vendor}), which the NVIDIA GPU Operator does not drive.",
            f"Use another type: {others}.",
        )
        return None
    return found


def _gpu(model: str) -> Gpu:
    return next((gpu for gpu in GPUS.values() if gpu.model.lower() == model.lower()), Gpu(model or "gpu", 0))


def _unknown(name: str, cloud: str | None, path: str, problems: Problems) -> None:
    elsewhere = clouds_with(name)
    where = f" on {cloud}" if cloud else ""
    message = f"{name} is a type of {', '.join(elsewhere)}, not{where}." if elsewhere else f"{name} is not a known GPU instance type{where}."
    near = nearest(name, cloud if cloud in CLOUDS else None) or [entry.name for entry in everything(cloud)][:3]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    problems.add(
        "POOL-INSTANCE-TYPE", f"{path}.instance_type", message, f"{hint}If the type is newer than the catalogue, add gpus (and gpu_model) to the candidate."
    )


def describe(candidate: Data, kind: InstanceType, sharing: Data, path: str, problems: Problems) -> Data:
    """The candidate as the plan returns it; problems of its geometry are noted at the pool's sharing."""
    expected: Data = {}
    try:
        expected = geometry(candidate["instance_type"], kind.gpus, kind.gpu, sharing).resources
    except GeometryError as exc:
        problems.add("POOL-GEOMETRY", f"{path}.sharing.{exc.where}", exc.message, exc.remedy)
    return {
        "instance_type": candidate["instance_type"],
        "zones": list(candidate.get("zones") or []),
        "arch": kind.arch,
        "vendor": kind.gpu.vendor,
        "gpus_per_node": kind.gpus,
        "gpu_model": kind.gpu.model,
        "gpu_memory_gib": kind.gpu.memory_gib or None,
        "vcpus": kind.vcpus or None,
        "memory_gib": kind.memory_gib or None,
        "mig_capable": kind.gpu.mig_capable,
        "accelerator": kind.accelerator,
        "expected": expected,
        **own_options(candidate),
    }
