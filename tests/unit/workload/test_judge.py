"""Verdict on validation pods: when the wait is over, of one pool or several, and what is wrong."""

from __future__ import annotations

import typing as t

import pytest
from unit.workload.builders import ended, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import WaitTimeoutError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import judge
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    Settings,
)


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


PASSED = (
    "GPU 0: Tesla T4 (UUID: GPU-{uuid})\n[Vector addition of 50000 elements]\n"
    "CUDA kernel launch with 196 blocks of 256 threads\nTest PASSED\nDone\n"
)


def results(*logs: tuple[KubeObject, str]) -> list[KubeObject]:
    return [judge.pod_result(pod, Settings("vectoradd"), log) for pod, log in logs]


def test_distinct_devices_are_proof() -> None:
    found = results((ended(), PASSED.format(uuid="a")), (ended("q"), PASSED.format(uuid="b")))
    assert judge.complaints(node(), found) == []
    facts = judge.summarize([node()], [node()], {"gpu-0": found}, params())
    assert (facts["due"], facts["nodes"][0]["validated"], facts["nodes"][0]["ran"]) == (["gpu-0"], 2, True)


def test_the_same_device_twice_is_no_proof_unless_it_is_shared() -> None:
    found = results((ended(), PASSED.format(uuid="a")), (ended("q"), PASSED.format(uuid="a")))
    assert [part.code for part in judge.complaints(node(), found)] == ["WORK-SAME-DEVICE"]
    for device in ("gpu", "mig-1g.5gb"):
        shared = {f"nvidia.com/{device}.sharing-strategy": "time-slicing"}
        assert judge.complaints(node(labels=shared), found) == []


@pytest.mark.parametrize(
    ("pod", "log", "words"),
    [
        (ended(phase="Failed", code=7), "boom", "exit code 7: boom"),
        (ended(), "nothing useful", "does not say that the test passed"),
        (
            ended(phase="Failed", code=None, reason="UnexpectedAdmissionError"),
            "",
            "refused by the node (UnexpectedAdmissionError)",
        ),
        (ended(phase="Pending", code=None), "", "still Pending when another pod failed"),
        (
            ended(phase="Failed", code=1),
            "CUDA error: system not yet initialized",
            "the NVSwitch fabric is not up",
        ),
    ],
)
def test_failures(pod: KubeObject, log: str, words: str) -> None:
    (part,) = judge.complaints(node(), results((pod, log)))
    assert part.code == "WORK-FAILED"
    assert words in part.message
    error = judge.failure([part, part], {"workload": {}})
    assert (error.code, "(and 1 more)" in error.message) == ("WORK-FAILED", True)


def test_the_log_tail_is_short() -> None:
    (found,) = results((ended(phase="Failed", code=1), "\n".join(map(str, range(50)))))
    assert found["log_tail"] == [str(number) for number in range(30, 50)]


def test_a_node_that_did_not_run_counts_with_what_it_offers() -> None:
    facts = judge.summarize([node()], [], {}, params())
    assert (
        facts["nodes"][0] | {"resources": {"nvidia.com/gpu": 2}, "validated": 2, "ran": False}
        == facts["nodes"][0]
    )


def test_results_belong_to_their_node() -> None:
    pods, logs = [ended(), ended("q", host="host-gpu-1")], [PASSED.format(uuid="a"), PASSED.format(uuid="b")]
    found = judge.by_node([node(), node("gpu-1")], pods, logs, Settings("vectoradd"))
    assert [(name, [one["name"] for one in entries]) for name, entries in found.items()] == [
        ("gpu-0", ["p"]),
        ("gpu-1", ["q"]),
    ]


def test_a_pod_that_never_ran_has_no_log() -> None:
    assert judge.has_log(ended())
    assert not judge.has_log(ended(phase="Failed", code=None, reason="UnexpectedAdmissionError"))
    assert not judge.has_log(ended(phase="Pending"))


Pod = dict[str, t.Any]


def running(name: str) -> Pod:
    return {**ended(name), "status": {"phase": "Running"}}


def judges(*made: t.Sequence[str]) -> judge.Judges:
    return judge.Judges(made, 60, lambda: 0.0)


def test_it_is_ready_when_the_last_pool_has_ended_and_counts_the_pods_of_all() -> None:
    pools = judges(["a-0", "a-1"], ["b-0"])
    first = pools({"pods": [ended("a-0"), running("a-1"), ended("b-0")]})
    assert (first.verdict, first.message) == ("pending", "2 of 3 pods have ended.")
    assert pools({"pods": [ended("a-0"), ended("a-1"), ended("b-0")]}).is_ready
    assert pools.errors == [None, None]
    assert [[pod["metadata"]["name"] for pod in pods] for pods in pools.ended] == [["a-0", "a-1"], ["b-0"]]


def test_a_pool_that_has_failed_does_not_end_the_wait_of_the_other() -> None:
    pools = judges(["a-0"], ["b-0"])
    assert pools({"pods": [running("b-0")]}).verdict == "pending"
    assert pools({"pods": [ended("a-0"), ended("b-0")]}).is_ready
    lost, fine = pools.errors
    assert lost is not None
    assert (lost.code, fine) == ("WORK-GONE", None)


def test_a_single_pool_fails_the_wait_itself() -> None:
    assert judges(["a-0"])({"pods": []}).is_failed


def test_at_the_deadline_only_the_pools_that_have_not_ended_fail() -> None:
    pools = judges(["a-0"], ["b-0"])
    pools({"pods": [ended("a-0"), running("b-0")]})
    pools.give_up(WaitTimeoutError("WORK-RUNNING", "validation: not ready after 9 s; last seen: x"))
    fine, late = pools.errors
    assert fine is None
    assert late is not None
    assert late.message == "validation: not ready after 9 s; last seen: 0 of 1 pod has ended."
