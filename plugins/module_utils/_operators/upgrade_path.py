# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of an upgrade through the channels of a package: where it stops, and which CSVs it passes.

A PackageManifest names the CSVs of each channel, and of a channel's head the range of versions that it
replaces at once (olm.skipRange). OLM always takes the largest step. So an upgrade stops at a release only in
a channel that ends there, or in one whose head replaces nothing but its predecessor.
"""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .._olm import catalogue, support
from .._olm.settings import assignment
from .order import GPU, STEPWISE, Wish


class Stop(t.NamedTuple):
    """One stage of the way: a channel, the CSV at its end, and the CSVs that OLM passes up to there."""

    channel: str
    csv: str
    passes: tuple[str, ...]


class Way(t.NamedTuple):
    """The way of one operator. channel: of the Subscription in the end. remarks: warnings for the user."""

    package: str
    installed: str
    channel: str
    stops: tuple[Stop, ...] = ()
    remarks: tuple[str, ...] = ()


def find(offer: KubeObject, installed: str, held: str, wish: Wish) -> Way:
    """Return the way from the installed CSV to what the wish names.

    held: the channel of the Subscription. Raise AcceleratorError for a channel or release that does not
    exist, for a downgrade, and if no channel stops at the wanted CSV.
    """
    channels = _channels(offer)
    if (wish.channel or held) not in channels:
        raise _no_channel(wish, channels, held)
    target = _target(wish, channels, held)
    channel = wish.channel or (_leading(channels, held, installed, target) if wish.to else held)
    if _order(target) < _order(installed):
        if not wish.to and not wish.channel:
            return Way(wish.package, installed, channel)
        raise downgrade(wish, installed, target, channel)
    if target == installed:
        return Way(wish.package, installed, channel, remarks=_newer(wish, channels, installed))
    stops, remarks = _stops(wish.package, channels, installed, target)
    start = stops[-1].csv if stops else installed
    if not _fits(channels[channel], start, target):
        raise _no_path(wish, channels, start, target, channel)
    stops.append(Stop(channel, target, passes(channels[channel], start, target)))
    return Way(wish.package, installed, channel, tuple(stops), (*remarks, *_newer(wish, channels, target)))


def passes(entry: KubeObject, start: str, target: str) -> tuple[str, ...]:
    """Return the CSVs that OLM passes, as far as the catalogue says; the last is the target."""
    if catalogue.skips(entry, start) and entry.get("currentCSV") == target:
        return (target,)
    between = [one for one in catalogue.csvs(entry) if _order(start) < _order(one) <= _order(target)]
    return tuple(sorted(between, key=_order))


def _fits(entry: KubeObject, start: str, target: str) -> bool:
    """Return True if OLM goes from `start` to the target in this channel, and stops there."""
    has_both = target in catalogue.csvs(entry) and catalogue.reaches(entry, start)
    return has_both and not leads_past(entry, start, target)


def leads_past(entry: KubeObject, start: str, target: str) -> bool:
    """Return True if OLM would go from `start` past the target, because the channel's head skips it."""
    return entry.get("currentCSV") != target and catalogue.skips(entry, start)


def downgrade(wish: Wish, installed: str, target: str, channel: str) -> AcceleratorError:
    """Return the refusal of a downgrade, with the way back."""
    asked = f" in {wish.place}.{'to' if wish.to else 'channel'}"
    return AcceleratorError(
        "OLM-VERSION",
        installed=installed,
        target=target,
        also=f"{asked}{catalogue.NO_DOWNGRADE}. Nothing was changed",
        remedy=_again(wish, target, channel),
    )


def _again(wish: Wish, target: str, channel: str) -> str:
    """Return how to get a release to which no upgrade leads."""
    setting = f"{assignment(wish.package, 'channel', channel)} and {assignment(wish.package, 'csv', target)}"
    if wish.package == GPU:
        return f"Run remove_gpus.yml, set {setting}, and run enable_gpus.yml. Pods with GPUs end."
    return (
        f"Remove the operator (olm_operator with state: absent), then install it with {setting}. Pods that "
        "need its operands end."
    )


def _target(wish: Wish, channels: t.Mapping[str, KubeObject], held: str) -> str:
    """Return the wanted CSV: the one that the wish names, or the head of the channel."""
    if not wish.to:
        return str(channels[wish.channel or held].get("currentCSV") or "")
    searched = [wish.channel] if wish.channel else list(channels)
    names = {one: version for name in searched for one, version in catalogue.csvs(channels[name]).items()}
    for name, version in names.items():
        if wish.to in (name, version, f"v{version}"):
            return name
    raise AcceleratorError(
        "OLM-NO-CSV",
        where=f"{wish.place}.to: "
        + (f"channel {wish.channel}" if wish.channel else f"package {wish.package}"),
        wanted=wish.to,
        csvs=", ".join(sorted(names, key=_order)),
        setting=f"`to` of {wish.package} in gpu_upgrade_operators",
    )


