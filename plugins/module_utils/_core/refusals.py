# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what an API server says when it refuses: who lacks which permission, which webhook is the cause."""

from __future__ import annotations

import re
import typing as t

NOBODY: t.Final = "system:anonymous"
_LACKS: t.Final = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>[a-z:-]+) (?:resource|path) "(?P<resource>[^"]+)"'
    r'(?: in API group "(?P<group>[^"]*)")?(?: in the namespace "(?P<namespace>[^"]+)")?'
)
_DENIED: t.Final = re.compile(r'admission webhook "([^"]+)"')
_FAILED: t.Final = re.compile(
    r'fail(?:ed|ure) calling webhook "([^"]+)"|(conversion webhook for [^:]+?) failed:'
)
_SERVICE: t.Final = re.compile(
    r'https://([a-z0-9-]+)\.([a-z0-9-]+)\.svc|for service "([^"]+)"|service "([^"]+)" not found'
)


class Lack(t.NamedTuple):
    """A permission that an identity lacks. resource: `plural.group`, or the path of a URL."""

    user: str
    verb: str
    resource: str
    namespace: str

    @property
    def place(self) -> str:
        """What the permission is about, in words: `configmaps in namespace x`."""
        return self.resource + (f" in namespace {self.namespace}" if self.namespace else "")

    @property
    def words(self) -> str:
        """The permission in words: `create configmaps in namespace x`."""
        return f"{self.verb} {self.place}"

    @property
    def question(self) -> str:
        """What to ask `oc auth can-i` to know whether the identity has the permission now."""
        place = f" -n {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.resource}{place} --as {self.user}"


class Silent(t.NamedTuple):
    """A webhook that the API server could not call. service, namespace: what is behind it, or empty."""

    name: str
    service: str
    namespace: str


def lack(text: str) -> Lack | None:
    """Return the permission that the server says is lacking, or None if the text is not about one."""
    found = _LACKS.search(text)
    if found is None:
        return None
    group = f".{found['group']}" if found["group"] else ""
    return Lack(found["user"], found["verb"], f"{found['resource']}{group}", found["namespace"] or "")


def denied_by(text: str) -> str:
    """Return the name of the admission webhook that refused the object, or an empty text."""
    found = _DENIED.search(text)
    return found[1] if found else ""


def silent_webhook(text: str) -> Silent | None:
    """Return the webhook that the API server could not call, or None if the text is not about one."""
    found = _FAILED.search(text)
    if found is None:
        return None
    behind = _SERVICE.search(text, found.end())
    service, namespace = (behind[1] or behind[3] or behind[4], behind[2] or "") if behind else ("", "")
    return Silent(found[1] or found[2], service, namespace)
