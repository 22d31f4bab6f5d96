"""The error of an unhappy answer: its class, its code and its words."""

from __future__ import annotations

import pytest
from unit.engine import CONFIG_MAP, FakeClock, api_on, config_map, data_of
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    KindNotServedError,
)

DENIED = (
    'admission webhook "vmodule.kb.io" denied the request: the user cannot update to or from an empty version'
)
DOWN = (
    'Internal error occurred: failed calling webhook "mnvidiadriver.kb.io": failed to call webhook: Post '
    '"https://gpu-webhook.nvidia-gpu-operator.svc:443/mutate?timeout=10s": no endpoints available for '
    'service "gpu-webhook"'
)


@pytest.mark.parametrize(
    ("answer", "error", "code", "words"),
    [
        (
            status(
                403, "Forbidden", 'configmaps "b" is forbidden: User "joe" cannot get resource "configmaps"'
            ),
            ForbiddenError,
            "API-FORBIDDEN",
            "get configmaps",
        ),
        (
            status(403, "Forbidden", 'pods "p" is forbidden: exceeded quota: gpu-quota'),
            ForbiddenError,
            "API-REFUSED",
            "exceeded quota: gpu-quota",
        ),
        (status(403, "Forbidden", DENIED), ForbiddenError, "API-REFUSED", "an empty version"),
        (status(400, "BadRequest", DENIED), ApiError, "API-REFUSED", "an empty version"),
        (status(422, "Invalid", DENIED), ApiError, "API-REFUSED", "an empty version"),
        (
            status(403, "Forbidden", 'pods "p" is forbidden: cannot set blockOwnerDeletion'),
            ForbiddenError,
            "API-REFUSED",
            "cannot set blockOwnerDeletion",
        ),
        (
            status(500, "", "failed to convert new object (x/a; /v1, Kind=Secret): illegal base64 data"),
            ApiError,
            "API-INVALID",
            "illegal base64 data",
        ),
        (status(400, "BadRequest", "unable to parse selector"), ApiError, "API-INVALID", "unable to parse"),
        (status(422, "Invalid", "data: Invalid value"), ApiError, "API-INVALID", "Invalid value"),
        (status(409, "Conflict", "the object has been modified"), ConflictError, "API-CONFLICT", "modified"),
        (
            Answer(404, "404 page not found"),
            KindNotServedError,
            "API-KIND-NOT-SERVED",
            "does not serve configmaps",
        ),
        (
            status(500, "", "failed to create typed patch object (x): .dta: field not declared"),
            ApiError,
            "API-INVALID",
            ".dta",
        ),
    ],
)
def test_an_error_fails_at_once_with_its_code(
    answer: Answer, error: type[ApiError], code: str, words: str
) -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [answer]
    with pytest.raises(error) as caught:
        api_on(server, clock).get(CONFIG_MAP, "b", "x")
    assert caught.value.code == code
    assert words in caught.value.message
    assert caught.value.remedy
    assert clock.slept == []


def test_a_conflict_names_the_other_manager_and_the_field() -> None:
    server = FakeServer()
    cause = {
        "reason": "FieldManagerConflict",
        "message": 'conflict with "argocd-controller" using v1',
        "field": ".data.x",
    }
    body = {"message": "Apply failed with 1 conflict", "details": {"name": "a", "causes": [cause]}}
    server.put(config_map(x="1"))
    server.faults = [Answer(200, server.put(config_map(x="1"))), Answer(409, body)]
    with pytest.raises(ConflictError) as caught:
        api_on(server).apply(config_map(x="2"))
    assert ".data.x" in caught.value.message
    assert "argocd-controller" in caught.value.remedy


def test_a_missing_permission_is_named_as_the_server_names_it() -> None:
    server = FakeServer()
    text = (
        'configmaps is forbidden: User "joe" cannot create resource "configmaps" in API group "" '
        'in the namespace "x"'
    )
    server.request = lambda method, url, **more: (
        status(403, "Forbidden", text) if method == "PATCH" else server.answer(method, url, **more)
    )
    with pytest.raises(ForbiddenError) as caught:
        api_on(server).apply(config_map(x="1"))
    assert caught.value.message.startswith("The identity joe may not create configmaps in namespace x: ")
    assert caught.value.remedy == (
        "Grant joe the verb create on configmaps in namespace x; "
        "`oc auth can-i create configmaps -n x --as joe` checks it."
    )


