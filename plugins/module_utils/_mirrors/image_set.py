# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ImageSetConfiguration of oc-mirror v2, which says what to bring into a mirror.

Source: github.com/openshift/oc-mirror, internal/pkg/api/v2alpha1/type_config.go.
"""

from __future__ import annotations

import json
import re
import typing as t

from .._core.errors import InputError
from .._core.objects import KubeObject, at, name
from .._olm import catalogue
from .._olm.version_range import precedence
from . import rules
from .images import Operator, Wanted, part

Data = t.Mapping[str, t.Any]
KIND: t.Final = "ImageSetConfiguration"
VERSION: t.Final = "mirror.openshift.io/v2alpha1"
# Default catalogue -> name of its image.
_INDEXES: t.Final = {one: f"{one.removesuffix('s')}-index" for one in catalogue.DEFAULT_SOURCES}
# The lists of maps in the file, each with those in its entries.
_MORE, _BLOCKED = "additionalImages", "blockedImages"
_LISTS: t.Final[Data] = {"operators": {"packages": {"channels": {}}}, _MORE: {}, _BLOCKED: {}}
# oc-mirror names a catalogue so.
_MIRRORED: t.Final = re.compile(r"cs-(?P<index>.+)-v(?P<major>\d+)-(?P<minor>\d+)")
_UPSTREAM: t.Final = "registry.redhat.io/redhat"


def index_of(source: str, catalogs: t.Iterable[KubeObject], release: str) -> str:
    """Return the image of a catalogue as oc-mirror reads it, which is not the one in the mirror.

    source: name of the CatalogSource. release: of OpenShift. For a catalogue of the user's own it is the
    image of its CatalogSource, or else its name.
    """
    live = next((one for one in catalogs if name(one) == source), None)
    own, found = str(at(live, "spec.image") or ""), _MIRRORED.fullmatch(source)
    known = [
        (part(own), rules.split(own)[1].partition("@")[0]),
        (_INDEXES.get(source), f":v{release}"),
        (found["index"], f":v{found['major']}.{found['minor']}") if found else ("", ""),
    ]
    upstream = (
        f"{_UPSTREAM}/{index}{tag}" for index, tag in known if index in _INDEXES.values() and tag[:2] == ":v"
    )
    return next(upstream, own or source)


def build(operators: t.Iterable[Operator], wanted: t.Iterable[Wanted]) -> dict[str, t.Any]:
    """Return the file that mirrors these operators with every hop of their ways, and all other images."""
    by_index: dict[str, list[dict[str, t.Any]]] = {}
    for operator in operators:
        by_index.setdefault(operator.catalog, []).append(_package(operator))
    found: dict[str, t.Any] = {}
    if by_index:
        found["operators"] = [
            {"catalog": index, "packages": packages} for index, packages in sorted(by_index.items())
        ]
    if more := [{"name": one.image} for one in wanted if not one.package]:
        found[_MORE] = more
    return {"kind": KIND, "apiVersion": VERSION, "mirror": found}


def _package(operator: Operator) -> dict[str, t.Any]:
    channels = _channels(operator)
    found: dict[str, t.Any] = {"name": operator.way.package}
    default, wanted = (operator.offer.get("status") or {}).get("defaultChannel"), operator.way.channel
    if default not in channels:
        found["defaultChannel"] = wanted if wanted in channels else min(channels, default=wanted)
    found["channels"] = [
        {"name": channel, "minVersion": first, "maxVersion": last}
        for channel, (first, last) in channels.items()
    ]
    return found


def _channels(operator: Operator) -> dict[str, tuple[str, str]]:
    """Return channel -> lowest and highest version, as oc-mirror compares them: 26.7.0-1 is below 26.7.0.

    The installed release is in the range too: OLM resolves nothing while its catalogue lacks it.
    """
    entries = {str(one["name"]): one for one in at(operator.offer, "status.channels") or []}
    passed: dict[str, list[str]] = {}
    start = operator.way.installed
    for stop in operator.way.stops:
        held = catalogue.csvs(entries.get(stop.channel) or {"name": stop.channel})
        passed.setdefault(stop.channel, []).extend(
            [*([start] if start in held else []), *stop.passes, stop.csv]
        )
        start = stop.csv
    first = operator.way.installed
    if first and not any(first in csvs for csvs in passed.values()):
        having = [one for one in entries if first in catalogue.csvs(entries[one])]
        ahead = having[:1] if operator.way.channel not in having else [operator.way.channel]
        passed = {**{one: [first] for one in ahead}, **passed}
    return {
        channel: (min(versions, key=precedence), max(versions, key=precedence))
        for channel, csvs in passed.items()
        for versions in [[catalogue.version_of(csv) for csv in csvs]]
    }


def line(wanted: Wanted, operators: t.Iterable[Operator]) -> str:
    """Return what the file needs so that the mirror gets the image."""
    of = next((one for one in operators if one.way.package == wanted.package), None)
    if of is None:
        return f"mirror.{_MORE}: - name: {wanted.image}"
    entry = {"catalog": of.catalog, "packages": [_package(of)]}
    return f"mirror.operators: - {json.dumps(entry)}"


def check(given: t.Any, operators: t.Sequence[Operator], wanted: t.Sequence[Wanted], option: str) -> None:
    """Raise InputError if a user's own file does not bring everything. option: where it comes from."""
    faults = [*_shape_faults(given)]
    if not faults:
        mirror = given["mirror"]
        listed = mirror.get("operators") or []
        for operator in operators:
            faults += _operator_faults(listed, operator)
        names = {one.get("name") for one in mirror.get(_MORE) or []}
        lacking = [one for one in wanted if not one.package and one.image not in names]
        faults += [(f"mirror.{_MORE}", f"lacks {one.image} ({one.why})") for one in lacking]
        faults += [
            (f"mirror.{_BLOCKED}[{at_index}]", f"keeps {one.image} out ({one.why})")
            for at_index, entry in enumerate(mirror.get(_BLOCKED) or [])
            for one in wanted
            if _blocks(str(entry.get("name")), one.image)
        ]
    if faults:
        (path, why), also = faults[0], f" ({len(faults) - 1} more)" if faults[1:] else ""
        evidence = [f"{path} {why}" for path, why in faults]
        raise InputError("MIRROR-FILE", option=option, path=path, why=why, also=also, evidence=evidence)


