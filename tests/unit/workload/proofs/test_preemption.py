# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof of priorities: where it is safe, its pods, and what has ended."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest
from unit.engine import FakeClock
from unit.workload.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.options import (
    PreemptionProofParams,
    ProveParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs import preemption, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs.preemption import Place

GPU: t.Final = "nvidia.com/gpu"
HIGH: t.Final = 100000
POOL: t.Final = PreemptionProofParams(
    name="training",
    node_selector={"accelerators.openshift/pool": "training"},
    tolerations=[{"key": GPU, "operator": "Exists"}],
    resource=GPU,
    low="gpu-batch",
    high="gpu-training",
    image=None,
)


def node(name: str = "n", gpus: int = 4, ready: str = "True", **spec: t.Any) -> KubeObject:
    status = {"allocatable": {GPU: str(gpus)}, "conditions": [{"type": "Ready", "status": ready}]}
    labels = {"kubernetes.io/hostname": f"{name}.host", **POOL.node_selector}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def pod(name: str = "p", gpus: int = 1, priority: int | None = 0, on: str = "n", **more: t.Any) -> KubeObject:
    limits = {GPU: str(gpus)} if gpus else {}
    spec = {"nodeName": on, "priority": priority, "containers": [{"resources": {"limits": limits}}]}
    metadata = {"name": name, "namespace": "team", "uid": name, **more.pop("metadata", {})}
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}, **more}


def test_a_node_with_two_free_devices_is_a_place() -> None:
    strong = pod(priority=HIGH, gpus=2)
    found = preemption.find_place([node()], [strong, pod("cpu", gpus=0)], GPU, HIGH)
    assert found == Place("n", "n.host", 2)


@pytest.mark.parametrize(
    ("nodes", "pods", "why"),
    [
        ([], [], "no node of the pool is ready and schedulable"),
        ([node(unschedulable=True), node("m", ready="False")], [], "no node of the pool is ready"),
        (
            [node()],
            [pod("work", priority=HIGH - 1)],
            "pod team/work on node n holds nvidia.com/gpu",
        ),
        ([node()], [pod("plain", priority=None)], "pod team/plain on node n"),
        ([node()], [pod(priority=HIGH, gpus=3)], "node n has 1 of the 2 free nvidia.com/gpu"),
    ],
)
def test_where_pods_of_others_could_end_there_is_no_place(
    nodes: list[KubeObject], pods: list[KubeObject], why: str
) -> None:
    found = preemption.find_place(nodes, pods, GPU, HIGH)
    assert isinstance(found, str)
    assert found.startswith(why)


def test_a_pod_that_has_ended_or_is_elsewhere_holds_nothing() -> None:
    ended = pod("ended", status={"phase": "Succeeded"})
    assert preemption.find_place([node()], [ended, pod(on="m")], GPU, HIGH) == Place("n", "n.host", 4)


def test_the_pods_fill_the_node_and_ask_for_one_more() -> None:
    made = [
        preemption.pod(one, POOL, Place("n", "n.host", 4), "gpu-validation", "abc", 90)
        for one in (preemption.LOW, preemption.KEPT, preemption.HIGH)
    ]
    asked = [one["spec"]["containers"][0]["resources"]["limits"][GPU] for one in made]
    assert asked == ["1", "3", "1"]
    classes = [one["spec"]["priorityClassName"] for one in made]
    assert classes == ["gpu-batch", "gpu-training", "gpu-training"]
    assert {one["spec"]["activeDeadlineSeconds"] for one in made} == {90}
    assert {one["spec"]["nodeSelector"]["kubernetes.io/hostname"] for one in made} == {"n.host"}


def test_the_pods_of_the_proof_are_not_those_of_others() -> None:
    ours = pod(metadata={"labels": {preemption.LABEL: "abc"}})
    assert preemption.weak([ours, pod("work")], GPU, HIGH) == ["team/work"]


def test_the_judge_gives_up_after_its_grace() -> None:
    clock = FakeClock()
    judge = preemption.Scheduled(["a", "b"], clock, 10.0)
    assert not judge({"pods": [pod("a"), pod("b", on="")]}).is_ready
    clock.seconds += 11
    assert judge({"pods": [pod("a"), pod("b", on="")]}).is_ready
    assert judge.late == ["b"]
    assert judge({"pods": [pod("a"), pod("b")]}).is_ready
    assert judge.late == []


def test_only_pods_that_had_not_finished_are_lost() -> None:
    going = pod("going", metadata={"deletionTimestamp": "2026-11-23T10:00:00Z"})
    done = pod("done", status={"phase": "Succeeded"})
    before = [pod("low"), pod("stays"), pod("going"), pod("gone"), done]
    assert preemption.lost(before, [pod("stays"), going], "low") == ["team/going", "team/gone"]


def test_the_failure_names_the_classes() -> None:
    found = preemption.failure(POOL, "nothing ended")
    assert (found.code, found.message) == ("POLICY-PREEMPTION", "Pool training: nothing ended.")
    assert "oc get priorityclass gpu-batch gpu-training" in found.remedy


def test_an_image_that_no_kubelet_can_parse_is_refused_at_once() -> None:
    prove = ProveParams([], [replace(POOL, image="https://r.io/x")])
    with pytest.raises(InputError, match="has a scheme"):
        steps.present(t.cast(t.Any, None), replace(params(node_selector=None), prove=prove))
