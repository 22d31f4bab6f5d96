# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools on Azure: zones as numbers, disks, spot machines, and the fields that a re-run leaves alone."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from integration.patience import until
from integration.platforms.pools import Data, Pools
from integration.playbook import ROOT

SCENARIO: t.Final = "azure"
POOL: t.Final[Data] = yaml.safe_load((ROOT / "examples/azure.yml").read_text())["gpu_pools"][0]
FIRST, SECOND = (one["instance_type"] for one in POOL["candidates"])
GROUP: t.Final = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/a100"
)


def check_the_first_set(value: Data, worker: Data) -> None:
    """Check what the pool asks for, and that all else is as in the installer's set of the zone."""
    assert (value["vmSize"], value["spotVMOptions"], value["acceleratedNetworking"]) == (
        FIRST,
        {"maxPrice": "2500m"},
        True,
    )
    assert (value["osDisk"]["diskSizeGB"], value["osDisk"]["managedDisk"]["storageAccountType"]) == (
        256,
        "Premium_LRS",
    )
    assert [
        (disk["nameSuffix"], disk["lun"], disk["managedDisk"]["storageAccountType"])
        for disk in value["dataDisks"]
    ] == [("scratch", 0, "UltraSSD_LRS")]
    for key in (
        "image",
        "vnet",
        "subnet",
        "publicLoadBalancer",
        "managedIdentity",
        "resourceGroup",
        "networkResourceGroup",
        "location",
        "userDataSecret",
    ):
        assert value[key] == worker[key], key


def keep_a_new_image(pools: Pools) -> None:
    """Let the cluster change the boot image; a second run leaves the new one alone."""
    with pools.trouble("boot_image_update", image="4.22.20261101"):
        until(
            lambda: all(one["image"]["version"] == "4.22.20261101" for one in pools.sets(POOL).values()),
            "a new image",
        )
        assert pools.unchanged(POOL)
    assert pools.sets(POOL)["1"]["image"]["version"] == "4.22.20261101"


def test_the_life_of_a_pool(pools: Pools) -> None:
    pools.ensure(POOL)
    assert sorted(pools.sets(POOL)) == ["1", "2"]
    check_the_first_set(pools.sets(POOL)["1"], pools.worker("1"))
    assert pools.unchanged(POOL)

    keep_a_new_image(pools)
    changed = {
        **POOL,
        "replicas": 3,
        "labels": {"team": "ml"},
        "disk": {"size_gib": 300},
        "market": {"type": "on_demand", "reservation": GROUP},
    }
    assert "New machines get the change" in pools.ensure(changed)["warnings"][0]
    value = pools.sets(changed)["1"]
    assert (
        value["osDisk"]["diskSizeGB"],
        value["capacityReservationGroupID"],
        value["image"]["version"],
    ) == (300, GROUP, "4.22.20261101")
    assert "spotVMOptions" not in value
    assert [node["metadata"]["labels"]["team"] for node in pools.nodes(changed)] == ["ml"] * 3
    pools.remove(changed)


def test_no_capacity_in_any_zone_of_the_first_size(pools: Pools) -> None:
    with pools.trouble("no_capacity", instance_type=FIRST):
        made = pools.ensure({**POOL, "market": "on_demand", "azure": {}})
    assert {one["instance_type"] for one in made["attempts"]} == {FIRST}
    assert {value["vmSize"] for value in pools.sets(POOL).values()} == {SECOND}
    pools.remove(POOL)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"disk": {"type": "UltraSSD_LRS"}}, ("POOL-DISK", "disk.type")),
        (
            {"provider_spec_patch": {"ultraSSDCapabilty": "Enabled"}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.ultraSSDCapabilty"),
        ),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_what_would_be_refused_is_never_sent(pools: Pools, changes: Data, problem: tuple[str, str]) -> None:
    assert pools.refused({**POOL, **changes}) == problem
