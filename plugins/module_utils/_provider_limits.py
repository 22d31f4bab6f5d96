# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Which limits of the provider's account pools count towards, and with how much; how high a limit is only the provider knows."""

from __future__ import annotations

import typing as t

Data = dict[str, t.Any]
# By the letters that an instance type of AWS begins with.
_AWS: t.Final = (("p", "P"), ("g", "G and VT"), ("vt", "G and VT"), ("dl", "DL"), ("trn", "Trn"), ("inf", "Inf"))
# What Google Cloud's metrics call the models; others are named in words.
_GCP: t.Final = {"T4": "T4", "P4": "P4", "P100": "P100", "V100": "V100", "L4": "L4"}


def limits(pools: t.Iterable[t.Mapping[str, t.Any]], cloud: str | None) -> list[Data]:
    """One entry a limit, the pools' needs added up; of a pool with several candidates the one that needs most. unit: what is counted."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for pool in pools:
        for candidate in pool["candidates"]:
            market = (candidate.get("market") or pool.get("market") or {}).get("type") or "on_demand"
            for limit, unit, size in _counted(candidate, market, cloud):
                needs = found.setdefault((limit, unit), {})
                needs[pool["name"]] = max(needs.get(pool["name"], 0), _nodes(pool) * size)
    return [{"limit": limit, "unit": unit, "needs": sum(needs.values()), "pools": sorted(needs)} for (limit, unit), needs in sorted(found.items())]


def _nodes(pool: t.Mapping[str, t.Any]) -> int:
    return int((pool.get("autoscale") or {}).get("max") or pool["replicas"])


def _counted(candidate: t.Mapping[str, t.Any], market: str, cloud: str | None) -> list[tuple[str, str, int]]:
    vcpus, gpus, kind = candidate.get("vcpus") or 0, candidate.get("gpus_per_node") or 0, str(candidate["instance_type"])
    if cloud == "aws" and vcpus and market != "capacity_block":
        letters = kind[: next((index for index, letter in enumerate(kind) if letter.isdigit()), len(kind))]
        family = next((name for start, name in sorted(_AWS, reverse=True) if letters.startswith(start)), "")
        return [(f"{family} Spot Instance Requests" if market == "spot" else f"Running On-Demand {family} instances", "vCPUs", vcpus)] if family else []
    if cloud == "azure" and vcpus:
        regional = ("Total Regional Spot vCPUs" if market == "spot" else "Total Regional vCPUs", "vCPUs", vcpus)
        return [regional] if market == "spot" else [(f"vCPUs of the family of {kind}", "vCPUs", vcpus), regional]
    if cloud == "gcp" and gpus:
        model = _GCP.get(str(candidate["gpu_model"]))
        spot = "PREEMPTIBLE_" if market == "spot" else ""
        named = f"{spot}NVIDIA_{model}_GPUS of the region" if model else f"{'Spot ' if spot else ''}{candidate['gpu_model']} GPUs of the region"
        return [(named, "GPUs", gpus), ("GPUS_ALL_REGIONS of the project", "GPUs", gpus)]
    return []
