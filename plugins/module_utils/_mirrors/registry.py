# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask registries for images from this machine, by the registry API, where the cluster cannot look them up.

Sources: github.com/opencontainers/distribution-spec; distribution.github.io, "Token Authentication". Refusals
have the words of openshift-apiserver, so that one judge reads both.
"""

from __future__ import annotations

import json
import re
import typing as t
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode, urlsplit

from .._core import secrets
from .._kube.client import Api
from .._kube.connection import TRANSPORT_ERRORS
from .._kube.http_errors import certificate_problem, describe_transport
from .._monitoring.querier import connection_to
from .._pull_secret import docker_config
from .._stack.drivers.image import MISSING, NOT_ASKED, THERE, Answer, by_words
from . import rules
from .images import Wanted

_AT_ONCE: t.Final = 8
# Seconds for an answer, and for all images.
_ONE, _ALL = 10.0, 120.0
_HUB: t.Final = "registry-1.docker.io"
_OCI, _DOCKER = "application/vnd.oci.image", "application/vnd.docker.distribution.manifest"
_KINDS: t.Final = f"{_OCI}.index.v1+json, {_DOCKER}.list.v2+json, {_OCI}.manifest.v1+json, {_DOCKER}.v2+json"
# 402 and 451: a license is not accepted.
_WORDS: t.Final = {429: "toomanyrequests", 401: "unauthorized", **dict.fromkeys((402, 403, 451), "denied")}
_PAIR: t.Final = re.compile(r'(\w+)="([^"]*)"')
Headers = t.Mapping[str, str]


class Reply(t.NamedTuple):
    """What a registry answered."""

    status: int
    data: bytes
    headers: Headers

    @property
    def content(self) -> t.Mapping[str, t.Any]:
        """Return the JSON; nothing if it is none."""
        try:
            found = json.loads(self.data)
        except ValueError:
            return {}
        return found if isinstance(found, t.Mapping) else {}

    def refusal(self, reference: str) -> str:
        """Return in words why a registry does not have the manifest, or does not show it."""
        if self.status == 404:
            return f"{reference}: manifest unknown"
        code = f"HTTP {self.status}"
        try:
            text = self.content["errors"][0]["message"]
        except (LookupError, TypeError):
            text = "no manifest" if self.status == 200 else code
        return f"{reference}: {_WORDS.get(self.status, code)}: {text}"

    @property
    def by_arch(self) -> dict[str, str]:
        """Return architecture -> digest of an index; nothing for the manifest of one image."""
        listed = self.content.get("manifests") or []
        linux = [one for one in listed if (one.get("platform") or {}).get("os") == "linux"]
        return {str(one["platform"]["architecture"]): str(one["digest"]) for one in linux}

    @property
    def blobs(self) -> list[str]:
        """Return the digests of an image's configuration and of its first layer."""
        found = (self.content.get("config"), *(self.content.get("layers") or [])[:1])
        return [str(one["digest"]) for one in found if one]


