# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Cost of pools per hour from the user's prices; the collection has no prices and no currency."""

from __future__ import annotations

import typing as t
from decimal import Decimal, InvalidOperation
from types import MappingProxyType

from .._core.input import Problems
from .model import JsonObject, Pool

Prices = t.Mapping[str, Decimal]

# Class -> its lowest cost per hour.
CLASSES: t.Final[Prices] = MappingProxyType({"low": Decimal(0), "medium": Decimal(10), "high": Decimal(100)})


def read_prices(prices: t.Any, path: str = "prices") -> Prices:
    """Return the price of one node per hour by instance type. Raises InputError with every problem."""
    problems = Problems()
    read_in = _numbers(prices, path, "{p4d.24xlarge: 21.96}", problems)
    problems.raise_if_any()
    return read_in


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
            "must begin at 0 and have no number twice.",
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


def total(costs: t.Sequence[JsonObject], classes: Prices = CLASSES) -> JsonObject:
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
