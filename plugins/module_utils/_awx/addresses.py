# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses in the data files: images, repositories of code, and hosts with a port."""

from __future__ import annotations

import re
import typing as t
import urllib.parse

_DOMAIN: t.Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_PART: t.Final = r"[a-z0-9]+(?:(?:[_.]|__|-+)[a-z0-9]+)*"
_IMAGE: t.Final = re.compile(
    rf"(?:{_DOMAIN}(?:\.{_DOMAIN})*(?::[0-9]+)?/)?{_PART}(?:/{_PART})*"
    r"(?::\w[\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
# The schemes that AWX accepts for each type of repository.
SCHEMES: t.Final[dict[str, tuple[str, ...]]] = {
    "git": ("ssh", "git", "http", "https", "ftp", "ftps", "file"),
    "svn": ("http", "https", "svn", "svn+ssh", "file"),
    "insights": ("http", "https"),
    "archive": ("http", "https"),
}


def image(name: str) -> str:
    """Return why AWX would refuse the name of an image, or an empty text."""
    if _IMAGE.fullmatch(name):
        return ""
    return f"{name!r} is no image; write it as registry.example.com/gpu/ee:1.0.0"


def host(name: str) -> str:
    """Return why AWX would refuse the name of a host, which may end with a port, or an empty text."""
    _host, colon, port = name.partition(":")
    if not colon or ":" in port or (port.isdecimal() and 1 <= int(port) <= 65535):
        return ""
    return f"AWX reads {port!r} behind the colon as a port, which is a number from 1 to 65535"


def repository(kind: str, url: str) -> str:
    """Return why AWX would refuse the address of a repository, or an empty text."""
    if kind == "git" and "://" not in url:
        # git@host:path, or the path of a folder
        is_wrong = url.rpartition("@")[2].count(":") > 1 and "]:" not in url
        return f"{url!r} is no address of a git repository" if is_wrong else ""
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError as exc:
        return f"{url!r} is no address: {exc}"
    if port == 0:
        return f"{url!r} is no address: a port is at least 1"
    known = SCHEMES.get(kind, ())
    if parts.scheme not in known or "://" not in url:
        return f"an address of {kind} begins with {', '.join(f'{scheme}://' for scheme in known)}"
    if parts.scheme == "file":
        return "" if parts.netloc in ("", "localhost") else f"{url!r} names a file of another host"
    return "" if parts.netloc else f"{url!r} has no host"
