# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kueue at a removal: it goes with its queues, and stays for queues of others and Workloads that go on."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import FakeServer
from unit.removal.builders import Data, made, theirs
from unit.removal.test_steps import check, server

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind
from ansible_collections.accelerators.openshift.plugins.module_utils._removal import queues

VERSION: t.Final = "kueue.x-k8s.io/v1beta2"
INSTANCE: t.Final = made("Kueue", "kueue.openshift.io/v1", "cluster")
THEIR_INSTANCE: t.Final = theirs("Kueue", "kueue.openshift.io/v1", "cluster")
PLACE: t.Final = "openshift-kueue-operator"
OPERATOR: t.Final = made("Subscription", "operators.coreos.com/v1alpha1", "kueue-operator", PLACE)
KINDS: t.Final = (
    Kind("kueue.openshift.io/v1", "Kueue", "kueues", False),
    Kind(VERSION, "ClusterQueue", "clusterqueues", False),
    Kind(VERSION, "Workload", "workloads"),
)
PARTS: t.Final = ["gpu_policy"]


def queue(name: str, *pools: str, is_ours: bool = True) -> Data:
    make = made if is_ours else theirs
    flavors = [{"name": one} for one in pools]
    return {**make("ClusterQueue", VERSION, name), "spec": {"resourceGroups": [{"flavors": flavors}]}}


def workload(name: str, of: str = "", **status: t.Any) -> Data:
    admission = {"admission": {"clusterQueue": of}} if of else {}
    return {**made("Workload", VERSION, name, "team-a", labels={}), "status": {**admission, **status}}


FINISHED: t.Final = [{"type": "Finished", "status": "True"}]


def with_kueue(*objects: Data) -> FakeServer:
    found = server()
    for kind in KINDS:
        found.served[kind.api_version, kind.plural] = kind
    for one in (INSTANCE, OPERATOR, *objects):
        found.put(one)
    return found


def test_kueue_goes_with_the_queues_of_the_pools() -> None:
    on = with_kueue(queue("research", "training"), workload("done", conditions=FINISHED))
    found = check(on, parts=PARTS)
    assert found["stays"] == []
    assert "the Red Hat build of Kueue (Kueue cluster)" in found["removes"]


def test_a_queue_of_the_list_goes_whatever_it_gives_away() -> None:
    mixed = with_kueue(queue("mixed", "training", "web"))
    assert check(mixed, parts=PARTS, queues=["mixed"])["stays"] == []
    (stay,) = check(mixed, parts=PARTS)["stays"]
    assert stay["needed_by"] == ["ClusterQueue mixed"]


@pytest.mark.parametrize(
    ("one", "needed_by"),
    [
        pytest.param(
            queue("theirs", "training", is_ours=False),
            "ClusterQueue theirs (made by Argo CD (gitops))",
            id="queue of others",
        ),
        pytest.param(queue("web", "web"), "ClusterQueue web", id="queue of another pool"),
        pytest.param(workload("waits"), "1 Workload that has not ended (team-a/waits)", id="workload"),
    ],
)
def test_kueue_stays_for_others(one: Data, needed_by: str) -> None:
    found = check(with_kueue(one), parts=PARTS)
    (stay,) = found["stays"]
    assert (stay["part"], stay["keeps"], stay["needed_by"]) == ("gpu_policy", "all", [needed_by])
    assert stay["message"] == f"The Red Hat build of Kueue stays. It is needed by {needed_by}."
    assert not [line for line in found["removes"] if "Kueue" in line]


def test_workloads_that_the_removal_waits_for_do_not_keep_kueue() -> None:
    on = with_kueue(queue("research", "training"), workload("runs", of="research"))
    assert check(on, parts=PARTS)["stays"]
    assert check(on, parts=PARTS, on_busy="wait")["stays"] == []


def test_the_operator_stays_for_the_object_of_others() -> None:
    on = with_kueue()
    on.put(THEIR_INSTANCE)
    (stay,) = check(on, parts=PARTS)["stays"]
    assert (stay["keeps"], stay["what"]) == ("operator", "the operator of the Red Hat build of Kueue")


def test_a_run_without_the_operator_does_not_look_at_kueue() -> None:
    on = with_kueue(queue("theirs", "training", is_ours=False))
    assert check(on)["stays"] == []
    assert not [path for _method, path, _query in on.requests if "kueue" in path]


def test_many_workloads_are_counted() -> None:
    (text,) = queues.needed_by([], [workload(f"job-{index}") for index in range(7)], ())
    assert text.startswith("7 Workloads that have not ended (team-a/job-0, ")
    assert text.endswith("team-a/job-4, …)")
