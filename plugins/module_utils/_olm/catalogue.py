# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""PackageManifest: what a catalogue offers."""

from __future__ import annotations

import difflib
import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._olm.observed import USABLE

# What every OpenShift cluster has, unless OperatorHub says otherwise.
DEFAULT_SOURCES: t.Final = (
    "certified-operators",
    "community-operators",
    "redhat-marketplace",
    "redhat-operators",
)
CATALOG_REMEDY: t.Final = "Look at the catalogue's pod: oc -n openshift-marketplace get catalogsource,pods."


class AwayError(AcceleratorError):
    """A catalogue that exists does not answer; it may be back in a moment."""


def choose(manifests: t.Sequence[KubeObject], name: str, source: str | None) -> KubeObject | None:
    """The package of that name, from the named catalogue where one is named."""
    found = [one for one in manifests if package_name(one) == name and source in (None, catalog(one)[0])]
    return found[0] if found else None


def sources(manifests: t.Iterable[KubeObject], name: str) -> list[str]:
    """Every catalogue that carries the package."""
    return sorted({catalog(one)[0] for one in manifests if package_name(one) == name})


def check_one_source(name: str, found: t.Sequence[str], catalogs: t.Sequence[KubeObject]) -> None:
    """Two catalogues may carry different builds of a package: which one is meant cannot be guessed."""
    if len(found) > 1:
        priorities = {
            one["metadata"]["name"]: (one.get("spec") or {}).get("priority") or 0 for one in catalogs
        }
        evidence = [f"CatalogSource {one}: priority {priorities.get(one, 0)}" for one in found]
        message = f"Package {name} comes from {len(found)} catalogues: {', '.join(found)}."
        raise AcceleratorError("OLM-SOURCES", message, f"Set source to one of {', '.join(found)}.", evidence)


def disabled(hub: KubeObject | None, source: str) -> str:
    """How OperatorHub keeps a default catalogue away; empty where it does not."""
    spec = (hub or {}).get("spec") or {}
    entry = next((one for one in spec.get("sources") or [] if one.get("name") == source), None)
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
    """Why there is no such package: its catalogue is disabled, absent or not READY, or it carries other names."""
    states = {one["metadata"]["name"]: catalog_state(one) for one in catalogs}
    wanted = {source: states.get(source)} if source else states
    unwell = {key: state for key, state in wanted.items() if state not in USABLE}
    evidence = [f"CatalogSource {key}: {state}" for key, state in sorted(states.items())]
    if source and source not in states and (why := disabled(hub, source)):
        message = f"CatalogSource {source} is one of OpenShift's own and is switched off: in OperatorHub cluster, spec.{why}."
        return AcceleratorError(
            "OLM-CATALOG",
            message,
            "Set source to the mirrored catalogue that takes its place, or enable it there.",
            evidence,
        )
    if source and source not in states:
        message = f"There is no CatalogSource {source}; there are: {', '.join(sorted(states)) or 'none'}."
        return AcceleratorError(
            "OLM-CATALOG",
            message,
            "Set source to an existing one, or enable it in OperatorHub cluster.",
            evidence,
        )
    if unwell or not states:
        which = (
            ", ".join(f"{key} ({state or 'no state yet'})" for key, state in sorted(unwell.items()) if key)
            or "no CatalogSource exists"
        )
        message = f"Package {name} is not served, and not every catalogue is READY: {which}."
        make = AwayError if unwell and states else AcceleratorError
        return make("OLM-CATALOG", message, CATALOG_REMEDY, evidence)
    names = sorted({package_name(one) for one in offered if source in (None, catalog(one)[0])})
    near = [one for one in names if name in one or one in name] or difflib.get_close_matches(
        name, names, n=3, cutoff=0.4
    )
    hint = (
        f"Did you mean {' or '.join(near)}?"
        if near
        else f"The catalogues carry {len(names)} packages, none with a similar name."
    )
    off = [one for one in DEFAULT_SOURCES if source is None and one not in states and disabled(hub, one)]
    evidence += [f"CatalogSource {one}: disabled in OperatorHub cluster" for one in off]
    message = (
        f"Package {name} is in none of the catalogues {', '.join(sorted(key for key in wanted if key))}."
    )
    remedy = f"{hint} A mirrored catalogue must contain the package: oc get packagemanifests -n openshift-marketplace."
    return AcceleratorError("OLM-NO-PACKAGE", message, remedy, evidence)


