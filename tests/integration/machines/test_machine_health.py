# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Health checks of pools: created, unchanged, paused, beside another owner's check, removed with the pool."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook, TaskResult
from integration.wire import Audit

from openshift_sandbox import faults

Data = dict[str, t.Any]
API: t.Final = "machine.openshift.io/v1beta1"
NAMESPACE: t.Final = "openshift-machine-api"
POOL: t.Final[Data] = {
    "name": "ill",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
}
LABEL: t.Final = "accelerators.openshift/pool=ill"
PAUSED: t.Final = "cluster.x-k8s.io/paused"


@pytest.fixture
def clean(cluster: Cluster, playbook: Playbook) -> t.Iterator[None]:
    cluster.needs_sandbox()
    yield
    assert not playbook.module("gpu_machineset", name="ill", state="absent").failed
    assert checks(cluster) == []


def checks(cluster: Cluster, labels: str = LABEL) -> list[Data]:
    return cluster.client.list(API, "machinehealthchecks", NAMESPACE, labels)


def test_made_and_removed(cluster: Cluster, playbook: Playbook, audit: Audit, clean: None) -> None:
    def run(health: t.Any) -> TaskResult:
        return playbook.module("gpu_machineset", pool=POOL | {"replicas": 0, "health": health})

    made = run({"max_unhealthy": "40%"})
    assert made.changed, made.result
    [check] = checks(cluster)
    assert made["health_check"] | {"name": check["metadata"]["name"]} == made["health_check"]
    assert (check["spec"]["maxUnhealthy"], check["spec"]["nodeStartupTimeout"]) == ("40%", "20m")
    again = run({"max_unhealthy": "40%"})
    assert (again.changed, audit.writes(again)) == (False, [])
    paused = run({"max_unhealthy": "40%", "paused": True})
    assert paused["health_check"]["paused"] is True
    assert PAUSED in checks(cluster)[0]["metadata"]["annotations"]
    resumed = run({"max_unhealthy": "40%"})
    assert (resumed.changed, resumed["health_check"]["paused"]) == (True, False)
    assert PAUSED not in checks(cluster)[0]["metadata"].get("annotations", {})
    gone = run(False)
    assert gone.changed
    assert checks(cluster) == []
    assert not run(False).changed


def test_wrong_options_send_no_request(playbook: Playbook, audit: Audit) -> None:
    task = playbook.module("gpu_machineset", pool=POOL | {"health": {"max_unhealthy": "most"}})
    assert (task["code"], task["layer"]) == ("POOL-TYPE", "input")
    assert "max_unhealthy" in task["msg"]
    assert audit.of(task) == []


def test_a_role_makes_it_and_a_lost_machine_comes_back(
    cluster: Cluster, playbook: Playbook, audit: Audit, clean: None
) -> None:
    sandbox = cluster.needs_sandbox()
    pool = POOL | {"health": {"unhealthy_after": "5m"}}
    role = {
        "ansible.builtin.include_role": {"name": "accelerators.openshift.gpu_node_pool"},
        "vars": {"gpu_node_pool_pools": [pool]},
    }
    run = playbook.tasks(role)
    assert run.rc == 0, run.output
    [check] = checks(cluster)
    assert (check["spec"]["maxUnhealthy"], check["spec"]["unhealthyConditions"][0]["timeout"]) == (1, "5m")
    again = playbook.tasks(role)
    assert (again.rc, again.changed, audit.writes(*again.tasks)) == (0, 0, [])

    [machine] = cluster.client.list(API, "machines", NAMESPACE, LABEL)
    cluster.client.create(foreign())
    seen = playbook.module("gpu_machineset", pool=pool)
    assert seen["other_checks"] == ["somebody-elses"]
    assert "somebody-elses was not created by the collection" in " ".join(seen["warnings"])
    lost = {"machine": machine["metadata"]["name"]}
    faults.add(sandbox, "instance_lost", lost)
    try:
        found = until_replaced(cluster, playbook, pool, machine["metadata"]["name"])
        assert [one["phase"] for one in found["machines"]] == ["Running"]
    finally:
        faults.clear(sandbox, "instance_lost", lost)
        cluster.client.delete(API, "machinehealthchecks", "somebody-elses", NAMESPACE)


def test_what_was_deleted_before_the_task_began_is_told(
    cluster: Cluster, playbook: Playbook, clean: None
) -> None:
    """Let the check delete two Machines in a row: one that lost its instance and one that never got one."""
    sandbox = cluster.needs_sandbox()
    made = playbook.module("gpu_machineset", pool=POOL | {"health": True})
    assert not made.failed, made.result
    [first], before = machines(cluster), deleted_by_check(cluster)
    troubles = [("image_missing", {}), ("instance_lost", {"machine": first})]
    for kind, trouble in troubles:
        faults.add(sandbox, kind, trouble)
    try:
        until(lambda: first not in machines(cluster), "the end of the first machine")
        second = min(until(lambda: deleted_by_check(cluster) - before - {first}, "the end of the second one"))
        failed = playbook.module("gpu_machineset", pool=POOL, wait_timeout=30)
    finally:
        for kind, trouble in troubles:
            faults.clear(sandbox, kind, trouble)
    assert failed.failed, failed.result
    told = {one["name"]: one for one in failed["troubled"]}
    assert {first, second} <= set(told)
    assert (told[first]["code"], told[first]["phase"]) == ("MACH-REMEDIATED", "Deleted")
    [check] = checks(cluster)
    assert f"MachineHealthCheck {check['metadata']['name']} deleted it at 20" in told[first]["error"]
    assert "; before that FailedCreate: " in told[second]["error"]
    assert any(line.startswith(f"{first}: MachineHealthCheck") for line in failed["evidence"])
    until(lambda: not playbook.module("gpu_machineset", pool=POOL, wait_timeout=30).failed, "the pool")
    # A complete pool reports no troubled Machine.
    assert playbook.module("gpu_machineset", pool=POOL)["troubled"] == []


def machines(cluster: Cluster) -> list[str]:
    return [one["metadata"]["name"] for one in cluster.client.list(API, "machines", NAMESPACE, LABEL)]


def deleted_by_check(cluster: Cluster) -> set[str]:
    """Return the pool's Machines that a check deleted, from the events, which outlive the tests."""
    names = {
        one["involvedObject"]["name"]
        for one in cluster.client.list("v1", "events", NAMESPACE)
        if one["reason"] == "MachineDeleted"
    }
    return {name for name in names if "-ill-" in name}


def until_replaced(cluster: Cluster, playbook: Playbook, pool: Data, name: str) -> TaskResult:
    """Run gpu_machineset until the Machine `name` is replaced; return the last task."""

    def replaced() -> TaskResult | None:
        task = playbook.module("gpu_machineset", pool=pool, wait_timeout=60)
        assert not task.failed, task.result
        return None if name in [one["name"] for one in task["machines"]] else task

    return until(replaced, f"the end of {name}")


def foreign() -> Data:
    return {
        "apiVersion": API,
        "kind": "MachineHealthCheck",
        "metadata": {"name": "somebody-elses", "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": {"machine.openshift.io/cluster-api-machine-role": "worker"}},
            "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "24h"}],
            "maxUnhealthy": 0,
        },
    }
