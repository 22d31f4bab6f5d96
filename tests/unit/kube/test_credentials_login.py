# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A login's token: requested once, revoked under its hashed name; a failure of that is only a warning."""

from __future__ import annotations

import datetime
import typing as t

import pytest
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    CredentialsError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import module
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials,
    credentials_login,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import Connection
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.credentials_login import Login
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.http import Http
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known

# Worked out with `printf %s abc | sha256sum | xxd -r -p | basenc --base64url`.
NAME: t.Final = "sha256~ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"
PATH: t.Final = f"/apis/oauth.openshift.io/v1/useroauthaccesstokens/{NAME}"


@pytest.fixture(autouse=True)
def _forget_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_seen", set())


class Remembers(FakeServer):
    """A server that also remembers the headers of each request."""

    def __init__(self) -> None:
        super().__init__()
        self.headers: list[dict[str, str]] = []

    def answer(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: t.Mapping[str, str] | None = None,
        **_more: t.Any,
    ) -> Answer:
        self.headers.append({name.lower(): value for name, value in (headers or {}).items()})
        return super().answer(method, url, body)


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
    assert "token-one" not in secrets.censor_text("x token-one")


@pytest.mark.parametrize("token", ["sha256~abc", "abc"])
def test_the_name_of_a_token_is_openshifts(token: str) -> None:
    assert credentials_login.object_name(token) == NAME


def test_each_token_ends_itself_after_the_tasks_deadline_too() -> None:
    server = Remembers()
    server.faults = [Answer(200, {"kind": "Status"}), Answer(200, {"kind": "Status"})]
    assert credentials_login.revoke(http(server, "sha256~abc", "sha256~def"), "test") == []
    assert server.requests[0] == ("DELETE", PATH, {})
    assert len(server.requests) == 2
    assert [one["authorization"] for one in server.headers] == ["Bearer sha256~abc", "Bearer sha256~def"]
    assert not any("impersonate-user" in one for one in server.headers)


@pytest.mark.parametrize(
    "answer", [status(404, "NotFound", "gone"), Answer(401, {"message": "Unauthorized"})]
)
def test_a_token_that_has_ended_already_is_no_trouble(answer: Answer) -> None:
    server = FakeServer()
    server.faults = [answer, answer]
    assert credentials_login.revoke(http(server, "sha256~abc"), "test") == []


def test_trouble_is_told_with_the_tokens_name_alone() -> None:
    server = FakeServer()
    server.faults = [status(403, "Forbidden", "not allowed")]
    (said,) = credentials_login.revoke(http(server, "sha256~abc"), "test")
    assert f"The token {NAME} of this task's login could not be revoked: HTTP 403 (not allowed)." in said
    assert "sha256~abc" not in said


def test_a_task_that_sent_nothing_sends_nothing_in_the_end() -> None:
    server = FakeServer()
    assert credentials_login.revoke(http(server, "sha256~abc", opened=False), "test") == []
    assert server.requests == []


@pytest.mark.parametrize("error", [InputError("INPUT-X", "it is wrong", "mend it"), KeyError("x"), None])
@pytest.mark.parametrize("refused", [True, False])
def test_a_task_that_cannot_revoke_keeps_its_own_result(
    monkeypatch: pytest.MonkeyPatch, error: Exception | None, refused: bool
) -> None:
    server = FakeServer()

    def ensure(api: Api, _params: t.Any) -> dict[str, t.Any]:
        api.get(known("Node"), "a")
        server.faults = [status(403, "Forbidden", "not allowed") if refused else RuntimeError("a bug")]
        if error:
            raise error
        return {"done": True}

    connection = Connection("https://a", server, True, list, tokens=lambda: ["sha256~abc"])
    monkeypatch.setattr(credentials, "connect", lambda _params, **_more: connection)
    result = module.execute("some_module", ensure, {"wait_timeout": 5}, check_mode=False, diff=False)
    (warning,) = result["warnings"]
    assert "could not be revoked" in warning
    assert result.get("code") == (
        None if error is None else "INPUT-X" if isinstance(error, InputError) else "INTERNAL"
    )
    assert result.get("done") == (True if error is None else None)


def test_a_token_is_revoked_when_the_task_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    server = FakeServer()

    def ensure(api: Api, _params: t.Any) -> t.NoReturn:
        api.get(known("Node"), "a")
        raise KeyboardInterrupt

    connection = Connection("https://a", server, True, list, tokens=lambda: ["sha256~abc"])
    monkeypatch.setattr(credentials, "connect", lambda _params, **_more: connection)
    with pytest.raises(KeyboardInterrupt):
        module.execute("some_module", ensure, {"wait_timeout": 5}, check_mode=False, diff=False)
    assert server.requests[-1][:2] == ("DELETE", PATH)


def test_a_token_that_ends_too_soon_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=60)
    connection = Connection("https://a", FakeServer(), True, list, expiry=("The token", end))
    monkeypatch.setattr(credentials, "connect", lambda _params, **_more: connection)
    for seconds, warned in ((30, False), (90, True)):
        result = module.execute(
            "some_module",
            lambda api, _params: {"node": api.get(known("Node"), "a")},
            {"wait_timeout": seconds},
            check_mode=False,
            diff=False,
        )
        assert (f"The token expires at {end:%Y-%m-%d %H:%M:%S} UTC" in str(result.get("warnings"))) is warned


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_login_waits_for_a_server_that_is_away(code: int) -> None:
    answers: list[t.Any] = [
        credentials_login.refused("joe", "away", code),
        ConnectionRefusedError("refused"),
        "token-one",
    ]

    def ask() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    server, login = Remembers(), Login(ask)
    connection = Connection(
        "https://a",
        server,
        True,
        lambda: [("authorization", f"Bearer {login.token()}")],
        login.renew,
        lambda: login.tokens,
    )
    made = Http(lambda: connection, Deadline(60.0, sleep=lambda _seconds: None), "test", lambda _line: None)
    server.faults = [Answer(200, {}), Answer(401, {"message": "Unauthorized"})]
    answers += ["token-two"]
    assert made.request("GET", "/api/v1/nodes").status == 200
    assert made.request("GET", "/api/v1/nodes").status == 200
    assert [one["authorization"] for one in server.headers] == [
        "Bearer token-one",
        "Bearer token-one",
        "Bearer token-two",
    ]
    assert login.tokens == ["token-one", "token-two"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (401, "CRED-LOGIN: OpenShift's OAuth server did not accept the user joe"),
        (404, "CRED-NO-PASSWORD: The user joe cannot log in"),
        (403, "CRED-NO-PASSWORD: The user joe cannot log in"),
        (0, "CRED-NO-PASSWORD: The user joe cannot log in"),
    ],
)
def test_a_login_that_is_refused_is_final(code: int, words: str) -> None:
    error = credentials_login.refused("joe", "text", code)
    assert isinstance(error, CredentialsError)
    assert str(error.to_result()["msg"]).startswith(words)
