# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The small API client that the sandbox, its stand-ins and the tests share.

It takes and returns dictionaries, and keeps its connections open.
"""

from __future__ import annotations

import base64
import copy
import json
import ssl
import tempfile
import threading
import time
import typing as t
from pathlib import Path
from urllib.parse import urlencode

import urllib3
import yaml

Object = dict[str, t.Any]

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON = "application/json"
BUSY_SECONDS = 15.0  # a restarted apiserver answers 429 "storage is (re)initializing" for a while
CONNECT, SILENCE = 3.0, 30.0
TIMEOUT = urllib3.Timeout(connect=CONNECT, read=SILENCE)


class ApiError(Exception):
    """An answer other than 2xx. Status 0 means that the server did not answer."""

    def __init__(self, status: int, message: str, body: Object | None = None) -> None:
        super().__init__(f"{status}: {message}" if status else message)
        self.status = status
        self.message = message
        self.body = body or {}


class Client:
    """A synchronous client that several threads may share."""

    def __init__(self, kubeconfig: str | Path, user_agent: str = "sandbox") -> None:
        self.user_agent = user_agent
        server, context, token = connection(Path(kubeconfig))
        self.server = server
        self._headers = urllib3.HTTPHeaderDict(
            {"User-Agent": user_agent, "Accept": JSON}
            | ({"Authorization": f"Bearer {token}"} if token else {})
        )
        self._pool = urllib3.PoolManager(
            num_pools=2, maxsize=16, ssl_context=context, retries=False, timeout=TIMEOUT
        )
        self._discovered: dict[str, dict[str, tuple[str, bool]]] = {}
        self._lock = threading.Lock()

    def request(
        self,
        method: str,
        path: str,
        body: t.Any = None,
        content_type: str = JSON,
        query: t.Mapping[str, str] | None = None,
    ) -> tuple[int, Object]:
        """Send one request; return the status and the decoded body.

        Raises ApiError with status 0 when the server does not answer.
        """
        url = self.server + path + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers | ({"Content-Type": content_type} if data is not None else {})
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                answer = self._pool.request(method, url, body=data, headers=headers)
            except urllib3.exceptions.HTTPError as error:
                raise ApiError(0, f"{method} {path}: {error}") from error
            if (
                answer.status != 429 or path.endswith("/eviction") or time.monotonic() > deadline
            ):  # the pod exists, but a disruption budget forbids its eviction
                return answer.status, _decode(answer.data)
            time.sleep(0.2)

    def checked(
        self,
        method: str,
        path: str,
        body: t.Any = None,
        content_type: str = JSON,
        query: t.Mapping[str, str] | None = None,
    ) -> Object:
        """Send one request; return the decoded body. Raises ApiError for any status other than 2xx."""
        status, answer = self.request(method, path, body, content_type, query)
        if status >= 300:
            raise ApiError(status, answer.get("message") or f"{method} {path}", answer)
        return answer

    def stream(
        self, path: str, query: t.Mapping[str, str], seconds: float = SILENCE
    ) -> urllib3.response.BaseHTTPResponse:
        """Return the open answer to a GET, such as a watch: the caller reads it as it comes, and closes it.

        seconds: how long the server may be silent. Raises ApiError with status 0 when it does not answer.
        """
        url = f"{self.server}{path}?{urlencode(query)}"
        patience = urllib3.Timeout(connect=CONNECT, read=seconds)
        try:
            return self._pool.request(
                "GET", url, headers=self._headers, preload_content=False, timeout=patience
            )
        except urllib3.exceptions.HTTPError as error:
            raise ApiError(0, f"GET {path}: {error}") from error

    def get(self, api_version: str, plural: str, name: str, namespace: str | None = None) -> Object | None:
        """Return one object, or None when it does not exist."""
        status, answer = self.request("GET", resource_path(api_version, plural, name, namespace))
        if status == 404:
            return None
        if status >= 300:
            raise ApiError(status, answer.get("message", plural), answer)
        return answer

    def list(
        self, api_version: str, plural: str, namespace: str | None = None, labels: str | None = None
    ) -> list[Object]:
        """Return the objects of a kind, in one namespace or in all."""
        query = {"labelSelector": labels} if labels else None
        answer = self.checked("GET", resource_path(api_version, plural, None, namespace), query=query)
        kind = answer.get("kind", "").removesuffix("List")
        return [{"apiVersion": api_version, "kind": kind} | item for item in answer.get("items") or []]

    def create(self, obj: Object, namespace: str | None = None) -> Object:
        """Create an object; return it as the API server has it."""
        return self.checked("POST", self._path_of(obj, namespace, named=False), obj)

    def apply(self, obj: Object, force: bool = True) -> Object:
        """Apply an object server-side, with the user agent as field manager."""
        return self.checked("PATCH", self._path_of(obj), obj, APPLY, self._apply_query(force))

    def apply_status(self, obj: Object) -> Object:
        """Apply the status of an object server-side."""
        return self.checked("PATCH", self._path_of(obj) + "/status", obj, APPLY, self._apply_query(True))

    def patch(
        self,
        api_version: str,
        plural: str,
        name: str,
        namespace: str | None,
        body: Object,
        subresource: str | None = None,
    ) -> Object:
        """Send a JSON merge patch."""
        path = resource_path(api_version, plural, name, namespace) + (
            f"/{subresource}" if subresource else ""
        )
        return self.checked("PATCH", path, body, MERGE, {"fieldManager": self.user_agent})

    def delete(
        self, api_version: str, plural: str, name: str, namespace: str | None = None, orphan: bool = False
    ) -> bool:
        """Delete an object; return False when it did not exist. `orphan` keeps the objects that it owns."""
        query = {"propagationPolicy": "Orphan"} if orphan else None
        status, answer = self.request(
            "DELETE", resource_path(api_version, plural, name, namespace), query=query
        )
        if status == 404:
            return False
        if status >= 300:
            raise ApiError(status, answer.get("message", name), answer)
        return True

    def impersonating(self, user: str, groups: t.Sequence[str]) -> Client:
        """Return a client that uses the same connections and acts as another user."""
        other = copy.copy(self)
        other._headers = urllib3.HTTPHeaderDict(self._headers)
        other._headers["Impersonate-User"] = user
        for group in groups:
            other._headers.add("Impersonate-Group", group)
        return other

    def acting(self, user_agent: str) -> Client:
        """Return a client that uses the same connections and has another user agent and field manager."""
        other = copy.copy(self)
        other.user_agent = user_agent
        other._headers = urllib3.HTTPHeaderDict(self._headers | {"User-Agent": user_agent})
        return other

    def plural(self, api_version: str, kind: str) -> str:
        """Return the plural name of a kind, as the server publishes it.

        Raises ApiError when it is not served.
        """
        return self._resource(api_version, kind)[0]

    def close(self) -> None:
        """Close all connections."""
        self._pool.clear()

    def _apply_query(self, force: bool) -> dict[str, str]:
        return {"fieldManager": self.user_agent, "force": "true" if force else "false"}

    def _path_of(self, obj: Object, namespace: str | None = None, named: bool = True) -> str:
        plural, namespaced = self._resource(obj["apiVersion"], obj["kind"])
        metadata = obj.get("metadata", {})
        where = (namespace or metadata.get("namespace") or "default") if namespaced else None
        return resource_path(obj["apiVersion"], plural, metadata["name"] if named else None, where)

    def _resource(self, api_version: str, kind: str) -> tuple[str, bool]:
        with self._lock:
            found = self._discovered.get(api_version, {}).get(kind)
        if found:
            return found
        answer = self.checked("GET", base_path(api_version))
        kinds = {
            entry["kind"]: (entry["name"], entry["namespaced"])
            for entry in answer["resources"]
            if "/" not in entry["name"]
        }
        with self._lock:
            self._discovered[api_version] = kinds
        if kind not in kinds:
            raise ApiError(404, f"{kind} is not served under {api_version}")
        return kinds[kind]


def base_path(api_version: str) -> str:
    """Return the path under which the API server serves a version of a group."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def resource_path(
    api_version: str, plural: str, name: str | None = None, namespace: str | None = None
) -> str:
    """Return the path of a kind, or of one object."""
    parts = [base_path(api_version)]
    if namespace:
        parts += ["namespaces", namespace]
    parts.append(plural)
    if name:
        parts.append(name)
    return "/".join(parts)


