# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools with candidates through all roles, and a run that is killed while it waits for a candidate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from integration.killed import kill
from integration.machines.candidate_pools import A10G, PAIR, T4, A, B, places, uids, writes_nothing
from integration.platforms.pools import Data, Pools
from integration.playbook import ROOT, Run

pytestmark = pytest.mark.long(
    "the whole chain with two candidates: test_candidates.py has the pools in every run"
)

TRAINING, BATCH, CHEAP = yaml.safe_load((ROOT / "examples/candidates.yml").read_text())["gpu_pools"]


def test_killed_while_it_waits_for_the_second_candidate(pools: Pools, tmp_path: Path) -> None:
    with (
        pools.trouble("no_capacity", instance_type=T4),
        pools.trouble("slow_machines", instance_type=A10G, seconds=4),
    ):
        kill(
            pools.playbook,
            tmp_path,
            lambda: (
                len([one for one in pools.machines(PAIR) if "cand-us-east-2b" in one["metadata"]["name"]])
                == 2
            ),
            "gpu_machineset",
            pool=PAIR,
            capacity_timeout=2,
        )
        asked = uids(pools)
        pools.ensure(PAIR)
        assert uids(pools) == asked
    assert places(pools) == [(A10G, B, 2)]
    assert writes_nothing(pools, PAIR)


def told(run: Run) -> list[str]:
    """Return the table of plan.yml, or of enable_gpus.yml in check mode."""
    assert run.rc == 0, run.output
    lines: list[str] = next(
        task for task in run.tasks if task.name in ("Show the plan", "Show what would be done")
    )["msg"]
    return lines


def planned(pools: Pools, pair: list[Data], output: Path) -> list[str]:
    """Plan the pools with prices; return the table, which the plan's file has too."""
    plan = pools.playbook.playbook(
        "plan",
        gpu_pools=pair,
        gpu_prices={"p4d.24xlarge": 22, "g4dn.12xlarge": 4},
        gpu_plan_output=str(output),
    )
    table = told(plan)
    assert [line.split() for line in table[1:3]] == [
        ["training", "p4d.24xlarge", "(else", "g4dn.12xlarge)", "0/1", "8", "4.00-22.00", "medium"],
        ["batch", "g5.xlarge", "(else", "g4dn.xlarge)", "0/2", "2", "-"],
    ]
    assert "limit   96 vCPUs of Running On-Demand P instances (training)" in table
    assert "quota   team-a/gpu-quota requests.nvidia.com/gpu 11" in table
    assert json.loads(output.read_text())["table"] == table
    assert pools.audit.writes(*plan.tasks) == []
    return table


def enabled(pools: Pools, pair: list[Data]) -> None:
    """Enable the pools while their first candidates have no capacity; check where the machines are."""
    with (
        pools.trouble("no_capacity", instance_type="p4d.24xlarge"),
        pools.trouble("no_capacity", instance_type=A10G, available=1),
    ):
        run = pools.playbook.playbook("enable_gpus", gpu_pools=pair, gpu_node_pool_capacity_timeout=2)
    assert run.rc == 0, run.output
    obtained = next(task for task in run.tasks if task.name.endswith("Plan with what was obtained"))["plan"]
    assert [(one["name"], one["expected"]) for one in obtained["pools"]] == [
        ("training", {"nvidia.com/gpu": 4}),
        ("batch", {"nvidia.com/gpu": 1}),
    ]
    assert places(pools, "training") == [
        ("g4dn.12xlarge", "us-east-2b", 1),
        ("g4dn.12xlarge", "us-east-2c", 0),
    ]
    assert places(pools, "batch") == [(T4, B, 1), (A10G, A, 1)]
    allocatable = {
        name: sorted(node["status"]["allocatable"]["nvidia.com/gpu"] for node in pools.nodes({"name": name}))
        for name in ("training", "batch")
    }
    assert allocatable == {"training": ["4"], "batch": ["1", "1"]}


def check_a_larger_pool(pools: Pools, larger: list[Data]) -> None:
    """Run check mode with one more replica: it foretells the change of one MachineSet, and writes nothing."""
    checked = pools.playbook.playbook("enable_gpus", "--check", gpu_pools=larger)
    kinds = [line.split() for line in told(checked)[1:]]
    assert kinds[0][:6] == ["training", "g4dn.12xlarge", "(else", "p4d.24xlarge)", "1/2", "8"]
    assert {
        tuple(line[:2]) for line in kinds if line[0] in ("make", "change", "remove", "drain", "drift")
    } == {("change", "MachineSet")}
    assert [line for line in kinds if line[0] == "keep" and line[1] == "ClusterPolicy"]
    assert pools.audit.writes(*checked.tasks) == []


def test_the_whole_run_with_candidates(pools: Pools, tmp_path: Path) -> None:
    pair = [TRAINING, BATCH]
    table = planned(pools, pair, tmp_path / "plan.json")
    enabled(pools, pair)
    # The run makes the planned objects, except for candidates without capacity.
    foretold_objects = {line.split(maxsplit=1)[1] for line in table if line.startswith("make")}
    for name in (
        "Subscription openshift-nfd/nfd",
        "ClusterPolicy gpu-cluster-policy",
        "ResourceQuota team-a/gpu-quota",
    ):
        assert name in foretold_objects
    again = pools.playbook.playbook("enable_gpus", gpu_pools=pair)
    assert (again.rc, again.changed) == (0, 0), again.output
    assert pools.audit.writes(*again.tasks) == []
    check_a_larger_pool(pools, [{**TRAINING, "replicas": 2}, BATCH])
    assert pools.playbook.playbook("remove_gpus", gpu_pools=pair).rc == 0
