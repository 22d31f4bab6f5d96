# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""PackageManifests: the packages, channels and CSVs that a catalogue offers."""

from __future__ import annotations

import difflib
import re
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from . import version_range
from .plans import USABLE
from .settings import another_catalogue, assignment, variable

# The catalogues of every OpenShift cluster, unless OperatorHub disables them.
DEFAULT_SOURCES: t.Final = (
    "certified-operators",
    "community-operators",
    "redhat-marketplace",
    "redhat-operators",
)
# The end of a message about a release that is older than the installed one.
NO_DOWNGRADE: t.Final = ", which is older; OLM does not downgrade"


class AwayError(AcceleratorError):
    """An existing catalogue does not answer; that can be temporary."""


def choose(manifests: t.Sequence[KubeObject], name: str, source: str | None) -> KubeObject | None:
    """Return the package of this name, from the catalogue `source` if that is set, or None."""
    found = [
        offer for offer in manifests if package_name(offer) == name and source in (None, catalog(offer)[0])
    ]
    return found[0] if found else None


def sources(manifests: t.Iterable[KubeObject], name: str) -> list[str]:
    """Return the names of the catalogues that have the package, sorted."""
    return sorted({catalog(offer)[0] for offer in manifests if package_name(offer) == name})


def check_one_source(name: str, found: t.Sequence[str], catalogs: t.Sequence[KubeObject]) -> None:
    """Raise OLM-SOURCES if several catalogues have the package: their builds can differ."""
    if len(found) > 1:
        priorities = {
            catalog["metadata"]["name"]: (catalog.get("spec") or {}).get("priority") or 0
            for catalog in catalogs
        }
        evidence = [f"CatalogSource {source}: priority {priorities.get(source, 0)}" for source in found]
        raise AcceleratorError(
            "OLM-SOURCES",
            package=name,
            number=len(found),
            catalogues=", ".join(found),
            setting=variable(name, "source"),
            evidence=evidence,
        )


def disabled(hub: KubeObject | None, source: str) -> str:
    """Return how OperatorHub disables a default catalogue; empty if it does not."""
    spec = (hub or {}).get("spec") or {}
    entry = next((item for item in spec.get("sources") or [] if item.get("name") == source), None)
    if entry is not None:
        return f"sources has {source} with disabled: true" if entry.get("disabled") else ""
    return (
        "disableAllDefaultSources is true"
        if spec.get("disableAllDefaultSources") and source in DEFAULT_SOURCES
        else ""
    )


def missing(
    name: str,
    source: str | None,
    offered: t.Sequence[KubeObject],
    catalogs: t.Sequence[KubeObject],
    hub: KubeObject | None = None,
) -> AcceleratorError:
    """Return why the package is not found: its catalogue is disabled, missing or not READY, or lacks it."""
    states = {obj["metadata"]["name"]: catalog_state(obj) for obj in catalogs}
    wanted = {source: states.get(source)} if source else states
    unwell = {key: state for key, state in wanted.items() if state not in USABLE}
    evidence = [f"CatalogSource {key}: {state}" for key, state in sorted(states.items())]
    if source and source not in states:
        why = _no_source(source, sorted(states), disabled(hub, source))
        catalogue = _with_source(name, sources(offered, name), sorted(states))
        return AcceleratorError("OLM-CATALOG", package=name, why=why, catalogue=catalogue, evidence=evidence)
    if unwell or not states:
        which = ", ".join(
            f"{key} ({state or 'no state yet'})" for key, state in sorted(unwell.items()) if key
        )
        why = f"not every catalogue is READY: {which}" if which else "no CatalogSource exists"
        make = AwayError if unwell and states else AcceleratorError
        return make(
            "OLM-CATALOG", package=name, why=why, catalogue=another_catalogue(name), evidence=evidence
        )
    hint = _hint(name, {package_name(offer) for offer in offered if source in (None, catalog(offer)[0])})
    off = [
        default
        for default in DEFAULT_SOURCES
        if source is None and default not in states and disabled(hub, default)
    ]
    evidence += [f"CatalogSource {default}: disabled in OperatorHub cluster" for default in off]
    if others := [other for other in sources(offered, name) if other != source]:
        hint = f"Set {_with_source(name, others, sorted(states))}."
    return AcceleratorError(
        "OLM-NO-PACKAGE",
        package=name,
        catalogues=", ".join(sorted(key for key in wanted if key)),
        hint=hint,
        evidence=evidence,
    )


