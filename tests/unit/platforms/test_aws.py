"""AWS: what a pool's machines are bought as, where they are placed, how they are wired."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from unit.pool_builders import Data, built, problems

WORKER = yaml.safe_load((Path(__file__).resolve().parents[1] / "fixtures/worker_machine_set.yml").read_text())
SOURCE: t.Final[Data] = WORKER["spec"]["template"]["spec"]["providerSpec"]["value"]
RESERVATION: t.Final = "cr-0123456789abcdef0"


def pool(instance_type: str = "p4d.24xlarge", **more: t.Any) -> Data:
    return {
        "name": "p",
        "candidates": [{"instance_type": instance_type, "zones": ["us-east-2a"]}],
        "replicas": 1,
        **more,
    }


def value(source: Data = SOURCE, **more: t.Any) -> Data:
    return built("aws", pool(**more), source, "us-east-2a")


def test_nothing_is_chosen_unasked() -> None:
    chosen = {
        "networkInterfaceType",
        "placementGroupName",
        "placementGroupPartition",
        "spotMarketOptions",
        "marketType",
        "capacityReservationId",
    }
    given = {
        "networkInterfaceType": "EFA",
        "placementGroupName": "theirs",
        "placement": {**SOURCE["placement"], "tenancy": "dedicated"},
    }
    found = value({**SOURCE, **given, "spotMarketOptions": {}})
    assert not chosen & set(found)
    assert "tenancy" not in found["placement"]


def test_placed_and_wired() -> None:
    found = value(
        aws={"efa": True, "placement_group": "ours", "placement_partition": 3, "tenancy": "dedicated"}
    )
    assert {
        "networkInterfaceType": "EFA",
        "placementGroupName": "ours",
        "placementGroupPartition": 3,
    }.items() <= found.items()
    assert found["placement"] == {**SOURCE["placement"], "tenancy": "dedicated"}


def test_a_candidate_s_own_options_win() -> None:
    candidate = {"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"], "aws": {"placement_group": "mine"}}
    found = value(candidates=[candidate], aws={"placement_group": "ours", "efa": True})
    assert (found["placementGroupName"], found["networkInterfaceType"]) == ("mine", "EFA")


def test_a_capacity_block() -> None:
    found = value(market={"type": "capacity_block", "reservation": RESERVATION})
    assert (found["marketType"], found["capacityReservationId"]) == ("CapacityBlock", RESERVATION)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"instance_type": "g4dn.xlarge", "aws": {"efa": True}}, ("POOL-FABRIC", "aws.efa")),
        (
            {"instance_type": "g4dn.xlarge", "provider_spec_patch": {"networkInterfaceType": "EFA"}},
            ("POOL-FABRIC", "provider_spec_patch.networkInterfaceType"),
        ),
        ({"aws": {"placement_partition": 1}}, ("POOL-PLACEMENT", "aws.placement_partition")),
        (
            {"aws": {"placement_partition": 8, "placement_group": "a"}},
            ("POOL-VALUE", "aws.placement_partition"),
        ),
        ({"aws": {"tenancy": "host"}}, ("POOL-VALUE", "aws.tenancy")),
        ({"aws": {"placment_group": "a"}}, ("POOL-UNKNOWN-KEY", "aws.placment_group")),
        ({"market": {"type": "on_demand", "reservation": "cr-123"}}, ("POOL-MARKET", "market.reservation")),
        ({"market": {"type": "spot", "max_price": "0"}}, ("POOL-VALUE", "market.max_price")),
        (
            {"provider_spec_patch": {"capacityReservationId": "cr-123"}},
            ("POOL-MARKET", "provider_spec_patch.capacityReservationId"),
        ),
        (
            {"market": "spot", "provider_spec_patch": {"capacityReservationId": RESERVATION}},
            ("POOL-MARKET", "provider_spec_patch.spotMarketOptions"),
        ),
        (
            {"market": "spot", "provider_spec_patch": {"marketType": "OnDemand"}},
            ("POOL-MARKET", "provider_spec_patch.marketType"),
        ),
        (
            {"provider_spec_patch": {"marketType": "CapacityBlock"}},
            ("POOL-MARKET", "provider_spec_patch.marketType"),
        ),
        (
            {"provider_spec_patch": {"marketType": "Blocks"}},
            ("POOL-MARKET", "provider_spec_patch.marketType"),
        ),
        (
            {"provider_spec_patch": {"capacityReservationID": RESERVATION}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.capacityReservationID"),
        ),
        ({"disk": {"type": "gp3", "iops": 1000}}, ("POOL-DISK", "disk.iops")),
        ({"disk": {"type": "st1"}}, ("POOL-DISK", "disk.type")),
        ({"azure": {}}, ("POOL-PLATFORM", "azure")),
    ],
    ids=str,
)
def test_what_is_refused(changes: Data, problem: tuple[str, str]) -> None:
    assert problems("aws", pool(**changes)) == [problem]


def test_a_type_of_one_s_own_may_have_an_adapter() -> None:
    candidate = {"instance_type": "p9.48xlarge", "zones": ["us-east-2a"], "gpus": 8, "gpu_model": "R100"}
    assert value(candidates=[candidate], aws={"efa": True})["networkInterfaceType"] == "EFA"
