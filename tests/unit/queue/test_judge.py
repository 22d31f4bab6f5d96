# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which queues are active, which trouble passes, and what their result says."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock
from unit.queue.builders import GPU, params, queue, share, workload

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import kueue
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import judge, options

Data = dict[str, t.Any]
FINISHED: t.Final = {"type": "Finished", "status": "True"}


def wanted(**given: t.Any) -> options.Queue:
    (found,) = options.read(params(queue("research", share(gpus=4), **given)))
    return found


def live(reason: str = "Ready", generation: int = 1, **spec: t.Any) -> Data:
    condition = {
        "type": "Active",
        "status": "True" if reason == "Ready" else "False",
        "reason": reason,
        "message": "text",
        "observedGeneration": 1,
    }
    metadata = {"name": "research", "generation": generation}
    return {"metadata": metadata, "spec": spec, "status": {"conditions": [condition]}}


def local(status: str = "True") -> Data:
    condition = {"type": "Active", "status": status, "message": "why"}
    metadata = {"name": "research", "namespace": "team-a"}
    return {"metadata": metadata, "status": {"conditions": [condition]}}


@pytest.mark.parametrize(
    ("found", "verdict", "code"),
    [
        pytest.param(live(), "ready", "", id="active"),
        pytest.param(live(generation=2), "pending", "QUEUE-PENDING", id="Kueue saw an older one"),
        pytest.param({}, "pending", "QUEUE-PENDING", id="not there"),
        pytest.param(live("FlavorNotFound"), "pending", "QUEUE-NOT-ACTIVE", id="no flavor"),
        pytest.param(live("AdmissionCheckInactive"), "pending", "QUEUE-NOT-ACTIVE", id="admission check"),
        pytest.param(live("Stopped", stopPolicy="Hold"), "ready", "", id="somebody stopped it"),
    ],
)
def test_a_cluster_queue(found: Data, verdict: str, code: str) -> None:
    result = judge.cluster_queue(wanted(), found)
    assert (result.verdict, result.code) == (verdict, code)


def test_a_missing_flavor_fails_after_a_while() -> None:
    clock = FakeClock()
    judged = judge.Judge([wanted()], Grace(clock, 15.0, judge.PASSING))
    snapshot = {"queues": [live("FlavorNotFound")], "local": [local()]}
    assert judged(snapshot).verdict == "pending"
    clock.seconds += 15
    assert judged(snapshot).verdict == "failed"
    assert "resourceflavors" in judged(snapshot).remedy


def test_a_local_queue_is_awaited_unless_its_queue_is_stopped() -> None:
    judged = judge.Judge([wanted()], Grace(FakeClock(), 15.0, judge.PASSING))
    assert judged({"queues": [live()], "local": [local()]}).is_ready
    waiting = judged({"queues": [live()], "local": [local("False")]})
    assert waiting.message == "LocalQueue team-a/research is not active: why"
    other = {**local(), "metadata": {"name": "research", "namespace": "team-b"}}
    assert not judged({"queues": [live()], "local": [other]}).is_ready
    assert judged({"queues": [live("Stopped", stopPolicy="Hold")], "local": [local("False")]}).is_ready


def used(number: str) -> Data:
    found = live()
    usage = {"name": "training", "resources": [{"name": GPU, "total": number}]}
    found["status"] |= {"flavorsUsage": [usage], "pendingWorkloads": 2, "admittedWorkloads": 1}
    return found


def test_the_result_of_a_queue() -> None:
    facts = judge.summarize(wanted(), used("3"))
    assert facts == {
        "name": "research",
        "cohort": "",
        "active": True,
        "namespaces": ["team-a"],
        "local_queue": "research",
        "pending": 2,
        "admitted": 1,
        "pools": [{"name": "training", "resources": {GPU: {"quota": 4, "used": "3"}}}],
    }


def test_a_queue_that_uses_more_than_it_may() -> None:
    assert not judge.overused(wanted(), used("4"))
    (text,) = judge.overused(wanted(), used("5"))
    assert "use 5 nvidia.com/gpu of pool training, and it may use 4" in text
    assert not judge.overused(wanted(cohort="gpus"), used("5")), "it borrows without a limit"


def test_who_holds_quota() -> None:
    held = workload("job-a", "research")
    assert kueue.holder(held) == "research"
    assert kueue.holder({**held, "status": {}}) == ""
    assert kueue.holder({"status": {**held["status"], "conditions": [FINISHED]}}) == ""
    waiting = judge.drained({"research"}, {"workloads": [held]})
    assert waiting.code == "QUEUE-BUSY"
    assert waiting.details == ("team-a/job-a",)
    assert judge.drained({"other"}, {"workloads": [held]}).is_ready


def test_a_node_of_two_flavors() -> None:
    node = {"metadata": {"labels": {"a": "1", "b": "2"}}}
    flavors = {"one": {"a": "1"}, "two": {"b": "2"}, "three": {"a": "3"}, "none": {}}
    assert judge.two_flavors(node, flavors) == ["one", "two"]
    assert judge.two_flavors({"metadata": {"labels": {"a": "1"}}}, flavors) == []


def of_others(flavor: str, number: str, key: str = GPU) -> Data:
    flavors = [{"name": flavor, "resources": [{"name": key, "nominalQuota": number}]}]
    spec = {"resourceGroups": [{"coveredResources": [key], "flavors": flavors}]}
    return {"metadata": {"name": "theirs"}, "spec": spec}


@pytest.mark.parametrize(
    ("other", "warns"),
    [
        (of_others("training", "13"), True),
        (of_others("all-gpus", "13"), True),
        (of_others("all-gpus", "12"), False),
        (of_others("elsewhere", "99"), False),
        (of_others("all-gpus", "99", "cpu"), False),
        ({"metadata": {"name": "theirs"}, "spec": {}}, False),
    ],
)
def test_queues_of_others_on_the_same_nodes_are_added_up(other: Data, warns: bool) -> None:
    """Training has 16 GPUs, of which our queue gives 4 away."""
    found = judge.crowded([wanted()], [other], {"all-gpus": {"training"}, "elsewhere": set()})
    assert bool(found) is warns
    assert all("theirs (13)" in text and "have 16" in text for text in found)
