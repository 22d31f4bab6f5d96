"""Use of a quota: the owner of a pod, and the sums of a namespace."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import use


def pod(kind: str = "", name: str = "", **labels: str) -> KubeObject:
    owners = [{"kind": "Node", "name": "n"}, {"kind": kind, "name": name, "controller": True}]
    metadata: KubeObject = {"name": "p", "labels": labels, "ownerReferences": owners if kind else []}
    return {"metadata": metadata}


@pytest.mark.parametrize(
    ("found", "kind", "name"),
    [
        (pod(), "Pod", "p"),
        (pod("Job", "train"), "Job", "train"),
        (pod("ReplicaSet", "web-5d9f", **{"pod-template-hash": "5d9f"}), "Deployment", "web"),
        (pod("ReplicaSet", "alone"), "ReplicaSet", "alone"),
        (pod("ReplicaSet", "other-7", **{"pod-template-hash": "5d9f"}), "ReplicaSet", "other-7"),
    ],
)
def test_the_owner_of_a_pod(found: KubeObject, kind: str, name: str) -> None:
    assert use.owner(found) == {"kind": kind, "name": name}


def holder(name: str, gpus: int, kind: str = "Job") -> dict[str, t.Any]:
    return {"pod": "p", "owner": {"kind": kind, "name": name}, "requests": {"nvidia.com/gpu": gpus}}


def test_the_owners_with_most_devices_go_first_and_the_others_are_counted() -> None:
    holders = [holder(f"job-{number:02}", 1) for number in range(12)] + [holder("big", 4), holder("big", 4)]
    found = use.summarize(holders)
    assert found is not None
    assert (found["pods"], found["requests"], found["more_owners"]) == (14, {"nvidia.com/gpu": 20}, 3)
    assert len(found["owners"]) == use.MOST
    assert found["owners"][0] == {"kind": "Job", "name": "big", "pods": 2, "requests": {"nvidia.com/gpu": 8}}


def test_nothing_is_held() -> None:
    assert use.summarize([]) is None
