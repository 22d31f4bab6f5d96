# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Search over a pool's candidates: which one to ask first, and which one after a refusal."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

from .._core.errors import AcceleratorError
from .._pools.model import Candidate, JsonObject, Pool
from .placement import Zones, adjusted, at_least, grown, spread
from .provider_errors import WHOLE_CANDIDATE

# Steps after a refusal. AGAIN: ask the same candidate in its other zones. NEXT: ask the next candidate. KEEP:
# accept the machines obtained so far. GIVE_UP: no candidate is left.
AGAIN, NEXT, KEEP, GIVE_UP = "again", "next", "keep", "give up"
NO_ZONE: t.Final = ""  # the zone of every share where the platform has no zones


class DriftError(AcceleratorError):
    """The pool has machines of an instance type that none of its candidates names."""


@dataclass(frozen=True)
class Share:
    """The machines of one candidate in one zone; each share becomes one machine set."""

    candidate: Candidate
    zone: str
    replicas: int


@dataclass(frozen=True)
class Held:
    """A machine set that the pool already has.

    candidate: its key. obtained: C(obtained/asked), empty before the pool was complete. made: creation time.
    """

    name: str
    candidate: str
    zone: str
    replicas: int
    obtained: str = ""
    made: str = ""


@dataclass
class Search:
    """State of the search for one pool's machines.

    order: candidates still to ask, the current one first. placement: its machines by zone. kept: shares of
    earlier candidates (mixed pools). before: shares at the start. won: the pool was complete once. stays: it
    needs no more machines than it has, so a refused machine fails the run and does not move the pool. out:
    zones that refused. prior: the record of the pool's last completion, or "". pinned: names of sets whose
    replicas stay as somebody scaled them by hand.
    """

    pool: Pool
    order: list[Candidate]
    placement: Zones
    kept: list[Share] = field(default_factory=list)
    won: bool = False
    stays: bool = False
    before: list[Share] = field(default_factory=list)
    out: set[str] = field(default_factory=set)
    attempts: list[JsonObject] = field(default_factory=list)
    prior: str = ""
    pinned: set[str] = field(default_factory=set)

    @property
    def candidate(self) -> Candidate:
        return self.order[0]

    @property
    def shares(self) -> list[Share]:
        """Return all shares; the current candidate's come last."""
        return [
            *self.kept,
            *(Share(self.candidate, zone, replicas) for zone, replicas in self.placement.items()),
        ]

    @property
    def obtained(self) -> int:
        return sum(share.replicas for share in self.shares)

    @property
    def record(self) -> str:
        """Return C(obtained/asked). What somebody scaled by hand does not count: the former record stays."""
        if self.pinned:
            return self.prior
        # The autoscaler adds and removes machines beyond the pool's replicas, so the record leaves them out.
        return f"{min(self.obtained, self.pool.replicas)}/{self.pool.replicas}"

    def lose(self, refused: t.Mapping[str, tuple[str, str]], obtained: t.Mapping[str, int]) -> str:
        """Give up zones that refused machines and update the shares. Return AGAIN, NEXT, KEEP or GIVE_UP.

        refused: code and text by zone. obtained: machines with an instance, by zone.
        """
        for zone, (code, message) in refused.items():
            self._note(
                Share(self.candidate, zone, self.placement[zone]), code, message, obtained.get(zone, 0)
            )
            self.out |= set(self.placement) if code in WHOLE_CANDIDATE else {zone}
        wanted = sum(self.placement.values())
        self.placement = {
            zone: min(replicas, obtained.get(zone, 0)) if zone in self.out else replicas
            for zone, replicas in self.placement.items()
        }
        if left := [zone for zone in self.placement if zone not in self.out]:
            self.placement = grown(self.placement, wanted - sum(self.placement.values()), left)
            return AGAIN
        return self._exhausted()

    def lose_kept(self, share: Share, why: tuple[str, str], obtained: int) -> None:
        """Ask the current candidate for the machines that an earlier candidate of a mixed pool has lost."""
        self._note(share, *why, obtained)
        rest = [replace(share, replicas=obtained)] if obtained else []
        self.kept = [other for one in self.kept for other in (rest if one is share else [one])]
        left = [zone for zone in self.placement if zone not in self.out]
        self.placement = grown(self.placement, share.replicas - obtained, left or list(self.placement))

    @property
    def has_left(self) -> bool:
        """Return whether a pool that was complete now asks a candidate that it had no machine set of."""
        return (
            bool(self.before)
            and not self.pool.mixed
            and all(share.candidate is not self.candidate for share in self.before)
        )

    def state(self, step: str) -> str:
        """Return what decides, with the step, what happens to the pool's machine sets.

        moved: the pool was complete, and asked a candidate that it had no machine set of. complete: it was
        complete once. short: it has some machines. empty: it has none.
        """
        if step == NEXT:
            return "mixed" if self.pool.mixed else "single"
        if step != GIVE_UP:
            return ""
        if self.has_left:
            return "moved"
        if self.won:
            return "complete"
        return "short" if self.obtained else "empty"

    def restore(self) -> None:
        """Restore the placement that the pool started with, after every other candidate failed."""
        self.order = [self.before[0].candidate]
        self.placement = {share.zone: share.replicas for share in self.before}

    def _note(self, share: Share, code: str, message: str, obtained: int) -> None:
        market = share.candidate.market
        place = {
            "instance_type": share.candidate.instance_type,
            "zones": [share.zone] if share.zone else [],
            **({"market": market.type} if market else {}),
        }
        self.attempts.append(
            {**place, "wanted": share.replicas, "obtained": obtained, "code": code, "message": message}
        )

    def _exhausted(self) -> str:
        last = len(self.order) == 1
        enough = 0 < self.obtained >= self.pool.min_replicas
        if enough and (last or not self.pool.mixed):
            return KEEP
        if last:
            return GIVE_UP
        had = [share for share in self.shares if share.replicas] if self.pool.mixed else []
        self.order, self.out = self.order[1:], set()
        self.kept = [share for share in had if share.candidate is not self.candidate]
        base = {share.zone: share.replicas for share in had if share.candidate is self.candidate}
        missing = self.pool.replicas - sum(share.replicas for share in self.kept)
        self.placement = (
            adjusted(base, missing, zones_of(self.candidate))
            if base
            else spread(missing, zones_of(self.candidate))
        )
        return NEXT


