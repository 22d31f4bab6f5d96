"""Writes of the Api on the in-memory server: it compares first, writes what differs, owns what it made."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import CONFIG_MAP, api_on, config_map
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ApiError, InputError


def test_check_mode_writes_nothing_and_says_what_it_would() -> None:
    server = FakeServer()
    api = api_on(server, check_mode=True)
    api.apply(config_map(x="1"))
    assert server.writes() == []
    assert api.changes[0].after["data"] == {"x": "1"}


def test_check_mode_before_the_kind_is_served() -> None:
    api = api_on(FakeServer("Namespace"), check_mode=True)
    api.apply(config_map(x="1"))
    assert [change.object_name for change in api.changes] == ["ConfigMap x/a"]
    assert "does not serve configmaps" in api.unchecked["ConfigMap x/a"]
    assert api.warnings == []


def test_check_mode_before_the_namespace_exists() -> None:
    server = FakeServer()
    server.faults = [
        status(404, "NotFound", 'configmaps "a" not found', "a"),
        status(404, "NotFound", 'namespaces "x" not found', "x"),
    ]
    api = api_on(server, check_mode=True)
    assert api.apply(config_map(x="1"))["data"] == {"x": "1"}
    assert api.unchecked == {"ConfigMap x/a": "Namespace x does not exist yet."}
    assert api.warnings == []


def test_an_object_that_existed_is_never_given_our_label() -> None:
    server = FakeServer()
    server.put(config_map(x="1"))
    api = api_on(server)
    after = api.apply(config_map(x="2"))
    assert after["data"] == {"x": "2"}
    assert "labels" not in after["metadata"]
    assert api.delete(CONFIG_MAP, "a", "x", wait=False) is False
    assert "was not created by this collection" in api.warnings[0]


UNKNOWN = {"Warning": '299 - "unknown field \\"spec.foo\\""'}


def test_an_unknown_field_warning_is_an_error_and_others_are_warnings() -> None:
    server = FakeServer()
    server.faults = [
        status(404, "NotFound", 'configmaps "a" not found', "a"),
        Answer(201, config_map(x="1"), UNKNOWN),
    ]
    api = api_on(server)
    with pytest.raises(ApiError, match=r"spec\.foo.*the rest has been stored") as caught:
        api.apply(config_map(x="1"))
    assert caught.value.code == "API-UNKNOWN-FIELD"
    # The server has stored it, and the result says so.
    assert [(change.before, change.after.get("data")) for change in api.changes] == [({}, {"x": "1"})]
    server.faults = [
        status(404, "NotFound", 'configmaps "a" not found', "a"),
        Answer(201, config_map(), {"Warning": '299 - "v1 is deprecated"'}),
    ]
    api = api_on(server)
    api.apply(config_map())
    assert api.warnings == ["v1 is deprecated"]


def test_an_unknown_field_of_an_object_that_exists_is_found_before_the_write() -> None:
    server = FakeServer()
    live = server.put(config_map(x="1"))
    server.faults = [Answer(200, live), Answer(200, live, UNKNOWN)]
    api = api_on(server)
    with pytest.raises(ApiError, match=r"spec\.foo") as caught:
        api.apply(config_map(x="2"))
    assert "stored" not in caught.value.message
    assert api.changes == []
    assert server.writes() == []


def test_what_is_written_says_who_writes_and_lets_nothing_unknown_pass() -> None:
    server = FakeServer()
    asked = {"fieldManager": "accelerators.openshift", "fieldValidation": "Strict"}
    api_on(server).apply(config_map(x="1"))
    api_on(server).apply(config_map(x="2"), force_conflicts=True)
    api_on(server).merge_patch(CONFIG_MAP, "a", "x", {"data": {"y": "1"}})
    api_on(server).create({**config_map(), "metadata": {"name": "b", "namespace": "x"}})
    assert [(method, query) for method, _path, query in server.requests if method != "GET"] == [
        ("PATCH", {**asked, "force": "false"}),
        ("PATCH", {**asked, "force": "true", "dryRun": "All"}),
        ("PATCH", {**asked, "force": "true"}),
        ("PATCH", asked),
        ("POST", asked),
    ]


def test_a_lost_answer_to_a_create_is_recognised_as_ours() -> None:
    server = FakeServer()
    api = api_on(server)
    real = server.request

    def lossy(method: str, url: str, **more: t.Any) -> Answer:
        answer = real(method, url, **more)
        if method == "POST" and len([1 for verb, *_rest in server.requests if verb == "POST"]) == 1:
            raise ConnectionResetError(104, "Connection reset by peer")
        return answer

    server.request = lossy
    assert api.create(config_map(x="1"))["data"] == {"x": "1"}
    assert len(server.objects) == 1


def test_a_create_of_foreign_object_fails() -> None:
    server = FakeServer()
    server.put(config_map(x="theirs"))
    with pytest.raises(ApiError) as caught:
        api_on(server).create(config_map(x="ours"))
    assert caught.value.code == "API-CONFLICT"


def test_a_namespaced_object_without_namespace_is_refused_before_any_request() -> None:
    server = FakeServer()
    with pytest.raises(InputError, match=r"metadata\.namespace"):
        api_on(server).apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    assert server.requests == []


def test_the_diff_of_a_secret_hides_its_data() -> None:
    api = api_on(FakeServer("Secret"))
    api.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s", "namespace": "x"},
            "stringData": {"token": "canary-9f"},
        }
    )
    assert api.changes[0].after["stringData"] == {"token": "<hidden>"}


def test_after_a_lost_answer_foreign_object_is_not_taken_for_ours() -> None:
    server = FakeServer()
    server.faults = [ConnectionResetError(104, "Connection reset by peer")]
    server.put(config_map(x="1"))
    api = api_on(server)
    with pytest.raises(ApiError) as caught:
        api.create(config_map(x="1"))
    assert caught.value.code == "API-CONFLICT"
    assert api.changes == []


def test_our_own_object_that_used_up_the_quota_is_found_after_a_lost_answer() -> None:
    server = FakeServer()
    api = api_on(server)
    real = server.request

    def lossy(method: str, url: str, **more: t.Any) -> Answer:
        if method == "POST" and server.objects:
            return status(403, "Forbidden", 'configmaps "a" is forbidden: exceeded quota: count')
        answer = real(method, url, **more)
        if method == "POST":
            raise ConnectionResetError(104, "Connection reset by peer")
        return answer

    server.request = lossy
    assert api.create(config_map(x="1"))["data"] == {"x": "1"}
    assert len(api.changes) == 1


def test_a_list_can_be_sifted_page_by_page() -> None:
    server = FakeServer()
    for name in ("a", "b"):
        server.put(config_map(x=name) | {"metadata": {"name": name, "namespace": "x"}})
    found = api_on(server).list(
        CONFIG_MAP,
        "x",
        keep=lambda item: {"kept": item["data"]["x"]} if item["metadata"]["name"] == "b" else None,
    )
    assert found == [{"kept": "b"}]


def test_what_a_list_asks_for() -> None:
    """Pages, selectors, metadata on request; no resourceVersion, which would allow an outdated answer."""
    server = FakeServer()
    accepted: list[str] = []
    real = server.request

    def request(method: str, url: str, headers: dict[str, str], **more: t.Any) -> Answer:
        accepted.append(headers["Accept"].partition(";g=")[0])
        return real(method, url, headers=headers, **more)

    server.request = request
    api = api_on(server)
    api.list(CONFIG_MAP, "x", labels="a=b", fields="metadata.name=a")
    api.list(CONFIG_MAP, metadata_only=True)
    api.list(CONFIG_MAP, keep=lambda item: item)
    assert [query for _method, _path, query in server.requests] == [
        {"limit": "500", "labelSelector": "a=b", "fieldSelector": "metadata.name=a"},
        {"limit": "500"},
        {"limit": "100"},
    ]
    assert accepted == [
        "application/json",
        "application/json;as=PartialObjectMetadataList",
        "application/json",
    ]
