# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A login's token: asked for once, given back under its hashed name, and what goes wrong with that is only told."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils import _credentials_login, _secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._connection import Connection
from ansible_collections.accelerators.openshift.plugins.module_utils._credentials_login import Login
from ansible_collections.accelerators.openshift.plugins.module_utils._deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._http import Http

# Worked out with `printf %s abc | sha256sum | xxd -r -p | basenc --base64url`.
NAME: t.Final = "sha256~ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"
PATH: t.Final = f"/apis/oauth.openshift.io/v1/useroauthaccesstokens/{NAME}"


@pytest.fixture(autouse=True)
def _forget_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_secrets, "_seen", set())


class Remembers(FakeServer):
    """Also remembers the headers of each request."""

    def __init__(self) -> None:
        super().__init__()
        self.headers: list[dict[str, str]] = []

    def request(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        self.headers.append({name.lower(): value for name, value in more["headers"].items()})
        return super().request(method, url, body)


def http(server: FakeServer, *tokens: str, opened: bool = True) -> Http:
    def renew() -> t.NoReturn:
        raise AssertionError("the end of a task must not log in")

    headers = [("authorization", "Bearer of-the-task"), ("Impersonate-User", "jim")]
    connection = Connection("https://a", server, True, lambda: headers, renew, tokens=lambda: list(tokens))
    made = Http(lambda: connection, Deadline(0.0), "test", lambda _line: None)
    if opened:
        assert made.connection is connection
    return made


def test_a_token_is_asked_for_once_and_is_a_secret() -> None:
    asked = iter(["token-one", "token-two"])
    login = Login(lambda: next(asked))
    assert login.tokens == []
    assert (login.token(), login.token()) == ("token-one", "token-one")
    login.renew()
    assert login.token() == "token-two"
    assert login.tokens == ["token-one", "token-two"]
    assert "token-one" not in _secrets.censor_text("x token-one")


@pytest.mark.parametrize("token", ["sha256~abc", "abc"])
def test_the_name_of_a_token_is_openshifts(token: str) -> None:
    assert _credentials_login.object_name(token) == NAME


def test_each_token_ends_itself_after_the_tasks_deadline_too() -> None:
    server = Remembers()
    server.faults = [Answer(200, {"kind": "Status"}), Answer(200, {"kind": "Status"})]
    assert _credentials_login.revoke(http(server, "sha256~abc", "sha256~def"), "test") == []
    assert server.requests[0] == ("DELETE", PATH, {})
    assert len(server.requests) == 2
    assert [one["authorization"] for one in server.headers] == ["Bearer sha256~abc", "Bearer sha256~def"]
    assert not any("impersonate-user" in one for one in server.headers)


@pytest.mark.parametrize("answer", [status(404, "NotFound", "gone"), Answer(401, {"message": "Unauthorized"})])
def test_a_token_that_has_ended_already_is_no_trouble(answer: Answer) -> None:
    server = FakeServer()
    server.faults = [answer, answer]
    assert _credentials_login.revoke(http(server, "sha256~abc"), "test") == []


def test_trouble_is_told_with_the_tokens_name_alone() -> None:
    server = FakeServer()
    server.faults = [status(403, "Forbidden", "not allowed")]
    (said,) = _credentials_login.revoke(http(server, "sha256~abc"), "test")
    assert f"The token {NAME} of this task's login could not be revoked: HTTP 403 (not allowed)." in said
    assert "sha256~abc" not in said


def test_a_task_that_sent_nothing_sends_nothing_in_the_end() -> None:
    server = FakeServer()
    assert _credentials_login.revoke(http(server, "sha256~abc", opened=False), "test") == []
    assert server.requests == []
