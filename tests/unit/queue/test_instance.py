# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The object Kueue of Red Hat's operator: what it says, when it is available, and what is refused."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import instance
from ansible_collections.accelerators.openshift.plugins.module_utils._queue.instance import Instance

JOBS: t.Final = Instance(("BatchJob",), "openshift-kueue-operator")


def kueue(*conditions: tuple[str, str, str, str]) -> dict[str, t.Any]:
    """Return the live object. conditions: type, status, reason and message of each."""
    keys = ("type", "status", "reason", "message")
    found = [dict(zip(keys, one, strict=True)) for one in conditions]
    return {**instance.build(JOBS), "status": {"conditions": found}}


def test_the_object_is_the_one_of_its_kind() -> None:
    assert instance.build(JOBS) == {
        "apiVersion": "kueue.openshift.io/v1",
        "kind": "Kueue",
        "metadata": {"name": "cluster"},
        "spec": {
            "managementState": "Managed",
            "config": {"integrations": {"frameworks": ["BatchJob"]}},
        },
    }


def test_the_frameworks_of_others_stay() -> None:
    theirs = instance.build(Instance(("Pod", "BatchJob"), "x"))
    wanted = Instance(("BatchJob", "RayJob"), "x")
    spec = instance.build(wanted, theirs)["spec"]
    assert spec["config"]["integrations"]["frameworks"] == ["Pod", "BatchJob", "RayJob"]


@pytest.mark.parametrize(
    ("frameworks", "said"),
    [
        pytest.param([], "gpu_policy_queue_operator_frameworks is empty", id="none"),
        pytest.param(["Pod", "Pod"], "gpu_policy_queue_operator_frameworks has Pod twice", id="twice"),
    ],
)
def test_wrong_frameworks_are_refused_with_their_path(frameworks: list[str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        instance.read(params(instance={"frameworks": frameworks, "namespace": "x"}))
    assert caught.value.code == "INPUT-VALUE"
    assert said in caught.value.message
    assert instance.read(params()) is None


def test_it_is_available_when_the_operator_says_so() -> None:
    live = kueue(("Available", "True", "AllReplicasReady", "All 1 replicas are ready"))
    assert instance.judge(live, JOBS).is_ready
    assert instance.degraded(live) == ""


@pytest.mark.parametrize(
    ("live", "code", "said"),
    [
        pytest.param(None, "QUEUE-NOT-AVAILABLE", "has not looked at it yet", id="absent"),
        pytest.param(kueue(), "QUEUE-NOT-AVAILABLE", "has not looked at it yet", id="new"),
        pytest.param(
            kueue(("Available", "False", "NotEnoughReplicas", "0/1 replicas are ready")),
            "QUEUE-NOT-AVAILABLE",
            "0/1 replicas are ready",
            id="starts",
        ),
        pytest.param(
            kueue(("Available", "False", "MissingDependency", "cert-manager is required but not installed")),
            "QUEUE-NO-CERT-MANAGER",
            "needs cert-manager",
            id="without cert-manager",
        ),
    ],
)
def test_until_then_it_says_what_is_missing(live: dict[str, t.Any] | None, code: str, said: str) -> None:
    found = instance.judge(live, JOBS)
    assert (found.verdict, found.code) == ("pending", code)
    assert said in found.message
    assert found.remedy.startswith("Run `")


def test_a_missing_cert_manager_fails_after_a_while_and_a_slow_start_does_not() -> None:
    now = [0.0]
    judge = instance.Judge(JOBS, lambda: now[0], grace=30.0)
    without = {"instance": [kueue(("Available", "False", "MissingDependency", ""))]}
    assert judge(without).verdict == "pending"
    now[0] = 40.0
    assert judge(without).verdict == "failed"
    slow = {"instance": [kueue(("Available", "False", "NotEnoughReplicas", ""))]}
    judge(slow)
    now[0] = 400.0
    assert judge(slow).verdict == "pending"


def test_a_kueue_that_lacks_the_operator_of_a_framework_is_told() -> None:
    live = kueue(
        ("Available", "True", "AllReplicasReady", ""),
        ("Degraded", "True", "MissingDependencies", "Please install the following: JobSet"),
    )
    assert instance.judge(live, JOBS).is_ready
    assert "MissingDependencies" in instance.degraded(live)
    assert "JobSet" in instance.degraded(live)
