"""Steps of gpu_quota on an API server in memory: requests, new namespaces, limits of others, and proofs."""

from __future__ import annotations

import collections
import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer, status
from unit.quota.builders import GPU

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._quota.options import GpuQuotaParams

REFUSED: t.Final = "exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=2, used: 0, limited: 1"
NODES: t.Final = 40
# What an entry of quotas has when its options are not set.
PLAIN: t.Final = {"gpus": None, "claims": False, "hard": None, "priority_classes": None, "limit_range": None}


def params(*namespaces: str, gpus: int = 1, **given: t.Any) -> GpuQuotaParams:
    """Return the parameters for a quota in each namespace."""
    plain: dict[str, t.Any] = {
        **dict.fromkeys(("namespace", "gpus", "hard", "namespaces")),
        "state": "present",
        "wait": True,
        "wait_timeout": 1800,
        "name": "gpu-quota",
        "claims": False,
        "create_namespaces": False,
        "adopt": "report",
        "nodes_exist": True,
        "planned": None,
        "priority_classes": None,
        "limit_range": None,
        "cluster_quotas": None,
        "prove": False,
        "quotas": [{**PLAIN, "namespace": one, "name": "gpu-quota", "gpus": gpus} for one in namespaces],
    }
    return t.cast(GpuQuotaParams, plain | given)


