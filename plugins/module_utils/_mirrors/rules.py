# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registries that a node asks for an image, by the cluster's mirror sets.

Source: containers-registries.conf(5), which the machine-config operator writes from the sets. A node takes
the longest source that fits. Sets for digests serve no tags, and sets for tags no digests.
"""

from __future__ import annotations

import re
import typing as t

from .._core.objects import KubeObject, name
from .._stack.drivers.registry import SETS, lies_in

_NEVER: t.Final = "NeverContactSource"
_TAG_SET: t.Final = "ImageTagMirrorSet"
_REFERENCE: t.Final = re.compile(r"(?P<place>[^@]+?)(?P<version>(?::[^:/@]+)?(?:@.+)?)")


class Route(t.NamedTuple):
    """Where a node looks for one image.

    asked: the references in their order; the image itself is the last one unless a set forbids it. source:
    of the sets that fit, empty without one. sets: those that serve the image. others: those that serve the
    source, but not this kind of reference.
    """

    asked: tuple[str, ...]
    source: str = ""
    sets: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def lacks_tags(self) -> bool:
        """Return whether only sets for digests serve the source, and the image has a tag."""
        return bool(self.others) and not self.sets and not any(_TAG_SET in one for one in self.others)


class _Entry(t.NamedTuple):
    by: str
    tags: bool
    mirrors: tuple[str, ...]
    never: bool


def place_of(image: str) -> str:
    """Return the reference without tag and digest."""
    return split(image)[0]


def split(image: str) -> tuple[str, str]:
    """Return the place of an image, and its tag and digest with their marks."""
    found = _REFERENCE.fullmatch(image)
    return (found["place"], found["version"]) if found else (image, "")


def route(image: str, mirror_sets: t.Iterable[KubeObject]) -> Route:
    """Return where a node of the cluster looks for the image."""
    place, version = split(image)
    fitting = [
        (str(entry["source"]), _entry(one, entry))
        for one in mirror_sets
        for entry in (one.get("spec") or {}).get(SETS[one["kind"]]) or []
        if lies_in(place, str(entry["source"]))
    ]
    source = max((source for source, _entry in fitting), key=len, default="")
    entries = [entry for found, entry in fitting if found == source]
    serving = [entry for entry in entries if entry.tags != ("@" in version)]
    start = len(place.partition("/")[0]) if source.startswith("*.") else len(source)
    asked = [f"{mirror}{place[start:]}{version}" for entry in serving for mirror in entry.mirrors]
    if not any(entry.never for entry in entries):
        asked.append(image)
    names = tuple(dict.fromkeys(entry.by for entry in serving if entry.mirrors))
    others = tuple(dict.fromkeys(entry.by for entry in entries if entry not in serving and entry.mirrors))
    return Route(tuple(dict.fromkeys(asked)), source, names, others)


def _entry(mirror_set: KubeObject, entry: t.Mapping[str, t.Any]) -> _Entry:
    kind = mirror_set["kind"]
    mirrors = tuple(str(one) for one in entry.get("mirrors") or [])
    never = entry.get("mirrorSourcePolicy") == _NEVER
    return _Entry(f"{kind} {name(mirror_set)}", kind == _TAG_SET, mirrors, never)


def tag_set(routes: t.Iterable[Route], mirror_sets: t.Iterable[KubeObject]) -> KubeObject | None:
    """Return the ImageTagMirrorSet that serves these routes with the mirrors of the sets for digests.

    None if each tag has a mirror, or there is no set to take the mirrors from.
    """
    sources = {one.source for one in routes if one.lacks_tags}
    entries = {
        str(entry["source"]): entry
        for one in mirror_sets
        for entry in (one.get("spec") or {}).get(SETS[one["kind"]]) or []
        if entry["source"] in sources
    }
    if not entries:
        return None
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": _TAG_SET,
        "metadata": {"name": "gpu-tags"},
        "spec": {"imageTagMirrors": [entries[source] for source in sorted(entries)]},
    }
