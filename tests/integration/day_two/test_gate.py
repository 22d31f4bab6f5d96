# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""New nodes of a gated pool stay closed until they pass, without a playbook and with one."""

from __future__ import annotations

import typing as t

import pytest
from integration.patience import until
from integration.playbook import Run
from integration.scenarios.place import Data, Place
from integration.troubles.demo import trouble

SCENARIO: t.Final = "aws"
pytestmark = [
    pytest.mark.long("the whole chain first: tests/unit/workload has what a run does about the gate"),
    pytest.mark.story("a pool is made, it grows at night, a node never passes, the gate itself fails"),
]
PLACE: t.Final = "gpu-validation"
POOL: t.Final = "accelerators.openshift/pool=burst"
TAINT: t.Final = "startup-taint.cluster-autoscaler.kubernetes.io/gpu-validation"
CONDITION: t.Final = "accelerators.openshift/GPUValidated"
SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", "openshift-machine-api")
MACHINES: t.Final = ("machine.openshift.io/v1beta1", "openshift-machine-api")
CRON: t.Final = ("batch/v1", "cronjobs", "gpu-gate", PLACE)
POOLS: t.Final[list[Data]] = [
    {
        "name": "burst",
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a", "us-east-2b"]}],
        "autoscale": {"min": 2, "max": 6},
        "validate": {"gate": True},
    }
]


def enable(place: Place, *tags: str, **more: t.Any) -> Run:
    return place.run(
        "enable_gpus",
        *(["--tags", ",".join(tags)] if tags else []),
        gpu_pools=POOLS,
        gpu_operator_grace=60,
        **more,
    )


def closed(place: Place, plural: str = "nodes") -> list[str]:
    """Return the nodes or Machines of the pool that have the startup taint."""
    api_version, space = MACHINES if plural == "machines" else ("v1", None)
    return [
        one["metadata"]["name"]
        for one in place.client.list(api_version, plural, space, POOL)
        if any(taint["key"] == TAINT for taint in one["spec"].get("taints") or [])
    ]


def validated(place: Place, node: str) -> tuple[str, str]:
    """Return status and message of the node's condition."""
    found = place.client.get("v1", "nodes", node) or {}
    condition: Data = next((one for one in found["status"]["conditions"] if one["type"] == CONDITION), {})
    return condition.get("status", ""), condition.get("message", "")


def grow(place: Place, zone: str) -> str:
    """Have one machine more in a zone, as the autoscaler does; return its node, which offers its GPU."""
    (found,) = [
        one for one in place.client.list(*SETS, labels=POOL) if one["metadata"]["name"].endswith(zone)
    ]
    body = {"spec": {"replicas": found["spec"]["replicas"] + 1}}
    place.client.patch(*SETS[:2], found["metadata"]["name"], SETS[2], body)
    (node,) = until(lambda: closed(place), "a closed node", 60)
    until(lambda: offers(place, node), f"GPUs of {node}, whose operands tolerate the taint", 90)
    return node


def offers(place: Place, node: str) -> bool:
    found = place.client.get("v1", "nodes", node) or {}
    return bool(found["status"].get("allocatable", {}).get("nvidia.com/gpu") == "1")


def look(place: Place, name: str) -> Data:
    """Run a Job of the CronJob now, not at the next minute; return its status."""
    cron = place.client.get(*CRON) or {}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": PLACE},
        "spec": cron["spec"]["jobTemplate"]["spec"],
    }
    place.client.create(job)

    def ended() -> Data:
        status: Data = (place.client.get("batch/v1", "jobs", name, PLACE) or {}).get("status") or {}
        return status if status.get("succeeded") or status.get("failed") else {}

    status = until(ended, f"the end of Job {name}", 60)
    (pod,) = place.client.list("v1", "pods", PLACE, f"job-name={name}")
    path = f"/api/v1/namespaces/{PLACE}/pods/{pod['metadata']['name']}/log"
    return {**status, "log": place.client.request("GET", path)[1]}


def test_a_run_opens_the_first_nodes_and_a_second_run_writes_nothing(place: Place) -> None:
    dry = place.run("enable_gpus", "--check", gpu_pools=POOLS)
    assert (dry.rc, place.writes(dry)) == (0, []), dry.output[-4000:]
    run = enable(place)
    assert run.rc == 0, run.output[-4000:]
    assert (closed(place), closed(place, "machines")) == ([], [])
    templates = [one["spec"]["template"]["spec"]["taints"] for one in place.client.list(*SETS, labels=POOL)]
    assert templates == [[{"key": TAINT, "value": "pending", "effect": "NoSchedule"}]] * 2
    again = enable(place)
    assert (again.rc, again.changed) == (0, 0), again.output[-4000:]
    assert place.writes(again) == []


def test_a_node_that_comes_at_night_is_opened_when_it_has_passed(place: Place) -> None:
    node = grow(place, "us-east-2a")
    for number in range(6):
        status = look(place, f"night-{number}")
        assert status.get("succeeded"), status
        if node not in closed(place):
            break
    assert (closed(place), closed(place, "machines")) == ([], [])
    assert validated(place, node)[0] == "True"
    gone = "pods of the gate"
    until(lambda: not place.client.list("v1", "pods", PLACE, "accelerators.openshift/run=gate"), gone)


def test_a_node_that_never_passes_stays_closed_and_is_named(place: Place) -> None:
    with trouble(place.cluster, "gate-never-passes"):
        node = grow(place, "us-east-2b")
        for number in range(6):
            assert look(place, f"bad-{number}").get("succeeded")
            if validated(place, node)[0]:
                break
        status, message = validated(place, node)
        assert (status, closed(place)) == ("False", [node])
        assert "unspecified launch failure" in message
        seen = place.run("diagnose", gpu_pools=POOLS)
        assert seen.rc != 0
        assert "NODE-GATED" in seen.output
        assert node in seen.output
        run = enable(place, "gpu_validation")
        assert run.rc != 0
        assert node in run.failure["msg"]
        assert closed(place) == [node]


def test_where_the_gate_does_not_work_a_run_opens_the_node(place: Place) -> None:
    (node,) = closed(place)
    with trouble(place.cluster, "gate-remover-down"):
        assert look(place, "broken").get("failed")
        assert closed(place) == [node]
        run = enable(place, "gpu_validation")
        assert run.rc == 0, run.output[-4000:]
    assert (closed(place), closed(place, "machines")) == ([], [])
    assert validated(place, node)[0] == "True"


def test_a_removal_leaves_nothing_of_the_gate(place: Place) -> None:
    run = place.run("remove_gpus", "--tags", "gpu_validation", gpu_pools=POOLS)
    assert run.rc == 0, run.output[-4000:]
    assert place.client.get(*CRON) is None
    for plural in ("clusterroles", "clusterrolebindings"):
        assert place.client.get("rbac.authorization.k8s.io/v1", plural, "gpu-gate") is None
    for plural in ("roles", "rolebindings"):
        found = place.client.get("rbac.authorization.k8s.io/v1", plural, "gpu-gate", "openshift-machine-api")
        assert found is None
