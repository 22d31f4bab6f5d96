# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools with candidates, while the cloud has no machines of one or the other: who wins, what stays, and that nothing is left of the others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
import yaml
from integration.conftest import Cluster
from integration.patience import until
from integration.platforms.pools import API, LABEL, NAMESPACE, Data, Pools
from integration.playbook import ROOT, Playbook, Run, TaskResult
from integration.wire import Audit

TRAINING, BATCH, CHEAP = yaml.safe_load((ROOT / "examples/candidates.yml").read_text())["gpu_pools"]
T4, A10G = "g4dn.xlarge", "g5.xlarge"
A, B = "us-east-2a", "us-east-2b"
Place = tuple[str, str, int]


def pool(*candidates: Data, replicas: int = 2, **more: t.Any) -> Data:
    return {"name": "cand", "candidates": list(candidates), "replicas": replicas, **more}


def of(kind: str, *zones: str, **more: t.Any) -> Data:
    return {"instance_type": kind, "zones": list(zones), **more}


PAIR: t.Final = pool(of(T4, A, B), of(A10G, B))


@pytest.fixture(scope="module")
def all_pools(cluster: Cluster, playbook: Playbook, audit: Audit) -> Pools:
    return Pools(cluster.client, cluster.needs_sandbox(), playbook, audit)


@pytest.fixture
def pools(all_pools: Pools) -> t.Iterator[Pools]:
    yield all_pools
    for name in all_pools.names():
        all_pools.remove({"name": name})


def places(pools: Pools, name: str = "cand") -> list[Place]:
    """What the pool's machine sets are made for."""
    found = []
    for one in pools.client.list(API, "machinesets", NAMESPACE, labels=f"{LABEL}={name}"):
        value = one["spec"]["template"]["spec"]["providerSpec"]["value"]
        found.append((value["instanceType"], value["placement"]["availabilityZone"], one["spec"]["replicas"]))
    return sorted(found)


def uids(pools: Pools, name: str = "cand") -> set[str]:
    return {one["metadata"]["uid"] for one in pools.machines({"name": name})}


def writes_nothing(pools: Pools, wanted: Data, **more: t.Any) -> bool:
    again = pools.ensure(wanted, **more)
    return (pools.audit.writes(again), again.changed) == ([], False)


def foretold(pools: Pools, wanted: Data, **more: t.Any) -> TaskResult:
    """The task in check mode: it writes nothing."""
    told = pools.playbook.module("gpu_machineset", check=True, pool=wanted, **{"capacity_timeout": 2, **more})
    assert pools.audit.writes(told) == []
    return told


def test_no_capacity_in_one_zone_then_success_in_the_other(pools: Pools) -> None:
    with pools.trouble("no_capacity", zone=A, instance_type=T4):
        told = foretold(pools, PAIR)
        assert told.changed
        assert [(one["zone"], one["replicas"]) for one in told["machine_sets"]] == [(A, 1), (B, 1)]
        made = pools.ensure(PAIR)
        (attempt,) = made["attempts"]
        assert (attempt["zones"], attempt["wanted"], attempt["obtained"], attempt["code"]) == (
            [A],
            1,
            0,
            "MACH-CAPACITY",
        )
        assert places(pools) == [(T4, A, 0), (T4, B, 2)]
        assert writes_nothing(pools, PAIR)
    assert writes_nothing(pools, PAIR)
    assert [candidate["instance_type"] for candidate in made["pool"]["candidates"]] == [T4]


def test_the_next_candidate_wins_and_stays(pools: Pools) -> None:
    with pools.trouble("no_capacity", instance_type=T4):
        made = pools.ensure(PAIR)
        assert {(one["instance_type"], one["code"]) for one in made["attempts"]} == {(T4, "MACH-CAPACITY")}
        assert places(pools) == [(A10G, B, 2)]
        assert {one["machine_set"] for one in made["machines"]} == {
            one["name"] for one in made["machine_sets"]
        }
        assert len(pools.nodes(PAIR)) == len(pools.machines(PAIR)) == 2
    # the first candidate has machines again, the winner has none: neither moves a pool that is complete
    with pools.trouble("no_capacity", instance_type=A10G):
        assert writes_nothing(pools, PAIR)
        told = foretold(pools, PAIR)
        assert (told.changed, told["attempts"]) == (False, [])
    assert places(pools) == [(A10G, B, 2)]


