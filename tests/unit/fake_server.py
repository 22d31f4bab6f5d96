"""An API server in memory, in place of the network: it answers what `Connection` sends.

It stands in for kube-apiserver in unit tests. It knows objects, lists with selectors and pages, merge and
apply patches, dry runs, preconditions, watches and discovery. It has no schemas, no defaults, no admission
and no field conflicts. tests/contract compares it with the real one.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
import typing as t
import uuid
from urllib.parse import parse_qs, unquote, urlsplit

from unit import fake_patches
from urllib3 import HTTPHeaderDict

from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds as kube_kinds

Object = dict[str, t.Any]


# Takes what urllib3 takes: method, url, and by name body, headers, timeout and more.
Send = t.Callable[..., "Answer"]


class Answer:
    """A response of urllib3, as far as the client looks at it."""

    def __init__(self, status: int, body: t.Any, headers: t.Mapping[str, str] | None = None) -> None:
        self.status = status
        self.headers = HTTPHeaderDict(
            {"Content-Type": "text/plain" if isinstance(body, str) else "application/json", **(headers or {})}
        )
        self._data = (
            body.encode() if isinstance(body, str) else json.dumps(body, separators=(",", ":")).encode()
        )

    @property
    def data(self) -> bytes:
        return self._data

    def read(self, _size: int | None = None, decode_content: bool = True) -> bytes:
        data, self._data = self._data, b""
        return data

    def read1(self, _size: int, decode_content: bool = True) -> bytes:
        return self.read()

    def copy(self) -> Answer:
        """Return the same answer, with its body not read yet."""
        return Answer(self.status, self._data.decode(), dict(self.headers))

    def release_conn(self) -> None:
        return

    def close(self) -> None:
        return


def status(code: int, reason: str, message: str, name: str | None = None) -> Answer:
    return Answer(
        code,
        {
            "kind": "Status",
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": message,
            "details": {"name": name} if name else {},
        },
    )


class FakeServer:
    """The pool that `Connection` needs.

    request: answers one request; a test may put its own function around `answer`.
    served: kinds by (apiVersion, plural). requests: method, path and query of each request, without /readyz.
    faults: what the next requests get instead of an answer. ready: the status of /readyz.
    aggregated: the server has the document of all groups.
    """

    def __init__(self, *kinds: str, page: int = 500) -> None:
        self.request: Send = self.answer
        self.served = {
            (kind.api_version, kind.plural): kind
            for kind in map(kube_kinds.known, kinds or ("Namespace", "ConfigMap", "Node", "Pod"))
        }
        self.objects: dict[tuple[str, str, str, str], Object] = {}
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.faults: t.Sequence[Answer | BaseException] = []
        self.ready = 200
        self.aggregated = True
        self._page = page
        self._versions = itertools.count(1)

    def writes(self) -> list[tuple[str, str]]:
        return [
            (method, path)
            for method, path, query in self.requests
            if method != "GET" and "dryRun" not in query
        ]

    def put(self, obj: Object) -> Object:
        kind = next(
            kind
            for kind in self.served.values()
            if (kind.api_version, kind.kind) == (obj["apiVersion"], obj["kind"])
        )
        return self._store(kind, copy.deepcopy(obj))

    def answer(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: t.Mapping[str, str] | None = None,
        **_more: t.Any,
    ) -> Answer:
        parts = urlsplit(url)
        if parts.path == "/readyz":
            return Answer(self.ready, "ok")
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if method == "DELETE" and body:  # its options are read from the body alone, as the real server does
            query = {"dryRun": "All"} if json.loads(body).get("dryRun") else {}
        self.requests.append((method, parts.path, query))
        if self.faults:
            fault, *self.faults = self.faults
            if isinstance(fault, BaseException):
                raise fault
            return fault
        if parts.path == "/apis":
            return Answer(
                200,
                self._groups()
                if self.aggregated and "v=v2;as=APIGroupDiscoveryList" in (headers or {}).get("Accept", "")
                else {"groups": []},
            )
        return self._answer(
            method,
            [unquote(part) for part in parts.path.strip("/").split("/")],
            query,
            json.loads(body) if body else None,
        )

    def _answer(self, method: str, path: list[str], query: dict[str, str], body: t.Any) -> Answer:
        version, rest = (path[1], path[2:]) if path[0] == "api" else ("/".join(path[1:3]), path[3:])
        namespace = ""
        if len(rest) > 2 and rest[0] == "namespaces":
            namespace, rest = rest[1], rest[2:]
        if not rest and any(known == version for known, _plural in self.served):
            found = [kind for (known, _plural), kind in self.served.items() if known == version]
            return Answer(
                200,
                {
                    "resources": [
                        {"name": kind.plural, "kind": kind.kind, "namespaced": kind.namespaced}
                        for kind in found
                    ]
                },
            )
        kind = self.served.get((version, rest[0])) if rest else None
        if kind is None:
            return Answer(404, "404 page not found\n")
        if len(rest) == 1 and method == "GET":
            return (
                self._watch(kind, namespace, query)
                if "watch" in query
                else self._list(kind, namespace, query)
            )
        made = body["metadata"] if len(rest) == 1 else {}
        name = rest[1] if len(rest) > 1 else made.get("name") or f"{made['generateName']}x"
        live = self.objects.get((version, rest[0], namespace, name))
        if method == "POST" and live is not None:
            return status(409, "AlreadyExists", f'{kind.plural} "{name}" already exists', name)
        if live is None and (method in ("GET", "DELETE") or (method == "PATCH" and "force" not in query)):
            return status(404, "NotFound", f'{kind.plural} "{name}" not found', name)
        if method == "GET":
            return Answer(200, live)
        if method == "DELETE":
            if "dryRun" not in query:
                del self.objects[(version, rest[0], namespace, name)]
            return Answer(200, live)
        return self._write(kind, method, namespace, name, live, query, body)

    def _groups(self) -> Object:
        items: list[Object] = []
        for kind in self.served.values():
            entry = {
                "resource": kind.plural,
                "responseKind": {"kind": kind.kind},
                "scope": "Namespaced" if kind.namespaced else "Cluster",
            }
            if kind.group:
                items.append(
                    {
                        "metadata": {"name": kind.group},
                        "versions": [{"version": kind.api_version.rpartition("/")[2], "resources": [entry]}],
                    }
                )
        return {"kind": "APIGroupDiscoveryList", "items": items}

    def _write(
        self,
        kind: kube_kinds.Kind,
        method: str,
        namespace: str,
        name: str,
        live: Object | None,
        query: dict[str, str],
        body: Object,
    ) -> Answer:
        seen = (body.get("metadata") or {}).get("resourceVersion")
        if live is not None and seen not in (None, live["metadata"]["resourceVersion"]):
            return status(409, "Conflict", f'{kind.plural} "{name}" has been modified', name)
        wanted: Object = (
            copy.deepcopy(live)
            if live
            else {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
        )
        if "force" in query and live:
            fake_patches.prune(wanted, fake_patches.managed(wanted), body)
        fake_patches.merge(wanted, body)
        wanted["metadata"].update({"name": name, **({"namespace": namespace} if namespace else {})})
        if "force" in query or live is None:
            wanted["metadata"]["managedFields"] = [
                {
                    "manager": query["fieldManager"],
                    "operation": "Apply" if "force" in query else "Update",
                    "fieldsV1": fake_patches.fields(body),
                }
            ]
        if live is not None and wanted == live:
            return Answer(200, live)
        code = 200 if live else 201
        return Answer(
            code,
            {**wanted, "metadata": {"uid": "dry", **wanted["metadata"]}}
            if "dryRun" in query
            else self._store(kind, wanted),
        )

    def _store(self, kind: kube_kinds.Kind, obj: Object) -> Object:
        metadata = obj["metadata"]
        metadata.setdefault("uid", str(uuid.uuid4()))
        metadata["resourceVersion"] = str(next(self._versions))
        self.objects[(kind.api_version, kind.plural, metadata.get("namespace", ""), metadata["name"])] = obj
        return obj

    def _matching(self, kind: kube_kinds.Kind, namespace: str, query: dict[str, str]) -> list[Object]:
        selector = [part for part in re.split(r",(?![^(]*\))", query.get("labelSelector", "")) if part]
        field, _equals, value = query.get("fieldSelector", "").partition("=")
        name, on_node = (value, "") if field == "metadata.name" else ("", value)
        return [
            obj
            for (version, plural, place, own), obj in sorted(self.objects.items())
            if (version, plural) == (kind.api_version, kind.plural)
            and namespace in ("", place)
            and name in ("", own)
            and on_node in ("", (obj.get("spec") or {}).get("nodeName"))
            and all(_fits(part, obj["metadata"].get("labels", {})) for part in selector)
        ]

    def _list(self, kind: kube_kinds.Kind, namespace: str, query: dict[str, str]) -> Answer:
        start, size = int(query.get("continue", 0)), min(self._page, int(query.get("limit", 500)))
        found = self._matching(kind, namespace, query)
        metadata = {
            "resourceVersion": str(next(self._versions)),
            **({"continue": str(start + size)} if start + size < len(found) else {}),
        }
        bare = [
            {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
            for obj in found[start : start + size]
        ]
        return Answer(
            200,
            {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata, "items": bare},
        )

    def _watch(self, kind: kube_kinds.Kind, namespace: str, query: dict[str, str]) -> Answer:
        since = int(query["resourceVersion"])
        news = [
            obj
            for obj in self._matching(kind, namespace, query)
            if int(obj["metadata"]["resourceVersion"]) > since
        ]
        lines = [json.dumps({"type": "MODIFIED", "object": obj}) for obj in news]
        return Answer(200, "".join(line + "\n" for line in lines))


def _fits(part: str, labels: t.Mapping[str, str]) -> bool:
    """Return True if the labels fulfil one part of a selector.

    A part is `key=value`, `key!=value`, `key in (…)`, `key` or `!key`.
    """
    key, is_set, values = part.partition(" in ")
    if is_set:
        return labels.get(key) in values.strip("()").split(",")
    key, differs, value = part.partition("!=")
    if differs:
        return labels.get(key) != value
    key, equals, value = part.partition("=")
    if equals:
        return labels.get(key) == value
    return key.removeprefix("!") not in labels if key.startswith("!") else key in labels
