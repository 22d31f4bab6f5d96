"""How the audit log is read, and which requests count as writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openshift_sandbox import audit
from openshift_sandbox.audit import Request


def event(verb: str, uri: str, **extra: Any) -> dict[str, Any]:
    return {
        "verb": verb,
        "requestURI": uri,
        "user": {"username": "admin"},
        "userAgent": "accelerators.openshift/1.0",
        **extra,
    }


@pytest.mark.parametrize(
    ("entry", "writes"),
    [
        (event("get", "/api/v1/nodes/a"), False),
        (event("watch", "/api/v1/nodes?watch=1"), False),
        (event("create", "/api/v1/namespaces"), True),
        (event("patch", "/api/v1/namespaces/a?fieldManager=x&dryRun=All"), False),
        (event("patch", "/api/v1/namespaces/a?fieldManager=x"), True),
        (
            event(
                "delete", "/api/v1/namespaces/a", requestObject={"kind": "DeleteOptions", "dryRun": ["All"]}
            ),
            False,
        ),
        (event("delete", "/api/v1/namespaces/a?dryRun=All", requestObject={"kind": "DeleteOptions"}), True),
        (
            event(
                "create",
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                objectRef={"apiGroup": "authorization.k8s.io"},
            ),
            False,
        ),
        (
            event("create", "/api/v1/x", objectRef={"resource": "serviceaccounts", "subresource": "token"}),
            False,
        ),
        (event("deletecollection", "/api/v1/namespaces/a/pods"), True),
    ],
)
def test_what_counts_as_a_write(entry: dict[str, Any], writes: bool) -> None:
    assert Request(entry).writes is writes


def test_the_log_is_read_from_a_position_and_half_a_line_is_left(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    assert audit.read(log) == []
    log.write_text(json.dumps(event("get", "/api/v1/a")) + "\n")
    offset = audit.position(log)
    with log.open("a") as file:
        file.write(
            json.dumps(event("create", "/api/v1/b", objectRef={"resource": "nodes", "name": "n"})) + "\n"
        )
        file.write(json.dumps(event("create", "/api/v1/c", userAgent="kubectl/1")) + '\n{"verb": "cre')
    assert [request.uri for request in audit.read(log, offset)] == ["/api/v1/b", "/api/v1/c"]
    (only,) = audit.writes(audit.read(log, offset, "accelerators.openshift"))
    assert (only.name, only.resource, only.user) == ("n", "nodes", "admin")
