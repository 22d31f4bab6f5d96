"""ClusterResourceQuotas: options, object, judge, and the steps on an API server in memory."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import FakeServer, status
from unit.quota.builders import CLAIMED, GPU
from unit.quota.test_steps import World, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import cluster_quota, steps

VERSION: t.Final = "quota.openshift.io/v1"


def entry(**given: t.Any) -> t.Any:
    empty = dict.fromkeys(("labels", "annotations", "gpus", "hard"))
    return {**empty, "name": "research", "labels": {"team": "x"}, "gpus": 8, **given}


def asked(*entries: t.Any, **given: t.Any) -> t.Any:
    return params(quotas=None, cluster_quotas=[*entries], **given)


class Cluster(World):
    """A cluster whose controller counts ClusterResourceQuotas too. spaces: what they select."""

    def __init__(self, *namespaces: str, spaces: tuple[str, ...] = ("a", "b")) -> None:
        super().__init__(*namespaces)
        self.spaces = spaces
        extra = FakeServer("ClusterResourceQuota")
        self.server.served |= extra.served

    def count(self) -> None:
        super().count()
        for key, obj in self.server.objects.items():
            if key[1] == "clusterresourcequotas":
                hard = obj["spec"]["quota"]["hard"]
                each = [
                    {"namespace": one, "status": {"used": dict.fromkeys(hard, str(place))}}
                    for place, one in enumerate(self.spaces)
                ]
                total = {"hard": hard, "used": dict.fromkeys(hard, str(sum(range(len(self.spaces)))))}
                obj["status"] = {"total": total, "namespaces": each}

    def live(self, name: str = "research") -> KubeObject | None:
        return self.server.objects.get((VERSION, "clusterresourcequotas", "", name))


def test_a_quota_of_labels_is_applied_counted_and_removed() -> None:
    world = Cluster()
    (found,) = steps.present(world.api(), asked(entry()))["cluster_quotas"]
    live = world.live()
    assert live is not None
    assert live["spec"] == {
        "selector": {"labels": {"matchLabels": {"team": "x"}}},
        "quota": {"hard": {GPU: "8"}},
    }
    assert found == {
        "name": "research",
        "resources": {GPU: {"hard": "8", "used": "1"}},
        "namespaces": [{"namespace": "b", "used": {GPU: "1"}}, {"namespace": "a", "used": {GPU: "0"}}],
        "findings": [],
    }
    steps.present(world.api(), asked(entry()))
    assert world.asked() == {"GET clusterresourcequotas": 1}
    assert steps.absent(world.api(), asked(entry(), state="absent"))["cluster_quotas"] == [
        {"name": "research"}
    ]
    assert world.live() is None


def test_annotations_select_too_and_a_quota_without_namespaces_is_told() -> None:
    world = Cluster(spaces=())
    api = world.api()
    one = entry(labels=None, annotations={"openshift.io/requester": "guest"})
    (found,) = steps.present(api, asked(one))["cluster_quotas"]
    live = world.live()
    assert live is not None
    assert live["spec"]["selector"] == {"annotations": {"openshift.io/requester": "guest"}}
    assert [(told["code"], told["path"]) for told in found["findings"]] == [
        ("QUOTA-COUNTS-NOTHING", "spec.selector")
    ]
    assert any("selects no namespace" in text for text in api.warnings)


def test_quotas_of_a_namespace_go_along_and_nothing_is_asked_without_the_option() -> None:
    world = Cluster("team-a")
    found = steps.present(world.api(), params("team-a", cluster_quotas=[entry()]))
    assert ([one["name"] for one in found["quotas"]], len(found["cluster_quotas"])) == (["gpu-quota"], 1)
    assert "cluster_quotas" not in steps.present(world.api(), params("team-a"))
    assert world.asked() == {"GET resourcequotas": 1}


def test_a_quota_that_fails_keeps_no_other_from_being_set() -> None:
    world = Cluster("team-a")
    answer = world.answer
    broken = status(422, "Invalid", "no")
    world.server.request = lambda method, url, *more, **rest: (
        broken.copy()
        if method == "PATCH" and "clusterresourcequotas" in url
        else answer(method, url, *more, **rest)
    )
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params("team-a", cluster_quotas=[entry()]))
    assert caught.value.code == "API-INVALID"
    assert world.hard("team-a") == {GPU: "1"}


def test_a_cluster_that_does_not_serve_them_is_refused_before_the_first_write() -> None:
    world = World("team-a")
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params("team-a", cluster_quotas=[entry()]))
    assert caught.value.code == "QUOTA-NOT-SERVED"
    assert "gpu_cluster_quotas" in caught.value.remedy
    assert world.server.writes() == []
    gone = steps.absent(world.api(), asked(entry(), state="absent"))
    assert gone == {"quotas": [], "cluster_quotas": [{"name": "research"}]}
    assert world.server.writes() == []


def test_a_foreign_one_is_refused_unless_it_is_taken() -> None:
    world = Cluster()
    spec = {"selector": {"labels": {"matchLabels": {"a": "b"}}}, "quota": {"hard": {GPU: "1"}}}
    kind = {"apiVersion": VERSION, "kind": "ClusterResourceQuota"}
    world.server.put({**kind, "metadata": {"name": "research"}, "spec": spec})
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), asked(entry()))
    assert caught.value.code == "QUOTA-FOREIGN"
    assert world.server.writes() == []
    steps.present(world.api(), asked(entry(), adopt="take"))
    live = world.live()
    assert live is not None
    assert live["spec"]["quota"]["hard"] == {GPU: "8"}


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        ({"labels": None}, "QUOTA-CLUSTER", "cluster_quotas[0]:"),
        ({"labels": {}, "annotations": {}}, "QUOTA-CLUSTER", "cluster_quotas[0]:"),
        ({"labels": {"team": "no value"}}, "QUOTA-CLUSTER", "cluster_quotas[0].labels.team:"),
        ({"name": "Not A Name"}, "QUOTA-CLUSTER", "cluster_quotas[0].name:"),
        ({"gpus": None, "hard": {CLAIMED: 1}}, "QUOTA-CLUSTER", f"cluster_quotas[0].hard[{CLAIMED}]:"),
        ({"gpus": None, "hard": {"nvidia.com/gpu": 1}}, "QUOTA-KEY", "cluster_quotas[0]: hard[nvidia"),
    ],
)
def test_bad_input_names_its_path(given: dict[str, t.Any], code: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        cluster_quota.read([entry(**given)])
    assert caught.value.code == code
    assert caught.value.message.startswith(path)


def test_one_name_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"cluster_quotas\[1\].name: research is in the list twice"):
        cluster_quota.read([entry(), entry()])


def test_not_counted_is_pending() -> None:
    (wanted,) = cluster_quota.read([entry()])
    live = {"metadata": {"name": "research"}}
    found = cluster_quota.judge([live], [wanted])
    assert (found.reason, found.code) == ("NotCounted", "QUOTA-NOT-COUNTED")
    half = {**live, "status": {"total": {"hard": {GPU: "4"}, "used": {GPU: "0"}}}}
    assert not cluster_quota.judge([half], [wanted]).is_ready
    assert cluster_quota.findings(wanted, live) == []
