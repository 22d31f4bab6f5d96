# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools on vSphere and OpenStack: the machines' fields, what a re-run leaves alone."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

import pytest
import yaml
from cluster import own
from integration.platforms.pools import API, LABEL, NAMESPACE, Data, Pools
from integration.playbook import ROOT

STARTS_CLUSTERS: t.Final = True


@dataclass(frozen=True)
class Case:
    """An example's pool on one platform and its expected machine sets.

    asked: fields that the pool changes in the worker set it copies. kept: fields that stay as in that set.
    changed: the user's later change, and the fields it changes. booted: fields that other controllers may
    change.
    """

    scenario: str
    example: str
    made: str
    worker: str
    asked: Data
    kept: tuple[str, ...]
    changed: tuple[Data, Data]
    booted: Data

    @property
    def pool(self) -> Data:
        pool: Data = yaml.safe_load((ROOT / f"examples/{self.example}.yml").read_text())["gpu_pools"][0]
        return pool


CASES: t.Final = (
    Case(
        scenario="vsphere",
        example="vsphere",
        made="demo-x7k2p-inference-fd-cluster-a",
        worker="demo-x7k2p-worker-0",
        asked={
            "template": "rhcos-9.8-2xL40S",
            "numCPUs": 16,
            "numCoresPerSocket": 16,
            "memoryMiB": 131072,
            "diskGiB": 200,
        },
        kept=("workspace", "network", "tagIDs", "credentialsSecret", "userDataSecret"),
        changed=({"disk": {"size_gib": 300}}, {"diskGiB": 300}),
        booted={"template": "rhcos-9.8-4xA100-PCIE"},
    ),
    Case(
        scenario="openstack",
        example="openstack",
        made="demo-x7k2p-inference-az0",
        worker="demo-x7k2p-worker-0",
        asked={"flavor": "g1.l40s.1", "serverGroupName": "gpu-inference", "availabilityZone": "az0"},
        kept=(
            "image",
            "networks",
            "securityGroups",
            "serverMetadata",
            "tags",
            "trunk",
            "cloudsSecret",
            "cloudName",
            "userDataSecret",
        ),
        changed=(
            {"disk": {"size_gib": 200, "type": "ssd"}},
            {"rootVolume": {"diskSize": 200, "volumeType": "ssd"}},
        ),
        booted={"image": "rhcos-9.9"},
    ),
)
BY_SCENARIO: t.Final = {case.scenario: case for case in CASES}
EVERY: t.Final = tuple(BY_SCENARIO)
USUAL: t.Final = "vsphere"
CLOUD: t.Final = pytest.mark.long("one more cloud, after AWS, Azure, Google Cloud, vSphere and bare metal")


@pytest.fixture(scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    return BY_SCENARIO[request.param]


def on(*scenarios: str) -> pytest.MarkDecorator:
    """Return the mark that runs a test on the clusters of these scenarios."""
    cases = [pytest.param(one, marks=[CLOUD] if one != USUAL else []) for one in scenarios]
    return pytest.mark.parametrize("case", cases, indirect=True, scope="module")


@pytest.fixture(scope="module")
def platform(case: Case, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Pools]:
    with own(case.scenario) as cluster:
        yield Pools.on(cluster, tmp_path_factory.mktemp(case.scenario))


def values(pools: Pools, labels: str) -> dict[str, Data]:
    """Return the providerSpec value of each machine set with the labels, by the set's name."""
    found = pools.client.list(API, "machinesets", NAMESPACE, labels=labels)
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]["providerSpec"]["value"] for one in found
    }


@on(*EVERY)
def test_the_life_of_a_pool(pools: Pools, case: Case) -> None:
    pool = case.pool
    mine = f"{LABEL}={pool['name']}"
    assert pools.ensure(pool).changed
    made, worker = values(pools, mine)[case.made], values(pools, f"!{LABEL}")[case.worker]
    assert {key: made.get(key) for key in case.asked} == case.asked
    for key in case.kept:
        assert made[key] == worker[key], key
    assert len(values(pools, mine)) == len(pools.nodes(pool)) == 2
    assert pools.unchanged(pool)

    body = {"spec": {"template": {"spec": {"providerSpec": {"value": case.booted}}}}}
    pools.client.patch(API, "machinesets", case.made, NAMESPACE, body)
    assert pools.unchanged(pool)

    change, outcome = case.changed
    changed = {**pool, "replicas": 1, **change}
    assert "New machines get the change" in pools.ensure(changed)["warnings"][0]
    value = values(pools, mine)[case.made]
    assert {key: value.get(key) for key in outcome} == outcome
    assert case.booted.items() <= value.items()
    assert len(pools.nodes(changed)) == 1
    assert pools.unchanged(changed)
    pools.remove(changed)


@on("openstack")
def test_what_openstack_never_says(pools: Pools, case: Case) -> None:
    """Fill the quota: only Nova's clients log that, so the message must tell what is known of the Machine."""
    with pools.trouble("quota_exceeded"):
        late = pools.attempt(case.pool, capacity_timeout=2, wait_timeout=12)
    assert late["code"] == "MACH-SILENT", late.result
    assert "no instance, no condition and no error" in late["msg"]
    assert "quota" in late["msg"]
    assert "openstack quota show" in late["remedy"]
    pools.remove(case.pool)