def test_a_terminal_error_ends_a_candidate_at_once(pools: Pools) -> None:
    with pools.trouble("quota_exceeded", instance_type=T4, limit=0):
        made = pools.ensure(PAIR, capacity_timeout=80)
    assert {one["code"] for one in made["attempts"]} == {"MACH-QUOTA"}
    assert made["duration"] < 80
    assert places(pools) == [(A10G, B, 2)]


def test_a_machine_is_lost_and_its_type_is_sold_out(pools: Pools) -> None:
    pools.ensure(PAIR)
    before = uids(pools)
    with pools.trouble("no_capacity", instance_type=T4):
        lost = pools.machines(PAIR)[0]["metadata"]["name"]
        pools.client.delete(API, "machines", lost, NAMESPACE)
        until(lambda: len(uids(pools)) == 2 and uids(pools) != before, "another Machine")
        found = pools.attempt(PAIR)
        assert (found["code"], found.changed) == ("MACH-CAPACITY", False)
        assert "reselect: true" in found["remedy"]
        assert pools.audit.writes(found) == []
        assert places(pools) == [(T4, A, 1), (T4, B, 1)]

        moved = pools.ensure(PAIR, reselect=True)
        assert places(pools) == [(A10G, B, 2)]
        assert {one["instance_type"] for one in moved["nodes"]} == {A10G}
        removal = next(
            one
            for one in pools.audit.of(moved)
            if one.verb == "delete" and one.resource.startswith("machinesets")
        )
        whole_seconds = len("2026-01-01T00:00:00")
        for node in pools.nodes(PAIR):
            ready = next(
                one["lastTransitionTime"] for one in node["status"]["conditions"] if one["type"] == "Ready"
            )
            assert ready[:whole_seconds] <= removal.event["requestReceivedTimestamp"][:whole_seconds], (
                "the old nodes went before the new ones were ready"
            )
    assert writes_nothing(pools, PAIR)
    assert writes_nothing(pools, PAIR, reselect=True)


def test_a_pool_that_asked_all_others_in_vain_has_what_it_had(pools: Pools) -> None:
    pools.ensure(PAIR)
    before = uids(pools)
    with pools.trouble("no_capacity", instance_type=T4), pools.trouble("no_capacity", instance_type=A10G):
        pools.client.delete(API, "machines", pools.machines(PAIR)[0]["metadata"]["name"], NAMESPACE)
        until(lambda: len(uids(pools)) == 2 and uids(pools) != before, "another Machine")
        found = pools.attempt(PAIR, reselect=True)
        assert found["code"] == "MACH-CAPACITY"
        assert [one["instance_type"] for one in found["attempts"]] == [T4, T4, A10G]
        assert places(pools) == [(T4, A, 1), (T4, B, 1)]
        again = pools.attempt(PAIR)
        assert (again["code"], pools.audit.writes(again)) == ("MACH-CAPACITY", [])
    until(lambda: len(pools.nodes(PAIR)) == 2, "its machine again")
    assert writes_nothing(pools, PAIR)


def test_what_suffices_is_kept_and_grows_when_asked(pools: Pools) -> None:
    few = pool(of(T4, A, B), replicas=3, min_replicas=2)
    with pools.trouble("no_capacity", instance_type=T4, available=1):
        made = pools.ensure(few)
        assert "has 2 of 3 machines" in made["warnings"][0]
        assert len(made["nodes"]) == 2
        assert writes_nothing(pools, few)
    assert places(pools) == [(T4, A, 1), (T4, B, 1)]
    assert writes_nothing(pools, few)
    had = uids(pools)
    assert len(pools.ensure({**few, "min_replicas": 3})["nodes"]) == 3
    assert len(pools.ensure({**few, "replicas": 4})["nodes"]) == 4
    assert had < uids(pools)


