# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals whose reason is known here: no credentials at all, or a certificate that has expired."""

from __future__ import annotations

import datetime
import typing as t
from dataclasses import replace

import pytest
import urllib3
from unit.client_hello import check_protocols_stay
from unit.engine import CONFIG_MAP, FakeClock, api_on
from unit.fake_server import FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials

ANONYMOUS: t.Final = (
    'configmaps "a" is forbidden: User "system:anonymous" cannot get resource "configmaps" in API group "" '
    'in the namespace "x"'
)


def kubeconfig(context: dict[str, str], user: dict[str, str]) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://api.example:6443"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "lab", "context": {"cluster": "c", **context}}],
        "current-context": "lab",
    }


@pytest.mark.parametrize(
    ("params", "nobody"),
    [
        ({"kubeconfig": kubeconfig({}, {})}, "the context lab names no user"),
        ({"kubeconfig": kubeconfig({"user": "u"}, {})}, "the user u of the context lab has no credentials"),
        ({"kubeconfig": kubeconfig({"user": "u"}, {"token": "token-of-test"})}, ""),
        ({"host": "https://api.example:6443"}, "host is set, and neither api_key"),
        ({"host": "https://api.example:6443", "api_key": "token-of-test"}, ""),
    ],
)
def test_a_connection_knows_why_it_has_no_credentials(params: dict[str, t.Any], nobody: str) -> None:
    found = credentials.connect(params, {}).nobody
    assert found.startswith(nobody)
    assert bool(found) == bool(nobody)


def failure(answers: list[t.Any], **connection: t.Any) -> AcceleratorError:
    server, clock = FakeServer(), FakeClock()
    api = api_on(server, clock)
    api.http.__dict__["connection"] = replace(api.http.connection, **connection)
    server.faults = answers
    with pytest.raises(AcceleratorError) as caught:
        api.get(CONFIG_MAP, "a", "x")
    assert clock() - 1000 < 1
    return caught.value


@pytest.mark.parametrize(("code", "text"), [(403, ANONYMOUS), (401, "Unauthorized")])
def test_a_context_without_user_is_the_reason_and_not_a_missing_permission(code: int, text: str) -> None:
    answers = [status(code, "", text) for _time in range(2)]
    found = failure(answers, nobody="the context lab names no user")
    assert found.code == "CRED-NOBODY"
    assert "the context lab names no user" in found.message
    assert "oc login" in found.remedy


def test_a_permission_that_an_identity_lacks_stays_one() -> None:
    text = ANONYMOUS.replace("system:anonymous", "joe")
    assert failure([status(403, "Forbidden", text)], nobody="").code == "API-FORBIDDEN"


def test_nobody_is_told_to_grant_rights_to_everybody() -> None:
    found = failure([status(403, "Forbidden", ANONYMOUS)])
    assert found.message.startswith("The API server did not get the credentials of this task: ")
    assert "Grant" not in found.remedy


END: t.Final = datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


def test_an_expired_certificate_is_the_reason_of_a_401() -> None:
    answers = [status(401, "Unauthorized", "Unauthorized") for _time in range(2)]
    found = failure(answers, expiry=("The client certificate", END))
    assert found.code == "CRED-UNAUTHORIZED"
    assert "The client certificate expired at 2020-01-02 03:04:05 UTC" in found.message


def test_an_expired_certificate_is_the_reason_of_a_refused_handshake() -> None:
    alert = urllib3.exceptions.SSLError("[SSL: SSLV3_ALERT_CERTIFICATE_EXPIRED] alert certificate expired")
    assert "expired at 2020" in failure([alert], expiry=("The client certificate", END)).message


def test_no_thread_sets_protocols_that_another_connection_reads() -> None:
    """Python's ssl module makes a connection without its lock: its hello got parts of freed memory."""
    found = credentials.connect({"host": "https://api.example:6443", "api_key": "token-of-test"}, {})
    check_protocols_stay(found.pool.connection_pool_kw["ssl_context"])
