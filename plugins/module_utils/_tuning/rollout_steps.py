# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Roll out what reboots nodes: foresee it, ask for it, write it as one rollout, and give nodes back."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core import diff
from .._core.errors import KindNotServedError
from .._core.input import Problems
from .._core.objects import KubeObject, name
from .._core.ownership import owned, pool_of, selector
from .._frame.dry_run import dry_run_apply
from .._impact import consent
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes import drain
from . import (
    contradictions,
    kubelet,
    machine_config,
    paused,
    pool_judge,
    rollout,
    rollout_waits,
    rollout_writes,
    topology,
    user_data_steps,
)
from .contradictions import Cluster, Found
from .late import Late
from .options import PLANNED, Tuning
from .rollout import Reboot
from .rollout_writes import Change, Release

BUSY: t.Final = "REBOOT-BUSY"
# Seconds that a node may be degraded: the operator tries again by itself.
GRACE: t.Final = 120.0
_BACK: t.Final = "its nodes go back to the pool worker"


@dataclass(frozen=True)
class Work:
    """What a run does. asked: the pools whose nodes the coming writes make reboot, with their reboots.

    reboots: these, and those of rollouts that are under way. left: pools of ours that a run left paused, and
    that are none of this run.
    """

    cluster: Cluster
    changes: list[Change] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    asked: list[tuple[Reboot, str]] = field(default_factory=list)
    reboots: list[Reboot] = field(default_factory=list)
    left: list[KubeObject] = field(default_factory=list)


def ask(api: Api, pools: t.Sequence[Tuning], on_busy: str) -> None:
    """Raise AcceleratorError if `ensure` would refuse; with on_busy wait, wait as it does. Write nothing."""
    _agreed(api, pools, on_busy)


def ensure(
    api: Api, pools: t.Sequence[Tuning], on_busy: str, late: Late | None = None
) -> list[dict[str, t.Any]]:
    """Give the nodes of all pools their settings in one rollout, and return one result for each pool.

    A pool that asks for nothing that reboots nodes gives its nodes back. late: gets the pools that fail while
    the others go on; they have no result. Raises AcceleratorError before the first write if a tuning
    contradicts the cluster, if nodes would reboot with `reboot: never`, or if pods with GPUs would end and
    on_busy is fail.
    """
    late = late or Late()
    work, disruptions = _agreed(api, pools, on_busy)
    _execute(api, work, late)
    done = [pool for pool in pools if machine_config.pool_name(pool.name) not in late.titles]
    return [_result(api, work, one, disruptions) for one in done]


def _agreed(api: Api, pools: t.Sequence[Tuning], on_busy: str) -> tuple[Work, list[dict[str, t.Any]]]:
    """Return the work that nothing speaks against, and the pods that it ends."""
    work = _prepared(api, pools)
    planned = {pool.name for pool in pools if pool.reboot == PLANNED}
    rollout.refuse([one for one, _selector in work.asked if one.name not in planned])
    return work, _ask(api, work, on_busy)


def remove(api: Api, names: t.Sequence[str], on_busy: str) -> list[dict[str, t.Any]]:
    """Give the nodes of these pools back to the pool worker in one rollout, and delete what is ours.

    Raises AcceleratorError before the first write if pods with GPUs would end and on_busy is fail.
    """
    try:
        cluster = _read(api, names)
    except KindNotServedError:
        return []
    releases = _releases(cluster, names)
    work = _work(api, cluster, [], releases, _coming_back(cluster, releases, {}))
    disruptions = _ask(api, work, on_busy)
    _execute(api, work, Late())
    return [
        {**_common(work, release.name, [], disruptions), "machine_config_pool": release.object_name}
        for release in work.releases
    ]


class _Coming(t.NamedTuple):
    """Nodes that reboot. live: the MachineConfigPool whose maxUnavailable counts. label: of the pool's nodes.

    is_asked: what the run writes makes them reboot.
    """

    name: str
    path: str
    because: str
    nodes: list[KubeObject]
    live: KubeObject | None
    label: t.Mapping[str, str]
    is_asked: bool


def _prepared(api: Api, pools: t.Sequence[Tuning]) -> Work:
    """Read the cluster, and return what a run would do. Raises AcceleratorError if it cannot do it."""
    problems = Problems()
    for pool in pools:
        topology.check(pool, problems)
    problems.raise_if_any()
    wanted = [pool for pool in pools if pool.reboots]
    try:
        cluster = _read(api, [pool.name for pool in pools], [one.label for one in wanted])
    except KindNotServedError:
        if wanted:
            raise
        return Work(Cluster([], [], [], [], []))
    contradictions.check(cluster, wanted)
    changes = [_change(api, cluster, one) for one in wanted]
    _warn_of_kubelets(api, cluster, changes)
    releases = _releases(cluster, [pool.name for pool in pools if not pool.reboots])
    paths = {pool.name: pool.path for pool in pools}
    coming = [_coming(cluster, change) for change in changes] + _coming_back(cluster, releases, paths)
    return _work(api, cluster, changes, releases, coming)


