# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What proves that pods share GPUs: the node, pods that run together, their devices, and one pod too many."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest
from unit.engine import FakeClock
from unit.workload.builders import MARK, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import pods as workload_pods
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.options import (
    SharingProofParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs import (
    sharing_proof as proof,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs.sharing_proof import (
    Place,
    Refused,
    Shares,
    Stop,
    Together,
)

GPU: t.Final = "nvidia.com/gpu"
PARTS: t.Final = ("nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb")
POOL: t.Final = SharingProofParams(
    name="inference",
    node_selector={"pool": "a"},
    tolerations=[],
    resources=[GPU],
    replicas=2,
    image=None,
    claims=None,
)
PARAMS: t.Final = params(node_selector=None, wait_timeout=900)


def ready_node(**more: t.Any) -> KubeObject:
    found = node(**more)
    found["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    return found


def pod(object_name: str = "p", status: str = "Running", **more: t.Any) -> KubeObject:
    """Return a pod of a proof. more: fields of its status."""
    found: KubeObject = {
        "metadata": {"name": object_name, "namespace": "gpu-validation"},
        "spec": {"nodeSelector": {"kubernetes.io/hostname": "host-gpu-0"}},
        "status": {"phase": status, **more},
    }
    return found


def refused(object_name: str, text: str) -> KubeObject:
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}
    return pod(object_name, "Pending", conditions=[said])


def test_a_node_has_its_shares_or_a_reason() -> None:
    assert proof.shares(ready_node(), POOL) == {GPU: 2}
    assert "offers no nvidia.com/mig-1g.5gb" in proof.shares(ready_node(), replace(POOL, resources=[*PARTS]))
    assert "not ready" in proof.shares(node(), POOL)
    cordoned = {**ready_node(), "spec": {"unschedulable": True}}
    assert "not schedulable" in proof.shares(cordoned, POOL)


def test_a_proof_holds_until_sharing_driver_or_devices_change() -> None:
    place = Place(ready_node(), {GPU: 2})
    found = proof.key(POOL, place)
    assert found == proof.key(POOL, Place(ready_node(name="gpu-9", boot="b2"), {GPU: 2}))
    driver = ready_node(labels={"nvidia.com/cuda.driver-version.full": "600.1"})
    others = [
        proof.key(replace(POOL, replicas=4), place),
        proof.key(POOL, Place(place.node, {GPU: 4})),
        proof.key(POOL, Place(driver, {GPU: 2})),
        proof.key(POOL, Place(ready_node(labels={"nvidia.com/gpu.product": "Tesla-T4"}), {GPU: 2})),
    ]
    assert found not in others
    assert len(set(others)) == 4


def test_there_is_a_pod_for_each_share_and_one_more_for_each_resource() -> None:
    place = Place(ready_node(), {PARTS[0]: 2, PARTS[1]: 1})
    given = proof.workload(PARAMS, POOL, place.shares, 900)
    made = workload_pods.pods(given, [place.node], MARK)
    more = proof.one_more(given, place, MARK)
    assert [proof.resource_of(one, place) for one in made] == [PARTS[0], PARTS[0], PARTS[1]]
    assert {resource: proof.resource_of(one, place) for resource, one in more.items()} == {
        one: one for one in PARTS
    }
    titles = [one["metadata"]["name"] for one in [*made, *more.values()]]
    assert len(set(titles)) == 5
    for one in [*made, *more.values()]:
        assert one["spec"]["nodeSelector"]["kubernetes.io/hostname"] == "host-gpu-0"
        assert one["spec"]["activeDeadlineSeconds"] == 900
        assert one["metadata"]["annotations"]["accelerators.openshift/run-id"] == MARK.run
        assert "sleep 900" in one["spec"]["containers"][0]["command"][2]


def test_pods_have_to_run_together_for_a_while() -> None:
    clock = FakeClock()
    judge = Together(["a", "b"], [GPU], clock, 3.0, 60.0)
    assert not judge({"pods": [pod("a"), pod("b", "Pending")]}).is_ready
    assert not judge({"pods": [pod("a"), pod("b")]}).is_ready
    clock.seconds += 3
    assert judge({"pods": [pod("a"), pod("b")]}).is_ready
    assert (judge.stop, judge.since) == (None, clock.seconds - 3)


@pytest.mark.parametrize(
    ("other", "code", "why"),
    [
        (None, "", "pod b was deleted meanwhile"),
        (pod("b", "Failed", reason="Preempting"), "", "ended while the others ran"),
        (
            pod("b", "Failed", reason="UnexpectedAdmissionError", message="Allocate failed"),
            "WORK-SHARE-APART",
            "UnexpectedAdmissionError): Allocate failed",
        ),
        (pod("b", "Succeeded"), "WORK-SHARE-APART", "exit code 0"),
    ],
)
def test_a_pod_that_ends_early_ends_the_proof(other: KubeObject | None, code: str, why: str) -> None:
    judge = Together(["a", "b"], [GPU], FakeClock(), 3.0, 60.0)
    assert judge({"pods": [pod("a"), *([other] if other else [])]}).is_ready
    assert judge.stop is not None
    assert judge.stop.code == code
    assert why in judge.stop.why


def test_a_pod_that_is_deleted_is_gone_while_it_still_runs() -> None:
    going = pod("a")
    going["metadata"]["deletionTimestamp"] = "2026-11-23T12:00:00Z"
    assert proof.interrupted(["a"], [going]) == Stop("", "pod a was deleted meanwhile")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"1 Insufficient {GPU}", "WORK-SHARE-APART"),
        ("1 Insufficient cpu", ""),
        ("1 node had taint {a: b}", ""),
    ],
)
def test_a_pod_that_is_not_scheduled_ends_the_proof_after_the_grace(text: str, code: str) -> None:
    clock = FakeClock()
    judge = Together(["a"], [GPU], clock, 3.0, 60.0)
    waiting = {"pods": [refused("a", text)]}
    assert not judge(waiting).is_ready
    clock.seconds += 60
    assert judge(waiting).is_ready
    assert judge.stop is not None
    assert (judge.stop.code, text in judge.stop.why) == (code, True)


