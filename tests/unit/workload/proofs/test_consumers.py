"""Proof by consumers: objects of the user whose Jobs have to end well."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.workload.builders import node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import POOL
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.options import ConsumerParams
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs import (
    consumer_steps,
    consumers,
)

PLACE = "gpu-validation"
SPEC: dict[str, t.Any] = {"template": {"spec": {"containers": [{"name": "a", "image": "a:1"}]}}}
JOB: dict[str, t.Any] = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "ask"}, "spec": SPEC}
SERVER = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "answers"}, "spec": SPEC}
TRAIN = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "x"},
    "spec": {},
}


class World:
    """A cluster where every Job with this name gets a condition at once."""

    def __init__(self, condition: str = "Complete") -> None:
        kinds = ("Node", "Namespace", "Pod", "ConfigMap", "ServiceAccount", "Job", "Deployment")
        self.server, self.clock, self._condition = FakeServer(*kinds), FakeClock(), condition
        self.server.put({"apiVersion": "v1", "kind": "Node", **node(labels={POOL: "a"})})
        account = {"name": "default", "namespace": PLACE}
        self.server.put({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        self.server.request = self.answer

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        answered = self.server.answer(method, url, body, **more)
        if method == "POST" and url.partition("?")[0].endswith("/jobs"):
            made = next(reversed(self.server.objects.values()))
            if made["metadata"]["name"] == "ask":
                made["status"] = {
                    "conditions": [{"type": self._condition, "status": "True", "message": "BackoffLimit"}]
                }
        return answered

    def api(self, **more: t.Any) -> Api:
        return api_on(self.server, self.clock, **more)

    def prove(self, *objects: dict[str, t.Any], **more: t.Any) -> dict[str, t.Any]:
        given = [ConsumerParams("inference", list(objects))]
        (found,) = consumer_steps.prove(self.api(**more), params(), given)["consumers"]
        return t.cast("dict[str, t.Any]", found)

    def kinds(self, verb: str) -> list[str]:
        return [path.rpartition("/")[2] for method, path in self.server.writes() if method == verb]


def test_the_objects_are_made_and_deleted_and_the_proof_is_remembered() -> None:
    world = World()
    assert world.prove(SERVER, JOB)["proven"] is True
    assert [kind for kind in world.kinds("POST") if kind in ("jobs", "deployments")] == [
        "jobs",
        "deployments",
        "jobs",
    ]
    made = [one for one in world.server.objects.values() if one["kind"] in ("Job", "Deployment")]
    assert all(
        one["metadata"]["ownerReferences"] for one in made if one["metadata"]["name"] in ("ask", "answers")
    )
    assert [one for one in world.kinds("DELETE") if one.startswith("validation-")]
    before = len(world.server.writes())
    assert world.prove(SERVER, JOB)["why"] == "it was proven before"
    assert len(world.server.writes()) == before


def test_a_job_that_fails_names_the_consumer_and_everything_is_deleted() -> None:
    world = World("Failed")
    with pytest.raises(NotReadyError, match=r"Consumer inference .*: Job ask: BackoffLimit") as caught:
        world.prove(JOB)
    assert caught.value.code == "WORK-CONSUMER"
    assert [one for one in world.kinds("DELETE") if one.startswith("validation-")]


def test_a_kind_that_is_not_served_is_a_warning() -> None:
    world = World()
    found = world.prove(TRAIN)
    assert found["proven"] is False
    assert "trainer.kubeflow.org" in found["why"]
    assert world.kinds("POST") == []


def test_check_mode_makes_nothing() -> None:
    world = World()
    assert world.prove(JOB, check_mode=True)["proven"] is None
    assert world.kinds("POST") == []


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        ([SERVER], "no Job or TrainJob"),
        ([{**JOB, "metadata": {"name": "ask", "namespace": "team-a"}}], "names namespace team-a"),
    ],
)
def test_what_proves_nothing_is_refused_with_its_path(objects: list[dict[str, t.Any]], words: str) -> None:
    with pytest.raises(InputError, match=rf"prove\.consumers\[1\]\.objects .*{words}|{words}"):
        consumers.read(ConsumerParams("x", objects), 1, PLACE)


def test_a_train_job_alone_has_an_owner_too() -> None:
    owner = consumers.owner(PLACE, "abc", 60, [TRAIN])
    assert owner["spec"]["parallelism"] == 0
    assert owner["spec"]["template"]["spec"]["containers"]
