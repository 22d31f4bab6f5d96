"""The machines and nodes of a pool, judged together."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    machine_set,
    pool as machine_pool,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.candidates import Share
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine import (
    DELETE_FIRST,
    SET,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.plan import MachinePlan
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import (
    Candidate,
    Pool,
    Taint,
)

Data = dict[str, t.Any]
NAME = "demo-t4-a"
LABELS = {
    "cluster-api/accelerator": "nvidia-t4",
    "accelerators.openshift/pool": "t4",
    "node-role.kubernetes.io/gpu": "",
}
TAINT = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}


def plan(replicas: int = 1) -> MachinePlan:
    candidate = Candidate("g4dn.xlarge", accelerator="nvidia-t4", expected={"nvidia.com/gpu": 1})
    pool = Pool("t4", (candidate,), accelerator="nvidia-t4", taints=(Taint(**TAINT),))
    manifest: Data = {
        "metadata": {"name": NAME},
        "spec": {
            "replicas": replicas,
            "template": {"spec": {"metadata": {"labels": LABELS}, "taints": [TAINT]}},
        },
    }
    return MachinePlan(pool, {NAME: manifest}, {NAME: Share(candidate, "us-east-2a", replicas)}, [], [])


def machine(name: str, node: str = "", phase: str = "Running", of: str = NAME, **metadata: t.Any) -> Data:
    return {
        "metadata": {"name": name, "labels": {SET: of}, **metadata},
        "status": {"phase": phase, "nodeRef": {"name": node}},
    }


def node(
    name: str, labels: Data | None = None, taints: list[Data] | None = None, ready: str = "True"
) -> Data:
    return {
        "metadata": {"name": name, "labels": LABELS if labels is None else labels},
        "spec": {"taints": [TAINT] if taints is None else taints},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


def snapshot(machines: list[Data], nodes: list[Data], **status: t.Any) -> dict[str, list[Data]]:
    return {
        "machine_sets": [{"metadata": {"name": NAME}, "spec": {"replicas": 1}, "status": status}],
        "machines": machines,
        "nodes": nodes,
    }


def judge(replicas: int = 1) -> machine_pool.Present:
    return machine_pool.Present(plan(replicas), 120.0, lambda: 0.0)


@pytest.mark.parametrize(
    ("machines", "nodes", "verdict", "words"),
    [
        ([], [], "pending", "0 of 1 machines are ready nodes; machine set demo-t4-a has 0 of 1 machines"),
        ([machine("m", phase="Provisioning")], [], "pending", "is Provisioning"),
        ([machine("m", "n")], [node("n")], "ready", "1 of 1 machines are ready nodes"),
        ([machine("m", "n")], [node("n", ready="False")], "pending", "node n is not Ready"),
        (
            [machine("m", "n")],
            [node("n", labels={"accelerators.openshift/pool": "t4"})],
            "pending",
            "label cluster-api/accelerator=nvidia-t4",
        ),
        ([machine("m", "n")], [node("n", taints=[])], "pending", "taint nvidia.com/gpu:NoSchedule"),
        ([machine("m", "n"), machine("o", "n2")], [node("n"), node("n2")], "pending", "has 2 of 1 machines"),
        ([machine("m", "n"), machine("x", of="other", phase="Failed")], [node("n")], "ready", "1 of 1"),
        ([machine("m", "n"), machine("o", deletionTimestamp="x")], [node("n")], "pending", "o is Deleting"),
        ([machine("m", phase="Failed")], [], "failed", "m (g4dn.xlarge in us-east-2a) is Failed"),
    ],
)
def test_present(machines: list[Data], nodes: list[Data], verdict: str, words: str) -> None:
    found = judge()(snapshot(machines, nodes))
    assert found.verdict == verdict
    assert words in found.message


MARKED: t.Final[Data] = {"annotations": {DELETE_FIRST: "true"}}


def test_a_machine_that_its_set_is_to_lose_is_waited_for() -> None:
    present = judge()
    found = present(snapshot([machine("m", "n"), machine("o", phase="Failed", **MARKED)], [node("n")]))
    assert (found.verdict, present.refused()) == ("pending", {})
    assert "o is marked for deletion" in found.message


def test_a_mark_that_a_killed_run_left_hides_nothing() -> None:
    """The set still wants the Machine: its failure is told at once, not after the whole time of waiting."""
    present = judge()
    assert present(snapshot([machine("m", phase="Failed", **MARKED)], [])).is_failed
    assert list(present.refused()) == [NAME]


def test_what_the_set_says() -> None:
    found = judge()(snapshot([], [], errorReason="InvalidConfiguration", errorMessage="bad subnet"))
    assert (found.verdict, found.code) == ("failed", "MACH-SET-ERROR")
    assert "bad subnet" in found.message


def test_an_empty_pool_is_ready() -> None:
    assert judge(0)(snapshot([], [])).is_ready


def test_what_the_provider_refused() -> None:
    present = judge(3)
    refused = machine("r", phase="Provisioning")
    refused["status"]["providerStatus"] = {
        "conditions": [
            {"type": "MachineCreation", "status": "False", "message": "InsufficientInstanceCapacity"}
        ]
    }
    present(snapshot([machine("m", "n"), refused, machine("f", phase="Failed", of="other")], [node("n")]))
    assert present.refused() == {}
    present.capacity_timeout = 0
    assert present.refused() == {NAME: ("MACH-CAPACITY", "InsufficientInstanceCapacity")}
    assert [present.has_instance(one) for one in present.seen["machines"]] == [True, False, False]
    facts = machine_pool.facts(present.seen, present.plan)
    assert [one["name"] for one in facts["machines"]] == ["m", "r"]
    assert [one["name"] for one in facts["nodes"]] == ["n"]
    assert {name: one["code"] for name, one in present.troubled.items()} == {"r": "MACH-CAPACITY"}


def test_what_a_machine_said_stays_when_it_is_gone_but_not_when_it_is_well() -> None:
    present = judge(2)
    lost, refused = machine("l", phase="Failed"), machine("r", phase="Failed")
    lost["status"]["errorMessage"] = "Can't find created instance."
    present(snapshot([lost, refused], []))
    going = machine("r", phase="Failed", deletionTimestamp="x")
    present(snapshot([machine("l", "n"), going], [node("n")]))
    present(snapshot([machine("l", "n")], [node("n")]))
    assert [(one["name"], one["phase"], one["code"]) for one in present.troubled.values()] == [
        ("r", "Failed", "MACH-CONFIG")
    ]


def test_a_server_without_room_is_no_instance() -> None:
    stuck = machine("s", phase="Provisioned", annotations={"machine.openshift.io/instance-state": "ERROR"})
    stuck["status"].pop("nodeRef")
    assert judge().has_instance(stuck) is False


def test_facts() -> None:
    facts = machine_pool.facts(
        snapshot([machine("m", "n"), machine("x", "y", of="other")], [node("n"), node("y")]), plan()
    )
    assert facts["machine_sets"] == [
        {
            "name": NAME,
            "zone": "us-east-2a",
            "instance_type": "g4dn.xlarge",
            "replicas": 1,
            "ready_replicas": 1,
        }
    ]
    assert facts["nodes"] == [
        {"name": "n", "zone": "", "instance_type": "", "ready": True, "expected": {"nvidia.com/gpu": 1}}
    ]


@pytest.mark.parametrize(
    ("kept", "seen", "verdict", "words"),
    [
        ((), snapshot([], []), "pending", "machine set demo-t4-a is still there"),
        ((NAME,), snapshot([machine("m", "n")], [node("n")]), "ready", ""),
        (
            (NAME,),
            snapshot([machine("m", "n"), machine("x", "y", of="gone")], [node("n"), node("y")]),
            "pending",
            "machine x: Running",
        ),
        ((NAME,), snapshot([], [node("y")]), "ready", ""),
        ((), {"machine_sets": [], "machines": [], "nodes": []}, "ready", ""),
    ],
)
def test_absent(kept: tuple[str, ...], seen: dict[str, list[Data]], verdict: str, words: str) -> None:
    found = machine_pool.Absent(frozenset(kept))(seen)
    assert found.verdict == verdict
    assert words in " ".join(found.details)


def test_a_node_is_waited_for_when_its_machine_is_gone() -> None:
    judge = machine_pool.Absent(frozenset({NAME}))
    assert not judge(snapshot([machine("x", "y", of="gone")], [node("y"), node("by-hand")])).is_ready
    verdict = judge(snapshot([], [node("y"), node("by-hand")]))
    assert (verdict.verdict, verdict.details) == ("pending", ("node y is still there",))
    assert judge(snapshot([], [node("by-hand")])).is_ready, "nobody deletes it"


def test_sets_that_are_given_back() -> None:
    gone = machine_pool.Gone(frozenset({"old"}))
    assert not gone(
        snapshot([machine("m", "n"), machine("x", "y", of="old")], [node("n"), node("y")])
    ).is_ready
    assert not gone(snapshot([machine("m", "n")], [node("n"), node("y")])).is_ready
    assert gone(snapshot([machine("m", "n")], [node("n"), node("by-hand")])).is_ready


def test_the_replicas_told_are_those_that_are_asked_for() -> None:
    """In check mode the live set has still the old number."""
    (told,) = machine_pool.facts(snapshot([machine("m", "n")], [node("n")]), plan(3))["machine_sets"]
    assert (told["replicas"], told["ready_replicas"]) == (3, 1)


@pytest.mark.parametrize("told_by_the_set", [0, 2])
def test_ready_replicas_are_counted_at_the_nodes(told_by_the_set: int) -> None:
    """The set's own status comes later than its nodes, so a pool that is ready would have 0 of them."""
    seen = snapshot([machine("m", "n")], [node("n")], readyReplicas=told_by_the_set)
    assert machine_pool.facts(seen, plan())["machine_sets"][0]["ready_replicas"] == 1


def going() -> Data:
    metadata = {"name": NAME, "namespace": "openshift-machine-api", "finalizers": ["example.com/hold"]}
    return {
        "metadata": {**metadata, "deletionTimestamp": "2026-11-22T10:00:00Z"},
        "spec": {"replicas": 1},
        "status": {},
    }


def test_a_machine_set_that_is_being_deleted_is_not_ready_and_its_finalizer_is_named() -> None:
    live = going()
    verdict = machine_set.judge(live)
    assert (verdict.is_failed, verdict.code) == (True, "MACH-SET-DELETED")
    assert "held by example.com/hold" in verdict.message


def test_a_finalizer_that_keeps_an_empty_set_is_no_disruption_budget() -> None:
    live = going()
    verdict = machine_pool.Absent(frozenset())({"machine_sets": [live], "machines": [], "nodes": []})
    assert (verdict.verdict, verdict.code) == ("pending", "MACH-SET-HELD")
    assert "held by example.com/hold" in verdict.message
    assert "pdb" not in verdict.remedy
    assert live["metadata"]["name"] in verdict.remedy
