# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Inputs of the roles for all pools together: tolerations, quotas, priority classes, validations."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU, INSTANCE_TYPE, NVIDIA_PCI, quota_key
from .._nodes import taints
from .model import JsonObject, Pool

_REQUESTS: t.Final = "requests."


def tolerations(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return the tolerations with which an operand or a workload runs on every pool."""
    return taints.operand_tolerations(taint.as_result() for pool in pools for taint in pool.taints)


def quotas(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return one quota for each namespace and name. Add up the numbers that pools give one resource."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for quota in (one for pool in pools for one in pool.quota):
        hard = found.setdefault((quota.namespace, quota.name or "gpu-quota"), {})
        for key, quantity in (quota.hard or {f"requests.{GPU}": str(quota.gpus)}).items():
            hard[key] = str(int(hard.get(key, "0")) + int(quantity)) if quantity.isdigit() else quantity
    return [
        {"namespace": namespace, "name": name, "hard": dict(sorted(hard.items()))}
        for (namespace, name), hard in found.items()
    ]


def priorities(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return each priority class once, with its defaults."""
    found: dict[str, JsonObject] = {}
    for priority in (one for pool in pools for one in pool.priority):
        found[priority.name] = {
            "name": priority.name,
            "value": priority.value,
            "preemption_policy": priority.preemption_policy or "PreemptLowerPriority",
            "description": priority.description or "",
        }
    return list(found.values())


def groups(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return groups of equal nodes: a pool, or each instance type of a pool if their devices differ."""
    found = []
    for pool in pools:
        offers = {candidate.instance_type: candidate.expected for candidate in pool.candidates}
        least = 1 if pool.existing else pool.min_replicas
        models = sorted({candidate.gpu_model for candidate in pool.candidates})
        more = {
            **({"driver": pool.driver} if pool.driver else {}),
            **({"gpu_models": models} if models else {}),
        }
        if len({tuple(sorted(one.items())) for one in offers.values()}) < 2:
            found.append(
                {
                    "name": pool.name,
                    "node_selector": pool.node_selector,
                    "expected": pool.expected,
                    "min_nodes": least,
                    **more,
                }
            )
            continue
        found += [
            {
                "name": pool.name,
                "node_selector": {**pool.node_selector, INSTANCE_TYPE: kind.partition("+")[0]},
                "expected": expected,
                "min_nodes": 0,
                **more,
            }
            for kind, expected in offers.items()
        ]
    return found


def stack(pools: t.Sequence[Pool], backend: str | None = None) -> JsonObject:
    """Return the backend, and the driver if all pools have the same. backend: the user's choice.

    Pools with different drivers need the backend nvidiadriver, which has a driver for each.
    """
    wanted = [pool.driver or {} for pool in pools]
    if all(one == wanted[0] for one in wanted):
        return {"backend": backend or "clusterpolicy", "driver": wanted[0] if wanted else {}}
    return {"backend": backend or "nvidiadriver", "driver": {}}


def validations(pools: t.Iterable[Pool], claims: bool = False) -> list[JsonObject]:
    """Return the input of each validation. claims: pods claim the devices."""
    return [
        {
            "pool": pool.name,
            "node_selector": group["node_selector"],
            "tolerations": tolerations([pool]),
            "expected": group["expected"],
            "min_nodes": group["min_nodes"],
            "benchmark": pool.validate.benchmark,
            "image": pool.validate.image or "",
            "claims": claims,
        }
        for pool in pools
        for group in groups([pool])
    ]


def expected_labels(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return the labels that Node Feature Discovery must set on every node of a pool."""
    return [
        {
            "node_selector": pool.node_selector,
            "labels": {NVIDIA_PCI: "true"},
            **({} if pool.existing else {"count": pool.min_replicas}),
        }
        for pool in pools
    ]


def are_nvidias(pool: Pool) -> bool:
    """Return True if all devices of the pool are from NVIDIA."""
    return all(candidate.vendor == "nvidia" for candidate in pool.candidates)


def drivers(pools: t.Iterable[Pool]) -> list[str]:
    """Return remarks on devices that the GPU Operator's usual driver does not support."""
    remarks = []
    for pool in pools:
        for candidate in pool.candidates:
            of_pool = f"{candidate.instance_type} of pool {pool.name}"
            if candidate.driver == "grid":
                share = f"{candidate.gpu_share} of " if candidate.gpu_share != "1" else ""
                remarks.append(
                    f"{of_pool} has {share}its {candidate.gpu_model} as a vGPU: it needs NVIDIA's GRID "
                    "guest driver and a licence"
                )
            elif candidate.vendor != "nvidia":
                remarks.append(
                    f"{of_pool} has {candidate.gpu_model} devices ({candidate.vendor}): its nodes are "
                    "made, their driver and operator are not"
                )
    return remarks


def short_quotas(pools: t.Sequence[Pool], quota: t.Iterable[JsonObject]) -> list[str]:
    """Return remarks on devices that no namespace with a quota may use."""
    limits: dict[str, int] = {}
    for hard in (one["hard"] for one in quota):
        for resource, number in (
            (key.removeprefix("requests."), number) for key, number in hard.items() if "/" in key
        ):
            limits[resource] = limits.get(resource, 0) + int(number)
    remarks = []
    for resource, limit in limits.items():
        supply = sum(pool.expected.get(resource, 0) * pool.most_nodes for pool in pools)
        if supply > limit:
            remarks.append(
                f"the pools offer {supply} {resource}, the quotas together let {limit} be used: "
                f"{supply - limit} can be used only by namespaces without a quota"
            )
    return remarks


def counted_as_claims(quotas: t.Iterable[JsonObject]) -> list[JsonObject]:
    """Return the quotas with claims instead of GPUs, added to those of the same DeviceClass."""
    return [quota | {"hard": _counted(quota["hard"])} for quota in quotas]


def _counted(hard: t.Mapping[str, str]) -> dict[str, str]:
    asked, found = _REQUESTS + GPU, {key: number for key, number in hard.items() if key != _REQUESTS + GPU}
    if asked in hard:
        found[quota_key()] = str(int(found.get(quota_key(), "0")) + int(hard[asked]))
    return dict(sorted(found.items()))
