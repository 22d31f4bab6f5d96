# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Limits of the provider's account, and how much of each limit the pools need."""

from __future__ import annotations

import typing as t

from .model import Candidate, JsonObject, Pool

Counted = tuple[str, bool, str, int]
# First letters of an AWS instance type -> the family in the names of the quotas.
_AWS: t.Final = (
    ("p", "P"),
    ("g", "G and VT"),
    ("vt", "G and VT"),
    ("dl", "DL"),
    ("trn", "Trn"),
    ("inf", "Inf"),
)
# Families whose exact names are in lists of Service Quotas and in EC2's user guide on Spot quotas
# (November 2026). A result describes the others in words.
_ON_DEMAND: t.Final = frozenset(("P", "G and VT", "Inf"))
_SPOT: t.Final = frozenset(("DL", "G and VT", "Inf", "Trn"))
_SPOT_P: t.Final = {"p2": "P4, P3 and P2", "p3": "P4, P3 and P2", "p4": "P4, P3 and P2", "p5": "P5"}
# Names of the models in the quota metrics of the Compute Engine API. A result describes others in words.
_GCP: t.Final = {"T4": "T4", "P4": "P4", "P100": "P100", "V100": "V100", "L4": "L4"}


def limits(pools: t.Iterable[Pool], cloud: str | None) -> list[JsonObject]:
    """Return one entry for each limit with the sum of the pools' needs; the largest candidate counts.

    unit: vCPUs or GPUs. is_name: limit is the provider's own name, not a description.
    """
    found: dict[tuple[str, bool, str], dict[str, int]] = {}
    for pool in pools:
        for candidate in pool.candidates:
            market = (candidate.market or pool.market).type
            for limit, is_name, unit, size in _counted(candidate, market, cloud):
                needs = found.setdefault((limit, is_name, unit), {})
                needs[pool.name] = max(needs.get(pool.name, 0), pool.most_nodes * size)
    return [
        {
            "limit": limit,
            "is_name": is_name,
            "unit": unit,
            "needs": sum(needs.values()),
            "pools": sorted(needs),
        }
        for (limit, is_name, unit), needs in sorted(found.items())
    ]


def _counted(candidate: Candidate, market: str, cloud: str | None) -> list[Counted]:
    vcpus, gpus, kind = (
        candidate.vcpus or 0,
        candidate.gpus_per_node,
        candidate.instance_type,
    )
    if cloud == "aws" and vcpus and market != "capacity_block":
        return [(*named, "vCPUs", vcpus)] if (named := _of_aws(kind, market == "spot")) else []
    if cloud == "azure" and vcpus:
        total = (
            "Total Regional Spot vCPUs" if market == "spot" else "Total Regional vCPUs",
            True,
            "vCPUs",
            vcpus,
        )
        return (
            [total]
            if market == "spot"
            else [(f"vCPUs of the family of {kind}", False, "vCPUs", vcpus), total]
        )
    if cloud == "gcp" and gpus:
        model = _GCP.get(candidate.gpu_model)
        spot = "PREEMPTIBLE_" if market == "spot" else ""
        words = f"{'Spot ' if spot else ''}{candidate.gpu_model} GPUs of the region"
        named = (f"{spot}NVIDIA_{model}_GPUS of the region", True) if model else (words, False)
        return [(*named, "GPUs", gpus), ("GPUS_ALL_REGIONS of the project", True, "GPUs", gpus)]
    return []


def _of_aws(kind: str, is_spot: bool) -> tuple[str, bool] | None:
    letters = kind[: next((index for index, letter in enumerate(kind) if letter.isdigit()), len(kind))]
    family = next((name for start, name in sorted(_AWS, reverse=True) if letters.startswith(start)), "")
    if not family:
        return None
    if is_spot:
        named = _SPOT_P.get(kind[:2]) if family == "P" else family if family in _SPOT else None
        return (
            (f"All {named} Spot Instance Requests", True)
            if named
            else (f"Spot vCPUs of {kind.partition('.')[0]}", False)
        )
    return (
        (f"Running On-Demand {family} instances", True)
        if family in _ON_DEMAND
        else (f"On-Demand vCPUs of {family} instances", False)
    )