class World:
    """A cluster with a quota controller that counts at once. refusal: the answer to the dry run of a pod."""

    def __init__(self, *namespaces: str, refusal: Answer | None = None) -> None:
        self.server = FakeServer(
            "Namespace", "ResourceQuota", "Node", "Pod", "ResourceClaim", "PriorityClass", "LimitRange"
        )
        for name in ("default", *namespaces):
            self.namespace(name)
        for number in range(NODES):
            labels = {"nvidia.com/gpu.present": "true"} if number < 2 else {}
            metadata = {"name": f"n{number}", "labels": labels}
            offered = {"allocatable": {"cpu": "4", **({"nvidia.com/gpu": "8"} if labels else {})}}
            self.server.put({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": offered})
        self.refusal = refusal or status(403, "Forbidden", f'pods "p" is forbidden: {REFUSED}')
        self.server.request = self.answer

    def namespace(self, name: str) -> None:
        self.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if method == "POST" and "/pods?" in url:
            self.server.requests.append((method, url.partition("?")[0], {"dryRun": "All"}))
            return self.refusal.copy()
        self.count()
        answered = self.server.answer(method, url, body, **more)
        self.count()
        return answered

    def count(self) -> None:
        for key, obj in self.server.objects.items():
            if key[1] == "resourcequotas":
                hard = obj["spec"]["hard"]
                obj["status"] = {"hard": hard, "used": dict.fromkeys(hard, "0")}

    def api(self, **more: t.Any) -> Api:
        self.server.requests.clear()
        return api_on(self.server, **more)

    def hard(self, namespace: str) -> t.Any:
        return self.server.objects["v1", "resourcequotas", namespace, "gpu-quota"]["spec"]["hard"]

    def asked(self) -> dict[str, int]:
        """Return how often each verb was sent for each resource."""
        found = [f"{method} {path.rpartition('/')[2]}" for method, path, _query in self.server.requests]
        return dict(collections.Counter(found))


TEAMS: t.Final = [f"team-{number}" for number in range(40)]


def test_forty_quotas_again_cost_one_list_and_no_look_at_nodes() -> None:
    world = World(*TEAMS)
    steps.present(world.api(), params(*TEAMS))
    assert world.asked()["GET nodes"] == 1, "only nodes with the label of the driver stack"
    (of_nodes,) = [query for _method, path, query in world.server.requests if path.endswith("nodes")]
    assert of_nodes["labelSelector"] == "nvidia.com/gpu.present=true"
    again = steps.present(world.api(), params(*TEAMS))
    assert world.asked() == {"GET resourcequotas": 1}
    assert len(again["quotas"]) == 40
    steps.present(world.api(), params(*TEAMS, prove=True))
    assert world.asked() == {"GET resourcequotas": 1, "POST pods": 40}


def test_all_nodes_are_read_once_when_no_labelled_node_offers_the_resource() -> None:
    world = World("a-team", "b-team")
    hard = {"requests.nvidia.com/mig-1g.5gb": "1"}
    asked = params("a-team", "b-team")
    for one in asked["quotas"] or []:
        one["gpus"], one["hard"] = None, hard
    api = world.api()
    steps.present(api, asked)
    assert world.asked()["GET nodes"] == 2
    assert any("No node advertises nvidia.com/mig-1g.5gb" in text for text in api.warnings)


def test_claims_on_a_cluster_without_device_classes_are_a_warning() -> None:
    world, asked = World("team-a"), params("team-a")
    for one in asked["quotas"] or []:
        one["claims"] = True
    api = world.api()
    steps.present(api, asked)
    assert any("There is no DeviceClass gpu.nvidia.com" in text for text in api.warnings)
    before_nodes = world.api()
    asked["nodes_exist"] = False
    steps.present(before_nodes, asked)
    assert before_nodes.warnings == []


@pytest.mark.parametrize("namespace", ["kube-system", "default", "openshift-monitoring"])
def test_a_quota_in_a_namespace_of_the_platform_is_refused_before_any_request(namespace: str) -> None:
    world = World("team-a")
    with pytest.raises(InputError) as caught:
        steps.present(world.api(), params("team-a", namespace))
    assert (caught.value.code, caught.value.layer) == ("QUOTA-NAMESPACE", "input")
    assert caught.value.message.startswith("quotas[1].namespace: ")
    assert world.server.requests == []


def test_a_misspelt_namespace_is_not_created_and_nothing_else_is_written() -> None:
    world = World("team-vision", "team-a")
    asked = params("team-a", "team-vison", create_namespaces=True)
    with pytest.raises(AcceleratorError, match="near to the existing namespace team-vision") as caught:
        steps.present(world.api(), asked)
    assert caught.value.code == "QUOTA-NEW-NAMESPACE"
    assert "gpu_policy_namespaces: [team-vison]" in caught.value.remedy
    assert world.server.writes() == []
    asked["namespaces"] = ["team-vison"]
    steps.present(world.api(), asked)
    assert world.hard("team-vison") == {GPU: "1"}


def test_only_names_of_the_list_are_created() -> None:
    world = World()
    with pytest.raises(AcceleratorError, match="not in the list of namespaces that may be created"):
        steps.present(world.api(), params("speech", create_namespaces=True, namespaces=["vision"]))
    assert world.server.writes() == []


def test_a_namespace_for_a_team_has_no_label_of_ownership() -> None:
    world = World()
    steps.present(world.api(), params("vision", create_namespaces=True))
    labels = world.server.objects["v1", "namespaces", "", "vision"]["metadata"]["labels"]
    assert labels == {"accelerators.openshift/purpose": "team"}


def test_a_limit_that_another_manager_set_stays_unless_the_task_takes_it() -> None:
    world = World("team-a")
    steps.present(world.api(), params("team-a", gpus=8))
    live = world.server.objects["v1", "resourcequotas", "team-a", "gpu-quota"]
    live["spec"]["hard"] = {GPU: "4"}
    live["metadata"]["managedFields"][0]["manager"] = "kubectl-edit"
    api = world.api()
    (found,) = steps.present(api, params("team-a", gpus=8))["quotas"]
    assert world.server.writes() == []
    assert found["kept"] == [
        {"field": f"spec.hard.{GPU}", "key": GPU, "wanted": "8", "live": "4", "manager": "kubectl-edit"}
    ]
    assert found["resources"] == {GPU: {"hard": "4", "used": "0"}}
    assert any("stays 4 (asked: 8, set by kubectl-edit)" in text for text in api.warnings)
    steps.present(world.api(), params("team-a", gpus=8, adopt="take"))
    assert world.hard("team-a") == {GPU: "8"}


def test_the_proof_is_the_refusal_of_the_quota() -> None:
    world = World("team-a")
    api = world.api()
    (found,) = steps.present(api, params("team-a", prove=True))["quotas"]
    assert found["proof"].endswith(REFUSED)
    assert api.warnings == []


@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        (
            403,
            "Forbidden",
            'admission webhook "validation.gatekeeper.sh" denied the request: no',
        ),
        (400, "", 'admission webhook "validate.kyverno.svc-fail" denied the request: blocked'),
        (400, "BadRequest", 'admission webhook "pod-labels.example.com" does not support dry run'),
        (403, "Forbidden", 'pods is forbidden: User "u" cannot create resource "pods"'),
    ],
)
def test_any_other_answer_than_that_of_the_quota_proves_nothing_and_fails_nothing(
    code: int, reason: str, text: str
) -> None:
    world = World("team-a", refusal=status(code, reason, text))
    api = world.api()
    (found,) = steps.present(api, params("team-a", prove=True))["quotas"]
    assert found["proof"].startswith("not proven: ")
    (warning,) = [one for one in api.warnings if "proven" in one]
    assert warning.startswith("Quota team-a/gpu-quota is set, and not proven: ")
    assert warning.endswith("To ask for no proof, set gpu_policy_prove: false (module option prove).")