def start(pool: Pool, held: t.Sequence[Held], reselect: bool = False) -> Search:
    """Return the search, with the candidate that the pool has machines of or else with the first.

    Raise DriftError if a set makes machines that no candidate names.
    """
    places = [_place(pool, held_set) for held_set in held]
    shares = [
        Share(pool.candidates[place], one.zone, one.replicas) for place, one in zip(places, held, strict=True)
    ]
    record = next((held_set.obtained for held_set in held if held_set.obtained), "")
    here = _current_place(places, held)
    order = [*pool.candidates[here:], *pool.candidates[:here]]
    if record and not reselect:
        order = order[:1]
    others = [share for place, share in zip(places, shares, strict=True) if place != here]
    kept = _kept(pool, others)
    elsewhere = sum(share.replicas for share in kept)
    current = {
        share.zone: share.replicas for place, share in zip(places, shares, strict=True) if place == here
    }
    zones = zones_of(order[0])
    has = elsewhere + sum(current.values())
    is_complete = (
        record == f"{has}/{pool.replicas}" and has >= pool.min_replicas and set(current) <= set(zones)
    )
    adjust = at_least if pool.autoscale else adjusted
    placement = (
        {zone: current.get(zone, 0) for zone in zones}
        if is_complete and not reselect
        else adjust(current, pool.replicas - elsewhere, zones)
    )
    before = [
        share
        for place, share, one in zip(places, shares, held, strict=True)
        if one.obtained and (place == here or pool.mixed)
    ]
    has_enough = is_complete or sum(held_set.replicas for held_set in held) >= pool.replicas
    stays = bool(record) and not reselect and has_enough
    return Search(pool, order, placement, kept, won=bool(record), stays=stays, before=before, prior=record)


def _current_place(places: t.Sequence[int], held: t.Sequence[Held]) -> int:
    """Return the index of the candidate to ask first: the one that won, else the last that has a set."""
    # If sets of two candidates have a record, the younger count: an earlier run moved the pool and was
    # interrupted before it deleted the old sets.
    winners = [(one.made, place) for place, one in zip(places, held, strict=True) if one.obtained]
    return max(winners)[1] if winners else max(places, default=0)


def _kept(pool: Pool, others: t.Sequence[Share]) -> list[Share]:
    """Return the shares of other candidates that a mixed pool keeps."""
    wanted = [other for other in others if other.replicas and other.zone in zones_of(other.candidate)]
    return _at_most(pool.replicas, wanted) if pool.mixed else []


def _at_most(replicas: int, shares: t.Sequence[Share]) -> list[Share]:
    """Return the first shares, cut so that they have no more machines than replicas."""
    found: list[Share] = []
    for share in shares:
        part = min(share.replicas, replicas - sum(one.replicas for one in found))
        found += [replace(share, replicas=part)] if part else []
    return found


def zones_of(candidate: Candidate) -> list[str]:
    return list(candidate.zones) or [NO_ZONE]


def is_of(held: Held, candidate: Candidate, pool: Pool) -> bool:
    """Return whether a set was made for the candidate; a set with an unknown key is compared by type."""
    keys = [one.key for one in pool.candidates]
    if held.candidate in keys:
        return held.candidate == candidate.key
    return held.candidate.partition("/")[0] == candidate.instance_type


def _place(pool: Pool, held: Held) -> int:
    """Return the index of the candidate that a set was made for. Raise DriftError if there is none."""
    found = next((index for index, one in enumerate(pool.candidates) if is_of(held, one, pool)), None)
    if found is not None:
        return found
    kind, types = held.candidate.partition("/")[0], [candidate.instance_type for candidate in pool.candidates]
    raise DriftError("POOL-DRIFT", machine_set=held.name, old=kind, new=types[0])
