# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of a pull secret (.dockerconfigjson): registries with their credentials."""

from __future__ import annotations

import base64
import binascii
import fnmatch
import json
import typing as t

from .._core.errors import InputError

KEY: t.Final = ".dockerconfigjson"
TYPE: t.Final = "kubernetes.io/dockerconfigjson"
DOCKER_HUB: t.Final = "docker.io"
_HELPERS: t.Final = ("credHelpers", "credsStore")
_EXAMPLE: t.Final = '{"auths": {"nvcr.io": {"auth": "..."}}}'
# A registry, or the start of a repository -> its credentials, as the file has them.
Auths = dict[str, dict[str, t.Any]]


def parse(text: str, option: str) -> Auths:
    """Return the registries of a file or an option. Raise InputError, which quotes nothing of the text."""
    try:
        found = json.loads(text)
    except ValueError as exc:
        place = f" (line {exc.lineno}, column {exc.colno})" if isinstance(exc, json.JSONDecodeError) else ""
        raise InputError("PULL-CONFIG", option=option, why=f"it is not JSON{place}") from None
    auths = found.get("auths") if isinstance(found, dict) else None
    if not isinstance(auths, dict) or not auths:
        helper = next((key for key in _HELPERS if isinstance(found, dict) and found.get(key)), "")
        why = (
            f"it has {helper}, a program on the machine of the login, and no credentials"
            if helper
            else f"it has no auths, as in {_EXAMPLE}"
        )
        raise InputError("PULL-CONFIG", option=option, why=why)
    for registry, entry in auths.items():
        if fault := _fault(entry):
            raise InputError("PULL-CONFIG", option=option, why=f"auths.{registry}: {fault}")
    return t.cast(Auths, auths)


def read(data: t.Mapping[str, t.Any]) -> Auths:
    """Return the registries in the data of a live Secret; none if nobody can read them."""
    try:
        found = json.loads(base64.b64decode(data.get(KEY) or "", validate=True))
        auths = found.get("auths")
    except (ValueError, AttributeError, binascii.Error):
        return {}
    found = auths if isinstance(auths, dict) else {}
    return {key: entry for key, entry in found.items() if isinstance(entry, dict)}


def data(auths: Auths) -> dict[str, str]:
    """Return the data of a Secret with these registries."""
    return {KEY: base64.b64encode(json.dumps({"auths": auths}).encode()).decode()}


def secret_strings(auths: Auths) -> set[str]:
    """Return every text of the registries that nobody may see, also as the Secret holds it."""
    found = set()
    for entry in auths.values():
        values = {key: str(value) for key, value in entry.items() if key != "email" and value}
        found |= set(values.values())
        user, _colon, password = _decoded(values.get("auth", "")).partition(":")
        found |= {password} if user else set()
        # A user name such as $oauthtoken is no secret, and a mask over it would garble messages.
        found -= {values.get("username", "")}
    return (found | set(data(auths).values())) - {""}


def basic(entry: t.Mapping[str, t.Any]) -> str:
    """Return the credentials of a registry as HTTP's Basic login has them."""
    pair = f"{entry.get('username')}:{entry.get('password')}"
    return str(entry.get("auth") or base64.b64encode(pair.encode()).decode())


def entry_of(auths: Auths, image: str) -> str:
    """Return the registry of auths that a node takes for the image, or "". The longest one counts.

    As the kubelet does it: hosts may have wildcards, the rest is the start of the path.
    """
    return next((key for key in sorted(auths, reverse=True) if _matches(_plain(key), full(image))), "")


def full(image: str) -> str:
    """Return the image with its registry: without one it is Docker Hub's."""
    host, slash, _path = image.partition("/")
    if slash and (set(".:") & set(host) or host == "localhost"):
        return image
    return f"{DOCKER_HUB}/{image if slash else f'library/{image}'}"


def host(image: str) -> str:
    """Return the registry of the image."""
    return full(image).partition("/")[0]


def _fault(entry: t.Any) -> str:
    """Return what is wrong with the credentials of one registry, or ""."""
    if not isinstance(entry, dict):
        return "is no map"
    if entry.get("username") and entry.get("password"):
        return ""
    if not isinstance(entry.get("auth"), str) or not entry["auth"]:
        return "has neither auth nor username and password"
    user, colon, password = _decoded(entry["auth"]).partition(":")
    return "" if user and colon and password else "auth is not USER:PASSWORD in base64"


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        return ""


def _plain(key: str) -> str:
    """Return the key of a registry without scheme and the path of its API."""
    plain = key.removeprefix("https://").removeprefix("http://").rstrip("/")
    plain = plain.removesuffix("/v1").removesuffix("/v2")
    return plain.removeprefix("index.") if plain.startswith(f"index.{DOCKER_HUB}") else plain


def _matches(key: str, image: str) -> bool:
    pattern, _slash, start = key.partition("/")
    here, _slash, path = image.partition("/")
    is_like = len(pattern.split(".")) == len(here.split(".")) and fnmatch.fnmatchcase(here, pattern)
    # The brackets of an IPv6 address are no pattern.
    return (is_like or pattern == here) and path.startswith(start)