def test_a_quota_that_the_server_does_not_enforce_fails() -> None:
    world = World("team-a", refusal=Answer(201, {"kind": "Pod", "metadata": {"name": "p"}}))
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params("team-a", prove=True))
    assert caught.value.code == "QUOTA-NOT-ENFORCED"


def test_a_quota_that_fails_does_not_keep_the_others_from_being_set() -> None:
    world = World("team-a", "team-b")
    answer = world.answer
    broken = status(422, "Invalid", "no")
    world.server.request = lambda method, url, *more, **rest: (
        broken.copy() if method == "PATCH" and "/team-a/" in url else answer(method, url, *more, **rest)
    )
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params("team-a", "team-b"))
    assert caught.value.code == "API-INVALID"
    assert world.hard("team-b") == {GPU: "1"}


def test_one_quota_returns_as_before_and_a_list_is_removed_in_one_task() -> None:
    world = World("team-a", "team-b")
    one = params(namespace="team-a", quotas=None)
    assert steps.present(world.api(), one | {"gpus": 2})["quota"]["namespace"] == "team-a"
    steps.present(world.api(), params("team-b"))
    found = steps.absent(world.api(), params("team-a", "team-b", state="absent"))
    assert [quota["namespace"] for quota in found["quotas"]] == ["team-a", "team-b"]
    assert not any(key[1] == "resourcequotas" for key in world.server.objects)


@pytest.mark.parametrize("nodes_exist", [True, False])
def test_a_device_that_no_node_has_is_a_warning_only_if_the_nodes_exist(nodes_exist: bool) -> None:
    world = World("team-a")
    wanted = {"namespace": "team-a", "name": "q"}
    quota = {**PLAIN, **wanted, "hard": {"requests.nvidia.com/mig-1g.5gb": "2"}}
    api = world.api()
    steps.present(api, params(quotas=[quota], nodes_exist=nodes_exist))
    warned = any("No node advertises nvidia.com/mig-1g.5gb" in text for text in api.warnings)
    assert warned == nodes_exist
    assert any("/nodes" in path for _method, path, *_more in world.server.requests) == nodes_exist


def gpu_pod(namespace: str, gpus: str) -> dict[str, t.Any]:
    """Return a pod that requests these GPUs."""
    container = {"name": "job", "resources": {"requests": {"nvidia.com/gpu": gpus}}}
    metadata = {"name": "job", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def test_a_limit_below_the_use_of_the_namespace_is_told_before_it_is_written() -> None:
    world = World("team-a")
    world.server.put(gpu_pod("team-a", "4"))
    api = world.api(check_mode=True)
    steps.present(api, params("team-a", gpus=2))
    (told,) = [text for text in api.warnings if "already uses" in text]
    assert told.startswith(
        f"Quota team-a/gpu-quota: the namespace already uses 4 of {GPU}, and the limit is 2."
    )
    assert world.server.writes() == []
    enough = world.api(check_mode=True)
    steps.present(enough, params("team-a", gpus=4))
    assert not any("already uses" in text for text in enough.warnings)


def test_a_limit_below_that_of_another_quota_is_told_before_it_is_written() -> None:
    world = World("team-a")
    first = params("team-a", gpus=1)
    for one in first["quotas"] or []:
        one["name"] = "first"
    steps.present(world.api(), first)
    api = world.api(check_mode=True)
    steps.present(api, params("team-a", gpus=2))
    assert any("Quota first (" in text and "leaves less" in text for text in api.warnings)
    assert world.server.writes() == []


def test_two_namespaces_cost_one_list() -> None:
    world = World("a-team", "b-team")
    steps.present(world.api(), params("a-team", "b-team"))
    steps.present(world.api(check_mode=True), params("a-team", "b-team"))
    assert world.asked() == {"GET resourcequotas": 1}