def _with_source(name: str, having: t.Sequence[str], existing: t.Sequence[str]) -> str:
    """Return how to set another catalogue. having: those with the package; existing: all of the cluster."""
    if len(having) == 1:
        return f"{assignment(name, 'source', having[0])}, which has package {name}"
    if having:
        return f"{variable(name, 'source')} to one of {', '.join(having)}, which have package {name}"
    which = f" ({' or '.join(existing)})" if existing else ""
    return f"{variable(name, 'source')} to a catalogue into which you mirror package {name}{which}"


def _no_source(source: str, existing: list[str], disabled: str) -> str:
    """Return why a catalogue does not exist. disabled: how OperatorHub disables it, or empty."""
    if disabled:
        what = f"CatalogSource {source} is one of OpenShift's own and is switched off"
        return f"{what}: in OperatorHub cluster, spec.{disabled}"
    return f"there is no CatalogSource {source}; there are: {', '.join(existing) or 'none'}"


def _hint(name: str, packages: t.Collection[str]) -> str:
    names = sorted(packages)
    near = [known for known in names if name in known or known in name]
    near = near or difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"The catalogues carry {len(names)} packages, none with a similar name."


def check_catalog(offer: KubeObject, catalogs: t.Sequence[KubeObject]) -> None:
    """Raise AwayError if the catalogue is not usable; its packages can still be listed then."""
    name = catalog(offer)[0]
    state = next(
        (catalog_state(catalog) for catalog in catalogs if catalog["metadata"]["name"] == name), "absent"
    )
    if state not in USABLE:
        package, why = (
            package_name(offer),
            f"CatalogSource {name} is {state or 'not yet connected'}, not READY",
        )
        raise AwayError("OLM-CATALOG", package=package, why=why, catalogue=another_catalogue(package))


def package_name(manifest: KubeObject) -> str:
    """Return the name of the package."""
    return str((manifest.get("status") or {}).get("packageName") or manifest["metadata"]["name"])


def catalog(manifest: KubeObject) -> tuple[str, str]:
    """Return name and namespace of the package's CatalogSource."""
    status = manifest.get("status") or {}
    return str(status.get("catalogSource", "")), str(status.get("catalogSourceNamespace", ""))


def catalog_state(source: KubeObject) -> str:
    """Return the state of the connection to the catalogue, such as READY; empty before the first."""
    return str(((source.get("status") or {}).get("connectionState") or {}).get("lastObservedState", ""))


def channel(manifest: KubeObject, wanted: str) -> KubeObject:
    """Return the wanted channel, or the default one if `wanted` is empty. Raise OLM-NO-CHANNEL."""
    status = manifest.get("status") or {}
    channels = {channel["name"]: channel for channel in status.get("channels") or []}
    name = wanted or status.get("defaultChannel")
    if name in channels:
        return dict(channels[name])
    package = package_name(manifest)
    raise AcceleratorError(
        "OLM-NO-CHANNEL",
        package=package,
        channel=name,
        channels=listed(channels, status.get("defaultChannel")),
        setting=variable(package, "channel"),
    )


def listed(channels: t.Mapping[str, KubeObject], default: str | None = None) -> str:
    """Return the channels with their newest CSV, for a message."""
    texts = (
        f"{name} ({entry.get('currentCSV')}{', the default' if name == default else ''})"
        for name, entry in sorted(channels.items())
    )
    return ", ".join(texts)


def newest_csv(manifest: KubeObject) -> KubeObject:
    """Return the newest CSV of all channels, with what the catalogue has of it."""
    channels = (manifest.get("status") or {}).get("channels") or []
    newest = max(channels, key=lambda one: order(version_of(one["currentCSV"])))
    about = newest.get("currentCSVDesc") or {}
    metadata = {"name": newest["currentCSV"], "annotations": about.get("annotations") or {}}
    images = [{"image": image} for image in about.get("relatedImages") or []]
    return {"metadata": metadata, "spec": {"version": about.get("version"), "relatedImages": images}}


