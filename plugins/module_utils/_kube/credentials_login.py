# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Log in with user name and password: one token for a task, revoked at its end."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import typing as t

from .._core import secrets
from .._core.errors import AcceleratorError, CredentialsError
from . import http_errors
from .connection import Connection
from .deadline import Deadline
from .http import Http

SECONDS = 10.0
_PREFIX = "sha256~"
_GONE = (200, 202, 401, 404)


class Login:
    """The login of one task. ask: logs in and returns a token. tokens: all that were issued."""

    def __init__(self, ask: t.Callable[[], str]) -> None:
        self._ask = ask
        self._token = ""
        self.tokens: list[str] = []

    def token(self) -> str:
        """Return the token; the first call logs in, so that an outage is retried as for any request."""
        if not self._token:
            self._token = self._ask()
            secrets.register(self._token)
            self.tokens.append(self._token)
        return self._token

    def renew(self) -> None:
        """Log in again for the next request."""
        self._token = ""


def refused(username: str, text: str, status: int = 0) -> Exception:
    """Return the error of a failed login. status: of the HTTP answer."""
    if status == 429 or status >= 500:
        return ConnectionError(f"OpenShift's OAuth server is away: {text}")
    if status == 401:
        return CredentialsError("CRED-LOGIN", username=username, answer=text)
    return CredentialsError("CRED-NO-PASSWORD", username=username, answer=text)


def object_name(token: str) -> str:
    """Return the name of the token's object in the API: a hash, which may appear in paths and logs."""
    digest = hashlib.sha256(token.removeprefix(_PREFIX).encode()).digest()
    return _PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def revoke(http: Http, agent: str) -> list[str]:
    """Revoke the tokens of a task's login, and return a text for each failure.

    Each token is the permission to revoke itself.
    """
    problems = {object_name(token): _end(http.connection, token, agent) for token in http.tokens()}
    return [
        f"The token {name} of this task's login could not be revoked: {problem}. "
        f"Revoke it with: oc delete useroauthaccesstokens {name}"
        for name, problem in problems.items()
        if problem
    ]


def _end(connection: Connection, token: str, agent: str) -> str:
    headers = [("authorization", f"Bearer {token}")]
    own = dataclasses.replace(connection, headers=lambda: headers, renew=lambda: None, expiry=None)
    http = Http(lambda: own, Deadline(SECONDS), agent, lambda _line: None)
    try:
        answer = http.request(
            "DELETE", f"/apis/oauth.openshift.io/v1/useroauthaccesstokens/{object_name(token)}"
        )
    except AcceleratorError as exc:
        return exc.message
    return "" if answer.status in _GONE else http_errors.describe(answer.status, answer.body)