def test_a_mixed_pool(pools: Pools) -> None:
    mixed = pool(of(T4, A), of(A10G, B), replicas=3, mixed=True)
    with pools.trouble("no_capacity", instance_type=T4, available=1):
        made = pools.ensure(mixed)
        assert places(pools) == [(T4, A, 1), (A10G, B, 2)]
        assert [one["instance_type"] for one in made["pool"]["candidates"]] == [T4, A10G]
        assert writes_nothing(pools, mixed)
    assert writes_nothing(pools, mixed)
    pools.ensure({**mixed, "replicas": 1})
    assert places(pools) == [(T4, A, 1), (A10G, B, 0)]
    assert len(pools.machines(mixed)) == 1


def test_spot_first_then_on_demand(pools: Pools) -> None:
    wanted = {**CHEAP, "name": "cand"}
    with pools.trouble("spot_unavailable"):
        made = pools.ensure(wanted)
    assert {one["market"] for one in made["attempts"]} == {"spot"}
    sets = pools.client.list(API, "machinesets", NAMESPACE, labels=f"{LABEL}=cand")
    assert [
        one for one in sets if "spotMarketOptions" in one["spec"]["template"]["spec"]["providerSpec"]["value"]
    ] == []
    assert writes_nothing(pools, wanted)


def test_nothing_is_left_when_no_candidate_has_any(pools: Pools) -> None:
    with (
        pools.trouble("no_capacity", instance_type=T4),
        pools.trouble("quota_exceeded", instance_type=A10G, limit=0),
    ):
        found = pools.attempt(PAIR)
    assert found["code"] == "MACH-QUOTA"
    assert [(one["instance_type"], one["code"], one["obtained"]) for one in found["attempts"]] == [
        (T4, "MACH-CAPACITY", 0),
        (T4, "MACH-CAPACITY", 0),
        (A10G, "MACH-QUOTA", 0),
    ]
    assert all(one["message"] in found["msg"] for one in found["attempts"])
    assert (places(pools), pools.machines(PAIR), pools.nodes(PAIR)) == ([], [], [])


