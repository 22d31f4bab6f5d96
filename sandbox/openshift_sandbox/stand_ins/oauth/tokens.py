# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for what OpenShift's OAuth server remembers: users, codes, tokens.

The real one keeps hashes of them in etcd; this one keeps all of it in memory.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
import time
import typing as t

PREFIX: t.Final = "sha256~"
LIFETIME: t.Final = 86400

Users = t.Mapping[str, t.Mapping[str, t.Any]]


def object_name(token: str) -> str:
    """Return the name of the OAuthAccessToken of a token; nobody can sign in with it."""
    digest = hashlib.sha256(token.removeprefix(PREFIX).encode()).digest()
    return PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")


class Tokens:
    """Users by login name (password, user, groups), and their tokens. Several threads may share it."""

    def __init__(self, users: Users, clock: t.Callable[[], float] = time.time) -> None:
        self._users = users
        self._clock = clock
        self._codes: dict[str, str] = {}
        self._owners: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def is_known(self, login: str, password: str) -> bool:
        """Return whether a password belongs to a login name."""
        expected = str(self._users.get(login, {}).get("password", ""))
        return bool(expected) and hmac.compare_digest(expected.encode(), password.encode())

    def code(self, login: str) -> str:
        """Return a new code for a user."""
        code = PREFIX + secrets.token_urlsafe(32)
        with self._lock:
            self._codes[code] = login
        return code

    def redeem(self, code: str) -> str | None:
        """Return a token for a code, once."""
        with self._lock:
            login = self._codes.pop(code, None)
        return self.issue(login) if login else None

    def issue(self, login: str) -> str:
        """Return a new token for a user."""
        token = PREFIX + secrets.token_urlsafe(32)
        with self._lock:
            self._owners[object_name(token)] = (login, self._clock() + LIFETIME)
        return token

    def user(self, token: str) -> dict[str, t.Any] | None:
        """Return the user of a token as a TokenReview has it; None when it is unknown, revoked or expired."""
        with self._lock:
            login, end = self._owners.get(object_name(token), ("", 0.0))
        if not login or self._clock() >= end:
            return None
        facts = self._users[login]
        return {"username": facts["user"], "uid": object_name(login), "groups": list(facts["groups"])}

    def of(self, uid: str) -> list[str]:
        """Return the names of a user's tokens."""
        with self._lock:
            return sorted(name for name, (login, _end) in self._owners.items() if object_name(login) == uid)

    def revoke(self, name: str) -> bool:
        """Revoke a token by its name; return whether it existed."""
        with self._lock:
            return self._owners.pop(name, None) is not None
