"""The Api on the in-memory server: compares first, writes only what differs, owns only what it made."""

from __future__ import annotations

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ApiError, InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds

CONFIG_MAP = kinds.known("ConfigMap")
OWNER = {"app.kubernetes.io/managed-by": "accelerators.openshift"}


def manifest(**data: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "x"},
        "data": data,
    }


def test_check_mode_writes_nothing_and_says_what_it_would() -> None:
    server = FakeServer()
    api = api_on(server, check_mode=True)
    api.apply(manifest(x="1"))
    assert server.writes() == []
    assert api.changes[0].after["data"] == {"x": "1"}


def test_check_mode_deletes_nothing() -> None:
    server = FakeServer()
    api_on(server).apply(manifest(x="1"))
    before = len(server.writes())
    assert api_on(server, check_mode=True).delete(CONFIG_MAP, "a", "x")
    assert len(server.writes()) == before
    assert api_on(server).get(CONFIG_MAP, "a", "x")


def test_check_mode_before_the_kind_is_served() -> None:
    api = api_on(FakeServer("Namespace"), check_mode=True)
    api.apply(manifest(x="1"))
    assert [change.title for change in api.changes] == ["ConfigMap x/a"]
    assert "does not serve configmaps" in api.warnings[0]


def test_check_mode_before_the_namespace_exists() -> None:
    server = FakeServer()
    server.faults = [
        status(404, "NotFound", 'configmaps "a" not found', "a"),
        status(404, "NotFound", 'namespaces "x" not found', "x"),
    ]
    api = api_on(server, check_mode=True)
    assert api.apply(manifest(x="1"))["data"] == {"x": "1"}
    assert "namespace x does not exist yet" in api.warnings[0]


def test_an_object_that_existed_is_never_given_our_label() -> None:
    server = FakeServer()
    server.put(manifest(x="1"))
    api = api_on(server)
    after = api.apply(manifest(x="2"))
    assert after["data"] == {"x": "2"}
    assert "labels" not in after["metadata"]
    assert api.delete(CONFIG_MAP, "a", "x", wait=False) is False
    assert "was not created by this collection" in api.warnings[0]


UNKNOWN = {"Warning": '299 - "unknown field \\"spec.foo\\""'}


def test_an_unknown_field_warning_is_an_error_and_others_are_warnings() -> None:
    server = FakeServer()
    server.faults = [
        status(404, "NotFound", 'configmaps "a" not found', "a"),
        Answer(201, manifest(x="1"), UNKNOWN),
    ]
    api = api_on(server)
    with pytest.raises(ApiError, match=r"spec\.foo.*the rest has been stored") as caught:
        api.apply(manifest(x="1"))
    assert caught.value.code == "API-UNKNOWN-FIELD"
    # It is there now, and said to be.
    assert [(change.before, change.after.get("data")) for change in api.changes] == [({}, {"x": "1"})]
    server.faults = [
        status(404, "NotFound", 'configmaps "a" not found', "a"),
        Answer(201, manifest(), {"Warning": '299 - "v1 is deprecated"'}),
    ]
    api = api_on(server)
    api.apply(manifest())
    assert api.warnings == ["v1 is deprecated"]


def test_an_unknown_field_of_an_object_that_exists_is_found_before_the_write() -> None:
    server = FakeServer()
    live = server.put(manifest(x="1"))
    server.faults = [Answer(200, live), Answer(200, live, UNKNOWN)]
    api = api_on(server)
    with pytest.raises(ApiError, match=r"spec\.foo") as caught:
        api.apply(manifest(x="2"))
    assert "stored" not in caught.value.message
    assert api.changes == []
    assert server.writes() == []


def test_what_is_written_says_who_writes_and_lets_nothing_unknown_pass() -> None:
    server = FakeServer()
    asked = {"fieldManager": "accelerators.openshift", "fieldValidation": "Strict"}
    api_on(server).apply(manifest(x="1"))
    api_on(server).apply(manifest(x="2"), force_conflicts=True)
    api_on(server).merge_patch(CONFIG_MAP, "a", "x", {"data": {"y": "1"}})
    api_on(server).create({**manifest(), "metadata": {"name": "b", "namespace": "x"}})
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

    def lossy(method: str, url: str, **more: object) -> Answer:
        answer = real(method, url, **more)
        if method == "POST" and len([1 for verb, *_rest in server.requests if verb == "POST"]) == 1:
            raise ConnectionResetError(104, "Connection reset by peer")
        return answer

    server.request = lossy
    assert api.create(manifest(x="1"))["data"] == {"x": "1"}
    assert len(server.objects) == 1


def test_a_create_of_somebody_elses_object_fails() -> None:
    server = FakeServer()
    server.put(manifest(x="theirs"))
    with pytest.raises(ApiError) as caught:
        api_on(server).create(manifest(x="ours"))
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


