# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quantities of the API (`500m`, `16Gi`) as numbers."""

from __future__ import annotations

import typing as t

FACTORS: t.Final = {
    **{unit: 1024.0**power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi"), 1)},
    **{unit: 1000.0**power for power, unit in enumerate(("k", "M", "G", "T", "P"), 1)},
    "m": 0.001,
}


def amount(quantity: str | float) -> float:
    """Return a quantity as a number."""
    text = str(quantity)
    unit = next((unit for unit in FACTORS if text.endswith(unit)), "")
    return float(text.removesuffix(unit)) * FACTORS.get(unit, 1.0)


def amounts(quantities: t.Mapping[str, str] | None) -> dict[str, float]:
    """Return all quantities as numbers."""
    return {name: amount(value) for name, value in (quantities or {}).items()}


def added(one: t.Mapping[str, float], other: t.Mapping[str, float], factor: float = 1.0) -> dict[str, float]:
    """Return, for each resource, one plus factor times the other."""
    return {name: one.get(name, 0.0) + factor * other.get(name, 0.0) for name in {*one, *other}}
