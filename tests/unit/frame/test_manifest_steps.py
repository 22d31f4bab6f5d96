"""Many plain objects in one task: their order, their namespaces, and whose error it is."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    InputError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import manifest_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind

SPACE: t.Final = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}
WIDGET: t.Final = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}


def config_map(name: str, **metadata: str) -> dict[str, t.Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": {}}


def apply(
    server: FakeServer, *objects: t.Any, check_mode: bool = False
) -> list[tuple[str, str | None, bool]]:
    api = api_on(server, check_mode=check_mode)
    results = manifest_steps.apply(api, manifest_steps.read(list(objects), "x"), "x", False)
    return [(one["name"], one["namespace"], one["changed"]) for one in results]


def test_what_others_need_comes_first_and_a_second_run_changes_nothing() -> None:
    server = FakeServer()
    objects = (config_map("a"), SPACE, config_map("b", namespace="y"))
    assert apply(server, *objects) == [("x", None, True), ("a", "x", True), ("b", "y", True)]
    assert apply(server, *objects) == [("x", None, False), ("a", "x", False), ("b", "y", False)]


def test_removal_is_in_reverse_order_and_passes_over_kinds_that_are_gone() -> None:
    server = FakeServer()
    apply(server, SPACE, config_map("a"))
    entries = manifest_steps.read([SPACE, config_map("a"), WIDGET], "x")
    found = manifest_steps.remove(api_on(server), entries, "x")
    assert [(one["name"], one["changed"]) for one in found] == [("w", False), ("a", True), ("x", True)]
    assert server.objects == {}


def test_a_known_kind_without_namespace_is_refused_before_the_first_request() -> None:
    with pytest.raises(InputError, match=r"objects\[0\]\.metadata\.namespace is missing"):
        manifest_steps.read([config_map("a")], None)


def test_the_path_of_the_object_begins_the_error() -> None:
    server = FakeServer()
    with pytest.raises(KindNotServedError, match=r"Widget") as caught:
        apply(server, config_map("a"), WIDGET)
    assert caught.value.message.startswith("objects[1] (Widget w): ")
    assert [name for _version, _plural, _namespace, name in server.objects] == ["a"]


def test_in_check_mode_a_kind_may_come_with_an_earlier_object() -> None:
    server = FakeServer()
    assert apply(server, WIDGET, check_mode=True) == [("w", None, True)]
    assert server.writes() == []


def test_a_new_definition_is_awaited_before_its_objects() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }
    server = FakeServer("CustomResourceDefinition")
    with pytest.raises(ApiError):
        apply(server, WIDGET, crd)
    assert [path.rpartition("/")[2] for _method, path, _query in server.requests][-2:] == [
        "customresourcedefinitions",
        "v1",
    ]


def test_a_new_kind_is_awaited_until_the_server_names_it() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": True}, {"name": "v2", "served": False}],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }
    server, clock = FakeServer("CustomResourceDefinition"), FakeClock()
    begun = clock()
    inner = server.request

    def request(method: str, url: str, **more: t.Any) -> Answer:
        asked = [path for _method, path, _query in server.requests if path == "/apis/example.com/v1"]
        if len(asked) == 3:
            server.served["example.com/v1", "widgets"] = Kind("example.com/v1", "Widget", "widgets", False)
        answer: Answer = inner(method, url, **more)
        return answer

    server.request = request
    entries = manifest_steps.read([WIDGET, crd], "x")
    found = manifest_steps.apply(api_on(server, clock), entries, "x", False)
    assert [one["name"] for one in found] == ["widgets.example.com", "w"]
    later = {"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "later"}}
    with pytest.raises(KindNotServedError, match=r"example\.com/v2"):
        manifest_steps.apply(api_on(server, clock), manifest_steps.read([later, crd], "x"), "x", False)
    assert clock() - begun < 10, "nothing waits for a version that no definition promises"
