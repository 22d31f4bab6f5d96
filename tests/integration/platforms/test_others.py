# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools on vSphere, OpenStack, Nutanix and IBM Cloud: the machines' fields, what a re-run leaves alone."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass
from pathlib import Path

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
    Case(
        scenario="nutanix",
        example="nutanix",
        made="demo-x7k2p-inference-fd-pe-1",
        worker="demo-x7k2p-worker-0",
        asked={
            "vcpuSockets": 16,
            "vcpusPerSocket": 1,
            "memorySize": "128Gi",
            "systemDiskSize": "200Gi",
            "gpus": [{"type": "Name", "name": "Ada L40S"}] * 2,
        },
        kept=("cluster", "subnets", "failureDomain", "credentialsSecret", "userDataSecret"),
        changed=({"disk": {"size_gib": 1024}}, {"systemDiskSize": "1Ti"}),
        booted={"image": {"type": "name", "name": "rhcos-9.9"}},
    ),
    Case(
        scenario="ibmcloud",
        example="ibm",
        made="demo-x7k2p-inference-us-east-1",
        worker="demo-x7k2p-worker-1",
        asked={"profile": "gx3-16x80x1l4", "zone": "us-east-1"},
        kept=(
            "vpc",
            "image",
            "region",
            "resourceGroup",
            "primaryNetworkInterface",
            "bootVolume",
            "credentialsSecret",
            "userDataSecret",
        ),
        changed=(
            {"provider_spec_patch": {"tags": [{"name": "team", "value": "ml"}]}},
            {"tags": [{"name": "team", "value": "ml"}]},
        ),
        booted={"image": "rhcos-9-9"},
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
def platform(case: Case, tmp_path_factory: pytest.TempPathFactory, program: Path) -> t.Iterator[Pools]:
    with own(case.scenario) as cluster:
        yield Pools.on(cluster, tmp_path_factory.mktemp(case.scenario), program)


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


@pytest.mark.long("the whole chain on one more cloud, whose pools this file makes and removes in every run")
@on(USUAL)
def test_the_whole_run(pools: Pools, case: Case) -> None:
    """Run the example up to validated GPUs, run it again without a write, and remove everything."""
    run = pools.playbook.playbook("enable_gpus", gpu_pools=[case.pool])
    assert run.rc == 0, run.output[-4000:]
    devices = {
        node["metadata"]["name"]: node["status"]["allocatable"].get("nvidia.com/gpu")
        for node in pools.nodes(case.pool)
    }
    validated = next(
        task for task in run.tasks if task.name.endswith("Run a CUDA program on every node of the pools")
    )
    assert list(devices.values()) == [str(case.pool["candidates"][0].get("gpus", 1))] * 2, validated.result
    again = pools.playbook.playbook("enable_gpus", gpu_pools=[case.pool])
    assert (again.rc, again.changed, pools.audit.writes(*again.tasks)) == (0, 0, []), again.output[-4000:]
    gone = pools.playbook.playbook("remove_gpus", gpu_pools=[case.pool])
    assert gone.rc == 0, gone.output[-4000:]
    assert (pools.names(), pools.machines(case.pool), pools.nodes(case.pool)) == (set(), [], [])


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