def _work(
    api: Api,
    cluster: Cluster,
    changes: list[Change],
    releases: list[Release],
    coming: t.Sequence[_Coming],
) -> Work:
    """Return the work with its reboots; the pods are read once for all pools."""
    coming = [coming_pool for coming_pool in coming if coming_pool.nodes]
    pods = _pods(api, [node for coming_pool in coming for node in coming_pool.nodes])
    reboots = [rollout.reboot(one.name, one.path, one.because, one.nodes, one.live, pods) for one in coming]
    asked = [
        (reboot, selector(one.label)) for reboot, one in zip(reboots, coming, strict=True) if one.is_asked
    ]
    mine = {change.object_name for change in changes} | {release.object_name for release in releases}
    left = [pool for pool in cluster.pools if owned(pool) and paused.is_left(pool) and name(pool) not in mine]
    return Work(cluster, changes, releases, asked, reboots, left)


def _coming(cluster: Cluster, change: Change) -> _Coming:
    """Return the nodes that reboot: all of them if a setting changes, else those that are still behind.

    Those of a pool that a run left paused count as all: its last writes may not be rendered yet.
    """
    tuning, live = change.tuning, change.live
    nodes = cluster.nodes_of(tuning.label)
    because, is_asked = change.because or "of a rollout that an earlier run began", bool(change.because)
    if live is not None and paused.is_left(live):
        goes_on = f"the rollout goes on: MachineConfigPool {change.object_name} {paused.explain(live).why}"
        because, is_asked = ", and ".join(filter(None, (change.because, goes_on))), True
    elif not change.settings:
        nodes = rollout.behind(nodes, live)
    return _Coming(tuning.name, tuning.path, because, nodes, live, tuning.label, is_asked)


def _releases(cluster: Cluster, names: t.Iterable[str]) -> list[Release]:
    """Return the pools that give their nodes back; those without a MachineConfigPool of ours have none."""
    return [Release(one, live) for one in names if (live := cluster.pool(one)) is not None and owned(live)]


def _coming_back(
    cluster: Cluster, releases: t.Iterable[Release], paths: t.Mapping[str, str]
) -> list[_Coming]:
    """Return the nodes that reboot on their way back.

    Raises REBOOT-PAUSED if somebody paused the pool worker, or one of their pools.
    """
    worker = cluster.named("MachineConfigPool", machine_config.WORKER)
    found = []
    for release in releases:
        label = machine_config.node_label(release.live)
        nodes = rollout.behind(cluster.nodes_of(label), worker) if label else []
        is_asked = not machine_config.is_released(release.live)
        path = paths.get(release.name, release.name)
        found.append(_Coming(release.name, path, _BACK, nodes, worker, label, is_asked))
    if going := [one for one in found if one.nodes]:
        troubles = Found()
        contradictions.check_paused(cluster, [one.name for one in going if one.is_asked], troubles)
        troubles.raise_if_any()
    return found


def _read(api: Api, names: t.Sequence[str], labels: t.Iterable[t.Mapping[str, str]] = ()) -> Cluster:
    """Return what the cluster has. Raises KindNotServedError without the machine-config operator.

    names: GPU pools whose MachineConfigs are read too; a list of all would have every rendered one. labels:
    of nodes to read, beside those of these pools.
    """
    pools = api.list(rollout_waits.POOL)
    kinds = rollout_writes.KINDS
    served = api.served(kinds["PerformanceProfile"])
    configs = [api.get(rollout_writes.CONFIG, machine_config.kernel_name(one)) for one in names]
    live = [machine_config.node_label(pool) for pool in pools if owned(pool) and pool_of(pool) in names]
    selectors = dict.fromkeys(selector(one) for one in [*labels, *live] if one)
    nodes = {name(node): node for found in selectors for node in api.list(known("Node"), labels=found)}
    return Cluster(
        pools,
        api.list(kinds["KubeletConfig"]),
        api.list(kinds["PerformanceProfile"]) if served else [],
        [config for config in configs if config is not None],
        list(nodes.values()),
        served,
    )


