"""Quantities read and written as the API server does."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import quantity


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (8, "8"),
        ("8", "8"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        ("1000", "1k"),
        ("0", "0"),
        ("0.0", "0"),
        ("512Mi", "512Mi"),
        ("1024Mi", "1Gi"),
        ("0.5Gi", "512Mi"),
        ("1e3", "1k"),
        ("1Ki", "1Ki"),
        ("0.5Ki", "512"),
    ],
)
def test_canonical(text: object, canonical: str) -> None:
    assert quantity.canonical(text) == canonical
    assert quantity.parse(canonical) == quantity.parse(text)


@pytest.mark.parametrize("text", ["", "eight", "8 GPUs", "1gb", "1.2.3", None, True])
def test_what_is_no_quantity(text: object) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1Gi", 2**30), ("2k", 2000), ("1m", Fraction(1, 1000)), ("2E", 2 * 10**18), ("12E2", 1200)],
)
def test_parse(text: str, number: object) -> None:
    assert quantity.parse(text) == number