@pytest.mark.parametrize(("exists", "verbs"), [(True, "verb patch"), (False, "verbs patch and create")])
def test_an_apply_that_creates_needs_two_verbs(exists: bool, verbs: str) -> None:
    server = FakeServer()
    if exists:
        server.put(config_map(x="1"))
    text = (
        'machinesets.machine.openshift.io "a" is forbidden: User "joe" cannot patch resource "machinesets" '
        'in API group "machine.openshift.io" in the namespace "x"'
    )
    server.request = lambda method, url, **more: (
        status(403, "Forbidden", text) if method == "PATCH" else server.answer(method, url, **more)
    )
    with pytest.raises(ForbiddenError) as caught:
        api_on(server).apply(config_map(x="2"))
    assert (
        f"Grant joe the {verbs} on machinesets.machine.openshift.io in namespace x; " in caught.value.remedy
    )


def test_the_webhook_that_refuses_is_named() -> None:
    server = FakeServer()
    server.faults = [status(403, "Forbidden", DENIED)]
    with pytest.raises(ForbiddenError) as caught:
        api_on(server).get(CONFIG_MAP, "b", "x")
    assert caught.value.message == f'The request to get configmaps "b" in namespace x was refused: {DENIED}'
    assert "the admission webhook vmodule.kb.io refused the object" in caught.value.remedy


def test_a_webhook_that_comes_back_does_not_matter() -> None:
    server, clock = FakeServer(), FakeClock()
    server.request = lambda method, url, **more: (
        status(500, "InternalError", DOWN)
        if method == "PATCH" and clock() < 1060
        else server.answer(method, url, **more)
    )
    api_on(server, clock).apply(config_map(x="1"))
    assert data_of(api_on(server)) == {"x": "1"}


@pytest.mark.parametrize(
    ("text", "behind", "command"),
    [
        (
            DOWN,
            "mnvidiadriver.kb.io (service gpu-webhook in namespace nvidia-gpu-operator)",
            "nvidia-gpu-operator",
        ),
        (
            "conversion webhook for nfd.openshift.io/v1, Kind=NodeFeatureDiscovery failed: Post "
            '"https://nfd-webhook.openshift-nfd.svc:443/convert": dial tcp 172.30.1.2:443: connect: '
            "connection refused",
            "Kind=NodeFeatureDiscovery (service nfd-webhook in namespace openshift-nfd)",
            "openshift-nfd",
        ),
    ],
)
def test_a_webhook_that_stays_down_is_named_with_its_service(text: str, behind: str, command: str) -> None:
    server, clock = FakeServer(), FakeClock()
    server.request = lambda _method, _url, **_more: status(500, "InternalError", text)
    with pytest.raises(ApiError) as caught:
        api_on(server, clock).get(CONFIG_MAP, "b", "x")
    assert caught.value.code == "API-WEBHOOK"
    assert behind in caught.value.message
    assert f"oc get pods -n {command}" in caught.value.remedy


def test_a_write_that_fails_for_no_passing_reason_ends_soon_and_quotes_the_server() -> None:
    server, clock = FakeServer(), FakeClock()
    text = "Internal error occurred: cannot marshal the object of generation {0}"
    server.request = lambda method, url, **more: (
        status(500, "InternalError", text.format(clock()))
        if method == "PATCH"
        else server.answer(method, url, **more)
    )
    with pytest.raises(ApiError) as caught:
        api_on(server, clock).apply(config_map(x="1"))
    assert (caught.value.code, caught.value.status) == ("API-ERROR", 500)
    assert "cannot marshal the object" in caught.value.message
    assert clock() - 1000 < 12
    assert len(clock.slept) < 20


@pytest.mark.parametrize(
    "text", ["etcdserver: leader changed", "rpc error: code = Unavailable", "the request timed out"]
)
def test_a_write_waits_for_a_server_in_trouble(text: str) -> None:
    server, clock = FakeServer(), FakeClock()
    server.request = lambda method, url, **more: (
        status(500, "InternalError", text)
        if method == "PATCH" and clock() < 1100
        else server.answer(method, url, **more)
    )
    assert api_on(server, clock).apply(config_map(x="1"))["data"] == {"x": "1"}


def test_a_conflict_says_what_to_set_or_to_remove() -> None:
    server = FakeServer()
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl"', "field": ".data.x"}
    server.put(config_map(x="1"))
    server.request = lambda method, url, **more: (
        Answer(409, {"message": "1 conflict", "details": {"name": "a", "causes": [cause]}})
        if method == "PATCH"
        else server.answer(method, url, **more)
    )
    with pytest.raises(ConflictError) as caught:
        api_on(server).apply(config_map(x="2"))
    assert caught.value.remedy == (
        "Remove these fields from what kubectl applies, or from the task. "
        "The module manifests also has force_conflicts."
    )