def _shape_faults(given: t.Any) -> list[tuple[str, str]]:
    if not isinstance(given, t.Mapping) or given.get("kind") != KIND:
        return [("kind", f"is not {KIND}")]
    if given.get("apiVersion") != VERSION:
        return [("apiVersion", f"is {given.get('apiVersion')}, and oc-mirror v2 reads {VERSION} alone")]
    mirror = given.get("mirror")
    if not isinstance(mirror, t.Mapping):
        return [("mirror", "is no map")]
    found = [("storageConfig", "is of oc-mirror v1: v2 refuses it")] if "storageConfig" in given else []
    return [*found, *_list_faults(mirror, _LISTS, "mirror")]


def _list_faults(given: Data, lists: Data, path: str) -> t.Iterator[tuple[str, str]]:
    for key, inner in lists.items():
        entries = given.get(key) or []
        if not isinstance(entries, list) or not all(isinstance(one, t.Mapping) for one in entries):
            yield f"{path}.{key}", "is no list of maps"
            continue
        for number, one in enumerate(entries):
            yield from _list_faults(one, inner, f"{path}.{key}[{number}]")


def _blocks(pattern: str, image: str) -> bool:
    try:
        return bool(re.search(pattern, image))
    except re.error:  # not every expression of Go is one of Python
        return False


def _operator_faults(listed: t.Sequence[Data], operator: Operator) -> t.Iterator[tuple[str, str]]:
    """Yield path and fault of what the file lacks of one operator."""
    package, index = operator.way.package, operator.catalog
    found = [
        (f"mirror.operators[{at_index}]" + (f".packages[{at_package}]" if given else ""), entry, given)
        for at_index, entry in enumerate(listed)
        # A catalogue without packages stands for all of them.
        for at_package, given in enumerate(entry.get("packages") or [{}])
        if not given or given.get("name") == package
    ]
    right = [one for one in found if part(str(one[1].get("catalog"))) == part(index)]
    if not right:
        wrong = [(path, entry.get("catalog")) for path, entry, given in found if given]
        yield from ((path, f"asks {catalog} for {package}, which {index} has") for path, catalog in wrong)
        if not wrong:
            yield "mirror.operators", f"lacks package {package} of {index}"
        return
    heads = {
        one["name"]: catalogue.version_of(one["currentCSV"]) for one in operator.offer["status"]["channels"]
    }
    for channel, needed in _channels(operator).items():
        yield from _range_faults(*right[0], channel, (*needed, heads[channel]))


def _range_faults(
    path: str, entry: Data, given: Data, channel: str, needed: tuple[str, str, str]
) -> t.Iterator[tuple[str, str]]:
    """Yield the bounds that leave out a release of the way. needed: its ends, and the head of the channel."""
    place, bounds, channels = path, given, given.get("channels") or []
    if channels:
        found = [one for one in enumerate(channels) if one[1].get("name") == channel]
        if not found:
            yield f"{path}.channels", f"lacks channel {channel}"
            return
        place, bounds = f"{path}.channels[{found[0][0]}]", {**given, **found[0][1]}
    first, last = bounds.get("minVersion"), bounds.get("maxVersion")
    if first and precedence(str(first)) > precedence(needed[0]):
        yield f"{place}.minVersion", f"is {first}, and the way begins with {needed[0]}"
    if last and precedence(str(last)) < precedence(needed[1]):
        yield f"{place}.maxVersion", f"is {last}, and the way ends with {needed[1]}"
    if not first and not last and not entry.get("full") and needed != (needed[2],) * 3:
        yield place, f"has no minVersion: only the newest release is mirrored, without {needed[0]}"
