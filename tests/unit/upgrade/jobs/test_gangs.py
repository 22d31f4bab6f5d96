# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gangs: which pods belong together, and which budgets keep a part of them."""

from __future__ import annotations

import pytest
from unit.upgrade.in_memory.builders import gpu_pod
from unit.upgrade.in_memory.kueue import budget, member

from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.jobs import gangs

INDEX = "batch.kubernetes.io/job-completion-index"


@pytest.mark.parametrize(
    ("labels", "object_name"),
    [
        ({"jobset.sigs.k8s.io/jobset-name": "a", INDEX: "0", "job-name": "a-w-0"}, "JobSet team/a"),
        (
            {"leaderworkerset.sigs.k8s.io/name": "l", "leaderworkerset.sigs.k8s.io/group-index": "1"},
            "LeaderWorkerSet team/l-1",
        ),
        ({"training.kubeflow.org/job-name": "p"}, "training job team/p"),
        ({"kueue.x-k8s.io/pod-group-name": "g"}, "pod group team/g"),
        ({"scheduling.x-k8s.io/pod-group": "g"}, "pod group team/g"),
        ({INDEX: "0", "batch.kubernetes.io/job-name": "j"}, "Job team/j"),
    ],
)
def test_labels_name_the_gang(labels: dict[str, str], object_name: str) -> None:
    (found,) = gangs.find([member("one", "n1", **labels), member("two", "n2", **labels)])
    assert (found.object_name, found.nodes) == (object_name, ["n1", "n2"])
    assert found.line == f"{object_name} ends whole or not at all: 2 pods on n1, n2"


def test_pods_that_work_alone_are_no_gang() -> None:
    job = {"batch.kubernetes.io/job-name": "many"}
    assert gangs.find([member("one", "n1", **job), member("two", "n2", **job)]) == []
    assert gangs.find([member("alone", "n1"), gpu_pod("other", "n1")]) == []


def test_an_annotation_of_older_releases_counts() -> None:
    pods = [member(one, "n1", **{"job-name": "j"}) for one in ("one", "two")]
    for pod in pods:
        pod["metadata"]["annotations"] = {INDEX: "0"}
    assert [one.object_name for one in gangs.find(pods)] == ["Job team/j"]


def test_ended_and_waiting_pods_do_not_count() -> None:
    ended, waiting, leaving = member("b", "n1"), member("c", ""), member("d", "n1")
    ended["status"]["phase"] = "Succeeded"
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert gangs.find([member("a", "n1"), ended, waiting, leaving]) == []


def test_a_gang_is_touched_where_one_of_its_pods_has_devices() -> None:
    found = gangs.find([member("worker", "n1"), member("launcher", "n2", gpus="")])
    assert gangs.touched(found, ["n1"]) == found
    assert gangs.touched(found, ["n2"]) == []
    # The upgrade controller evicts a pod that names a GPU with the number 0.
    found = gangs.find([member("worker", "n1"), member("launcher", "n2", gpus="0")])
    assert gangs.touched(found, ["n2"]) == found


def test_a_budget_has_to_allow_the_end_of_all_pods_at_once() -> None:
    pods = [member("one", "n1"), member("two", "n2")]
    marks = {"jobset.sigs.k8s.io/jobset-name": "train"}
    (line,) = gangs.kept(pods, [budget(1, **marks)])
    assert line == "PodDisruptionBudget team/keep allows the end of 1 of 2 pods"
    assert gangs.kept(pods, [budget(2, **marks), budget(0, app="other")]) == []
    assert len(gangs.kept(pods, [budget(1)])) == 1, "an empty selector covers the whole namespace"
    elsewhere = budget(0)
    elsewhere["metadata"]["namespace"] = "others"
    assert gangs.kept(pods, [elsewhere]) == []