def test_what_is_given_back_is_drained_like_any_other(pools: Pools) -> None:
    """One of two machines is there, and somebody's pod on it, when no zone has another one."""
    wanted, job = pool(of(T4, A, B)), {"name": "early-bird", "namespace": "default"}
    gpu: Data = {"limits": {"nvidia.com/gpu": "1"}}

    def works(node: str) -> Data:
        body = {
            "nodeName": node,
            "containers": [{"name": "main", "image": "example.com/job", "resources": gpu}],
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": job, "spec": body}

    with pools.trouble("no_capacity", zone=B), pools.trouble("no_capacity", zone=A, available=1):
        pools.attempt(wanted, wait=False)
        (node,) = until(lambda: pools.nodes(wanted), "the node in zone a")
        pools.client.create(works(node["metadata"]["name"]))
        until(
            lambda: (
                (pools.client.get("v1", "pods", "early-bird", "default") or {}).get("status", {}).get("phase")
                == "Running"
            ),
            "the pod",
        )
        kept = pools.attempt(wanted)
        assert kept["code"] == "NODE-BUSY", kept.result
        assert "default/early-bird" in kept["msg"]
        assert "stays until they may go" in kept["msg"]
        assert kept["attempts"][-1]["code"] == "MACH-CAPACITY"
        assert [one["metadata"]["name"] for one in pools.nodes(wanted)] == [node["metadata"]["name"]]

        given_back = pools.attempt(wanted, on_busy="drain", force=True)
        assert given_back["code"] == "MACH-CAPACITY", given_back.result
        assert [line for line in pools.audit.writes(given_back) if line.startswith("create pods")] != []
    assert (places(pools), pools.machines(wanted), pools.nodes(wanted)) == ([], [], [])


def test_killed_while_it_waits_for_the_second_candidate(pools: Pools, tmp_path: Path) -> None:
    task = {
        "accelerators.openshift.gpu_machineset": {
            "pool": PAIR,
            "capacity_timeout": 2,
            "kubeconfig": str(pools.playbook.kubeconfig),
        }
    }
    (tmp_path / "play.yml").write_text(
        json.dumps([{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task]}])
    )
    with (
        pools.trouble("no_capacity", instance_type=T4),
        pools.trouble("slow_machines", instance_type=A10G, seconds=4),
    ):
        command = [str(Path(sys.executable).parent / "ansible-playbook"), str(tmp_path / "play.yml")]
        variables = {
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            "ANSIBLE_HOME": str(tmp_path / "home"),
        }
        with subprocess.Popen(
            command,
            env=variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as run:
            until(
                lambda: (
                    len([one for one in pools.machines(PAIR) if "cand-us-east-2b" in one["metadata"]["name"]])
                    == 2
                ),
                "the second candidate's Machines",
            )
            os.killpg(run.pid, signal.SIGKILL)
        assert run.returncode == -signal.SIGKILL
        asked = uids(pools)
        pools.ensure(PAIR)
        assert uids(pools) == asked
    assert places(pools) == [(A10G, B, 2)]
    assert writes_nothing(pools, PAIR)


def told(run: Run) -> list[str]:
    """The table of plan.yml, or of enable_gpus.yml in check mode."""
    assert run.rc == 0, run.output
    lines: list[str] = next(
        task for task in run.tasks if task.name in ("Show the plan", "Show what would be done")
    )["msg"]
    return lines


def test_the_whole_run_with_candidates(pools: Pools, tmp_path: Path) -> None:
    pair, prices = [TRAINING, BATCH], {"p4d.24xlarge": 22, "g4dn.12xlarge": 4}
    planned = pools.playbook.playbook(
        "plan", gpu_pools=pair, gpu_prices=prices, gpu_plan_output=str(tmp_path / "plan.json")
    )
    table = told(planned)
    assert [line.split() for line in table[1:3]] == [
        ["training", "p4d.24xlarge", "(else", "g4dn.12xlarge)", "0/1", "8", "4.00-22.00", "medium"],
        ["batch", "g5.xlarge", "(else", "g4dn.xlarge)", "0/2", "2", "-"],
    ]
    assert "limit   96 vCPUs of Running On-Demand P instances (training)" in table
    assert "quota   team-a/gpu-quota requests.nvidia.com/gpu 11" in table
    assert json.loads((tmp_path / "plan.json").read_text())["table"] == table
    assert pools.audit.writes(*planned.tasks) == []

    with (
        pools.trouble("no_capacity", instance_type="p4d.24xlarge"),
        pools.trouble("no_capacity", instance_type=A10G, available=1),
    ):
        run = pools.playbook.playbook("enable_gpus", gpu_pools=pair, gpu_node_pool_capacity_timeout=2)
    assert run.rc == 0, run.output
    # what was made is what had been told, but for the candidates that the cloud does not have
    foretold_objects = {line.split(maxsplit=1)[1] for line in table if line.startswith("make")}
    for name in (
        "Subscription openshift-nfd/nfd",
        "ClusterPolicy gpu-cluster-policy",
        "ResourceQuota team-a/gpu-quota",
    ):
        assert name in foretold_objects
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

    again = pools.playbook.playbook("enable_gpus", gpu_pools=pair)
    assert (again.rc, again.changed) == (0, 0), again.output
    assert pools.audit.writes(*again.tasks) == []
    larger = [{**TRAINING, "replicas": 2}, BATCH]
    checked = pools.playbook.playbook("enable_gpus", "--check", gpu_pools=larger)
    kinds = [line.split() for line in told(checked)[1:]]
    assert kinds[0][:6] == ["training", "g4dn.12xlarge", "(else", "p4d.24xlarge)", "1/2", "8"]
    assert {
        tuple(line[:2]) for line in kinds if line[0] in ("make", "change", "remove", "drain", "drift")
    } == {("change", "MachineSet")}
    assert [line for line in kinds if line[0] == "keep" and line[1] == "ClusterPolicy"]
    assert pools.audit.writes(*checked.tasks) == []
    assert pools.playbook.playbook("remove_gpus", gpu_pools=pair).rc == 0
