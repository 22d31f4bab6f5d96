"""Steps of a validation on an API server in memory: whose pods are deleted, and which nodes are left out."""

from __future__ import annotations

import datetime
import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.workload.builders import node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_VERSION,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY, POOL
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import runs, steps

OURS: t.Final = Run("root", "bastion", "", 1, "1")
THEIRS: t.Final = Run("eva", "laptop", "there", 2, "2")
PLACE: t.Final = "gpu-validation"
PODS: t.Final = f"/api/v1/namespaces/{PLACE}/pods"
PASSED: t.Final = "GPU 0: Tesla T4 (UUID: GPU-a)\n[Vector addition of 50000 elements]\nTest PASSED\nDone\n"
# Called with each pod that a task creates, and its key in the server.
OnPod = t.Callable[[dict[str, t.Any], tuple[str, str, str, str]], None]


class World:
    """A cluster with two GPU nodes of one GPU each, where every pod of a validation passes at once."""

    def __init__(self, on_pod: OnPod | None = None) -> None:
        kinds = (
            "Job",
            "Node",
            "Namespace",
            "Pod",
            "ConfigMap",
            "Service",
            "ServiceAccount",
            "Lease",
            "Machine",
            "PriorityClass",
        )
        self.server, self.clock = FakeServer(*kinds), FakeClock()
        for name in ("gpu-0", "gpu-1"):
            self.server.put({"apiVersion": "v1", "kind": "Node", **node(name, gpu="1")})
        account = {"name": "default", "namespace": PLACE}
        self.server.put({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        self._on_pod = on_pod or self.succeed
        self.server.request = self.answer

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if "/log?" in url or url.endswith("/log"):
            return Answer(200, PASSED)
        answered = self.server.answer(method, url, body, **more)
        if method == "POST" and PODS in url and "dryRun" not in url:
            (key, *_others) = [key for key in reversed(self.server.objects) if key[1] == "pods"]
            self._on_pod(self.server.objects[key], key)
        return answered

    def succeed(self, pod: dict[str, t.Any], _key: tuple[str, str, str, str]) -> None:
        ended = {"name": "benchmark", "state": {"terminated": {"exitCode": 0}}}
        pod["status"] = {"phase": "Succeeded", "containerStatuses": [ended]}

    def lose(self, _pod: dict[str, t.Any], key: tuple[str, str, str, str]) -> None:
        del self.server.objects[key]

    def leave(self, name: str, run: Run, phase: str = "Running") -> None:
        """Put a validation pod for gpu-0 that another run has made now."""
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
        spec = {"activeDeadlineSeconds": 900, "nodeSelector": {"kubernetes.io/hostname": "host-gpu-0"}}
        metadata = {
            "name": name,
            "namespace": PLACE,
            "creationTimestamp": now,
            "labels": {**MANAGED_BY, "accelerators.openshift/run": "old"},
            "annotations": {runs.ANNOTATION: run.id},
        }
        pod = {"metadata": metadata, "spec": {**spec, "containers": [limits]}, "status": {"phase": phase}}
        self.server.put({"apiVersion": "v1", "kind": "Pod", **pod})

    def api(self, **more: t.Any) -> Api:
        return api_on(self.server, self.clock, run=OURS, **more)

    def pods(self) -> list[str]:
        return [key[3] for key in self.server.objects if key[1] == "pods"]

    def made(self) -> int:
        return [method for method, path in self.server.writes() if path == PODS].count("POST")


def of(result: dict[str, t.Any], key: str) -> dict[str, t.Any]:
    return {one["name"]: one[key] for one in result["workload"]["nodes"]}


def test_a_validation_deletes_its_pods_and_remembers_the_nodes() -> None:
    world = World()
    assert of(steps.present(world.api(), params()), "validated") == {"gpu-0": 1, "gpu-1": 1}
    assert world.pods() == []
    assert steps.present(world.api(), params())["workload"]["due"] == []


def test_a_driver_version_that_is_published_during_the_validation_does_not_cause_another() -> None:
    """GPU feature discovery labels a node a moment after its pod is ready: maybe during the validation."""

    def label(pod: dict[str, t.Any], key: tuple[str, str, str, str]) -> None:
        world.succeed(pod, key)
        for (_group, plural, *_place), one in world.server.objects.items():
            if plural == "nodes":
                one["metadata"].setdefault("labels", {})[DRIVER_VERSION] = "580.126.20"

    world = World(label)
    assert steps.present(world.api(), params())["workload"]["due"] == ["gpu-0", "gpu-1"]
    assert steps.present(world.api(), params())["workload"]["due"] == []


def test_pods_of_a_run_that_lives_stay_and_its_node_is_left_out() -> None:
    world = World()
    world.leave("theirs", THEIRS)
    api = world.api()
    found = steps.present(api, params())
    assert world.pods() == ["theirs"]
    assert (found["workload"]["due"], of(found, "validated")) == (["gpu-1"], {"gpu-0": 0, "gpu-1": 1})
    assert "gpu-validation/theirs of the validation of eva@laptop (pid 2)" in of(found, "busy")["gpu-0"]
    assert any(text.startswith("Not validated: 1 of 2 nodes") for text in api.warnings)
    assert steps.present(world.api(), params())["workload"]["nodes"][0]["busy"], "the node stays due"


def test_pods_of_a_run_that_is_over_are_deleted_and_their_node_is_validated() -> None:
    world = World()
    world.leave("left", OURS)
    assert of(steps.present(world.api(), params()), "validated") == {"gpu-0": 1, "gpu-1": 1}
    assert world.pods() == []


def test_a_strict_validation_fails_before_the_first_write() -> None:
    world = World()
    world.leave("theirs", THEIRS)
    with pytest.raises(NotReadyError, match="gpu-0: 0 of 1 nvidia") as caught:
        steps.present(world.api(), params(strict=True))
    assert caught.value.code == "WORK-BUSY"
    assert "gpu_validation_strict: false" in caught.value.remedy
    assert world.server.writes() == []
    assert of(steps.present(world.api(), params(strict=False)), "validated") == {"gpu-0": 0, "gpu-1": 1}


def taken(world: World, object_name: str = "came-back") -> OnPod:
    """Return what takes the device of gpu-0 at the first pod that wants it, and then passes all others."""

    def on_pod(pod: dict[str, t.Any], key: tuple[str, str, str, str]) -> None:
        if (
            object_name in world.pods()
            or "gpu-0" not in pod["spec"]["nodeSelector"]["kubernetes.io/hostname"]
        ):
            world.succeed(pod, key)
            return
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        pod["status"] = {"phase": "Pending", "conditions": [condition | {"message": "Insufficient gpu"}]}
        limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
        spec = {"nodeName": "gpu-0", "containers": [limits]}
        metadata = {"name": object_name, "namespace": "team"}
        theirs = {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}
        world.server.put({"apiVersion": "v1", "kind": "Pod", **theirs})

    return on_pod


def test_a_pod_that_takes_the_device_before_the_validation_does_makes_the_node_busy() -> None:
    world = World()
    world._on_pod = taken(world)
    found = steps.present(world.api(), params(grace=0))
    assert of(found, "validated") == {"gpu-0": 0, "gpu-1": 1}
    assert "team/came-back" in of(found, "busy")["gpu-0"]
    assert world.pods() == ["came-back"]


def test_a_strict_validation_fails_if_a_pod_takes_the_device_before_it_does() -> None:
    world = World()
    world._on_pod = taken(world)
    with pytest.raises(NotReadyError) as caught:
        steps.present(world.api(), params(grace=0, strict=True))
    assert caught.value.code == "WORK-BUSY"


def test_a_pod_that_no_node_takes_fails_without_another_try() -> None:
    def refuse(pod: dict[str, t.Any], _key: tuple[str, str, str, str]) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        pod["status"] = {"phase": "Pending", "conditions": [condition | {"message": "untolerated taint"}]}

    world = World(refuse)
    with pytest.raises(NotReadyError, match="untolerated taint") as caught:
        steps.present(world.api(), params(grace=0))
    assert (caught.value.code, world.made()) == ("WORK-UNSCHEDULABLE", 2)


def test_where_every_node_is_busy_nothing_is_written() -> None:
    world = World()
    world.leave("theirs", THEIRS)
    found = steps.present(world.api(), params(node_selector={"kubernetes.io/hostname": "host-gpu-0"}))
    assert (found["workload"]["due"], world.server.writes()) == ([], [])


def test_pods_that_somebody_deletes_end_the_wait_at_once() -> None:
    world = World()
    world._on_pod = world.lose
    with pytest.raises(NotReadyError, match="2 of 2 pods gone") as caught:
        steps.present(world.api(), params())
    assert caught.value.code == "WORK-GONE"
    assert world.made() == 2
    assert world.clock.slept == []


def test_a_failure_says_when_pods_end_that_it_could_not_delete() -> None:
    def fail(pod: dict[str, t.Any], _key: tuple[str, str, str, str]) -> None:
        pod["status"] = {"phase": "Pending"}

    world = World(fail)
    refused = Answer(403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"})
    answer = world.answer
    world.server.request = lambda method, url, *more, **rest: (
        refused.copy() if method == "DELETE" else answer(method, url, *more, **rest)
    )
    api = world.api(seconds=20.0)
    api.guard = Ended()
    with pytest.raises(NotReadyError) as caught:
        steps.present(api, params())
    assert "2 pods could not be deleted; no pod runs longer than 20 s" in caught.value.message
    assert any("It ends by itself after 20 s." in text for text in api.warnings)


@pytest.mark.parametrize(
    ("pool", "is_warned"),
    [
        ({"node_selector": {POOL: "new"}}, True),
        ({"node_selector": {POOL: "new"}, "foreseen": True}, False),
        # Nobody makes the nodes of an existing pool, but the run brings devices to those that it has.
        ({"node_selector": {"pool": "none"}, "foreseen": True}, True),
        ({"node_selector": {"pool": "a"}, "expected": {"nvidia.com/gpu": 2}}, True),
        ({"node_selector": {"pool": "a"}, "expected": {"nvidia.com/gpu": 2}, "foreseen": True}, False),
    ],
)
def test_check_mode_warns_of_what_no_earlier_step_brings(pool: dict[str, t.Any], is_warned: bool) -> None:
    api = World().api(check_mode=True)
    steps.present(api, params(pools=[pool]))
    assert bool(api.warnings) is is_warned


def test_check_mode_shows_the_pods_of_many_nodes_as_one_sum() -> None:
    world = World()
    for number in range(2, 500):
        world.server.put({"apiVersion": "v1", "kind": "Node", **node(f"gpu-{number}", gpu="8")})
    world.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE}})
    api = world.api(check_mode=True)
    found = steps.present(api, params())
    assert len(found["workload"]["due"]) == 500
    (one,) = [change for change in api.changes if change.object_name.startswith("Pod ")]
    assert one.object_name == "Pod gpu-validation: 3986 pods on 500 nodes of pool=a"
    assert len(str(one.after)) < 200
    assert world.server.writes() == []


class Ended:
    """A guard that ends the task while it waits."""

    def before_write(self) -> None:
        return

    def on_wait(self) -> None:
        raise NotReadyError("RUN-ORPHANED", "ended")

    def is_over(self, _run_id: str) -> bool:
        return True


def test_a_long_program_gets_time_of_its_own() -> None:
    seconds: list[int] = []

    def note(pod: dict[str, t.Any], key: tuple[str, str, str, str]) -> None:
        seconds.append(pod["spec"]["activeDeadlineSeconds"])
        world.succeed(pod, key)

    world = World(note)
    api = world.api()
    before = api.deadline.seconds
    with pytest.raises(NotReadyError, match=r"measured nothing|dcgm"):
        steps.present(api, params(programs=[{"program": "dcgm", "level": 3}]))
    assert api.deadline.seconds == before + 2700
    assert all(number > 2700 for number in seconds)
