"""Which Machines a MachineHealthCheck calls unhealthy, when it may act, and what it says."""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime, timedelta

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.machine_api.machine_health import (
    MachineHealthChecks,
    status,
    tolerated,
    verdict,
)

NAMESPACE = "openshift-machine-api"
API = "machine.openshift.io/v1beta1"
NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
NOT_READY = [
    {"type": "Ready", "status": "Unknown", "timeout": "300s"},
    {"type": "Ready", "status": "False", "timeout": "300s"},
]

Data = dict[str, t.Any]


def ago(seconds: float, now: datetime = NOW) -> str:
    return (now - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def check(annotations: Data | None = None, **spec: t.Any) -> Data:
    body = {"selector": {"matchLabels": {"pool": "gpu"}}, "unhealthyConditions": NOT_READY} | spec
    metadata = {"name": "gpu", "namespace": NAMESPACE, "annotations": annotations or {}}
    return {"apiVersion": API, "kind": "MachineHealthCheck", "metadata": metadata, "spec": body}


def machine(
    name: str = "gpu-1",
    owned: bool = True,
    node: str | None = "gpu-1",
    annotations: Data | None = None,
    **state: t.Any,
) -> Data:
    owner = (
        [{"apiVersion": API, "kind": "MachineSet", "name": "gpu", "uid": "u", "controller": True}]
        if owned
        else []
    )
    metadata = {
        "name": name,
        "namespace": NAMESPACE,
        "labels": {"pool": "gpu"},
        "annotations": annotations or {},
        "ownerReferences": owner,
    }
    known = {"phase": "Running"} | ({"nodeRef": {"name": node}} if node else {}) | state
    return {"apiVersion": API, "kind": "Machine", "metadata": metadata, "spec": {}, "status": known}


def node(name: str = "gpu-1", ready: str = "True", since: str = ago(3600)) -> Data:
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": since}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": {},
        "status": {"conditions": [condition]},
    }


def make(one: Data, *objects: Data) -> World:
    world = World(MachineHealthChecks())
    for obj in (one, *objects):
        world.api.create(obj)
    world.settle(2)
    return world


def left(world: World) -> list[str]:
    return [one["metadata"]["name"] for one in world.api.all("Machine")]


class TestVerdict:
    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            (machine(), node(), "healthy"),
            (machine(phase="Failed"), node(), "unhealthy"),
            (machine(), None, "unhealthy"),
            (machine(), node(ready="Unknown", since=ago(301)), "unhealthy"),
            (machine(), node(ready="False", since=ago(299)), "unsure"),
            (machine(node=None, lastUpdated=ago(599)), None, "unsure"),
            (machine(node=None, lastUpdated=ago(601)), None, "unhealthy"),
            (machine(node=None), None, "unsure"),
            (machine(annotations={"host.metal3.io/external-remediation": ""}), node(), "unsure"),
        ],
    )
    def test_a_machine(self, one: Data, other: Data | None, expected: str) -> None:
        assert verdict(check(), one, {"gpu-1": other} if other else {}, NOW) == expected

    @pytest.mark.parametrize(
        ("timeout", "expected"), [("30m", "unsure"), ("1m0s", "unhealthy"), ("0", "unsure"), ("0s", "unsure")]
    )
    def test_the_time_to_start(self, timeout: str, expected: str) -> None:
        assert (
            verdict(check(nodeStartupTimeout=timeout), machine(node=None, lastUpdated=ago(601)), {}, NOW)
            == expected
        )

    def test_a_machine_that_goes_is_not_healthy(self) -> None:
        going = machine()
        going["metadata"]["deletionTimestamp"] = ago(1)
        assert verdict(check(), going, {"gpu-1": node()}, NOW) == "unsure"


