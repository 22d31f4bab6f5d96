# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of a drain: which pods to evict now, and what it says while pods stay or come back."""

from __future__ import annotations

import typing as t

import pytest
from unit.nodes.builders import GOING, pod

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.drain_judge import (
    Emptied,
    Rules,
    tolerates_cordon,
)

Data = dict[str, t.Any]


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


def test_work_of_a_daemonset_is_waited_for_too_and_never_evicted() -> None:
    serves = {"n1": [pod("serve", owner="DaemonSet", gpus=1), pod("agent", owner="DaemonSet")]}
    judge = emptied([0.0], Rules("wait"))
    verdict = judge(serves)
    assert (verdict.code, judge.due(judge.left(serves))) == ("NODE-DRAIN", [])
    assert "team/serve on n1" in verdict.message
    assert "agent" not in verdict.message
    assert "set gpu_on_busy: drain" in verdict.remedy
    assert emptied([0.0], Rules("drain"))(serves).reason == "Drained"


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
    (remark,) = judge.warnings(seen)
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
    assert (verdict.verdict, verdict.code, judge.due(judge.left(seen)), judge.warnings(seen)) == (
        "pending",
        "NODE-RETURNS",
        [],
        [],
    )
    assert "team/job of ReplicaSet o came to n1" in verdict.message
    assert judge({"n1": [tolerant("job", gpus=1), pod("app", **GOING)]}).code == "NODE-DRAIN"