def _decode(data: bytes) -> Object:
    """Return decoded JSON; text that is not JSON (readyz, logs) becomes `{"message": text}`."""
    try:
        answer = json.loads(data) if data else {}
    except ValueError:
        return {"message": data.decode(errors="replace")}
    return answer if isinstance(answer, dict) else {"message": str(answer)}


def connection(kubeconfig: Path) -> tuple[str, ssl.SSLContext, str | None]:
    """Return address, TLS context and token of the current context of a kubeconfig."""
    config = yaml.safe_load(kubeconfig.read_text())
    context = _named(config["contexts"], config["current-context"])["context"]
    cluster = _named(config["clusters"], context["cluster"])["cluster"]
    user = _named(config["users"], context["user"])["user"]
    authority = _material(cluster, "certificate-authority", kubeconfig.parent)
    tls = ssl.create_default_context(cadata=authority.decode() if authority else None)
    certificate, key = (
        _material(user, "client-certificate", kubeconfig.parent),
        _material(user, "client-key", kubeconfig.parent),
    )
    if certificate and key:
        with tempfile.NamedTemporaryFile(
            suffix=".pem"
        ) as pair:  # the ssl module reads key pairs only from files
            pair.write(certificate + b"\n" + key)
            pair.flush()
            tls.load_cert_chain(pair.name)
    tls.set_alpn_protocols(["http/1.1"])
    # urllib3 would set them for each connection, while another thread's connection reads them.
    vars(tls)["set_alpn_protocols"] = list
    return cluster["server"].rstrip("/"), tls, user.get("token")


def _named(entries: list[Object], name: str) -> Object:
    return next(entry for entry in entries if entry["name"] == name)


def _material(section: Object, field: str, folder: Path) -> bytes | None:
    if f"{field}-data" in section:
        return base64.b64decode(section[f"{field}-data"])
    return (folder / section[field]).read_bytes() if field in section else None