class Registries:
    """The registries of a cluster.

    auths: its logins; None if the identity may not read them. authorities: PEM texts of those that it trusts.
    Raises OSError for a text that is no certificate.
    """

    def __init__(self, api: Api, auths: docker_config.Auths | None, authorities: t.Iterable[str]) -> None:
        self._api, self._auths = api, auths
        self._pool = connection_to("https://registries", api.http.connection, "\n".join(authorities)).pool
        self._silent: dict[str, Exception] = {}
        self._tokens: dict[str, Headers] = {}
        self._end = api.clock() + min(_ALL, api.deadline.remaining())

    def look_up(self, asked: t.Iterable[tuple[Wanted, rules.Route]]) -> list[Answer]:
        """Return what the registries say of each image, in the same order. This raises nothing."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda pair: self._look_up(*pair), asked))

    def _look_up(self, wanted: Wanted, route: rules.Route) -> Answer:
        """Ask as a node does. What only this machine reaches, or cannot reach, proves nothing about nodes."""
        told: list[str] = []
        is_proof = True
        for reference in route.asked:
            is_beside = bool(route.source) and reference == wanted.image
            try:
                found = self._resolve(wanted, reference)
            except TRANSPORT_ERRORS as exc:
                is_proof &= is_beside and bool(route.sets or route.lacks_tags)
                why = "certificate not trusted" if certificate_problem(exc) else describe_transport(exc)
                told.append(
                    f'{reference}: Get "https://{reference.partition("/")[0]}/v2/": {why} (asked from here)'
                )
                continue
            if isinstance(found, Answer) and not (is_beside and found.verdict == THERE):
                return found
            is_proof &= isinstance(found, str)
            told.append(found if isinstance(found, str) else f"{reference}: nodes may not reach it")
        text = ", ".join(told) or "no mirror serves it, and nodes do not ask its source"
        verdict = by_words(wanted.image, text) if is_proof else NOT_ASKED
        return Answer(wanted.image, verdict, words=text)

    def _resolve(self, wanted: Wanted, reference: str) -> Answer | str:
        """Return what is known of the image, or the words of a registry that does not have it or show it."""
        place, version = rules.split(docker_config.full(reference))
        top = self._get(place, f"manifests/{version.partition('@')[2] or version[1:] or 'latest'}")
        if top.status == 401 and self._auths is None:
            words = f"{reference} wants a login, and this identity may not read the cluster's pull secret"
            return Answer(wanted.image, NOT_ASKED, words=words)
        listed = top.by_arch
        mine = {arch: listed[arch] for arch in wanted.archs if arch in listed}
        parts = {arch: self._get(place, f"manifests/{digest}") for arch, digest in mine.items()}
        archs = {*listed} - {arch for arch, reply in parts.items() if reply.status == 404}
        for reply in (top, *parts.values()):
            is_gone = reply.status == 404 and reply is not top and archs
            if not is_gone and (reply.status != 200 or not reply.content):
                return reply.refusal(reference)
        for blob in [blob for reply in parts.values() or [top] for blob in reply.blobs]:
            if self._get(place, f"blobs/{blob}", "HEAD").status == 404:
                return Answer(wanted.image, MISSING, words=f"{reference}: blob unknown: {blob}")
        for blob in [] if listed else top.blobs[:1]:
            archs = {str(self._get(place, f"blobs/{blob}").content.get("architecture") or "")} - {""}
        digest = top.headers.get("Docker-Content-Digest", "")
        return Answer(wanted.image, THERE, digest, archs=tuple(sorted(archs)))

    def _get(self, place: str, rest: str, method: str = "GET") -> Reply:
        """Return the answer about a manifest or a blob. Raises one of TRANSPORT_ERRORS."""
        host, _slash, path = place.partition("/")
        url = f"https://{_HUB if host == docker_config.DOCKER_HUB else host}/v2/{path}/{rest}"
        found = self._send(method, url, {"Accept": _KINDS, **self._tokens.get(place, {})})
        if found.status == 401 and not found.headers.get("WWW-Authenticate"):
            # Some registries only say so of a token that has expired.
            found = self._send(method, url, {"Accept": _KINDS})
        if found.status == 401 and (login := self._login(place, found.headers.get("WWW-Authenticate", ""))):
            self._tokens[place] = login
            found = self._send(method, url, {"Accept": _KINDS, **login})
        return found

    def _login(self, place: str, header: str) -> Headers:
        """Return what a registry asks for: the login of the cluster, or a token for it; else nothing."""
        scheme, given = header.partition(" ")[0].lower(), dict(_PAIR.findall(header)[::-1])
        entry = (self._auths or {}).get(docker_config.entry_of(self._auths or {}, place))
        login = {"Authorization": f"Basic {docker_config.basic(entry)}"} if entry else {}
        if scheme != "bearer" or not given.get("realm", "").startswith("https://"):
            return login if scheme == "basic" else {}
        scope = given.get("scope") or f"repository:{place.partition('/')[2]}:pull"
        query = urlencode({"service": given.get("service", ""), "scope": scope})
        found = self._send("GET", f"{given['realm']}?{query}", login).content
        token = found.get("token") or found.get("access_token")
        secrets.register(token)
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _send(self, method: str, url: str, headers: Headers) -> Reply:
        """Send one request. A host that was silent once is not asked again. A blob elsewhere is there."""
        import urllib3

        host = urlsplit(url).netloc
        if host in self._silent:
            raise self._silent[host]
        if self._api.clock() > self._end:
            raise TimeoutError("timed out")
        again = urllib3.Retry(3, connect=0, redirect=2, respect_retry_after_header=False)
        try:
            raw = self._pool.request(
                method, url, headers=headers, timeout=_ONE, retries=again, redirect=method == "GET"
            )
        except TRANSPORT_ERRORS as exc:
            self._silent[host] = exc
            raise
        return Reply(raw.status, raw.data, raw.headers)
