# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_machineset when machines do not come: its messages, what it keeps, how few requests it sends."""

from __future__ import annotations

import collections
import contextlib
import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook, TaskResult
from integration.wire import Audit

from openshift_sandbox import faults
from openshift_sandbox.stand_ins.machine_api import certificate_requests

Data = dict[str, t.Any]
TYPE: t.Final = "g4dn.xlarge"
CERTIFICATES: t.Final = ("certificates.k8s.io/v1", "certificatesigningrequests")
STRANGER: t.Final = "ip-10-0-99-99.us-east-2.compute.internal"


class Pool:
    """The pool of one test."""

    def __init__(self, cluster: Cluster, playbook: Playbook) -> None:
        self._cluster, self._playbook = cluster, playbook

    def ask(
        self, zones: t.Sequence[str] = ("us-east-2a",), replicas: int = 1, **options: t.Any
    ) -> TaskResult:
        usual = {
            "name": "slow",
            "instance_type": TYPE,
            "zones": list(zones),
            "replicas": replicas,
            "capacity_timeout": 2,
            "wait_timeout": 90,
        }
        return self._playbook.module("gpu_machineset", **{**usual, **options})

    def remove(self) -> None:
        assert not self._playbook.module("gpu_machineset", name="slow", state="absent").failed

    @contextlib.contextmanager
    def trouble(self, kind: str, **fields: t.Any) -> t.Iterator[None]:
        sandbox = self._cluster.needs_sandbox()
        faults.add(sandbox, kind, fields)
        try:
            yield
        finally:
            faults.clear(sandbox, kind, fields)


@pytest.fixture
def pool(cluster: Cluster, playbook: Playbook) -> t.Iterator[Pool]:
    cluster.needs_sandbox()
    made = Pool(cluster, playbook)
    yield made
    made.remove()
    for one in cluster.client.list(*CERTIFICATES):
        cluster.client.delete(*CERTIFICATES, one["metadata"]["name"])


@pytest.mark.parametrize(
    ("kind", "fields", "code", "words", "remedy"),
    [
        ("quota_exceeded", {"limit": 0}, "MACH-QUOTA", "current vCPU limit of 0 allows", "Service Quotas"),
        (
            "machine_failed",
            {"message": "error launching instance: Invalid IAM Instance Profile name"},
            "MACH-CONFIG",
            "Invalid IAM",
            "oc delete machine",
        ),
    ],
)
def test_what_is_final_ends_the_task_at_once(
    pool: Pool, kind: str, fields: Data, code: str, words: str, remedy: str
) -> None:
    with pool.trouble(kind, instance_type=TYPE, **fields):
        task = pool.ask()
    assert (task["code"], task["layer"]) == (code, "machine")
    assert words in task["message"]
    assert remedy in task["remedy"]
    [told] = task["troubled"]
    assert (told["code"], told["phase"]) == (code, "Failed")
    assert told["since"]


def test_what_was_said_is_kept_when_the_pool_moves_on(pool: Pool) -> None:
    with pool.trouble("no_capacity", instance_type=TYPE, zone="us-east-2a"):
        task = pool.ask(["us-east-2a", "us-east-2b"])
    assert not task.failed, task.result
    assert [one["phase"] for one in task["machines"]] == ["Running"]
    [told] = task["troubled"]
    assert (told["code"], told["machine_set"].endswith("us-east-2a")) == ("MACH-CAPACITY", True)
    assert "InsufficientInstanceCapacity" in told["error"]


def test_an_instance_that_never_joins(pool: Pool) -> None:
    with pool.trouble("node_never_joins", instance_type=TYPE):
        task = pool.ask(wait_timeout=12)
    assert (task["code"], task["layer"]) == ("MACH-NO-NODE", "machine")
    assert "has an instance since 20" in task["message"]
    assert "aws ec2 get-console-output --latest --instance-id i-0" in task["remedy"]


def test_requests_that_nobody_approves(
    cluster: Cluster, playbook: Playbook, pool: Pool, audit: Audit
) -> None:
    with pool.trouble("csr_pending", instance_type=TYPE), pool.trouble("foreign_csr", name=STRANGER):
        waited = pool.ask(wait_timeout=12)
        assert waited["code"] == "MACH-CSR-PENDING", waited.result
        [mine] = named(cluster, stranger=False)
        [foreign] = named(cluster, stranger=True)
        assert f"oc adm certificate approve {mine}`" in waited["remedy"]
        assert [
            line
            for line in waited["evidence"]
            if foreign in line and "matches no machine of the pool" in line
        ]

        approved = pool.ask(approve_csrs=True)
        assert not approved.failed, approved.result
        approvals = [
            line.rpartition("/")[2] for line in audit.writes(approved) if "certificatesigningrequests" in line
        ]
        assert sorted(approvals) == sorted(named(cluster, stranger=False))
        assert len(approvals) == 2, "the client's and the serving one"
        again = pool.ask(approve_csrs=True)
        assert (again.changed, audit.writes(again)) == (False, [])

        # Approval for a replacement's node follows the same rules.
        replaced = playbook.module(
            "gpu_node",
            name=approved["machines"][0]["name"],
            state="replaced",
            approve_csrs=True,
            wait_timeout=90,
        )
        assert not replaced.failed, replaced.result
        assert len([line for line in audit.writes(replaced) if "certificatesigningrequests" in line]) == 2
        states = {
            one["metadata"]["name"]: certificate_requests.approved(one)
            for one in cluster.client.list(*CERTIFICATES)
        }
        assert states == {**dict.fromkeys(named(cluster, stranger=False), True), foreign: False}


def named(cluster: Cluster, stranger: bool) -> list[str]:
    found = cluster.client.list(*CERTIFICATES)
    return [
        one["metadata"]["name"]
        for one in found
        if (certificate_requests.node_of(one) == STRANGER) is stranger
    ]


def test_many_machines_cost_one_watch(pool: Pool, audit: Audit) -> None:
    task = pool.ask(replicas=25)
    assert not task.failed, task.result
    assert len(task["nodes"]) == 25
    # The audit log has two events for a watch: its start and its end.
    requests = {one.event["auditID"]: (one.verb, one.resource.partition(".")[0]) for one in audit.of(task)}
    asked = collections.Counter(requests.values())
    assert {found: number for found, number in asked.items() if found[0] == "watch"} == {
        ("watch", "machines"): 1,
        ("watch", "machinesets"): 1,
        ("watch", "nodes"): 1,
    }
    assert asked["get", "machines"] == asked["get", "nodes"] == 0
    assert sum(asked.values()) < 25, asked
