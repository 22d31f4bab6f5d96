"""Verdict on validation pods: when the wait is over, and how."""

from __future__ import annotations

import typing as t

import pytest
from unit.workload.builders import ended

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import judge


def judged(pods: list[KubeObject], wanted: int, after: float = 0.0) -> Readiness:
    moments = iter([0.0, after])
    wait = judge.Judge(["p", "q"][:wanted], 60, lambda: next(moments))
    return (wait({"pods": pods}), wait({"pods": pods}))[1]


def waiting(**status: t.Any) -> KubeObject:
    return ended(phase="Pending", code=None, **status)


UNSCHEDULABLE = {
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/7 nodes are available: 7 Insufficient nvidia.com/gpu.",
        }
    ]
}


NO_IMAGE = {
    "containerStatuses": [
        {
            "name": "benchmark",
            "restartCount": 0,
            "state": {"waiting": {"reason": "ImagePullBackOff", "message": "denied"}},
        }
    ]
}


ROOT = {
    "containerStatuses": [
        {
            "name": "benchmark",
            "restartCount": 0,
            "state": {
                "waiting": {"reason": "CreateContainerConfigError", "message": "image will run as root"}
            },
        }
    ]
}


@pytest.mark.parametrize(
    ("pods", "wanted", "early", "late", "code"),
    [
        ([ended(), ended("q")], 2, "ready", "ready", ""),
        ([ended()], 2, "failed", "failed", "WORK-GONE"),
        ([], 2, "failed", "failed", "WORK-GONE"),
        ([ended(), ended("q", "Running", None)], 2, "pending", "pending", "WORK-RUNNING"),
        (
            [ended(phase="Failed", code=1), ended("q", "Running", None)],
            2,
            "pending",
            "pending",
            "WORK-RUNNING",
        ),
        ([ended(phase="Failed", code=1), ended("q", "Pending", None)], 2, "ready", "ready", ""),
        ([waiting(**UNSCHEDULABLE)], 1, "pending", "failed", "WORK-UNSCHEDULABLE"),
        ([waiting(**NO_IMAGE)], 1, "pending", "failed", "WORK-IMAGE"),
        ([waiting(**ROOT)], 1, "pending", "failed", "WORK-CONTAINER"),
    ],
)
def test_when_the_wait_is_over(pods: list[KubeObject], wanted: int, early: str, late: str, code: str) -> None:
    assert judged(pods, wanted).verdict == early
    found = judged(pods, wanted, after=61)
    assert (found.verdict, found.code) == (late, code)


def test_a_pod_that_somebody_deleted_is_named_at_once() -> None:
    found = judged([ended()], 2)
    assert found.message == "1 of 2 pods gone before the result was read: q."
    assert found.remedy.startswith("Run the playbook again")
    assert "0 of 1 pod has ended" in judged([waiting()], 1).message


def test_the_scheduler_is_quoted() -> None:
    assert "Insufficient nvidia.com/gpu" in judged([waiting(**UNSCHEDULABLE)], 1, after=61).message


def test_a_fresh_namespace_needs_its_account() -> None:
    assert judge.judge_account({"accounts": []}).code == "WORK-NO-ACCOUNT"
    assert judge.judge_account({"accounts": [{}]}).is_ready
