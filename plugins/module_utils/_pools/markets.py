# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Markets of machines: on demand, spot, or a reserved capacity block."""

from __future__ import annotations

import re
import typing as t

from .._core.input import Field, Problems, read

Description = dict[str, t.Any]
MARKETS: t.Final = ("on_demand", "spot", "capacity_block")


def _price_fault(text: str) -> str:
    is_price = re.fullmatch(r"\d{1,6}(\.\d{1,5})?", text) and float(text)
    return "" if is_price else "is not a price per hour, such as 1.25"


MARKET: t.Final = Field(
    "map",
    fields={
        "type": Field("text", required=True, choices=MARKETS),
        "max_price": Field("text", fault=_price_fault),
        "reservation": Field("text"),
    },
)


def read_markets(pool: Description, path: str, problems: Problems) -> None:
    """Replace each market of the pool and its candidates by a mapping; users may write only the type."""
    holders = [(pool, path)]
    holders += [
        (one, f"{path}.candidates[{index}]") for index, one in enumerate(pool.get("candidates") or [])
    ]
    for holder, where in holders:
        if "market" in holder:
            holder["market"] = _market(holder["market"], f"{where}.market", problems)
            _check_market(holder["market"], f"{where}.market", problems)


def _market(value: t.Any, path: str, problems: Problems) -> Description:
    """Return the market as a mapping. value: its type, or a mapping with its fields."""
    if isinstance(value, str):
        return {"type": read(value, MARKET.fields["type"], path, problems)}
    if not isinstance(value, dict):
        remedy, form = f"Types: {', '.join(MARKETS)}.", "a market's name, or a mapping with its type"
        problems.add("POOL-TYPE", path, remedy=remedy, form=form, value=repr(value))
        return {}
    return t.cast(Description, read(value, MARKET, path, problems))


def _check_market(market: Description, where: str, problems: Problems) -> None:
    kind = market.get("type")
    if kind == "spot" and "reservation" in market:
        remedy = "Remove reservation, or use type on_demand."
        problems.add("POOL-CONFLICT", f"{where}.reservation", remedy=remedy, other="market spot")
    if kind in ("on_demand", "capacity_block") and "max_price" in market:
        other, remedy = f"market {kind}, only with spot", "Remove max_price, or use type spot."
        problems.add("POOL-CONFLICT", f"{where}.max_price", remedy=remedy, other=other)
