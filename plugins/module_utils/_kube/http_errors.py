# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn an answer, or the lack of one, into an error with a code and a remedy."""

from __future__ import annotations

import re
import ssl
import typing as t

from .._core import refusals
from .._core.errors import ApiError, ConflictError, ForbiddenError

_TUNNEL = re.compile(r"Tunnel connection failed: (\d\d\d[\w ]*)")
_MANAGER = re.compile(r'conflict with "([^"]+)"')


def text_of(body: t.Any) -> str:
    """Return the server's own words."""
    if isinstance(body, dict):
        return str(body.get("message") or body.get("reason") or "no message")
    return str(body).strip()[:300] or "no message"


def describe(status: int, body: t.Any) -> str:
    return f"HTTP {status} ({text_of(body)})"


NO_ANSWER = "no answer in time"
REFUSED = "connection refused"
NO_NAME = "the host name cannot be resolved"


def describe_transport(exc: BaseException) -> str:
    """Return in words how the connection failed."""
    text = str(exc)
    if tunnel := _TUNNEL.search(text):
        return f"the proxy answers {tunnel[1].strip()}"
    where = "the proxy cannot be reached: " if "onnect to proxy" in text else ""
    for words, meaning in (("refused", REFUSED), ("NameResolution", NO_NAME), ("timed out", NO_ANSWER)):
        if words in text:
            return where + meaning
    return f"{where}connection broken ({type(exc).__name__})"


_NO_ROLE = "is forbidden: User"
# Every API server has these roles: one that misses them has not read its roles yet.
_ROLES_UNREAD = re.compile('"system:(basic-user|discovery|public-info-viewer)" not found')
_EVICTION = "/eviction"
_AGAIN = frozenset((408, 429, 500, 502, 503, 504))
# Answers of status 500 that are about the object, so the next answer will be the same.
_OBJECT_IS_WRONG = (
    "strict decoding error",
    "failed to create typed patch object",
    "failed to create manager for existing fields",
    "failed to convert",
    "more than one PodDisruptionBudget",
)
# Words of an answer of status 500 that is about the server and what it depends on, such as etcd.
_SERVER_IN_TROUBLE = re.compile(
    "etcd|rpc error|time(d )?out|deadline|connection|connect:|dial|EOF|no such host|unavailable|overload"
    "|not ready|not yet|shut|leader|context cancell?ed|retry|try again",
    re.IGNORECASE,
)
# Answers of status 409 of an optimistic lock inside the server (of the object, of a quota). Our writes have
# no version, so the client can send them again.
_LOST_RACE = ("the object has been modified", "StorageError: invalid object")


def is_passing(method: str, status: int, body: t.Any, path: str = "") -> bool:
    """Return True if the same request may get another answer in a moment.

    A refused eviction (429) may stay refused for minutes: the drain asks again for each pod.
    """
    if status == 409:
        return method != "GET" and any(words in text_of(body) for words in _LOST_RACE)
    if status == 403:
        return _ROLES_UNREAD.search(text_of(body)) is not None
    is_refused_eviction = status == 429 and path.endswith(_EVICTION)
    return status in _AGAIN and not _is_about_object(status, body) and not is_refused_eviction


def may_stay(method: str, status: int, body: t.Any) -> bool:
    """Return True for the answer to a write that may stay the same: nothing in it is about the server."""
    is_status = isinstance(body, dict) and body.get("kind") == "Status"
    about_server = _SERVER_IN_TROUBLE.search(text_of(body)) or refusals.silent_webhook(text_of(body))
    return method != "GET" and status == 500 and is_status and not about_server


def is_unsettled(status: int, body: t.Any) -> bool:
    """Return True for a refusal that a starting API server gives everybody: it has not read its roles yet."""
    return status == 401 or (status == 403 and _NO_ROLE in text_of(body))


def _is_about_object(status: int, body: t.Any) -> bool:
    return status == 500 and any(words in text_of(body) for words in _OBJECT_IS_WRONG)


def certificate_problem(exc: BaseException) -> BaseException | None:
    """Return the certificate error behind a transport error, or None."""
    seen: BaseException | None = exc
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(seen):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None


def proxy_problem(exc: BaseException) -> str:
    """Return what a proxy says that refuses us, or "" for another error and for one that may pass."""
    match = _TUNNEL.search(str(exc))
    is_final = match is not None and match[1].startswith("4") and int(match[1][:3]) not in _AGAIN
    return match[1].strip() if match and is_final else ""


def unreachable(host: str, proxy: str, method: str, path: str, problem: str, seconds: float) -> ApiError:
    """Return the error for a server that gave no useful answer for so many seconds."""
    if webhook := refusals.silent_webhook(problem):
        return _silent(webhook, method, path, problem, seconds)
    works = f"the proxy {proxy} works, or put the host into no_proxy (NO_PROXY)"
    return ApiError(
        "API-UNREACHABLE",
        remedy=f"Check that {works}, then run again; nothing is lost." if "the proxy" in problem else "",
        host=f"{host}{_through(proxy)}",
        seconds=f"{seconds:.0f}",
        problem=problem,
        evidence=[f"{method} {path}: {problem}"],
    )


