# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Needs of the pools at the provider: cost per hour by the user's prices, and limits of the account."""

from __future__ import annotations

import typing as t
from decimal import Decimal, InvalidOperation
from types import MappingProxyType

from .._catalogue.instance_types import Catalogue
from .._core.input import Problems
from .model import Candidate, JsonObject, Pool

Prices = t.Mapping[str, Decimal]

# Class -> its lowest cost per hour.
CLASSES: t.Final[Prices] = MappingProxyType({"low": Decimal(0), "medium": Decimal(10), "high": Decimal(100)})
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


def read_prices(prices: t.Any, path: str = "prices") -> Prices:
    """Return the price of one node per hour by instance type. Raises InputError with every problem."""
    problems = Problems()
    read_in = _numbers(prices, path, "{p4d.24xlarge: 21.96}", problems)
    problems.raise_if_any()
    return read_in


def without_type(prices: Prices, pools: t.Iterable[Pool], catalogue: Catalogue) -> str:
    """Return a warning about prices of instance types that neither the catalogue nor a pool has, or ""."""
    of_pools = {candidate.instance_type: Decimal(0) for pool in pools for candidate in pool.candidates}
    unknown = [name for name in prices if not catalogue.clouds_with(name) and _price(name, of_pools) is None]
    if not unknown:
        return ""
    names = []
    for name in unknown[:3]:
        near = catalogue.nearest(name, most=1)
        names.append(f"{name} (did you mean {near[0]}?)" if near else name)
    more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
    return (
        f"gpu_prices (module option prices) has no GPU instance type of the catalogue or of a pool in "
        f"{', '.join(names)}{more}: these prices count for nothing."
    )


def read_classes(classes: t.Any, path: str = "cost_classes") -> Prices:
    """Return the lowest cost per hour of each class. Raises InputError."""
    problems = Problems()
    read_in = _numbers(classes, path, "{low: 0, high: 100}", problems)
    if not problems.found and (
        min(read_in.values(), default=None) != 0 or len(set(read_in.values())) < len(read_in)
    ):
        problems.add(
            "INPUT-VALUE",
            path,
            "must contain 0, and each number only once.",
            "Write them like {low: 0, medium: 10, high: 100}.",
        )
    problems.raise_if_any()
    return read_in


def cost(pool: Pool, prices: Prices, classes: Prices = CLASSES, chosen: str | None = None) -> JsonObject:
    """Return the cost per hour of a planned pool.

    low and high differ if the autoscaler or the choice of a candidate decides. chosen: the instance type,
    if it is chosen already. If a candidate has no price, low and high are None and unpriced names it.
    The cost of existing nodes is 0.
    """
    candidates = (
        []
        if pool.existing
        else [one.instance_type for one in pool.candidates if chosen in (None, one.instance_type)]
    )
    least, most = _nodes(pool)
    listed = [(name, _price(name, prices)) for name in dict.fromkeys(candidates)]
    known = [price for _name, price in listed if price is not None]
    unpriced = [name for name, price in listed if price is None]
    low = None if unpriced else least * min(known, default=Decimal(0))
    high = None if unpriced else most * max(known, default=Decimal(0))
    return {
        "pool": pool.name,
        "low": _plain(low),
        "high": _plain(high),
        "class": None if high is None else _class(high, classes),
        "candidates": [{"instance_type": name, "price": _plain(price)} for name, price in listed],
        "unpriced": unpriced,
    }


def total_cost(costs: t.Sequence[JsonObject], classes: Prices = CLASSES) -> JsonObject:
    """Return the cost of all pools together; low or high is None if one pool's is."""
    sums = {
        end: None
        if any(one[end] is None for one in costs)
        else sum((Decimal(str(one[end])) for one in costs), Decimal(0))
        for end in ("low", "high")
    }
    high = sums["high"]
    return {
        **{end: _plain(value) for end, value in sums.items()},
        "class": None if high is None else _class(high, classes),
        "unpriced": sorted({name for one in costs for name in one["unpriced"]}),
    }


def _nodes(pool: Pool) -> tuple[int, int]:
    return pool.autoscale.min if pool.autoscale else pool.replicas, pool.most_nodes


def _price(name: str, prices: Prices) -> Decimal | None:
    """Return the price by the exact name, or by the name in any case and without C(Standard_)."""
    if name in prices:
        return prices[name]
    bare = {given.lower().removeprefix("standard_"): price for given, price in prices.items()}
    return bare.get(name.lower().removeprefix("standard_"))


def _class(value: Decimal, classes: Prices) -> str:
    return max((floor, name) for name, floor in classes.items() if floor <= value)[1]


def _plain(value: Decimal | None) -> float | None:
    return None if value is None else float(round(value, 4))


def _numbers(given: t.Any, path: str, example: str, problems: Problems) -> dict[str, Decimal]:
    if not isinstance(given, t.Mapping):
        problems.add(
            "INPUT-TYPE", path, "must be a mapping of names to numbers.", f"Write it like {example}."
        )
        return {}
    result = {}
    for name, value in given.items():
        number = _number(value)
        if number is None:
            problems.add(
                "INPUT-TYPE",
                f"{path}.{name}",
                f"{value!r} is not a number.",
                "Give a number without currency, for example 3.06.",
            )
        elif number < 0:
            problems.add(
                "INPUT-VALUE", f"{path}.{name}", f"{value} is below 0.", "Give a number of at least 0."
            )
        else:
            result[str(name)] = number
    return result


def _number(value: t.Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


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
