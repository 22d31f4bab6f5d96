# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machine sets that somebody scaled by hand: who did it, and what a run makes of it.

managedFields of the machine set say who wrote its replicas last. The API server names no user there.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._core.objects import KubeObject
from .._core.ownership import MANAGER
from .candidates import Held, Search, Share, is_of
from .machine_set import name_of, replicas_of

KEEP, TAKE = "keep", "take"
# The API server's name for the writers of fields that nobody recorded.
NOBODY: t.Final = "before-first-apply"
_AUTOSCALER: t.Final = "cluster-autoscaler"
_TOOLS: t.Final = {"kubectl": "`oc scale`", "oc": "`oc scale`", "Mozilla": "the web console"}


class Scaling(t.NamedTuple):
    """The last scaling of a machine set by hand.

    manager: as managedFields name it. since: RFC 3339, or "".
    """

    manager: str
    since: str

    @property
    def shown(self) -> str:
        """Return who scaled and when, in words."""
        tool = next((text for key, text in _TOOLS.items() if self.manager.startswith(key)), "")
        who = f"{tool} (field manager {self.manager})" if tool else f"field manager {self.manager}"
        return who + (f" at {self.since}" if self.since else "")


def scaled_by(live: t.Mapping[str, t.Any]) -> Scaling | None:
    """Return who scaled the set after us; None for the autoscaler and for a writer that is not recorded."""
    writers = [
        entry
        for entry in live["metadata"].get("managedFields") or ()
        if "f:replicas" in ((entry.get("fieldsV1") or {}).get("f:spec") or {})
    ]
    names = {str(entry.get("manager") or "") for entry in writers}
    if MANAGER in names:
        return None
    last: KubeObject = max(writers, key=lambda entry: str(entry.get("time") or ""), default={})
    manager = str(last.get("manager") or NOBODY)
    if manager in (NOBODY, _AUTOSCALER):
        return None
    return Scaling(manager, str(last.get("time") or ""))


def respect(
    search: Search, held: t.Sequence[Held], live: t.Iterable[KubeObject], on_scaled: str
) -> list[str]:
    """Keep the replicas of sets that somebody scaled by hand, or take them. Return a warning for each set.

    held: the pool's sets. live: the same and others, as the API server has them. on_scaled: KEEP or TAKE. If
    the pool has again as many machines as its last run asked for, the hand is no longer in the game.
    """
    live = list(live)
    wanted = {
        one.name: share.replicas for one in held for share in search.shares if _is_for(share, one, search)
    }
    changed = [one for one in held if wanted.get(one.name, one.replicas) != one.replicas]
    warnings = _reverted(changed, live, wanted) if on_scaled == TAKE else []
    if search.prior and search.prior.partition("/")[2] == str(sum(held_set.replicas for held_set in held)):
        return warnings
    found = {name_of(live_set): scaled_by(live_set) for live_set in live}
    for held_set in changed:
        scaling = found.get(held_set.name)
        if scaling is None:
            continue
        warnings.append(_warning(search, held_set, wanted[held_set.name], scaling, on_scaled))
        if on_scaled == KEEP:
            _pin(search, held_set)
    return warnings


def _reverted(
    changed: t.Iterable[Held], live: t.Iterable[KubeObject], wanted: t.Mapping[str, int]
) -> list[str]:
    """Return a warning for each set whose replicas another manager applies too: it applies them again."""
    others = {
        name_of(live_set): str(entry["manager"])
        for live_set in live
        for entry in live_set["metadata"].get("managedFields") or ()
        if entry.get("operation") == "Apply"
        and entry.get("manager") != MANAGER
        and "f:replicas" in ((entry.get("fieldsV1") or {}).get("f:spec") or {})
    }
    return [
        f"Field manager {others[one.name]} applies the replicas of machine set {one.name} too, and may scale "
        f"it from {wanted[one.name]} to {one.replicas} again. Change the number there as well."
        for one in changed
        if one.name in others
    ]


def _is_for(share: Share, held_set: Held, search: Search) -> bool:
    return share.zone == held_set.zone and is_of(held_set, share.candidate, search.pool)


def _pin(search: Search, held_set: Held) -> None:
    """Keep the replicas of a set. The search asks no other candidate for machines then."""
    search.pinned.add(held_set.name)
    search.stays = True
    if held_set.zone in search.placement and is_of(held_set, search.candidate, search.pool):
        search.placement = {**search.placement, held_set.zone: held_set.replicas}
    search.kept = [
        replace(share, replicas=held_set.replicas) if _is_for(share, held_set, search) else share
        for share in search.kept
    ]


def _warning(search: Search, held_set: Held, wanted: int, scaling: Scaling, on_scaled: str) -> str:
    text = (
        f"Somebody scaled machine set {held_set.name} to {held_set.replicas} with {scaling.shown}; "
        f"pool {search.pool.name} asks for {wanted} there."
    )
    if on_scaled == TAKE:
        return f"{text} The task scales it from {held_set.replicas} to {wanted}."
    return (
        f"{text} The task keeps {held_set.replicas}. To get the pool's number, run `ansible-playbook "
        f"playbooks/resize_pool.yml -e @FILE -e gpu_pool={search.pool.name} "
        f"-e gpu_replicas={search.pool.replicas}`, or set gpu_node_pool_on_scaled: take (option on_scaled)."
    )


def changed_meanwhile(read: KubeObject, live: KubeObject) -> str:
    """Return in words how somebody scaled the set since it was read, or ""."""
    scaling = scaled_by(live)
    if scaling is None or replicas_of(read) == replicas_of(live):
        return ""
    return f"machine set {name_of(live)} from {replicas_of(read)} to {replicas_of(live)} with {scaling.shown}"
