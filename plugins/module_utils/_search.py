# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Which candidate gives a pool its machines: where to start, and where to go on when a provider has none."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from ansible_collections.accelerators.openshift.plugins.module_utils._errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._machine_errors import WHOLE_CANDIDATE
from ansible_collections.accelerators.openshift.plugins.module_utils._placement import Zones, adjusted, grown, spread

Data = dict[str, t.Any]
# What comes after a refusal: the same candidate in its other zones; the next candidate; content with what there is; nothing left to ask.
AGAIN, NEXT, KEEP, GIVE_UP = "again", "next", "keep", "give up"
# Pools on platforms without zones have one place.
NO_ZONE: t.Final = ""


class DriftError(AcceleratorError):
    """The pool has machines of a type that it does not ask for any more."""

    layer = "machine"


@dataclass(frozen=True)
class Share:
    """So many machines of one candidate in one zone: a machine set."""

    candidate: Data
    zone: str
    replicas: int


@dataclass(frozen=True)
class Held:
    """A machine set that the pool has already. candidate: its key. obtained: its record, C(obtained/asked), empty before the pool was complete."""

    name: str
    candidate: str
    zone: str
    replicas: int
    obtained: str = ""


@dataclass
class Search:
    """order: the candidates in the order of asking. kept: shares of earlier candidates (mixed pools)."""

    pool: Data
    order: list[Data]
    placement: Zones
    kept: list[Share] = field(default_factory=list)
    won: bool = False
    out: set[str] = field(default_factory=set)
    attempts: list[Data] = field(default_factory=list)

    @property
    def candidate(self) -> Data:
        return self.order[0]

    @property
    def shares(self) -> list[Share]:
        return [*self.kept, *(Share(self.candidate, zone, replicas) for zone, replicas in self.placement.items())]

    @property
    def obtained(self) -> int:
        return sum(share.replicas for share in self.shares)

    @property
    def record(self) -> str:
        return f"{self.obtained}/{self.pool['replicas']}"

    def lose(self, refused: t.Mapping[str, tuple[str, str]], obtained: t.Mapping[str, int]) -> str:
        """refused: code and text by zone. obtained: machines that have an instance, by zone. What to do now; the shares are as they should be then."""
        for zone, (code, message) in refused.items():
            place = {"instance_type": self.candidate["instance_type"], "zones": [zone] if zone else []}
            numbers = {"wanted": self.placement[zone], "obtained": obtained.get(zone, 0)}
            self.attempts.append({**place, **numbers, "code": code, "message": message})
            self.out |= set(self.placement) if code in WHOLE_CANDIDATE else {zone}
        wanted = sum(self.placement.values())
        self.placement = {zone: obtained.get(zone, 0) if zone in self.out else replicas for zone, replicas in self.placement.items()}
        if left := [zone for zone in self.placement if zone not in self.out]:
            self.placement = grown(self.placement, wanted - sum(self.placement.values()), left)
            return AGAIN
        return self._exhausted()

    def _exhausted(self) -> str:
        last = len(self.order) == 1
        enough = 0 < self.obtained >= self.pool["min_replicas"]
        if enough and (last or not self.pool["mixed"]):
            return KEEP
        if last:
            return GIVE_UP
        if self.pool["mixed"]:
            self.kept = [share for share in self.shares if share.replicas]
        self.order, self.out = self.order[1:], set()
        missing = self.pool["replicas"] - sum(share.replicas for share in self.kept)
        self.placement = spread(missing, zones_of(self.candidate))
        return NEXT


def key_of(candidate: t.Mapping[str, t.Any]) -> str:
    """The instance type; with the market, where the candidate has one of its own."""
    market = (candidate.get("market") or {}).get("type")
    return f"{candidate['instance_type']}/{market}" if market else str(candidate["instance_type"])


def start(pool: Data, held: t.Sequence[Held], reselect: bool = False) -> Search:
    """Where the pool stays, where an interrupted search went on, or the first candidate. Raises DriftError for machines of another type."""
    places = [_place(pool, one) for one in held]
    record = next((one.obtained for one in held if one.obtained), "")
    winners = [place for place, one in zip(places, held, strict=True) if one.obtained]
    here = max(winners or places or [0])
    order = [*pool["candidates"][here:], *pool["candidates"][:here]]
    if record and not reselect:
        order = order[:1]
    others = [(place, one) for place, one in zip(places, held, strict=True) if place != here and one.replicas]
    kept = [Share(pool["candidates"][place], one.zone, one.replicas) for place, one in others] if pool["mixed"] else []
    current = {one.zone: one.replicas for place, one in zip(places, held, strict=True) if place == here}
    elsewhere = sum(share.replicas for share in kept)
    zones = zones_of(order[0])
    is_complete = record == f"{elsewhere + sum(current.values())}/{pool['replicas']}" and set(current) <= set(zones)
    wanted = max(0, pool["replicas"] - elsewhere)
    placement = {zone: current.get(zone, 0) for zone in zones} if is_complete and not reselect else adjusted(current, wanted, zones)
    return Search(pool, order, placement, kept, won=bool(record))


def zones_of(candidate: t.Mapping[str, t.Any]) -> list[str]:
    return list(candidate["zones"]) or [NO_ZONE]


def _place(pool: Data, held: Held) -> int:
    """The number of the candidate that a set was made for."""
    keys = [key_of(one) for one in pool["candidates"]]
    if held.candidate in keys:
        return keys.index(held.candidate)
    kind = held.candidate.partition("/")[0]
    types = [one["instance_type"] for one in pool["candidates"]]
    if kind in types:
        return types.index(kind)
    raise DriftError(
        "POOL-DRIFT",
        f"The machine set {held.name} makes {kind}, the pool asks for {types[0]}; its existing machines would keep the old type, so nothing was changed.",
        f"Give the {types[0]} nodes a pool of their own and remove this one when they work, or set the instance type back to {kind}.",
    )