@pytest.mark.parametrize(("size", "shown"), [(10, True), (10000, False)])
def test_the_diff_of_a_deleted_object_shows_its_spec_unless_that_is_a_book(size: int, shown: bool) -> None:
    server = FakeServer("Pod")
    server.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "x", "labels": OWNER},
            "spec": {"text": "x" * size},
        }
    )
    api = api_on(server)
    api.delete(kinds.known("Pod"), "p", "x", wait=False)
    assert ("spec" in api.changes[0].before) is shown
    assert api.changes[0].after == {}


def test_after_a_lost_answer_somebody_elses_object_is_not_taken_for_ours() -> None:
    server = FakeServer()
    server.faults = [ConnectionResetError(104, "Connection reset by peer")]
    server.put(manifest(x="1"))
    api = api_on(server)
    with pytest.raises(ApiError) as caught:
        api.create(manifest(x="1"))
    assert caught.value.code == "API-CONFLICT"
    assert api.changes == []


def test_our_own_object_that_used_up_the_quota_is_found_after_a_lost_answer() -> None:
    server = FakeServer()
    api = api_on(server)
    real = server.request

    def lossy(method: str, url: str, **more: object) -> Answer:
        if method == "POST" and server.objects:
            return status(403, "Forbidden", 'configmaps "a" is forbidden: exceeded quota: count')
        answer = real(method, url, **more)
        if method == "POST":
            raise ConnectionResetError(104, "Connection reset by peer")
        return answer

    server.request = lossy
    assert api.create(manifest(x="1"))["data"] == {"x": "1"}
    assert len(api.changes) == 1


DELETE_RACES = {
    "already under way": (
        "ensuring all content is removed",
        {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        True,
    ),
    "replaced by another of ours": (
        "Precondition failed: UID in precondition",
        {"uid": "2", "labels": dict(MANAGED_BY)},
        True,
    ),
    "replaced by somebody": ("Precondition failed: UID in precondition", {"uid": "2", "labels": {}}, False),
}


@pytest.mark.parametrize("race", DELETE_RACES)
def test_a_delete_that_meets_another_one(race: str) -> None:
    words, now, deleted = DELETE_RACES[race]
    server = FakeServer()
    live = server.put(
        {
            **manifest(x="1"),
            "metadata": {"name": "a", "namespace": "x", "uid": "1", "labels": dict(MANAGED_BY)},
        }
    )
    api, real, met = api_on(server), server.request, []

    def racing(method: str, url: str, **more: object) -> Answer:
        if method == "DELETE" and not met:
            met.append(method)
            live["metadata"].update(now)
            return status(409, "Conflict", f'Operation cannot be fulfilled on configmaps "a": {words}')
        return real(method, url, **more)

    server.request = racing
    assert api.delete(CONFIG_MAP, "a", "x", wait=False) is deleted
    assert len(api.changes) == deleted


def test_a_conflict_that_stays_is_told() -> None:
    server, clock = FakeServer(), FakeClock()
    server.put(
        {
            **manifest(x="1"),
            "metadata": {"name": "a", "namespace": "x", "uid": "1", "labels": dict(MANAGED_BY)},
        }
    )
    api, real = api_on(server, clock), server.request
    faster = "Operation cannot be fulfilled: the object has been modified"
    server.request = lambda method, url, **more: (
        status(409, "Conflict", faster) if method == "DELETE" else real(method, url, **more)
    )
    with pytest.raises(ApiError) as caught:
        api.delete(CONFIG_MAP, "a", "x")
    assert caught.value.code == "API-CONFLICT"
    assert len(clock.slept) == 10
    assert api.changes == []


def test_a_list_can_be_sifted_page_by_page() -> None:
    server = FakeServer()
    for name in ("a", "b"):
        server.put(manifest(x=name) | {"metadata": {"name": name, "namespace": "x"}})
    found = api_on(server).list(
        CONFIG_MAP,
        "x",
        keep=lambda item: {"kept": item["data"]["x"]} if item["metadata"]["name"] == "b" else None,
    )
    assert found == [{"kept": "b"}]


def test_what_a_list_asks_for() -> None:
    """Pages, selectors, metadata only where that is wanted; and no resourceVersion, which would allow an answer older than our own writes."""
    server, accepted = FakeServer(), []
    real = server.request

    def request(method: str, url: str, headers: dict[str, str], **more: object) -> Answer:
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


@pytest.mark.parametrize(
    "gone",
    [
        status(404, "NotFound", 'pods "p" not found', "p"),
        status(409, "Conflict", "Precondition failed: UID in precondition"),
    ],
)
@pytest.mark.parametrize("lost", [True, False])
def test_an_eviction_whose_answer_was_lost_is_a_change(gone: Answer, lost: bool) -> None:
    server = FakeServer()
    server.faults = [
        *([ConnectionResetError(104, "Connection reset by peer")] if lost else []),
        Answer(gone.status, gone._data.decode(), dict(gone.headers)),
    ]
    api = api_on(server)
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "x", "uid": "1"},
        "spec": {"nodeName": "n"},
    }
    assert api.evict(pod) == ""
    assert bool(api.changes) is lost
