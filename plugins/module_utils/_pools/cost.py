# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Cost of pools per hour by the user's prices; the collection has no prices and no currency."""

from __future__ import annotations

import typing as t
from decimal import Decimal, InvalidOperation
from types import MappingProxyType

from .._core.input import Problems
from .model import JsonObject, Pool

Prices = t.Mapping[str, Decimal]

# Name of a class, and the cost per hour from which on a pool is in it.
CLASSES: t.Final[Prices] = MappingProxyType({"low": Decimal(0), "medium": Decimal(10), "high": Decimal(100)})


def read_prices(prices: t.Any, path: str = "prices") -> Prices:
    """Return the price of one node per hour by instance type.

    Raises InputError with the path of every problem.
    """
    problems = Problems()
    read_in = _numbers(prices, path, "{p4d.24xlarge: 21.96}", problems)
    problems.raise_if_any()
    return read_in


def read_classes(classes: t.Any, path: str = "cost_classes") -> Prices:
    """Lowest cost per hour by class. Raises InputError."""
    problems = Problems()
    read_in = _numbers(classes, path, "{low: 0, high: 100}", problems)
    if not problems.found and (
        min(read_in.values(), default=None) != 0 or len(set(read_in.values())) < len(read_in)
    ):
        problems.add(
            "INPUT-VALUE",
            path,
            "must begin at 0 and have no number twice.",
            "Write them like {low: 0, medium: 10, high: 100}.",
        )
    problems.raise_if_any()
    return read_in


def cost(pool: Pool, prices: Prices, classes: Prices = CLASSES, chosen: str | None = None) -> JsonObject:
    """Cost per hour of a pool as C(_pools.plan) returns it.

    low and high differ where the autoscaler or the choice among candidates decides. chosen: the instance
    type that won already. Without a price for each candidate they are not known, and unpriced names what
    lacks one. Nodes that exist already cost nothing here.
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


def total(costs: t.Sequence[JsonObject], classes: Prices = CLASSES) -> JsonObject:
    """Of all pools together; what is not known of one is not known of all."""
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
    """By the very name, else as Azure's sizes are written: in any case, without C(Standard_)."""
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
