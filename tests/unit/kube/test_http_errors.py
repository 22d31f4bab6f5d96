"""The error of an unhappy answer: its class, its code and its words."""

from __future__ import annotations

import pytest
from unit.engine import CONFIG_MAP, FakeClock, api_on, config_map
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    KindNotServedError,
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
