"""The judge of several pools in one wait: each ends, fails or runs out of time by itself."""

from __future__ import annotations

import typing as t

from unit.workload.builders import ended

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import WaitTimeoutError
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.judges import Judges

Pod = dict[str, t.Any]


def running(name: str) -> Pod:
    return {**ended(name), "status": {"phase": "Running"}}


def judges(*made: t.Sequence[str]) -> Judges:
    return Judges(made, 60, lambda: 0.0)


def test_it_is_ready_when_the_last_pool_has_ended_and_counts_the_pods_of_all() -> None:
    judge = judges(["a-0", "a-1"], ["b-0"])
    first = judge({"pods": [ended("a-0"), running("a-1"), ended("b-0")]})
    assert (first.verdict, first.message) == ("pending", "2 of 3 pods have ended.")
    assert judge({"pods": [ended("a-0"), ended("a-1"), ended("b-0")]}).is_ready
    assert judge.errors == [None, None]
    assert [[pod["metadata"]["name"] for pod in pods] for pods in judge.ended] == [["a-0", "a-1"], ["b-0"]]


def test_a_pool_that_has_failed_does_not_end_the_wait_of_the_other() -> None:
    judge = judges(["a-0"], ["b-0"])
    assert judge({"pods": [running("b-0")]}).verdict == "pending"
    assert judge({"pods": [ended("a-0"), ended("b-0")]}).is_ready
    lost, fine = judge.errors
    assert lost is not None
    assert (lost.code, fine) == ("WORK-GONE", None)


def test_a_single_pool_fails_the_wait_itself() -> None:
    assert judges(["a-0"])({"pods": []}).is_failed


def test_at_the_deadline_only_the_pools_that_have_not_ended_fail() -> None:
    judge = judges(["a-0"], ["b-0"])
    judge({"pods": [ended("a-0"), running("b-0")]})
    judge.give_up(WaitTimeoutError("WORK-RUNNING", "validation: not ready after 9 s; last seen: x"))
    fine, late = judge.errors
    assert fine is None
    assert late is not None
    assert late.message == "validation: not ready after 9 s; last seen: 0 of 1 pod has ended."
