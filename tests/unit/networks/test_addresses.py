"""Addresses of networks: what ipam may say, what overlaps, and for how many nodes it is enough."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._networks import addresses

WHERE: t.Final = {"type": "whereabouts", "range": "10.1.0.0/24"}
POOL: t.Final = {"type": "nv-ipam", "range": "10.1.0.0/24"}


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        ({"type": "whereabouts"}, "POOL-REQUIRED", "range"),
        ({"type": "static"}, "POOL-REQUIRED", "addresses"),
        ({"type": "none", "range": "10.1.0.0/24"}, "POOL-CONFLICT", "range"),
        ({**WHERE, "range": "10.1.0.5/24"}, "NET-VALUE", "range"),
        ({**WHERE, "gateway": "10.2.0.1"}, "NET-VALUE", "gateway"),
        ({**WHERE, "gateway": "10.1.0.1/24"}, "NET-VALUE", "gateway"),
        ({"type": "static", "addresses": ["10.1.0.300/24"]}, "NET-VALUE", "addresses[0]"),
        ({**POOL, "pool": "there"}, "POOL-CONFLICT", "pool"),
        ({**POOL, "prefix": 28, "per_node": 4}, "POOL-CONFLICT", "prefix"),
        ({**POOL, "prefix": 20}, "NET-VALUE", "prefix"),
        ({"type": "nv-ipam", "pool": "there", "per_node": 4}, "POOL-CONFLICT", "pool"),
        ({**WHERE, "range": "10.1.0.5"}, "NET-VALUE", "range"),
        ({"type": "static", "addresses": ["10.1.0.5"]}, "NET-VALUE", "addresses[0]"),
        ({**WHERE, "range_start": "10.1.0.20", "range_end": "10.1.0.10"}, "NET-VALUE", "range_start"),
    ],
)
def test_a_wrong_key_is_refused_with_its_path(given: dict[str, t.Any], code: str, path: str) -> None:
    problems = Problems()
    addresses.check(given, "ipam", problems)
    assert [(problem.code, problem.path) for problem in problems.found] == [(code, f"ipam.{path}")]


@pytest.mark.parametrize(
    "given",
    [
        WHERE,
        {**WHERE, "range_start": "10.1.0.10", "range_end": "10.1.0.20"},
        {**POOL, "per_node": 8, "gateway": "10.1.0.1"},
        {**POOL, "prefix": 28},
        {"type": "nv-ipam", "pool": "there"},
        {"type": "static", "addresses": ["fd00::1/64"]},
        {"type": "none"},
    ],
)
def test_what_is_valid_has_no_problem(given: dict[str, t.Any]) -> None:
    problems = Problems()
    addresses.check(given, "ipam", problems)
    assert not problems.found


def test_ranges_overlap_only_where_they_share_an_address() -> None:
    low = {**WHERE, "range_end": "10.1.0.99"}
    high = {**WHERE, "range_start": "10.1.0.100"}
    assert addresses.overlap(WHERE, low)
    assert not addresses.overlap(low, high)
    assert not addresses.overlap(WHERE, {"type": "whereabouts", "range": "fd00::/64"})
    assert addresses.overlap({"type": "static", "addresses": ["10.1.0.7/24"]}, low)
    assert not addresses.overlap({"type": "none"}, low)
    assert addresses.holds(WHERE, "10.0.0.0/8")


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (WHERE, 254),
        ({**WHERE, "gateway": "10.1.0.1"}, 253),
        ({**WHERE, "range_start": "10.1.0.10", "range_end": "10.1.0.19"}, 10),
        (POOL, 7),
        ({**POOL, "per_node": 64}, 3),
        ({**POOL, "prefix": 28}, 16),
        ({"type": "none"}, None),
    ],
)
def test_addresses_are_enough_for_so_many(given: dict[str, t.Any], number: int | None) -> None:
    assert addresses.capacity(given) == number


def test_ipam_of_a_configuration() -> None:
    assert addresses.config(WHERE, "a") == WHERE
    assert addresses.config(POOL, "a") == {"type": "nv-ipam", "poolName": "a"}
    assert addresses.config({**POOL, "prefix": 28}, "a")["poolType"] == "cidrpool"
    given = {"type": "static", "addresses": ["10.1.0.7/24"], "gateway": "10.1.0.1"}
    assert addresses.config(given, "a") == {
        "type": "static",
        "addresses": [{"address": "10.1.0.7/24", "gateway": "10.1.0.1"}],
    }
    assert addresses.config({"type": "none"}, "a") == {}


def test_the_range_of_an_address() -> None:
    assert addresses.whole("10.1.0.7/16") == "10.1.0.0/16"
    assert addresses.whole("10.1.0.1-10.1.0.9") == ""
    assert addresses.whole(None) == ""
