# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quantities of the Kubernetes API (`4`, `1500m`, `2Gi`): parse and format them as the API server does."""

from __future__ import annotations

import re
from fractions import Fraction

_QUANTITY = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?$")
_DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]


def parse(text: object) -> Fraction:
    """Return a quantity as a number in its base unit. Raises ValueError if the text is not a quantity."""
    match = _QUANTITY.match(str(text).strip())
    if not match:
        raise ValueError(f"{text!r} is not a quantity")
    exponent, suffix = match[2], match[3] or ""
    number = Fraction(match[1])
    if exponent:
        return number * Fraction(f"1{exponent}")
    if suffix in _BINARY:
        return number * Fraction(1 << 10 * _BINARY.index(suffix))
    return number * Fraction(f"1e{3 * _DECIMAL[suffix]}")


def canonical(text: object) -> str:
    """Return a quantity in the API server's format, so that `1000m` and `1` are equal.

    Raises ValueError if the text is not a quantity.
    """
    value, plain = parse(text), str(text).strip()
    if plain.endswith("i") and abs(value) >= 1024 and value.denominator == 1:
        return _binary(int(value))
    return _decimal(value)


def is_whole(text: object) -> bool:
    """Return True if the quantity is a whole number. Raises ValueError if the text is not a quantity."""
    return parse(text).denominator == 1


def fault(value: object, is_count: bool) -> str:
    """Return what the value must be and is not, or "". is_count: whether it counts whole things."""
    try:
        number = parse(value)
    except ValueError:
        return "a quantity"
    return "a number of 0 or more" if number < 0 else "a whole number" if is_count and number % 1 else ""


def _binary(value: int) -> str:
    power = 0
    while power < len(_BINARY) - 1 and value % 1024 == 0:
        value, power = value // 1024, power + 1
    return f"{value}{_BINARY[power]}"


def _decimal(value: Fraction) -> str:
    if value == 0:
        return "0"
    for suffix, power in sorted(_DECIMAL.items(), key=lambda entry: -entry[1]):
        scaled = value / Fraction(f"1e{3 * power}")
        if scaled.denominator == 1:
            return f"{scaled}{suffix}"
    return str(float(value))
