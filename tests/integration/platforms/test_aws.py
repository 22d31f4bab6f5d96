# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools on AWS: purchase options, network, placement, and the fields that a re-run leaves alone."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from integration.patience import until
from integration.platforms.pools import Data, Pools
from integration.playbook import ROOT

SCENARIO: t.Final = "aws"
EXAMPLE: t.Final[list[Data]] = yaml.safe_load((ROOT / "examples/aws-capacity.yml").read_text())["gpu_pools"]
BATCH, TRAINING = ({**pool, "name": f"it-{pool['name']}"} for pool in EXAMPLE)
IMAGE: t.Final = "ami-0aaaabbbbccccdddd"


def test_the_life_of_a_pool_that_is_reserved_and_wired(pools: Pools) -> None:
    zone = "us-east-2b"
    made = pools.ensure(TRAINING)
    assert made.changed
    value, worker = pools.sets(TRAINING)[zone], pools.worker(zone)
    asked = {
        "networkInterfaceType": "EFA",
        "placementGroupName": "training",
        "placementGroupPartition": 1,
        "capacityReservationId": "cr-0123456789abcdef0",
    }
    assert asked.items() <= value.items()
    assert "spotMarketOptions" not in value
    assert value["placement"] == {"availabilityZone": zone, "region": "us-east-2", "tenancy": "default"}
    assert {"iops": 6000, "throughputMib": 500, "volumeSize": 500, "volumeType": "gp3"}.items() <= value[
        "blockDevices"
    ][0]["ebs"].items()
    for key in ("ami", "subnet", "securityGroups", "tags", "iamInstanceProfile", "userDataSecret"):
        assert value[key] == worker[key], key
    assert pools.unchanged(TRAINING)

    with pools.trouble("boot_image_update", image=IMAGE):
        until(lambda: pools.sets(TRAINING)[zone]["ami"]["id"] == IMAGE, "a new image")
        assert pools.unchanged(TRAINING)
    assert pools.sets(TRAINING)[zone]["ami"]["id"] == IMAGE

    changed = {
        **TRAINING,
        "replicas": 2,
        "labels": {"team": "ml"},
        "disk": {"size_gib": 600},
        "aws": {"efa": True},
    }
    assert "New machines get the change" in pools.ensure(changed)["warnings"][0]
    value = pools.sets(changed)[zone]
    assert (value["blockDevices"][0]["ebs"]["volumeSize"], value["ami"]["id"]) == (600, IMAGE)
    assert not {"placementGroupName", "placementGroupPartition"} & set(value)
    assert [node["metadata"]["labels"]["team"] for node in pools.nodes(changed)] == ["ml", "ml"]
    pools.remove(changed)


def test_the_spot_market_has_none_of_the_first_type(pools: Pools) -> None:
    with pools.trouble("spot_unavailable", instance_type="g6.xlarge"):
        made = pools.ensure(BATCH)
    assert {one["instance_type"] for one in made["attempts"]} == {"g6.xlarge"}
    found = pools.sets(BATCH).values()
    assert [value["spotMarketOptions"] for value in found if value["instanceType"] == "g4dn.xlarge"] == [
        {"maxPrice": "0.45"}
    ] * len(found)
    assert pools.unchanged(BATCH)
    pools.remove(BATCH)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"market": {"type": "spot", "reservation": "cr-0123456789abcdef0"}},
            ("POOL-CONFLICT", "market.reservation"),
        ),
        (
            {"provider_spec_patch": {"capacityReservationID": "cr-0123456789abcdef0"}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.capacityReservationID"),
        ),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_what_the_webhook_would_refuse_is_never_sent(
    pools: Pools, changes: Data, problem: tuple[str, str]
) -> None:
    assert pools.refused({**TRAINING, **changes}) == problem
