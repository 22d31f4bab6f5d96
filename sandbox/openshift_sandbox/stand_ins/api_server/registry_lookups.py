# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look images up in the sandbox's registry as openshift-apiserver does: mirrors, logins, texts and reasons.

Like the real one it asks the source last, also where a mirror set says NeverContactSource, it does not know
`allowedRegistries` (only nodes do), and it reads indexes and configurations, but no layer. It looks at all of
an index, as the real one does for `PreserveOriginal` alone. No other registry can be reached.
"""

from __future__ import annotations

import base64
import json
import re
import typing as t
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import urllib3

from openshift_sandbox.catalogue import images
from openshift_sandbox.client import Client
from openshift_sandbox.stand_ins.api_server import image_imports

Object = dict[str, t.Any]
Login = t.Callable[[str], str]
# Sources with their mirrors. Each mirror is for digests (`@`) or for tags (`:`).
Rules = dict[str, list[tuple[str, str]]]
SETS: t.Final = (
    ("config.openshift.io/v1", "imagedigestmirrorsets", "imageDigestMirrors", "@"),
    ("operator.openshift.io/v1alpha1", "imagecontentsourcepolicies", "repositoryDigestMirrors", "@"),
    ("config.openshift.io/v1", "imagetagmirrorsets", "imageTagMirrors", ":"),
)
_FIELD: t.Final = re.compile(r'(\w+)="([^"]*)"')
ACCEPT: t.Final = ", ".join((images.INDEX, images.MANIFEST))


class Failure(Exception):
    """What a registry or the API server says about an image; without a reason it is an internal error."""

    def __init__(self, text: str, reason: str = "", name: str = "") -> None:
        super().__init__(text)
        self.reason, self.name = reason, name


def rules(client: Client) -> Rules:
    """Return the mirrors of the cluster, in their order."""
    found: Rules = {}
    for version, plural, field, mark in SETS:
        for one in client.list(version, plural):
            for entry in one["spec"].get(field) or []:
                mirrors = found.setdefault(entry["source"], [])
                new = [(mirror, mark) for mirror in entry.get("mirrors") or []]
                mirrors += [pair for pair in new if pair not in mirrors]
    return found


def pull_sources(image: str, known: Rules) -> list[str]:
    """Return the names that are tried: mirrors of the longest source that has the image, then the source."""
    repository, tag, digest = images.split(image)
    end = f"@{digest}" if digest else f":{tag}"
    inside = [source for source in known if repository == source or repository.startswith(f"{source}/")]
    source = max(inside, key=len, default=repository)
    mirrors = [mirror for mirror, mark in known.get(source, []) if mark == end[0]]
    return [f"{place}{repository.removeprefix(source)}{end}" for place in (*mirrors, source)]


class Registry:
    """A client of the sandbox's registry, for one look-up. login: returns USER:PASSWORD for an image."""

    def __init__(self, address: str, authority: str, login: Login) -> None:
        self.address, self._login = address, login
        self._tokens: dict[str, str] = {}
        self._pool = urllib3.PoolManager(maxsize=16, ca_certs=authority, retries=False, timeout=10.0)

    def get(self, image: str, kind: str, reference: str) -> tuple[bytes, str]:
        """Return content and digest of a manifest or blob. Raises Failure."""
        host, _slash, place = images.split(image)[0].partition("/")
        if host != self.address:
            raise Failure(f'{image}: Get "https://{host}/v2/": dial tcp: lookup {host}: no such host')
        url = f"https://{self.address}/v2/{place}/{kind}/{reference}"
        token = self._tokens.get(place)
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            answer = self._pool.request("GET", url, headers={"Accept": ACCEPT, **bearer})
        except urllib3.exceptions.HTTPError as error:
            raise Failure(f'{image}: Get "https://{host}/v2/": {error}') from error
        challenge = answer.headers.get("WWW-Authenticate", "")
        if answer.status == 401 and challenge.startswith("Bearer ") and not token:
            self._tokens[place] = self._token(image, challenge)
            return self.get(image, kind, reference)
        if answer.status == 200:
            return answer.data, answer.headers.get("Docker-Content-Digest", reference)
        raise refused(image, answer.data, answer.status)

    def _token(self, image: str, challenge: str) -> str:
        found = dict(_FIELD.findall(challenge))
        query = urlencode({key: found[key] for key in ("service", "scope") if key in found})
        login = self._login(image)
        basic = {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"} if login else {}
        answer = self._pool.request("GET", f"{found['realm']}?{query}", headers=basic)
        if answer.status != 200:
            raise refused(image, answer.data, answer.status)
        return str(answer.json()["token"])


def look_up(spec: Object, known: Rules, blocked: t.Collection[str], registry: Registry) -> Object:
    """Return the status of a look-up. blocked: registries that the cluster blocks."""

    def answer(one: Object) -> Object:
        name = one["from"]["name"]
        repository, tag, digest = images.split(name)
        head: Object = {"tag": "" if digest else tag}
        host = repository.partition("/")[0]
        if host in blocked and not known.get(host):
            return head | _status(Failure(f"forbidden: registry {host} blocked", "Forbidden"))
        try:
            return head | _success(repository, _found(name, known, registry), known, registry)
        except Failure as failure:
            return head | _status(failure)

    with ThreadPoolExecutor(8) as threads:
        return {"images": list(threads.map(answer, spec.get("images") or []))}


class _Found(t.NamedTuple):
    """A manifest, where it is, and its digest."""

    name: str
    content: Object
    digest: str


def _found(image: str, known: Rules, registry: Registry) -> _Found:
    failures: list[Failure] = []
    for name in pull_sources(image, known):
        _repository, tag, digest = images.split(name)
        try:
            content, digest = registry.get(name, "manifests", digest or tag)
            return _Found(name, json.loads(content), digest)
        except Failure as failure:
            failures.append(failure)
    texts = list(dict.fromkeys(str(one) for one in failures))
    raise failures[0] if len(failures) == 1 else Failure(f"[{', '.join(texts)}]" if texts[1:] else texts[0])


def _success(repository: str, found: _Found, known: Rules, registry: Registry) -> Object:
    status = {"metadata": {}, "status": "Success"}
    image = {"metadata": {"name": found.digest}, "dockerImageReference": f"{repository}@{found.digest}"}
    parts = found.content.get("manifests")
    if parts is None:
        return {"status": status, "image": image | _metadata(found, registry)}
    each = [_found(f"{repository}@{one['digest']}", known, registry) for one in parts]
    listed = [
        {"digest": one["digest"], "mediaType": one["mediaType"], "manifestSize": one["size"]}
        | one["platform"]
        for one in parts
    ]
    image |= {"dockerImageManifestMediaType": images.INDEX, "dockerImageManifests": listed}
    more = [{"metadata": {"name": one.digest}, **_metadata(one, registry)} for one in each]
    return {"status": status, "image": image, "manifests": more}


def _metadata(found: _Found, registry: Registry) -> Object:
    config, _digest = registry.get(found.name, "blobs", found.content["config"]["digest"])
    content = json.loads(config)
    metadata = {"Architecture": content["architecture"], "Id": found.content["config"]["digest"]}
    return {"dockerImageManifestMediaType": images.MANIFEST, "dockerImageMetadata": metadata}


def refused(image: str, body: bytes, status: int) -> Failure:
    """Return what openshift-apiserver makes of a refusal."""
    try:
        error = json.loads(body)["errors"][0]
    except (ValueError, LookupError):
        return Failure(f"{image}: received unexpected HTTP status: {status}")
    if error["code"] == "MANIFEST_UNKNOWN":
        return Failure(f'dockerimage.image.openshift.io "{image}" not found', "NotFound", image)
    if error["code"] == "UNAUTHORIZED":
        return Failure(f'you may not have access to the container image "{image}"', "Unauthorized")
    text = str(error["code"]).replace("_", " ").lower()
    return Failure(f"{image}: {text}: {error['message']}")


def _status(failure: Failure) -> Object:
    found = image_imports.told(failure.name, failure.reason or "InternalError", str(failure))
    return {"status": {"metadata": {}, "status": "Failure", **found}}
