# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the apiserver's audit log: what was really sent, by whom, with what body."""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

Data = dict[str, t.Any]

WRITES: t.Final = {"create", "update", "patch", "delete", "deletecollection"}
# These are writes in form only: questions about rights, and requests for tokens.
QUESTIONS: t.Final = {"authorization.k8s.io", "authentication.k8s.io"}


@dataclass(frozen=True)
class Request:
    """One completed request, or the start of a watch."""

    event: Data

    @property
    def verb(self) -> str:
        return str(self.event["verb"])

    @property
    def user(self) -> str:
        return str(self.event["user"]["username"])

    @property
    def user_agent(self) -> str:
        return str(self.event.get("userAgent", ""))

    @property
    def uri(self) -> str:
        return str(self.event["requestURI"])

    @property
    def status(self) -> int:
        return int(self.event.get("responseStatus", {}).get("code", 0))

    @property
    def resource(self) -> str:
        """Return `plural.group`, with the subresource after a slash."""
        reference = self.event.get("objectRef", {})
        name = ".".join(
            part for part in (reference.get("resource", ""), reference.get("apiGroup", "")) if part
        )
        return f"{name}/{reference['subresource']}" if reference.get("subresource") else name

    @property
    def namespace(self) -> str | None:
        return t.cast("str | None", self.event.get("objectRef", {}).get("namespace"))

    @property
    def name(self) -> str | None:
        return t.cast("str | None", self.event.get("objectRef", {}).get("name"))

    @property
    def body(self) -> t.Any:
        return self.event.get("requestObject")

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.uri).query)

    @property
    def dry_run(self) -> bool:
        """Return whether the apiserver treats the request as a dry run.

        Of a DELETE with a body only the body counts.
        """
        if self.verb == "delete" and isinstance(self.body, dict):
            return bool(self.body.get("dryRun"))
        return "dryRun" in self.query or (isinstance(self.body, dict) and bool(self.body.get("dryRun")))

    @property
    def writes(self) -> bool:
        """Return whether the request changed, or tried to change, what the cluster holds."""
        reference = self.event.get("objectRef", {})
        question = reference.get("apiGroup") in QUESTIONS or reference.get("subresource") == "token"
        return self.verb in WRITES and not self.dry_run and not question


def read(path: Path, offset: int = 0, user_agent: str | None = None) -> list[Request]:
    """Return the requests logged after a byte offset, of the user agents that begin with a text.

    A last line that is not complete yet is left out.
    """
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(offset)
        lines = file.read().split(b"\n")[:-1]
    # The log of a long run has tens of megabytes, and callers want almost nothing of it.
    told = lines if user_agent is None else [line for line in lines if user_agent.encode() in line]
    requests = (Request(json.loads(line)) for line in told)
    return [
        request for request in requests if user_agent is None or request.user_agent.startswith(user_agent)
    ]


def position(path: Path) -> int:
    """Return the byte offset where the log ends now: pass it to `read` to see only what comes next."""
    return path.stat().st_size if path.exists() else 0


def writes(requests: t.Iterable[Request]) -> list[Request]:
    """Return the requests that changed, or tried to change, what the cluster holds."""
    return [request for request in requests if request.writes]
