# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools on Google Cloud: built-in and attached GPUs, spot machines, fields that a re-run leaves alone."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from integration.patience import until
from integration.platforms.pools import Data, Pools
from integration.playbook import ROOT

SCENARIO: t.Final = "gcp"
POOL: t.Final[Data] = yaml.safe_load((ROOT / "examples/gcp.yml").read_text())["gpu_pools"][0]
ZONE: t.Final = "us-central1-a"
IMAGE: t.Final = "rhcos-9-9-20261101-0-gcp-x86-64"
A100: t.Final = {"instance_type": "a2-highgpu-1g", "zones": [ZONE]}


def check_the_first_set(value: Data, worker: Data) -> None:
    """Check what the pool asks for, and that all else is as in the installer's set of the zone."""
    assert (value["machineType"], value["onHostMaintenance"], value["provisioningModel"]) == (
        "g2-standard-8",
        "Terminate",
        "Spot",
    )
    assert not {"gpus", "preemptible", "restartPolicy"} & set(value)
    (disk,) = value["disks"]
    assert (disk["sizeGb"], disk["type"], disk["image"]) == (200, "pd-ssd", worker["disks"][0]["image"])
    assert value["shieldedInstanceConfig"] == {
        "virtualizedTrustedPlatformModule": "Enabled",
        "integrityMonitoring": "Enabled",
    }
    for key in ("networkInterfaces", "serviceAccounts", "tags", "projectID", "region", "userDataSecret"):
        assert value[key] == worker[key], key


def keep_a_new_image(pools: Pools) -> None:
    """Let the cluster change the boot image; a second run leaves the new one alone."""
    with pools.trouble("boot_image_update", image=IMAGE):
        until(
            lambda: all(one["disks"][0]["image"].endswith(IMAGE) for one in pools.sets(POOL).values()),
            "a new image",
        )
        assert pools.unchanged(POOL)
    assert pools.sets(POOL)[ZONE]["disks"][0]["image"].endswith(IMAGE)


def test_the_life_of_a_pool(pools: Pools) -> None:
    pools.ensure(POOL)
    check_the_first_set(pools.sets(POOL)[ZONE], pools.worker(ZONE))
    assert pools.unchanged(POOL)

    keep_a_new_image(pools)
    changed = {
        **POOL,
        "replicas": 3,
        "labels": {"team": "ml"},
        "disk": {"size_gib": 300},
        "market": "on_demand",
    }
    assert "New machines get the change" in pools.ensure(changed)["warnings"][0]
    value = pools.sets(changed)[ZONE]
    assert (
        value["disks"][0]["sizeGb"],
        value["disks"][0]["image"].endswith(IMAGE),
        "provisioningModel" in value,
    ) == (300, True, False)
    assert [node["metadata"]["labels"]["team"] for node in pools.nodes(changed)] == ["ml"] * 3
    pools.remove(changed)


def test_gpus_that_are_attached(pools: Pools) -> None:
    with pools.trouble("no_capacity", instance_type="g2-standard-8"):
        made = pools.ensure(POOL)
    assert {one["instance_type"] for one in made["attempts"]} == {"g2-standard-8"}
    value = pools.sets(POOL)[ZONE]
    assert (value["machineType"], value["gpus"], value["onHostMaintenance"]) == (
        "n1-standard-8",
        [{"count": 1, "type": "nvidia-tesla-t4"}],
        "Terminate",
    )
    assert {node["metadata"]["labels"]["cluster-api/accelerator"] for node in pools.nodes(POOL)} == {
        "nvidia-t4"
    }
    assert pools.unchanged(POOL)
    pools.remove(POOL)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"candidates": [{**A100, "gcp": {"gpus": {"type": "nvidia-tesla-a100"}}}], "gcp": {}},
            ("POOL-CONFLICT", "candidates[0].gcp.gpus"),
        ),
        (
            {"provider_spec_patch": {"onHostMaintenance": "Migrate"}},
            ("POOL-CONFLICT", "provider_spec_patch.onHostMaintenance"),
        ),
        (
            {"provider_spec_patch": {"restartPolice": "Never"}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.restartPolice"),
        ),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_what_would_be_refused_is_never_sent(pools: Pools, changes: Data, problem: tuple[str, str]) -> None:
    assert pools.refused({**POOL, "candidates": [A100], **changes}) == problem