def _silent(webhook: refusals.Silent, method: str, path: str, problem: str, seconds: float) -> ApiError:
    place = f" in namespace {webhook.namespace}" if webhook.namespace else ""
    behind = f" (service {webhook.service}{place})" if webhook.service else ""
    return ApiError(
        "API-WEBHOOK",
        webhook=f"{webhook.name}{behind}",
        seconds=f"{seconds:.0f}",
        problem=problem,
        where=f"-n {webhook.namespace}" if webhook.namespace else "-A",
        evidence=[f"{method} {path}: {problem}"],
    )


def _through(proxy: str) -> str:
    return f" through the proxy {proxy}" if proxy else ""


def is_foreign(status: int, body: t.Any) -> bool:
    """Return True for an answer that no API server gives, for example the page of a proxy."""
    if status == 404:
        is_status = isinstance(body, dict) and body.get("kind") == "Status"
        return not is_status and "404 page not found" not in str(body)[:100]
    is_page = isinstance(body, str) and body.lstrip()[:1] == "<"
    return 300 <= status < 400 or (status in (400, 401, 403, 405) and is_page)


def not_kubernetes(host: str, proxy: str, method: str, target: str, answer: tuple[int, str]) -> ApiError:
    """Return the error for an answer that no API server gives. answer: its HTTP status and content type."""
    status, kind = answer
    return ApiError(
        "API-NOT-KUBERNETES",
        host=f"{host}{_through(proxy)}",
        answer=f"HTTP {status} and {kind or 'no content type'}",
        also=f"Put the host into no_proxy (NO_PROXY), or check the proxy {proxy}. " if proxy else "",
        evidence=[f"{method} {target}"],
        status=status,
    )


def error(status: int, body: t.Any, method: str, path: str, verb: str, resource: str, where: str) -> ApiError:
    """Return the error for an unhappy status.

    verb, resource: as RBAC names them. where: the object's name and namespace in words.
    """
    text = text_of(body)
    facts: dict[str, t.Any] = {
        "status": status,
        "reason": body.get("reason", "") if isinstance(body, dict) else "",
        "evidence": [f"{method} {path}: HTTP {status}"],
    }
    if status == 401:
        return ApiError("CRED-UNAUTHORIZED", server="The API server", answer=text, **facts)
    request = f"{verb} {resource} {where}"
    if 400 <= status < 500 and (webhook := refusals.denied_by(text)):
        rule, kind = f"the admission webhook {webhook}", ForbiddenError if status == 403 else ApiError
        return kind("API-REFUSED", request=request, answer=text, rule=rule, **facts)
    if status == 403:
        return _forbidden(text, verb, resource, where, facts)
    if status == 409:
        return _conflict(body, resource, where, facts)
    if status == 404:
        message = f"{resource} {where}: {text}"
        return ApiError("API-NOT-FOUND", message, "Create what the message names first.", **facts)
    if status in (400, 422) or _is_about_object(status, body):
        rejected = f"{resource} {where}"
        return ApiError("API-INVALID", object=rejected, answer=text, **facts)
    return ApiError("API-ERROR", request=request, answer=f"HTTP {status} ({text})", **facts)


def _forbidden(text: str, verb: str, resource: str, where: str, facts: dict[str, t.Any]) -> ForbiddenError:
    lack = refusals.lack(text)
    if lack and lack.verb.startswith("impersonate"):
        return ForbiddenError("API-IMPERSONATE", answer=text, user=lack.user, **facts)
    if "exceeded quota" in text or (lack is None and _NO_ROLE not in text):
        request = f"{verb} {resource} {where}"
        return ForbiddenError("API-REFUSED", request=request, answer=text, rule="an admission rule", **facts)
    if lack and lack.user == refusals.NOBODY:
        return ForbiddenError("CRED-NOT-PASSED", answer=text, **facts)
    # The server asks for the verb patch first: an apply that creates needs both.
    is_apply = lack and (lack.verb, verb) == ("patch", "create")
    return ForbiddenError(
        "API-FORBIDDEN",
        identity=f"The identity {lack.user}" if lack else "The identity of this task",
        deed=lack.words if lack else f"{verb} {resource} {where}",
        answer=text,
        user=lack.user if lack else "this identity (`oc whoami`)",
        verbs="verbs patch and create" if is_apply else f"verb {lack.verb if lack else verb}",
        place=lack.place if lack else f"{resource} {where}",
        question=lack.question if lack else "--list",
        **facts,
    )


def _conflict(body: t.Any, resource: str, where: str, facts: dict[str, t.Any]) -> ConflictError:
    details = (body.get("details") or {}) if isinstance(body, dict) else {}
    causes = [
        f"{cause.get('field')}: {cause.get('message')}"
        for cause in details.get("causes", ())
        if cause.get("reason") == "FieldManagerConflict"
    ]
    if not causes:
        message = f"{resource} {where}: {text_of(body)}"
        remedy = "Run again: the object was changed at the same moment."
        return ConflictError("API-CONFLICT", message, remedy, **facts)
    managers = sorted({name for cause in causes for name in _MANAGER.findall(cause)})
    return ConflictError(
        "API-CONFLICT",
        f"{resource} {where}: {', '.join(causes)}",
        f"Remove these fields from what {' and '.join(managers) or 'the other manager'} applies, or from the "
        "task. The module manifests also has force_conflicts.",
        **{**facts, "evidence": causes},
    )
