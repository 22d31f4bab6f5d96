# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the objects of GPU pools so that all changes of a run are one rollout, and wait for it.

While the objects are written, the MachineConfigPools are paused. Each run unpauses its own pools, also those
that a run before it left paused, and no other pool.
"""

from __future__ import annotations

import contextlib
import typing as t
from dataclasses import dataclass, field

from .._core.errors import AcceleratorError, NotReadyError, WaitTimeoutError
from .._core.objects import KubeObject, name, named
from .._core.ownership import selector
from .._core.readiness import Grace
from .._kube.client import Api, Query
from .._kube.kinds import known
from . import machine_config, paused, pool_judge, rendered, rollout_waits
from .late import Late
from .options import Tuning
from .pool_judge import POOLS
from .rendered import KUBELETS, PROFILES

CONFIG: t.Final = known("MachineConfig")
KINDS: t.Final = {
    "MachineConfig": CONFIG,
    "KubeletConfig": known("KubeletConfig"),
    "PerformanceProfile": known("PerformanceProfile"),
}


@dataclass(frozen=True)
class Change:
    """What a run writes for one pool.

    wanted: the objects with its settings. changed: those that differ from the live ones. gone: live objects
    of ours that the pool does not need any more. live: the MachineConfigPool. is_empty: the pool has no node.
    """

    tuning: Tuning
    wanted: list[KubeObject]
    changed: list[KubeObject] = field(default_factory=list)
    gone: list[KubeObject] = field(default_factory=list)
    live: KubeObject | None = None
    is_pool_changed: bool = False
    is_empty: bool = False

    @property
    def sources(self) -> list[str]:
        """Return the MachineConfigs that the pool's configuration has to have before nodes reboot.

        A PerformanceProfile makes none without a node: TuneD on a node has to tell its kernel arguments.
        """
        has_profile = any(one["kind"] == "PerformanceProfile" for one in self.wanted)
        return [] if self.is_empty and has_profile else rendered.sources(self.tuning.name, self.wanted)

    @property
    def object_name(self) -> str:
        """Return the name of the MachineConfigPool."""
        return machine_config.pool_name(self.tuning.name)

    @property
    def is_needed(self) -> bool:
        """Return True if the run writes something for the pool."""
        return bool(self.changed or self.gone or self.is_pool_changed)

    @property
    def settings(self) -> bool:
        """Return True if the run changes a setting of the nodes."""
        return bool(self.changed or self.gone)

    @property
    def is_rendered_first(self) -> bool:
        """Return True if the pool is paused until its configuration has all that was written."""
        return self.settings or paused.is_left(self.live)

    @property
    def because(self) -> str:
        """Return why nodes reboot, as a clause; empty if the run changes nothing for them."""
        objects = [f"{one['kind']} {name(one)}" for one in self.changed]
        objects += [f"the removed {one['kind']} {name(one)}" for one in self.gone]
        if not objects and (not self.live or machine_config.has_other_nodes(self.live, self.tuning.label)):
            objects = [f"MachineConfigPool {self.object_name}"]
        return f"of {', '.join(objects)}" if objects else ""


@dataclass(frozen=True)
class Release:
    """A pool that gives its nodes back to the pool worker. live: its MachineConfigPool."""

    name: str
    live: KubeObject

    @property
    def object_name(self) -> str:
        """Return the name of the MachineConfigPool."""
        return machine_config.pool_name(self.name)


def write(api: Api, changes: t.Sequence[Change], late: Late) -> None:
    """Write all changes while the pools are paused, and unpause them when their configuration has them all.

    Raises NotReadyError if the operator refuses an object, or adds its pool to the late ones; the pools are
    not paused then either.
    """
    needed = [change for change in changes if change.is_needed]
    for one in needed:
        if one.settings:
            api.apply(machine_config.pool(one.tuning, api.run.id), force_conflicts=True, live=one.live)
    try:
        for one in needed:
            for manifest in one.changed:
                api.apply(manifest)
            for old in one.gone:
                api.delete(KINDS[old["kind"]], name(old))
        _wait_rendered(api, [one for one in needed if one.is_rendered_first], late)
    except BaseException as exc:
        with contextlib.suppress(AcceleratorError):
            unpause(api, needed)
        if isinstance(exc, (NotReadyError, WaitTimeoutError)):
            _say_unpaused([exc], needed)
        raise
    unpause(api, needed)
    _say_unpaused(late.errors, needed)


def _say_unpaused(errors: t.Iterable[AcceleratorError], changes: t.Iterable[Change]) -> None:
    titles = ", ".join(change.object_name for change in changes)
    for one in errors:
        one.message += f" MachineConfigPool {titles} is not paused, and rolls out what is valid."


def unpause(api: Api, changes: t.Iterable[Change]) -> None:
    """Write the pools as they are outside a rollout."""
    for change in changes:
        api.apply(machine_config.pool(change.tuning), force_conflicts=True)


def _wait_rendered(api: Api, changes: t.Sequence[Change], late: Late) -> None:
    """Wait until the configuration of each pool has all that was written, so that nodes reboot once."""
    if api.check_mode or not changes:
        return
    if not api.wait_wanted:
        api.warn(
            "The task does not wait (wait: false), so the nodes may reboot more than once: the operator may "
            "take up one object after the other."
        )
        return
    own = {change.object_name: change.sources for change in changes}
    names = {kind: [name(m) for one in changes for m in one.wanted if m["kind"] == kind] for kind in KINDS}
    judge = rendered.Rendered(
        own,
        names["KubeletConfig"],
        names["PerformanceProfile"],
        Grace(api.clock, 60.0, pool_judge.PASSING),
        late.titles,
    )
    queries = {POOLS: Query(rollout_waits.POOL)}
    if names["KubeletConfig"]:
        queries[KUBELETS] = Query(KINDS["KubeletConfig"])
    if names["PerformanceProfile"]:
        queries[PROFILES] = Query(KINDS["PerformanceProfile"])
    started = api.clock()
    while True:
        with late.hold(judge.verdicts):
            seen = api.wait(
                queries, judge, "configuration of the pools", on_timeout_code=pool_judge.RENDER, since=started
            )
            judge.stale = _stale(
                api, seen[POOLS], [change for change in changes if change.object_name not in late.titles]
            )
            if not judge.stale:
                return


def _stale(api: Api, pools: t.Sequence[KubeObject], changes: t.Iterable[Change]) -> dict[str, str]:
    """Return the MachineConfigPools whose configuration does not have all that was written, with its name."""
    live = {change.object_name: named(pools, change.object_name) for change in changes}
    return {
        change.object_name: pool_judge.target(live[change.object_name])
        for change in changes
        if not (_is_whole(api, live[change.object_name], change.sources) and _is_told(api, change))
    }


def _is_whole(api: Api, pool: KubeObject, own: t.Sequence[str]) -> bool:
    """Return True if the rendered configuration has what its sources have now."""
    whole = api.get(CONFIG, pool_judge.target(pool))
    names = rendered.source_names(pool)
    parts = [one for one in (api.get(CONFIG, source) for source in names) if one is not None]
    mine = [one for one in names if one.startswith(tuple(own))] if own else []
    return whole is not None and rendered.is_rendered(whole, parts, mine)


def _is_told(api: Api, change: Change) -> bool:
    """Return True if TuneD has told the kernel arguments of the pool's PerformanceProfile, if it has one."""
    profiles = [one for one in change.wanted if one["kind"] == "PerformanceProfile"]
    config = rendered.told_name(change.tuning.name)
    return change.is_empty or all(rendered.is_told(api.get(CONFIG, config), profile) for profile in profiles)


def release(api: Api, releases: t.Sequence[Release]) -> None:
    """Take the nodes out of the pools; the operator gives them the configuration of the pool worker."""
    for one in releases:
        manifest = machine_config.released_pool(one.name, machine_config.node_label(one.live))
        if paused.is_paused(one.live) and not paused.is_left(one.live):
            # Others set the field, and may: the pool has no node that waits for it.
            del manifest["spec"]["paused"]
        api.apply(manifest, live=one.live)


def wait_rolled(
    api: Api,
    changes: t.Sequence[Change],
    released: t.Mapping[str, t.Mapping[str, str]],
    grace: float,
    late: Late,
) -> None:
    """Wait until each pool is rolled out, and each released pool's nodes are back in the pool worker.

    released: MachineConfigPool to the labels of the nodes. Raises NotReadyError or WaitTimeoutError, or keeps
    it in late; for a node that cannot be drained the error names the pods and their PodDisruptionBudgets.
    """
    labels = {change.object_name: change.tuning.label for change in changes} | dict(released)
    going = {
        object_name: selector(label)
        for object_name, label in labels.items()
        if object_name not in late.titles
    }
    rollout_waits.wait_pools(api, going, released, grace, late)
