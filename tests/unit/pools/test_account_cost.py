"""What pools cost by the user's own prices."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.instance_types import BUILT_IN
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import account
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool

PRICES = {"g4dn.xlarge": 0.526, "g4dn.2xlarge": "0.752", "p4d.24xlarge": 21.96}


def pool(*types: str, **more: t.Any) -> Pool:
    return pool_builders.of_result(
        "a", [{"instance_type": name} for name in types], **{"replicas": 2, **more}
    )


def of(one: Pool, **more: t.Any) -> dict[str, t.Any]:
    return account.cost(one, account.read_prices(PRICES), **more)


def test_one_candidate() -> None:
    found = of(pool("g4dn.xlarge"))
    assert (found["low"], found["high"], found["class"], found["unpriced"]) == (1.052, 1.052, "low", [])
    assert found["candidates"] == [{"instance_type": "g4dn.xlarge", "price": 0.526}]


def test_which_candidate_wins_is_not_known_before() -> None:
    found = of(pool("g4dn.xlarge", "p4d.24xlarge"))
    assert (found["low"], found["high"], found["class"]) == (1.052, 43.92, "medium")


@pytest.mark.parametrize(
    ("price", "cost", "name"),
    [
        ("4.99", 9.98, "low"),
        (5, 10, "medium"),
        (49.9, 99.8, "medium"),
        (50, 100, "high"),
        (0.00001, 0, "low"),
    ],
)
def test_a_class_begins_at_its_lowest_cost(price: t.Any, cost: float, name: str) -> None:
    found = account.cost(pool("x"), account.read_prices({"x": price}))
    assert (found["high"], found["class"]) == (cost, name)


def test_a_candidate_that_has_won() -> None:
    found = of(pool("g4dn.xlarge", "p4d.24xlarge"), chosen="p4d.24xlarge")
    assert (found["low"], found["high"]) == (43.92, 43.92)


def test_an_autoscaler_decides_between_its_limits() -> None:
    found = of(pool("p4d.24xlarge", autoscale={"min": 0, "max": 8}))
    assert (found["low"], found["high"], found["class"]) == (0.0, 175.68, "high")


def test_a_missing_price_is_no_price_of_zero() -> None:
    found = of(pool("g4dn.xlarge", "g5.xlarge"))
    assert (found["low"], found["high"], found["class"], found["unpriced"]) == (
        None,
        None,
        None,
        ["g5.xlarge"],
    )


def test_existing_nodes_cost_nothing_here() -> None:
    found = of(pool(existing=True, replicas=0))
    assert (found["low"], found["high"], found["class"]) == (0.0, 0.0, "low")


def test_a_pool_of_the_plan() -> None:
    planned = pool_builders.single(
        {
            "name": "a",
            "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
            "replicas": 3,
        },
        "aws",
    )
    assert of(planned)["high"] == 1.578


def test_azure_prices_with_and_without_the_prefix() -> None:
    prices = account.read_prices({"nc24ads_A100_v4": 3.67})
    assert account.cost(pool("Standard_NC24ads_A100_v4"), prices)["high"] == 7.34
    whole = account.read_prices({"STANDARD_NC24ADS_A100_V4": 3.67})
    assert account.cost(pool("Standard_NC24ads_A100_v4"), whole)["high"] == 7.34


def test_all_pools_together() -> None:
    whole = account.total_cost(
        [of(pool("g4dn.xlarge")), of(pool("p4d.24xlarge", autoscale={"min": 0, "max": 8}))]
    )
    assert whole == {"low": 1.052, "high": 176.732, "class": "high", "unpriced": []}
    assert account.total_cost([of(pool("g4dn.xlarge")), of(pool("g5.xlarge"))]) == {
        "low": None,
        "high": None,
        "class": None,
        "unpriced": ["g5.xlarge"],
    }


def test_classes_of_ones_own() -> None:
    classes = account.read_classes({"small": 0, "board": "40"})
    assert of(pool("p4d.24xlarge"), classes=classes)["class"] == "board"
    assert of(pool("g4dn.xlarge"), classes=classes)["class"] == "small"


@pytest.mark.parametrize(
    ("prices", "code", "path"),
    [
        ([1], "INPUT-TYPE", "prices:"),
        ({"p4d.24xlarge": "$3"}, "INPUT-TYPE", "prices.p4d.24xlarge:"),
        ({"p4d.24xlarge": True}, "INPUT-TYPE", "prices.p4d.24xlarge:"),
        ({"p4d.24xlarge": "nan"}, "INPUT-TYPE", "prices.p4d.24xlarge:"),
        ({"p4d.24xlarge": -1}, "INPUT-VALUE", "prices.p4d.24xlarge:"),
    ],
)
def test_prices_that_are_none(prices: t.Any, code: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        account.read_prices(prices)
    assert caught.value.code == code
    assert caught.value.message.startswith(path)


@pytest.mark.parametrize("classes", [{}, {"high": 100}, {"low": 0, "none": 0}])
def test_classes_that_do_not_cover_everything(classes: t.Any) -> None:
    with pytest.raises(InputError, match=r"^cost_classes: must contain 0"):
        account.read_classes(classes)


def test_prices_of_types_that_nobody_has_are_told() -> None:
    pools = [pool("g4dn.xlarge")]
    prices = account.read_prices({"g4dn.xlarge": 0.5, "nc24ads_A100_v4": 3.67, "g4dn.xlrage": 0.5})
    told = account.without_type(prices, pools, BUILT_IN)
    assert "g4dn.xlrage (did you mean g4dn.xlarge?)" in told
    assert "nc24ads" not in told
    assert account.without_type(account.read_prices({"p4d.24xlarge": 22}), pools, BUILT_IN) == ""
    for count, said in ((3, "zz2.none: these prices"), (4, "zz2.none and 1 more: these prices")):
        many = account.read_prices({f"zz{number}.none": 1 for number in range(count)})
        assert said in account.without_type(many, pools, BUILT_IN)