def test_the_scheduler_has_to_refuse_one_more_pod_for_want_of_a_share() -> None:
    clock, place = FakeClock(), Place(ready_node(), {GPU: 2})
    more = {GPU: pod("more", "Pending")}

    def judged(*pods: KubeObject, after: float = 0) -> Stop | None:
        judge = Refused(["more"], clock, 60.0)
        clock.seconds += after
        assert judge({"pods": list(pods)}).is_ready
        return proof.of_more(more, judge, place)

    assert not Refused(["more"], clock, 60.0)({"pods": [more[GPU]]}).is_ready
    assert judged(refused("more", f"0/6 nodes: 1 Insufficient cpu, 1 Insufficient {GPU}.")) is None
    other = judged(refused("more", "0/6 nodes: 1 Insufficient cpu."))
    assert other is not None
    assert (other.code, "Insufficient cpu" in other.why) == ("", True)
    assert judged(more[GPU], after=60) == Stop(
        "", f"the scheduler did not refuse one more pod for {GPU} (no answer)"
    )
    ran = pod("more")
    ran["spec"]["nodeName"] = "gpu-0"
    bad = judged(ran)
    assert bad is not None
    assert (bad.code, "2 pods held all" in bad.why) == ("WORK-SHARE-MORE", True)


def test_each_device_has_its_number_of_pods() -> None:
    place = Place(ready_node(), {GPU: 4})
    logs = {one: f"GPU 0: Tesla T4 (UUID: GPU-{one[0]})\n" for one in ("a1", "a2", "b1", "b2")}
    found = Shares(GPU, 2, list(logs), proof.counts(logs), "no")
    assert proof.of_devices(found, place) is None
    assert found.as_result(3.21) == {
        "resource": GPU,
        "replicas": 2,
        "shares": 4,
        "devices": 2,
        "uuids": ["GPU-a", "GPU-b"],
        "overlap_seconds": 3.2,
        "refused": "no",
    }
    logs["b2"] = logs["a1"]
    wrong = proof.of_devices(found._replace(uuids=proof.counts(logs)), place)
    assert wrong is not None
    assert wrong.code == "WORK-SHARE-DEVICE"
    assert "GPU-a (3 pods), GPU-b (1 pod)" in wrong.why


@pytest.mark.parametrize("code", ["WORK-SHARE-APART", "WORK-SHARE-DEVICE", "WORK-SHARE-MORE"])
def test_a_disproved_pool_names_itself_and_the_node(code: str) -> None:
    error = proof.failure(POOL, "gpu-0", Stop(code, "something is wrong"))
    assert error.code == code
    assert error.message.startswith("Pool inference: ")
    assert error.message.endswith(": something is wrong.")
    assert "gpu-0" in error.remedy
    assert "{" not in error.remedy.replace("{.status", "")