def csvs(entry: KubeObject) -> dict[str, str]:
    """Return CSV name -> version of the channel's entries."""
    found = {
        release["name"]: str(release.get("version") or version_of(release["name"]))
        for release in entry.get("entries") or []
    }
    head = entry.get("currentCSV")
    if head and head not in found:
        found[head] = str((entry.get("currentCSVDesc") or {}).get("version") or version_of(head))
    return found


def path_to(entry: KubeObject, csv: str | None, package: str = "") -> frozenset[str]:
    """Return the CSVs that an upgrade may pass: up to `csv`, or all of the channel. Raise OLM-NO-CSV."""
    found = csvs(entry)
    if not csv:
        return frozenset(found)
    if csv not in found:
        raise AcceleratorError(
            "OLM-NO-CSV",
            where=f"Channel {entry['name']}",
            wanted=csv,
            csvs=", ".join(sorted(found, key=lambda name: order(found[name]))),
            setting=variable(package, "csv"),
        )
    return frozenset(csv_name for csv_name, version in found.items() if order(version) <= order(found[csv]))


def skips(entry: KubeObject, csv: str) -> bool:
    """Return True if the channel's head replaces this CSV at once (olm.skipRange)."""
    annotations = (entry.get("currentCSVDesc") or {}).get("annotations") or {}
    return version_range.holds(str(annotations.get("olm.skipRange") or ""), version_of(csv))


def reaches(entry: KubeObject, csv: str) -> bool:
    """Return True if OLM finds a way from this CSV into the channel.

    A channel leads on from its own releases, and its head from the range of versions that it skips. A channel
    can begin with a release that replaces nothing.
    """
    return csv in csvs(entry) or skips(entry, csv)


def no_way(csv: str) -> str:
    """Return why a channel has no way from this CSV, for a message."""
    return f"it does not hold {csv}, and its head replaces no range of versions with it (olm.skipRange)"


def leading_to(manifest: KubeObject, csv: str) -> list[str]:
    """Return the names of the channels that have the CSV, sorted."""
    return sorted(
        channel["name"]
        for channel in (manifest.get("status") or {}).get("channels") or []
        if csv in csvs(channel)
    )


def deprecations(manifest: KubeObject, entry: KubeObject, csv: str) -> list[str]:
    """Return the catalogue's deprecations of the package, the channel and the CSV, one line each."""
    status = manifest.get("status") or {}
    version: KubeObject = next(
        (release for release in entry.get("entries") or [] if release["name"] == csv), {}
    )
    found = {
        f"Package {package_name(manifest)}": status,
        f"Channel {entry['name']}": entry,
        f"CSV {csv}": version,
    }
    lines = [
        f"{what} is deprecated: {part['deprecation'].get('message')}"
        for what, part in found.items()
        if part.get("deprecation")
    ]
    if entry.get("deprecation") and status.get("defaultChannel") != entry["name"]:
        lines.append(f"The default channel of {package_name(manifest)} is {status.get('defaultChannel')}.")
    return lines


def install_modes(entry: KubeObject) -> frozenset[str]:
    """Return the install modes that the channel's head supports; empty if the catalogue names none."""
    modes = (entry.get("currentCSVDesc") or {}).get("installModes") or []
    return frozenset(mode["type"] for mode in modes if mode.get("supported"))


def version_of(csv: str) -> str:
    """Return the version in a CSV's name: 26.7.0 of `gpu-operator-certified.v26.7.0`."""
    return csv.partition(".")[2].removeprefix("v")


def order(version: str) -> tuple[tuple[int, int, str], ...]:
    """Return the sort key of a version, in the order in which channels hold them.

    A suffix that is a number sorts after its release (26.7.0-1, and Red Hat's build stamps); one such as rc.1
    sorts before it.
    """
    parts = re.split(r"[.+-]", version)
    key = tuple((0, int(part), "") if part.isdigit() else (-1, 0, part) for part in parts)
    return (*key, (0, -1, ""))
