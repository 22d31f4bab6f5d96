# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Placement of a pool's machines: how many machines are in each zone."""

from __future__ import annotations

import typing as t

Zones = dict[str, int]


def spread(replicas: int, zones: t.Sequence[str]) -> Zones:
    """Return an even placement over the zones; the first zones get the remainder."""
    share, rest = divmod(replicas, len(zones))
    return {zone: share + (1 if index < rest else 0) for index, zone in enumerate(zones)}


def adjusted(current: t.Mapping[str, int], replicas: int, zones: t.Sequence[str]) -> Zones:
    """Return the placement for so many replicas with the fewest changes.

    The emptiest zone gains, the fullest loses; zones that are not named have none.
    """
    placed = {zone: current.get(zone, 0) for zone in zones}
    while (missing := replicas - sum(placed.values())) != 0:
        zone = (
            min(zones, key=lambda one: placed[one])
            if missing > 0
            else max(reversed(zones), key=lambda one: placed[one])
        )
        placed[zone] += 1 if missing > 0 else -1
    return placed


def grown(current: t.Mapping[str, int], more: int, zones: t.Sequence[str]) -> Zones:
    """Return the placement with this number of machines added, each to the zone that has the fewest."""
    placed = dict(current)
    for _one in range(more):
        placed[min(zones, key=lambda zone: placed[zone])] += 1
    return placed


def at_least(current: t.Mapping[str, int], replicas: int, zones: t.Sequence[str]) -> Zones:
    """Return the placement with at least this number of replicas; the autoscaler may have added more."""
    placed = {zone: current.get(zone, 0) for zone in zones}
    return grown(placed, max(0, replicas - sum(placed.values())), zones)


def spared(placed: t.Mapping[str, int], current: t.Mapping[str, int], idle: t.Mapping[str, int]) -> Zones:
    """Return the placement with losses moved from busy machines to zones with idle ones.

    current, idle: machines and idle machines by zone. The total stays the same.
    """
    zones = dict(placed)

    def lacks(zone: str) -> int:
        return current.get(zone, 0) - zones[zone] - idle.get(zone, 0)

    for zone in zones:
        while lacks(zone) > 0 and (
            others := [one for one in zones if lacks(one) < 0 and 0 < zones[one] <= current.get(one, 0)]
        ):
            zones[max(others, key=lambda one: zones[one])] -= 1
            zones[zone] += 1
    return zones
