# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reading half of the Api: get, paged list, resolve, logs, and the error of an unhappy answer."""

from __future__ import annotations

import re
import typing as t

from .._core import redact, secrets
from .._core.errors import ApiError, KindNotServedError
from .._core.objects import KubeObject
from . import http_errors, kinds
from .http import Response
from .kinds import Kind
from .retry import Pause
from .session import Listed, Query, Session

Keep = t.Callable[[KubeObject], "KubeObject | None"]
PAGE = 500
# Where most of a page is thrown away at once: 5,000 nodes take 20 MiB this way instead of 70, and no longer.
SIFTED_PAGE = 100
LOG_BYTES = 1 << 18
# A known text is often at the end of a long line, so a cut leaves both ends.
LOG_LINE = 2000
# What colours a line on a terminal.
_COLOURS: t.Final = re.compile(r"\x1b\[[\d;]*m")
# Of more lines than this, an eighth is asked for if they are too long.
_MANY = 300
_LONGEST_CHARACTER = 4
_PARTIAL = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_VERBS = {"POST": "create", "PATCH": "patch", "DELETE": "delete", "PUT": "update"}


def place(name: str | None, namespace: str | None) -> str:
    """Return name and namespace in words."""
    return " ".join(
        part
        for part in (f'"{name}"' if name else "", f"in namespace {namespace}" if namespace else "")
        if part
    )


def error(
    answer: Response,
    method: str,
    path: str,
    kind: Kind,
    name: str | None,
    namespace: str | None,
    verb: str = "",
) -> ApiError:
    """Return the error for an answer that is neither success nor worth another try.

    verb: as RBAC names it, if it is not that of the method.
    """
    if answer.status == 404 and _is_kind_missing(answer.body):
        return not_served(kind)
    verb = verb or _VERBS.get(method) or ("get" if name else "list")
    return http_errors.error(
        answer.status, answer.body, method, path, verb, kind.resource, place(name, namespace)
    )


def _is_kind_missing(body: t.Any) -> bool:
    # A missing group answers in plain text, a missing resource with a Status that has no name.
    return not isinstance(body, dict) or not (body.get("details") or {}).get("name")


def not_served(kind: Kind) -> KindNotServedError:
    by = f"; {kind.provider} provides it" if kind.provider else ""
    return KindNotServedError(
        "API-KIND-NOT-SERVED",
        kind=f"{kind.resource} ({kind.api_version})",
        also=by,
        provider=kind.provider or "what provides this kind",
        status=404,
        reason="NotServed",
    )


def get(session: Session, kind: Kind, name: str, namespace: str | None) -> KubeObject | None:
    """Do what Api.get says.

    It sends no resourceVersion, so the answer is as new as the request. With `0` the server would answer from
    a cache that may be older than our own write.
    """
    answer = session.http.request("GET", path := kind.path(namespace, name))
    if answer.status == 200:
        return None if session.hides(answer.body) else t.cast(KubeObject, answer.body)
    if answer.status == 404 and not _is_kind_missing(answer.body):
        return None
    raise error(answer, "GET", path, kind, name, namespace)


def list_all(
    session: Session,
    kind: Kind,
    namespace: str | None = None,
    labels: str | None = None,
    fields: str | None = None,
    metadata_only: bool = False,
    keep: Keep | None = None,
) -> Listed:
    """Return every item, each with its apiVersion and kind; see Api.list.

    It sends no resourceVersion: `0` would be cheaper for the server, but ignores limit, and may be older than
    what this task has just written. All pages are of the first page's version.
    """
    path, accept = kind.path(namespace), _PARTIAL if metadata_only else "application/json"
    query: dict[str, t.Any] = {"limit": SIFTED_PAGE if keep else PAGE}
    if labels:
        query["labelSelector"] = labels
    if fields:
        query["fieldSelector"] = fields
    items: list[KubeObject] = []
    pause = Pause(session.http.limits)
    while True:
        answer = session.http.request("GET", path, query, accept=accept)
        if answer.status == 410 and "continue" in query and not session.deadline.passed:
            del query["continue"]
            items = []
            session.deadline.sleep(pause.next())
            continue
        if answer.status != 200:
            raise error(answer, "GET", path, kind, None, namespace)
        found = _sifted(answer.body.get("items") or (), kind, keep)
        items += (item for item in found if not session.hides(item))
        metadata = answer.body.get("metadata") or {}
        if not metadata.get("continue"):
            return Listed(items, str(metadata.get("resourceVersion", "")))
        query["continue"] = metadata["continue"]
        # Otherwise this page would stay in memory beside the next.
        del answer, metadata


