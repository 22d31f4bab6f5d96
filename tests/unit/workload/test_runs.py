"""Runs that made validation pods: which are over, and which live."""

from __future__ import annotations

import datetime
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import runs

OURS: t.Final = Run("root", "bastion", "here", 1, "1")
THEIRS: t.Final = Run("eva", "laptop", "there", 2, "2", "12")
KILLED: t.Final = Run("root", "bastion", "here", 3, "3")
NOW: t.Final = datetime.datetime(2026, 11, 22, 12, 0, tzinfo=datetime.UTC)


def pod(run: Run | None, minutes: float = 1) -> KubeObject:
    """Return a pod that this run made so many minutes ago, with 900 s to live."""
    made = (NOW - datetime.timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    annotations = {runs.ANNOTATION: run.id} if run else {}
    return {
        "metadata": {"name": "p", "annotations": annotations, "creationTimestamp": made},
        "spec": {"activeDeadlineSeconds": 900},
    }


def lease(run: Run, seconds: float) -> KubeObject:
    renewed = (NOW - datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"spec": {"holderIdentity": run.id, "renewTime": renewed}}


@pytest.mark.parametrize(
    ("found", "held", "is_over"),
    [
        (pod(OURS), None, True),
        (pod(KILLED), None, True),
        (pod(None), None, True),
        (pod(THEIRS), None, False),
        (pod(THEIRS), lease(THEIRS, 5), False),
        (pod(THEIRS), lease(THEIRS, 3600), False),
        (pod(THEIRS, minutes=60), lease(THEIRS, 5), False),
        (pod(THEIRS), lease(OURS, 5), False),
        (pod(THEIRS, minutes=14), None, False),
        (pod(THEIRS, minutes=16), None, True),
    ],
)
def test_pods_of_a_run_that_lives_are_not_left_over(
    found: KubeObject, held: KubeObject | None, is_over: bool
) -> None:
    known = runs.Runs(OURS, lambda run: run == KILLED, held, NOW, lambda run: run != THEIRS.id)
    assert known.is_over(found) is is_over


def test_a_pod_is_left_over_once_its_run_was_watched_and_has_ended() -> None:
    known = runs.Runs(OURS, lambda run: False, lease(THEIRS, -3600), NOW, lambda run: run == THEIRS.id)
    assert known.is_over(pod(THEIRS))


def test_a_run_is_shown_by_its_user_and_host() -> None:
    assert runs.shown(pod(THEIRS)) == "the validation of eva@laptop (pid 2, AWX job 12)"
    assert runs.shown(pod(None)) == "another validation"
