"""What a good GPU measures: our table, and the users' numbers before it."""

from __future__ import annotations

import math

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.programs import FIGURES
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.expectations import (
    TABLE,
    check,
    expected,
    has_table,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    Figure,
    Settings,
)

BF16 = Figure("bf16", 600.0, "TFLOPS", "GPU-a")
H100 = "NVIDIA-H100-80GB-HBM3"


def test_the_table_asks_for_80_percent_of_what_was_measured() -> None:
    found = expected(BF16, H100, Settings("matmul"), {})
    assert found is not None
    assert (found.value, found.source) == (635.6, "table")


def test_numbers_of_the_user_come_first() -> None:
    own = {H100: {"matmul": {"bf16": 700.0}}}
    of_table = expected(BF16, H100, Settings("matmul"), own)
    of_pool = expected(BF16, H100, Settings("matmul", expected={"bf16": 500.0}), own)
    assert of_table is not None
    assert of_pool is not None
    assert (of_table.value, of_table.source) == (700.0, "user")
    assert (of_pool.value, of_pool.source) == (500.0, "user")


@pytest.mark.parametrize(
    ("product", "figure"),
    [
        ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", BF16),
        (H100, BF16._replace(device="MIG-a")),
        ("Tesla-T4", BF16),
        (H100, BF16._replace(name="fp32")),
    ],
    ids=["a MIG product", "a MIG device", "no entry", "no figure"],
)
def test_where_nobody_knows_the_figure(product: str, figure: Figure) -> None:
    assert expected(figure, product, Settings("matmul"), {}) is None


def test_a_shared_card_is_the_same_card() -> None:
    assert expected(BF16, f"{H100}-SHARED", Settings("matmul"), {}) is not None
    assert has_table(H100, "matmul")
    assert not has_table("Tesla-T4", "matmul")


def test_each_number_is_of_a_figure_that_its_program_measures() -> None:
    assert [one for one in TABLE if one.figure not in FIGURES[one.program]] == []


def test_each_number_has_its_source_with_a_year() -> None:
    assert [one for one in TABLE if not one.source.rstrip("0123456789-").endswith(" ")] == []
    assert all(one.value > 0 for one in TABLE)


@pytest.mark.parametrize(
    "own",
    [
        {H100: {"matmul": {"bf16": 0}}},
        {H100: {"matmul": {"bf16": "fast"}}},
        {H100: {"matmul": {"bf16": math.inf}}},
        {H100: {"matmul": {"bf61": 500}}},
        {H100: {"dcgm": {"bf16": 500}}},
        {H100: {"matmull": {"bf16": 500}}},
        {H100: {"matmul": 500}},
        {H100: 500},
    ],
)
def test_wrong_numbers_of_the_user_are_named(own: dict[str, object]) -> None:
    with pytest.raises(InputError, match=H100):
        check(own)