def _change(api: Api, cluster: Cluster, tuning: Tuning) -> Change:
    wanted = machine_config.manifests(tuning, cluster.served)
    keys = {(one["kind"], name(one)) for one in wanted}
    gone = [
        one
        for one in (*cluster.configs, *cluster.kubelets, *cluster.profiles)
        if owned(one) and pool_of(one) == tuning.name and (one["kind"], name(one)) not in keys
    ]
    live = cluster.pool(tuning.name)
    changed = [one for one in wanted if _differs(api, one, cluster.named(one["kind"], name(one)))]
    is_changed = _differs(api, machine_config.pool(tuning), live)
    is_empty = not cluster.nodes_of(tuning.label)
    return Change(tuning, wanted, changed, gone, live, is_changed, is_empty)


def _warn_of_kubelets(api: Api, cluster: Cluster, changes: t.Iterable[Change]) -> None:
    """Say what nodes lose by a kubelet configuration of their own. Read the workers' only before a change."""
    worker = cluster.named("MachineConfigPool", machine_config.WORKER) or {}
    for change in changes:
        warnings = [kubelet.lost(cluster, change.tuning, change.wanted)]
        if change.settings and (text := kubelet.shrinks(change.tuning, change.wanted)):
            rendered = pool_judge.target(worker)
            is_sized = rendered and kubelet.sizes_itself(api.get(rollout_writes.CONFIG, rendered))
            warnings += [text] if is_sized else []
        for warning in filter(None, warnings):
            api.warn(warning)


def _differs(api: Api, wanted: KubeObject, live: KubeObject | None) -> bool:
    if live is None or not diff.same(dry_run_apply(api, wanted, live), live):
        return True
    api.kept.append(diff.object_name(live))
    return False


def _pods(api: Api, nodes: t.Sequence[KubeObject]) -> list[KubeObject]:
    """Return the pods with devices on these nodes."""
    names = {name(node) for node in nodes}
    return api.list(known("Pod"), keep=drain.busy_on(names)) if names else []


def _ask(api: Api, work: Work, on_busy: str) -> list[dict[str, t.Any]]:
    questions = [rollout.question(reboot, labels) for reboot, labels in work.asked]
    return consent.ask(api, questions, on_busy, BUSY)


def _execute(api: Api, work: Work, late: Late) -> None:
    for pool in work.left:
        why, remedy = paused.explain(pool)
        api.warn(f"MachineConfigPool {name(pool)} {why}; its nodes get no configuration. {remedy}")
    for one in work.releases:
        user_data_steps.restore(api, one.name)
    rollout_writes.release(api, [one for one in work.releases if not machine_config.is_released(one.live)])
    rollout_writes.write(api, work.changes, late)
    labels = {release.object_name: machine_config.node_label(release.live) for release in work.releases}
    released = {object_name: label for object_name, label in labels.items() if label}
    rollout_writes.wait_rolled(api, work.changes, released, GRACE, late)
    if api.wait_wanted or api.check_mode:
        for one in [release for release in work.releases if release.object_name not in late.titles]:
            _delete(api, work.cluster, one)


def _delete(api: Api, cluster: Cluster, release: Release) -> None:
    """Delete the objects of a pool without nodes; its MachineConfigPool is the last, so a run can resume."""
    for one in (*cluster.profiles, *cluster.kubelets, *cluster.configs):
        if owned(one) and pool_of(one) == release.name:
            api.delete(rollout_writes.KINDS[one["kind"]], name(one))
    user_data_steps.remove(api, release.name)
    api.delete(rollout_waits.POOL, release.object_name)


def _result(
    api: Api, work: Work, tuning: Tuning, disruptions: t.Sequence[dict[str, t.Any]]
) -> dict[str, t.Any]:
    nodes = [name(node) for node in work.cluster.nodes_of(tuning.label)]
    found = _common(work, tuning.name, nodes, disruptions)
    if not tuning.reboots:
        return {**found, "machine_config_pool": "", "ready": True}
    return {
        **found,
        "machine_config_pool": machine_config.pool_name(tuning.name),
        "ready": api.wait_wanted and not api.check_mode,
        "new_machines": user_data_steps.ensure(api, tuning.name) if api.wait_wanted else "",
    }


def _common(
    work: Work, pool: str, nodes: t.Sequence[str], disruptions: t.Sequence[dict[str, t.Any]]
) -> dict[str, t.Any]:
    """Return the keys of every result: nodes, those that reboot in their order, and the pods that end."""
    reboots = [node for reboot in work.reboots if reboot.name == pool for node in reboot.nodes]
    return {
        "name": pool,
        "nodes": list(nodes),
        "reboots": reboots,
        "ends": [one for one in disruptions if set(one["nodes"]) & {*nodes, *reboots}],
    }
