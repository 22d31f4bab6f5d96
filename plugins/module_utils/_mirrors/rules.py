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
_NAME: t.Final = "gpu-tags"
_REFERENCE: t.Final = re.compile(r"(?P<place>[^@]+?)(?P<version>(?::[^:/@]+)?(?:@.+)?)")


class Route(t.NamedTuple):
    """Where a node looks for one image.

    asked: the references in their order; the image itself is the last one unless a set forbids it. sets:
    those that serve the image. others: those that serve its source, but not this kind of reference. source:
    of both, empty without one.
    """

    asked: tuple[str, ...]
    sets: tuple[str, ...]
    others: tuple[str, ...]
    source: str

    @property
    def lacks_tags(self) -> bool:
        """Return whether only sets for digests serve the source, and the image has a tag."""
        return bool(self.others) and not self.sets and not any(_TAG_SET in one for one in self.others)


def split(image: str) -> tuple[str, str]:
    """Return the place of an image, and its tag and digest with their marks."""
    found = _REFERENCE.fullmatch(image)
    return (found["place"], found["version"]) if found else (image, "")


def _entries(mirror_sets: t.Iterable[KubeObject]) -> t.Iterator[tuple[str, str, t.Mapping[str, t.Any]]]:
    """Yield the source of each entry, the set that has it, and the entry."""
    for one in mirror_sets:
        for entry in (one.get("spec") or {}).get(SETS[one["kind"]]) or []:
            yield str(entry["source"]), f"{one['kind']} {name(one)}", entry


def route(image: str, mirror_sets: t.Iterable[KubeObject]) -> Route:
    """Return where a node of the cluster looks for the image."""
    place, version = split(image)
    version = version[version.find("@") :] if "@" in version else version
    fitting = [one for one in _entries(mirror_sets) if lies_in(place, one[0])]
    source = max((found for found, _by, _entry in fitting), key=len, default="")
    start = len(place.partition("/")[0]) if source.startswith("*.") else len(source)
    asked: list[str] = []
    sets: list[str] = []
    others: list[str] = []
    is_allowed = True
    for _source, by, entry in (one for one in fitting if one[0] == source):
        is_allowed &= entry.get("mirrorSourcePolicy") != _NEVER
        mirrors = entry.get("mirrors") or []
        if by.startswith(_TAG_SET) == ("@" in version):
            others += [by] if mirrors else []
            continue
        sets += [by] if mirrors else []
        asked += [f"{mirror}{place[start:]}{version}" for mirror in mirrors]
    asked += [image] if is_allowed else []
    return Route(_once(asked), _once(sets), _once(others), source)


def _once(texts: t.Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def tag_set(routes: t.Iterable[Route], mirror_sets: t.Iterable[KubeObject]) -> KubeObject | None:
    """Return the ImageTagMirrorSet that serves these routes with the mirrors of the sets for digests.

    None if each tag has a mirror, or no set has one. It keeps its own entries: an apply would drop them.
    """
    lacking = {one.source for one in routes if one.lacks_tags}
    known = list(_entries(mirror_sets))
    entries = {source: entry for source, _by, entry in known if source in lacking}
    if not entries:
        return None
    entries |= {source: entry for source, by, entry in known if by == f"{_TAG_SET} {_NAME}"}
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": _TAG_SET,
        "metadata": {"name": _NAME},
        "spec": {"imageTagMirrors": [entries[source] for source in sorted(entries)]},
    }