def _leading(channels: t.Mapping[str, KubeObject], held: str, installed: str, target: str) -> str:
    """Return the channel that leads to the target: the held one, or the first that stops there.

    For a downgrade: the first that ends there.
    """
    having = [name for name in _first(held, channels) if target in catalogue.csvs(channels[name])]
    if _order(target) < _order(installed):
        fitting = [name for name in having if channels[name].get("currentCSV") == target]
    else:
        fitting = [name for name in having if _fits(channels[name], installed, target)]
    return next(iter([*fitting, *having]), held)


def _first(held: str, channels: t.Mapping[str, KubeObject]) -> list[str]:
    return sorted(channels, key=lambda name: (name != held, name))


def _stops(
    package: str, channels: t.Mapping[str, KubeObject], installed: str, target: str
) -> tuple[list[Stop], list[str]]:
    """Return the stops at releases between both, and remarks on releases that no channel stops at."""
    first, last = (support.release_of(catalogue.version_of(one)) for one in (installed, target))
    known = {
        release
        for entry in channels.values()
        for version in catalogue.csvs(entry).values()
        if (release := support.release_of(version))
    } | set(support.SUPPORT.get(package, {}))
    between = sorted(one for one in known if first and last and first < one < last)
    stops: list[Stop] = []
    remarks: list[str] = []
    for release in between if package in STEPWISE else ():
        start = stops[-1].csv if stops else installed
        ends = {
            name: str(entry.get("currentCSV"))
            for name, entry in channels.items()
            if support.release_of(catalogue.version_of(str(entry.get("currentCSV")))) == release
            and catalogue.reaches(entry, start)
        }
        if not ends:
            remarks.append(
                f"The upgrade of {package} passes release {support.write(release)} without a stop: no "
                "channel of the catalogue ends there. Its maker supports upgrades to the next release only."
            )
            continue
        name = max(ends, key=lambda one: (_order(ends[one]), one))
        stops.append(Stop(name, ends[name], passes(channels[name], start, ends[name])))
    return stops, remarks


def _newer(wish: Wish, channels: t.Mapping[str, KubeObject], reached: str) -> tuple[str, ...]:
    """Return a remark on channels that lead further than the upgrade goes, if the wish names no end."""
    if wish.to or wish.channel:
        return ()
    further = [
        f"{name} ({entry.get('currentCSV')})"
        for name, entry in sorted(channels.items())
        if _order(str(entry.get("currentCSV"))) > _order(reached)
    ]
    if not further:
        return ()
    return (f"Other channels of {wish.package} lead further than {reached}: {', '.join(further)}.",)


def _no_channel(wish: Wish, channels: t.Mapping[str, KubeObject], held: str) -> AcceleratorError:
    return AcceleratorError(
        "OLM-NO-CHANNEL",
        package=wish.package,
        channel=wish.channel or held,
        also=f" ({wish.place}.channel)" if wish.channel else " (that of its Subscription)",
        channels=catalogue.listed(channels),
        setting=f"`channel` of {wish.package} in gpu_upgrade_operators",
    )


def _no_path(
    wish: Wish, channels: t.Mapping[str, KubeObject], start: str, target: str, channel: str
) -> AcceleratorError:
    """Return the refusal of a channel in which OLM does not go from `start` to the target."""
    entry, package = channels[channel], wish.package
    if leads_past(entry, start, target):
        why = f"it leads from {start} to {entry.get('currentCSV')} at once"
    else:
        why = f"{catalogue.no_way(start)}. OLM would make no plan"
    others = [name for name in sorted(channels) if _fits(channels[name], start, target)]
    remedy = f"Set gpu_upgrade_operators: [{{name: {package}, channel: {channel}}}]."
    if others:
        is_end = not wish.to and channels[others[0]].get("currentCSV") == target
        to = "" if is_end else f", to: {wish.to or catalogue.version_of(target)}"
        remedy = f"Set gpu_upgrade_operators: [{{name: {package}, channel: {others[0]}{to}}}]."
    elif not leads_past(entry, start, target):
        remedy = _again(wish, target, channel)
    return AcceleratorError(
        "OLM-NO-PATH",
        channel=channel,
        package=package,
        target=target,
        why=f"{why}. Nothing was changed",
        remedy=remedy,
    )


def _channels(offer: KubeObject) -> dict[str, KubeObject]:
    return {str(one["name"]): one for one in (offer.get("status") or {}).get("channels") or []}


def _order(csv: str) -> tuple[tuple[int, int, str], ...]:
    return catalogue.order(catalogue.version_of(csv))
