"""Drains: which pods must leave, which need permission, and which Machine goes first."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import removal
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.drain import Emptied, Rules
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import tolerates_cordon

Data = dict[str, t.Any]


def pod(
    name: str,
    owner: str = "ReplicaSet",
    node: str = "n1",
    phase: str = "Running",
    gpus: int = 0,
    data: bool = False,
    **metadata: t.Any,
) -> Data:
    owners = [{"kind": owner, "name": "o", "controller": True}] if owner else []
    container: Data = (
        {"name": "c", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}} if gpus else {"name": "c"}
    )
    spec: Data = {
        "nodeName": node,
        "containers": [container],
        "volumes": [{"name": "d", "emptyDir": {}}] if data else [],
    }
    return {
        "metadata": {"name": name, "namespace": "team", "uid": name, "ownerReferences": owners, **metadata},
        "spec": spec,
        "status": {"phase": phase},
    }


MARKED: dict[str, t.Any] = {"machine.openshift.io/delete-machine": "true"}
GOING: dict[str, t.Any] = {"deletionTimestamp": "2026-11-21T00:00:00Z"}


@pytest.mark.parametrize(
    ("one", "leaves"),
    [
        (pod("app"), True),
        (pod("bare", owner=""), True),
        (pod("job", phase="Succeeded"), False),
        (pod("ds", owner="DaemonSet"), False),
        (pod("static", owner="Node", annotations={drain.MIRROR: "x"}), False),
        (pod("ends", **GOING), True),
    ],
    ids=lambda one: one["metadata"]["name"] if isinstance(one, dict) else "",
)
def test_which_pods_leave(one: Data, leaves: bool) -> None:
    assert bool(drain.leaving([one])) is leaves


def test_devices() -> None:
    claims = pod("claims")
    claims["spec"]["resourceClaims"] = [{"name": "gpu"}]
    requests = pod("requests")
    requests["spec"]["initContainers"] = [
        {"name": "i", "resources": {"requests": {"nvidia.com/mig-1g.5gb": 1}}}
    ]
    assert [drain.uses_devices(one) for one in (pod("plain"), pod("gpu", gpus=1), claims, requests)] == [
        False,
        True,
        True,
        True,
    ]
    operand = pod("plugin", owner="DaemonSet", gpus=1)
    assert [
        one["metadata"]["name"]
        for one in drain.busy(
            [operand, pod("gpu", gpus=1), pod("ends", gpus=1, **GOING), pod("done", gpus=1, phase="Failed")]
        )
    ] == ["gpu"]


@pytest.mark.parametrize(
    ("pods", "rules", "code"),
    [
        ([pod("app")], Rules(), ""),
        ([pod("job", gpus=1)], Rules(), "NODE-BUSY"),
        ([pod("job", gpus=1)], Rules("drain"), ""),
        ([pod("job", owner="", gpus=1, data=True)], Rules("wait"), ""),
        ([pod("job", owner="", gpus=1)], Rules("drain"), "NODE-UNMANAGED"),
        ([pod("job", owner="", gpus=1)], Rules("drain", force=True), ""),
        ([pod("web", data=True)], Rules(), "NODE-EMPTYDIR"),
        ([pod("web", data=True)], Rules(delete_emptydir=True), ""),
        ([pod("web", data=True, **GOING), pod("ds", owner="DaemonSet", data=True)], Rules(), ""),
        ([pod("bare", owner="", phase="Succeeded")], Rules(), ""),
    ],
)
def test_what_may_not_go_unasked(pods: list[Data], rules: Rules, code: str) -> None:
    problem = drain.refusal(pods, rules, "Pool t is to lose 1 machines")
    assert (problem.code if problem else "") == code
    if problem:
        assert f"team/{pods[0]['metadata']['name']}" in problem.message
        assert "n1" in problem.message
        assert problem.remedy


def test_every_reason_is_evidence() -> None:
    problem = drain.refusal([pod("job", gpus=1), pod("web", data=True), pod("bare", owner="")], Rules(), "x")
    assert problem is not None
    assert problem.evidence == [
        "NODE-BUSY: team/job on n1",
        "NODE-EMPTYDIR: team/web on n1",
        "NODE-UNMANAGED: team/bare on n1",
    ]


def emptied(now: list[float], rules: Rules | None = None, **more: t.Any) -> Emptied:
    return Emptied(frozenset({"n1"}), rules or Rules(), lambda: now[0], **more)


def test_a_pod_that_a_budget_keeps_is_asked_again() -> None:
    now = [100.0]
    judge = emptied(now)
    seen = {"n1": [pod("app"), pod("elsewhere", node="n2")]}
    assert judge(seen).reason == "Due"
    assert [one["metadata"]["name"] for one in judge.due(judge.left(seen))] == ["app"]
    judge.refused["app"] = ("The disruption budget app needs 1 healthy pods", 100.0)
    kept = judge(seen)
    assert (kept.verdict, kept.code) == ("pending", "NODE-PDB")
    assert "team/app on n1 (The disruption budget app needs 1 healthy pods)" in kept.message
    now[0] += 5
    assert judge(seen).reason == "Due"
    ends = judge({"n1": [pod("app", **GOING)]})
    assert (ends.verdict, ends.code) == ("pending", "NODE-DRAIN")
    assert judge({"n1": []}).reason == "Drained"


def test_work_is_waited_for() -> None:
    judge = emptied([0.0], Rules("wait"))
    assert judge({"n1": [pod("job", gpus=1)]}).code == "NODE-DRAIN"
    assert judge({"n1": [pod("job", gpus=1), pod("app")]}).reason == "Due"
    assert judge({"n1": [pod("job", gpus=1, phase="Succeeded")]}).reason == "Drained"


def test_a_node_that_is_lost_ends_no_pod() -> None:
    seen = {"n1": [pod("app", **GOING)]}
    assert not emptied([0.0])(seen).is_ready
    assert emptied([0.0], lost=frozenset({"n1"}))(seen).reason == "Drained"


@pytest.mark.parametrize(
    ("toleration", "quoted"),
    [
        ({"operator": "Exists"}, "{operator: Exists}"),
        ({"operator": "Exists", "effect": "NoSchedule"}, "{operator: Exists, effect: NoSchedule}"),
        ({"key": "node.kubernetes.io/unschedulable"}, "{key: node.kubernetes.io/unschedulable}"),
        ({"operator": "Exists", "effect": "NoExecute"}, ""),
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, ""),
        ({"key": "node.kubernetes.io/unschedulable", "value": "x"}, ""),
        ({}, ""),
    ],
)
def test_what_a_cordon_does_not_keep_away(toleration: Data, quoted: str) -> None:
    one = pod("agent")
    one["spec"]["tolerations"] = [toleration]
    assert tolerates_cordon(one) == quoted


def tolerant(name: str, **more: t.Any) -> Data:
    one = pod(name, **more)
    return {**one, "spec": {**one["spec"], "tolerations": [{"operator": "Exists"}]}}


def test_a_pod_that_comes_back_is_sent_away_once_and_then_told_of() -> None:
    judge = emptied([0.0])
    assert judge({"n1": [tolerant("agent-1")]}).reason == "Due"
    seen = {"n1": [tolerant("agent-2")]}
    assert (judge(seen).reason, judge.due(judge.left(seen))) == ("Drained", [])
    (remark,) = judge.remarks(seen)
    assert (
        "team/agent-2 of ReplicaSet o came to n1 although that is cordoned: it tolerates {operator: Exists}"
        in remark
    )
    # One that does not tolerate the cordon was on its way before it, and goes like the others.
    assert judge({"n1": [tolerant("agent-2"), pod("late")]}).reason == "Due"


@pytest.mark.parametrize(
    ("created", "reason"),
    [
        ("2026-11-22T02:00:01Z", "Drained"),
        ("2026-11-22T02:00:00Z", "Drained"),
        ("2026-11-21T02:00:00Z", "Due"),
    ],
)
def test_the_next_run_knows_it_by_its_age(created: str, reason: str) -> None:
    judge = emptied([0.0], cordoned={"n1": "2026-11-22T02:00:00Z"})
    assert judge({"n1": [tolerant("agent", creationTimestamp=created)]}).reason == reason


@pytest.mark.parametrize("rules", [Rules("drain"), Rules("wait")])
def test_one_with_gpus_keeps_the_node_in_use(rules: Rules) -> None:
    judge = emptied([0.0], rules)
    judge({"n1": [pod("app")]})
    seen = {"n1": [tolerant("job", gpus=1)]}
    verdict = judge(seen)
    assert (verdict.verdict, verdict.code, judge.due(judge.left(seen)), judge.remarks(seen)) == (
        "pending",
        "NODE-RETURNS",
        [],
        [],
    )
    assert "team/job of ReplicaSet o came to n1" in verdict.message
    assert judge({"n1": [tolerant("job", gpus=1), pod("app", **GOING)]}).code == "NODE-DRAIN"


def machine(
    name: str, node: str = "", phase: str = "Running", hooks: list[Data] | None = None, **annotations: t.Any
) -> Data:
    spec: Data = {"lifecycleHooks": {"preDrain": hooks}} if hooks else {}
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": spec,
        "status": {"phase": phase, "nodeRef": {"name": node}},
    }


def test_who_goes_first() -> None:
    machines = [
        machine("a-busy", "n1"),
        machine("b-busier", "n2"),
        machine("c-idle", "n3"),
        machine("d-new", phase="Provisioning"),
        machine("e-marked", "n4", **MARKED),
    ]
    pods = [
        pod("1", gpus=1, node="n1"),
        pod("2", gpus=1, node="n2"),
        pod("3", gpus=1, node="n2"),
        pod("4", node="n3"),
        pod("5", node="n3"),
    ]
    order = [one["metadata"]["name"] for one in removal.victims(machines, 0, pods)]
    assert order == ["e-marked", "d-new", "c-idle", "a-busy", "b-busier"]
    assert [one["metadata"]["name"] for one in removal.victims(machines, 4, pods)] == ["e-marked"]
    assert removal.victims(machines, 7, pods) == []


def test_what_is_written_on_a_machine_that_may_go() -> None:
    other = {"name": "backup", "owner": "somebody"}
    assert removal.released(machine("m")) == {
        "metadata": {"annotations": {"machine.openshift.io/delete-machine": "true"}}
    }
    marked = machine("m", hooks=[removal.HOOK, other], **{"machine.openshift.io/delete-machine": "true"})
    assert removal.released(marked) == {"spec": {"lifecycleHooks": {"preDrain": [other]}}}
    assert removal.without_hook(machine("m", hooks=[other])) == {}


def test_our_hook_is_on_a_machine_as_the_template_has_it() -> None:
    other = {"name": "backup", "owner": "somebody"}
    assert removal.with_hook(machine("m", hooks=[other]), [removal.HOOK]) == {
        "spec": {"lifecycleHooks": {"preDrain": [other, removal.HOOK]}}
    }
    assert removal.with_hook(machine("m", hooks=[removal.HOOK]), [removal.HOOK]) == {}
    assert removal.with_hook(machine("m", hooks=[removal.HOOK]), []) == {
        "spec": {"lifecycleHooks": {"preDrain": []}}
    }
    assert removal.with_hook(machine("m"), []) == {}
