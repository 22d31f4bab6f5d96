# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The reading half of the Api: get, paged list, resolve, logs, and what an unhappy answer is called."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    http_errors,
    kinds,
    node_images,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.http import Response
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.limits import Pause

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query

Manifest = dict[str, t.Any]
Keep = t.Callable[[Manifest], "Manifest | None"]
PAGE = 500
# Where most of a page is thrown away at once: 5,000 nodes take 20 MiB this way instead of 70, and no longer.
SIFTED_PAGE = 100
_PARTIAL = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_VERBS = {"POST": "create", "PATCH": "patch", "DELETE": "delete", "PUT": "update"}


def place(name: str | None, namespace: str | None) -> str:
    return " ".join(
        part
        for part in (f'"{name}"' if name else "", f"in namespace {namespace}" if namespace else "")
        if part
    )


def error(
    answer: Response, method: str, path: str, kind: Kind, name: str | None, namespace: str | None
) -> ApiError:
    if answer.status == 404 and _is_kind_missing(answer.body):
        return not_served(kind)
    verb = _VERBS.get(method) or ("get" if name else "list")
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
        f"The cluster does not serve {kind.resource} ({kind.api_version}){by}.",
        f"Install {kind.provider or 'what provides this kind'} first.",
        status=404,
        reason="NotServed",
    )


def get(api: Api, kind: Kind, name: str, namespace: str | None) -> Manifest | None:
    """No resourceVersion is sent: the newest object, as a quorum of etcd has it. `0` would be answered from a cache that may be older than our own write."""
    path = kind.path(namespace, name)
    answer = api.http.request("GET", path)
    if answer.status == 200:
        return t.cast(Manifest, answer.body)
    if answer.status == 404 and not _is_kind_missing(answer.body):
        return None
    raise error(answer, "GET", path, kind, name, namespace)


def list_all(
    api: Api,
    kind: Kind,
    namespace: str | None = None,
    labels: str | None = None,
    fields: str | None = None,
    metadata_only: bool = False,
    keep: Keep | None = None,
) -> tuple[list[Manifest], str]:
    """Every item, each with its apiVersion and kind, and the list's resourceVersion, from which a watch goes on.

    No resourceVersion is sent: a consistent read, as new as the request. `0` would be cheaper for the server and may be older than what this task has just
    written, and it ignores limit. All pages are of the first one's version; when that has expired (410), the list begins again, since pages of two
    versions are no list.
    """
    path = kind.path(namespace)
    query: dict[str, t.Any] = {"limit": SIFTED_PAGE if keep else PAGE}
    trim = node_images.cut if keep and kind.plural == "nodes" else None
    if labels:
        query["labelSelector"] = labels
    if fields:
        query["fieldSelector"] = fields
    items: list[Manifest] = []
    pause = Pause(api.http.limits)
    while True:
        answer = api.http.request(
            "GET", path, query, accept=_PARTIAL if metadata_only else "application/json", trim=trim
        )
        if answer.status == 410 and "continue" in query and not api.deadline.passed:
            del query["continue"]
            items = []
            api.deadline.sleep(pause.next())
            continue
        if answer.status != 200:
            raise error(answer, "GET", path, kind, None, namespace)
        page = (
            {"apiVersion": kind.api_version, "kind": kind.kind, **item}
            for item in answer.body.get("items") or ()
        )
        items += page if keep is None else (kept for item in page if (kept := keep(item)) is not None)
        metadata = answer.body.get("metadata") or {}
        if not metadata.get("continue"):
            if metadata_only:
                items = [{**item, "apiVersion": kind.api_version, "kind": kind.kind} for item in items]
            return items, str(metadata.get("resourceVersion", ""))
        query["continue"] = metadata["continue"]
        # Otherwise it would stay beside the next page.
        del answer, page, metadata


def query_once(api: Api, query: Query) -> tuple[list[Manifest], str]:
    """What a query finds now; nothing where the kind is not served yet."""
    try:
        fields = kinds.by_name(query.name) if query.name else query.fields
        return list_all(api, query.kind, query.namespace, query.labels, fields)
    except KindNotServedError:
        return [], ""


def first_look(api: Api, queries: t.Mapping[str, Query]) -> dict[str, tuple[list[Manifest], str]]:
    """What each query finds. A list that the task has is used once: the next look wants news."""
    try:
        return {
            key: api.seen.find(query, api.clock()) or query_once(api, query) for key, query in queries.items()
        }
    finally:
        api.seen.forget()


def served(api: Api, kind: Kind) -> bool:
    answer = api.http.request("GET", kind.base)
    if answer.status == 200:
        return any(entry["name"] == kind.plural for entry in answer.body.get("resources", ()))
    if answer.status == 404:
        return False
    raise error(answer, "GET", kind.base, kind, None, None)


def resolve(api: Api, api_version: str, kind: str) -> Kind:
    found = kinds.find(api_version, kind)
    if found is not None:
        return found
    return _discovered(api, api_version, kind)


def _discovered(api: Api, api_version: str, kind: str) -> Kind:
    # Here, as a task on known kinds has nothing of it to load.
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube import discovery

    key, known = (api_version, kind), api.discovery
    if key in known.kinds:
        return known.kinds[key]
    unknown = Kind(api_version, kind, kind)
    if known.wants_all(unknown):
        known.is_aggregated = True
        known.learn(discovery.in_all_groups(_document(api, unknown, discovery.ALL_GROUPS, discovery.ACCEPT)))
    if key not in known.kinds:
        known.learn(discovery.in_group(api_version, _document(api, unknown, unknown.base)))
        known.groups.add(api_version)
    if key not in known.kinds:
        raise not_served(unknown)
    return known.kinds[key]


def _document(api: Api, unknown: Kind, path: str, accept: str = "application/json") -> Manifest:
    """A document of the discovery; empty where there is none."""
    answer = api.http.request("GET", path, accept=accept)
    if answer.status not in (200, 404):
        raise error(answer, "GET", path, unknown, None, None)
    return t.cast(Manifest, answer.body) if answer.status == 200 else {}


def log(api: Api, namespace: str, pod: str, container: str | None, tail_lines: int, previous: bool) -> str:
    kind = kinds.known("Pod")
    path = kind.path(namespace, pod, "log")
    query: dict[str, t.Any] = {"tailLines": tail_lines}
    if container:
        query["container"] = container
    if previous:
        query["previous"] = "true"
    answer = api.http.request("GET", path, query, accept="*/*")
    if answer.status == 200:
        return answer.body if isinstance(answer.body, str) else str(answer.body)
    raise error(answer, "GET", path, kind, pod, namespace)