def _sifted(page: t.Iterable[KubeObject], kind: Kind, keep: Keep | None) -> t.Iterator[KubeObject]:
    """Yield what is wanted of each item. Items of a list have no kind, or that of their metadata alone."""
    for item in page:
        whole = {**item, "apiVersion": kind.api_version, "kind": kind.kind}
        wanted = whole if keep is None else keep(whole)
        if wanted is not None:
            yield wanted


def query_once(session: Session, query: Query) -> Listed:
    """Return what a query finds now; nothing and no version if the kind is not served yet."""
    try:
        fields = kinds.by_name(query.name) if query.name else query.fields
        return list_all(session, query.kind, query.namespace, query.labels, fields)
    except KindNotServedError:
        return Listed([], "")


def first_look(session: Session, queries: t.Mapping[str, Query]) -> dict[str, Listed]:
    """Return what each query finds. A list that the task has serves once: the next look wants news."""
    try:
        return {
            key: session.seen.find(query, session.clock()) or query_once(session, query)
            for key, query in queries.items()
        }
    finally:
        session.seen.forget()


def served(session: Session, kind: Kind) -> bool:
    answer = session.http.request("GET", kind.base)
    if answer.status == 200:
        return any(entry["name"] == kind.plural for entry in answer.body.get("resources", ()))
    if answer.status == 404:
        return False
    raise error(answer, "GET", kind.base, kind, None, None)


def resolve(session: Session, api_version: str, kind: str) -> Kind:
    return kinds.find(api_version, kind) or _discovered(session, api_version, kind)


def _discovered(session: Session, api_version: str, kind: str) -> Kind:
    key, known = (api_version, kind), session.discovery
    if key in known.kinds:
        return known.kinds[key]
    unknown = Kind(api_version, kind, kind)
    if known.wants_all(unknown):
        known.is_aggregated = True
        found_in_all = _document(session, unknown, kinds.ALL_GROUPS, kinds.ACCEPT_ALL_GROUPS)
        known.learn(kinds.in_all_groups(found_in_all))
    if key not in known.kinds:
        known.learn(kinds.in_group(api_version, _document(session, unknown, unknown.base)))
        known.groups.add(api_version)
    if key not in known.kinds:
        raise not_served(unknown)
    return known.kinds[key]


def _document(session: Session, unknown: Kind, path: str, accept: str = "application/json") -> KubeObject:
    answer = session.http.request("GET", path, accept=accept)
    if answer.status not in (200, 404):
        raise error(answer, "GET", path, unknown, None, None)
    return t.cast(KubeObject, answer.body) if answer.status == 200 else {}


def log(
    session: Session,
    namespace: str,
    pod: str,
    container: str | None,
    tail_lines: int,
    previous: bool,
    outage: float | None = None,
    since: int | None = None,
) -> str:
    """Return the last lines of a container's log, each at most LOG_LINE characters long, secrets masked."""
    given = {"container": container, "previous": "true" if previous else None, "sinceSeconds": since}
    query = {"limitBytes": LOG_BYTES} | {key: value for key, value in given.items() if value}
    fewer = {tail_lines // 8} if tail_lines > _MANY else set()
    for number in sorted({tail_lines, *fewer, min(tail_lines, 10), 1}, reverse=True):
        text = _log(session, namespace, pod, {**query, "tailLines": number}, outage)
        # The server counts the bytes from the first of these lines, so a full answer may lack the last ones.
        if len(text.encode()) < LOG_BYTES - _LONGEST_CHARACTER:
            break
    lines = secrets.censor_log(_COLOURS.sub("", text)).replace("\r\n", "\n").split("\n")
    return "\n".join(redact.message(line, LOG_LINE) for line in lines)


def _log(session: Session, namespace: str, pod: str, query: dict[str, t.Any], outage: float | None) -> str:
    kind = kinds.known("Pod")
    path = kind.path(namespace, pod, "log")
    answer = session.http.request("GET", path, query, accept="*/*", outage=outage)
    if answer.status == 200:
        return answer.body if isinstance(answer.body, str) else str(answer.body)
    raise error(answer, "GET", path, kind, pod, namespace)
