"""What the walk reads of a pod: bounded, and only if there is a question."""

from __future__ import annotations

import typing as t

from unit.diagnosis.pods import NOW, Data, event, node, pod

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ForbiddenError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import (
    pod as own,
    pod_steps,
    scheduling,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Seen
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Query

FULL = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."


class Cluster:
    """An API with objects by kind. forbidden: kinds that may not be read."""

    def __init__(self, *objects: Data, log: str = "", forbidden: t.Collection[str] = ()) -> None:
        self.objects, self.text, self.forbidden = objects, log, forbidden
        self.asked: list[str] = []

    def resolve(self, _version: str, kind: str) -> t.Any:
        raise KindNotServedError("API-KIND-NOT-SERVED", f"no {kind}", "x")

    def list(
        self,
        kind: t.Any,
        namespace: str | None = None,
        labels: str | None = None,
        fields: str | None = None,
        keep: t.Callable[[Data], Data | None] | None = None,
    ) -> list[Data]:
        self.asked.append(f"{kind.kind} {fields or ''}".strip())
        if kind.kind in self.forbidden:
            raise ForbiddenError("API-FORBIDDEN", f"may not list {kind.plural}", "x")
        found = [one for one in self.objects if one.get("kind") == kind.kind]
        found = [one for one in found if namespace in (None, one["metadata"].get("namespace"))]
        return [one for one in found if keep is None or keep(one)]

    def log(self, *_of: t.Any) -> str:
        self.asked.append("log")
        return self.text


def read(cluster: Cluster, asked: str = "", *pending: Data) -> Seen:
    nodes = [one for one in cluster.objects if one["kind"] == "Node"]
    seen = Seen(objects={"nodes": nodes, "pending": [*pending]}, now=NOW)

    def query(_api: t.Any, look: Seen, key: str, wanted: Query) -> None:
        try:
            found = cluster.list(wanted.kind, wanted.namespace, wanted.labels, wanted.fields)
        except ForbiddenError as why:
            look.unread[key] = why.message
            return
        look.objects[key] = [one for one in found if wanted.name in (None, one["metadata"]["name"])]

    pod_steps.read(t.cast(t.Any, cluster), seen, asked, query)
    return seen


def test_nothing_is_read_if_nobody_asks_and_nothing_waits() -> None:
    cluster = Cluster(node("a"), pod("x", 8, on="a"))
    read(cluster, "", pod(on="a", phase="Pending"), pod("web", gpus=0, told=FULL))
    assert cluster.asked == []


def test_two_lists_are_read_if_pods_wait() -> None:
    cluster = Cluster(node("a"), pod("x", 8, "team-b", on="a"))
    seen = read(cluster, "", pod(told=FULL))
    assert cluster.asked == [
        "Event reason=TriggeredScaleUp",
        "Pod status.phase!=Succeeded,status.phase!=Failed",
    ]
    assert "Held by Pod team-b/x (8)." in next(iter(scheduling.notes(seen)))


def test_a_pod_that_waits_is_judged_by_all_nodes_with_its_devices() -> None:
    elsewhere = node("amd", labels={"nvidia.com/gpu.present": "false"}, offers={"amd.com/gpu": "4"})
    plain = node("plain", labels={"nvidia.com/gpu.present": "false"}, offers={})
    asked = pod(limits={"amd.com/gpu": "8"}, told="0/2 nodes are available: 2 Insufficient amd.com/gpu.")
    seen = read(Cluster(elsewhere, plain, asked), "team-a/train")
    found = own.judge(seen)
    assert found is not None
    assert (found.code, [place.node["metadata"]["name"] for place in seen.places]) == ("SCHED-NAME", ["amd"])
    assert "4 amd.com/gpu" in found.message


def test_a_running_pod_shows_its_log() -> None:
    cluster = Cluster(node("a"), pod(on="a"), log="Failed to initialize NVML: Unknown Error")
    found = own.judge(read(cluster, "team-a/train"))
    assert found is not None
    assert found.code == "GPU-CDI-LOST"
    assert cluster.asked.count("log") == 1


def test_a_pod_that_never_ran_has_no_log() -> None:
    state = {"waiting": {"reason": "ImagePullBackOff", "message": "x"}}
    status = {"containerStatuses": [{"name": "main", "restartCount": 0, "ready": False, "state": state}]}
    cluster = Cluster(node("a"), pod(on="a", phase="Pending", status=status))
    read(cluster, "team-a/train")
    assert "log" not in cluster.asked


def test_who_makes_a_pod_is_read_if_there_is_none() -> None:
    told = "Error creating: pods is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=1, "
    told += "used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8"
    cluster = Cluster(
        node("a"), pod("old", 8, on="a"), event("train", "FailedCreate", "older", "Job", 1),
        event("train", "FailedCreate", told, "Job", 5),
    )  # fmt: skip
    cluster.objects[2]["kind"] = cluster.objects[3]["kind"] = "Event"
    found = own.judge(read(cluster, "team-a/train"))
    assert found is not None
    assert (found.code, found.since) == ("QUOTA-EXCEEDED", "2026-11-28T09:05:00Z")
    assert "Held by Pod team-a/old (8)." in found.message
    assert cluster.asked == ["Pod", "Event reason=FailedCreate", "Job", "Pod"]


def test_a_pod_that_may_not_be_read_is_not_called_absent() -> None:
    seen = read(Cluster(node("a"), forbidden=["Pod"]), "team-a/train")
    assert own.judge(seen) is None
    assert "may not list pods" in seen.unread["pod"]


def test_a_cluster_without_kueue_is_no_error() -> None:
    gated = pod(schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])
    found = own.judge(read(Cluster(node("a"), gated), "team-a/train"))
    assert found is not None
    assert found.code == "SCHED-GATE"


def made(title: str, maker: str, **more: t.Any) -> Data:
    owners = [{"kind": "ReplicaSet", "name": maker, "uid": maker, "controller": True}]
    return pod(title, meta={"ownerReferences": owners}, **more)


def test_the_pod_in_trouble_stands_for_its_deployment() -> None:
    broken = made("train-6c9d8-x", "train-6c9d8", told=FULL)
    others = made("train-6c9d8-a", "train-6c9d8", on="a"), made("train-big-6c9d8-b", "train-big-6c9d8")
    seen = read(Cluster(node("a", 1), broken, *others, pod("hog", 1, "team-b", "a")), "team-a/train")
    found = own.judge(seen)
    assert found is not None
    assert (found.code, found.about) == ("SCHED-FULL", "Pod team-a/train-6c9d8-x")
    assert "Pod team-b/hog (1)" in found.message


def test_a_deployment_whose_pods_run_is_no_trouble() -> None:
    cluster = Cluster(node("a"), made("train-6c9d8-a", "train-6c9d8", on="a"))
    assert own.judge(read(cluster, "team-a/train")) is None


def test_a_pod_of_another_deployment_does_not_stand_for_one() -> None:
    cluster = Cluster(node("a"), made("train-big-6c9d8-b", "train-big-6c9d8", told=FULL))
    found = own.judge(read(cluster, "team-a/train"))
    assert found is not None
    assert found.code == "SCHED-ABSENT"