class TestAllowance:
    @pytest.mark.parametrize(
        ("limit", "expected"),
        [(2, 2), (-1, 0), ("40%", 2), ("100%", 5), ("19%", 0), ("3", 3), ("some", None)],
    )
    def test_numbers_and_percentages_of_five(self, limit: int | str, expected: int | None) -> None:
        assert tolerated(limit, 5) == expected

    def test_what_starts_counts_against_it(self) -> None:
        found = status(check(maxUnhealthy="40%"), ["healthy", "unsure", "unhealthy", "unhealthy"])
        assert (found["expectedMachines"], found["currentHealthy"], found["remediationsAllowed"]) == (4, 1, 0)
        [condition] = found["conditions"]
        assert (condition["status"], condition["reason"], condition["severity"]) == (
            "False",
            "TooManyUnhealthy",
            "Warning",
        )
        assert condition["message"] == (
            "Remediation is not allowed, the number of not started or unhealthy machines exceeds "
            "maxUnhealthy (total: 4, unhealthy: 3, maxUnhealthy: 40%)"
        )

    def test_what_is_left_of_it(self) -> None:
        found = status(check(maxUnhealthy=2), ["healthy", "unhealthy"])
        assert found["remediationsAllowed"] == 1
        assert found["conditions"] == [{"type": "RemediationAllowed", "status": "True"}]


class TestRemediation:
    def test_the_unhealthy_one_is_deleted(self) -> None:
        world = make(check(), machine(), machine("gpu-2", node="gpu-2"), node(), node("gpu-2", "Unknown"))
        assert left(world) == ["gpu-1"]
        [event] = world.api.all("Event")
        assert (event["reason"], event["involvedObject"]["name"]) == ("MachineDeleted", "gpu-2")
        assert event["message"] == (
            f"Machine {NAMESPACE}/gpu/gpu-2/gpu-2 has been remediated by requesting to delete Machine object"
        )

    def test_the_status_is_written_once(self) -> None:
        world = make(check(), machine(), node())
        found = world.api.get("MachineHealthCheck", "gpu", NAMESPACE)["status"]
        assert {key: found[key] for key in ("expectedMachines", "currentHealthy", "remediationsAllowed")} == {
            "expectedMachines": 1,
            "currentHealthy": 1,
            "remediationsAllowed": 1,
        }
        before = len(world.api.writes)
        world.settle(10)
        assert len(world.api.writes) == before

    def test_too_many_and_nobody_is(self) -> None:
        world = make(check(maxUnhealthy=1), machine(), machine("gpu-2", node="gpu-2"))
        assert left(world) == ["gpu-1", "gpu-2"]
        assert [one["reason"] for one in world.api.all("Event")] == ["RemediationRestricted"]

    def test_others_are_none_of_its_business(self) -> None:
        stranger = machine("worker", node=None, phase="Failed")
        stranger["metadata"]["labels"] = {}
        assert left(make(check(), stranger)) == ["worker"]

    def test_a_machine_of_no_set_stays(self) -> None:
        world = make(check(), machine(owned=False, node=None, phase="Failed"))
        assert left(world) == ["gpu-1"]
        assert [one["reason"] for one in world.api.all("Event")] == ["SkippedNoController"]

    def test_a_paused_check_does_nothing(self) -> None:
        world = make(check(annotations={"cluster.x-k8s.io/paused": ""}), machine(phase="Failed"))
        assert left(world) == ["gpu-1"]
        assert "status" not in world.api.get("MachineHealthCheck", "gpu", NAMESPACE)

    @pytest.mark.parametrize(("phase", "expected"), [("Running", ["gpu-1"]), ("Failed", [])])
    def test_external_remediation_only_marks(self, phase: str, expected: list[str]) -> None:
        world = make(
            check(annotations={"machine.openshift.io/remediation-strategy": "external-baremetal"}),
            machine(phase=phase),
        )
        assert left(world) == expected
        if expected:
            assert world.api.get("Machine", "gpu-1", NAMESPACE)["metadata"]["annotations"] == {
                "host.metal3.io/external-remediation": ""
            }

    def test_a_template_is_somebody_else_s_work(self) -> None:
        template = {"apiVersion": "example.com/v1", "kind": "FixTemplate", "name": "fix"}
        assert left(make(check(remediationTemplate=template), machine(phase="Failed"))) == ["gpu-1"]