def check_catalog(offer: KubeObject, catalogs: t.Sequence[KubeObject]) -> None:
    """A package can still be listed when its catalogue has gone away; OLM could then resolve nothing."""
    name = catalog(offer)[0]
    state = next((catalog_state(one) for one in catalogs if one["metadata"]["name"] == name), "absent")
    if state not in USABLE:
        raise AwayError(
            "OLM-CATALOG",
            f"CatalogSource {name} is {state or 'not yet connected'}, not READY.",
            CATALOG_REMEDY,
        )


def package_name(manifest: KubeObject) -> str:
    return str((manifest.get("status") or {}).get("packageName") or manifest["metadata"]["name"])


def catalog(manifest: KubeObject) -> tuple[str, str]:
    """Name and namespace of the CatalogSource."""
    status = manifest.get("status") or {}
    return str(status.get("catalogSource", "")), str(status.get("catalogSourceNamespace", ""))


def catalog_state(source: KubeObject) -> str:
    return str(((source.get("status") or {}).get("connectionState") or {}).get("lastObservedState", ""))


def channel(manifest: KubeObject, wanted: str) -> KubeObject:
    """The wanted channel, or the package's default one."""
    status = manifest.get("status") or {}
    channels = {one["name"]: one for one in status.get("channels") or []}
    name = wanted or status.get("defaultChannel")
    if name in channels:
        return dict(channels[name])
    listed = ", ".join(f"{one} ({entry.get('currentCSV')})" for one, entry in sorted(channels.items()))
    message = f"Package {package_name(manifest)} has no channel {name}; it has: {listed}."
    raise AcceleratorError(
        "OLM-NO-CHANNEL",
        message,
        f"Set channel to one of them; the default is {status.get('defaultChannel')}.",
    )


def csvs(entry: KubeObject) -> dict[str, str]:
    """CSV name to version, of everything in a channel."""
    found = {
        one["name"]: str(one.get("version") or version_of(one["name"])) for one in entry.get("entries") or []
    }
    head = entry.get("currentCSV")
    if head and head not in found:
        found[head] = str((entry.get("currentCSVDesc") or {}).get("version") or version_of(head))
    return found


def path_to(entry: KubeObject, csv: str | None) -> frozenset[str]:
    """CSVs that may be installed on the way: up to the named one, or up to the channel's head."""
    found = csvs(entry)
    if not csv:
        return frozenset(found)
    if csv not in found:
        listed = ", ".join(sorted(found, key=lambda one: order(found[one])))
        message = f"Channel {entry['name']} has no CSV {csv}; it has: {listed}."
        raise AcceleratorError("OLM-NO-CSV", message, "Set csv to one of them, or set another channel.")
    return frozenset(one for one, version in found.items() if order(version) <= order(found[csv]))


def leading_to(manifest: KubeObject, csv: str) -> list[str]:
    """Channels that hold the CSV."""
    return sorted(
        one["name"] for one in (manifest.get("status") or {}).get("channels") or [] if csv in csvs(one)
    )


def deprecations(manifest: KubeObject, entry: KubeObject, csv: str) -> list[str]:
    """What the catalogue says against the package, the channel and the CSV; its texts name what takes their place."""
    status = manifest.get("status") or {}
    version: KubeObject = next((one for one in entry.get("entries") or [] if one["name"] == csv), {})
    found = {
        f"Package {package_name(manifest)}": status,
        f"Channel {entry['name']}": entry,
        f"CSV {csv}": version,
    }
    lines = [
        f"{what} is deprecated: {one['deprecation'].get('message')}"
        for what, one in found.items()
        if one.get("deprecation")
    ]
    if entry.get("deprecation") and status.get("defaultChannel") != entry["name"]:
        lines.append(f"The default channel of {package_name(manifest)} is {status.get('defaultChannel')}.")
    return lines


def install_modes(entry: KubeObject) -> frozenset[str]:
    """Install modes that the channel's head supports; empty when the catalogue does not say."""
    modes = (entry.get("currentCSVDesc") or {}).get("installModes") or []
    return frozenset(one["type"] for one in modes if one.get("supported"))


def version_of(csv: str) -> str:
    """`nfd.4.22.0-2026` and `gpu-operator-certified.v26.7.0` carry their version behind the first dot."""
    return csv.partition(".")[2].removeprefix("v")


def order(version: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key: numbers as numbers. A pre-release sorts after its release here, as Red Hat's build stamps want it."""
    return tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"[.+-]", version)
    )
