# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_sharing: ask, write profiles, label nodes, restart readers, and wait; or make claims."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import MIG_CONFIG_MAP, PLUGIN_CONFIG
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, Snapshot, name, oldest
from .._core.ownership import owned
from .._core.readiness import Readiness, worst
from .._impact import consent
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes.labels import labels
from . import claim_steps, config_map, judge, mig_config, mig_judge, mig_name, mig_steps, options, profile
from .options import GpuSharingParams, Shared

CONFIG_MAP: t.Final = known("ConfigMap")
NODE: t.Final = known("Node")
POD: t.Final = known("Pod")
BUSY: t.Final = "GPU-SHARING-BUSY"
Result = dict[str, t.Any]


class _Found(t.NamedTuple):
    """What is there. live: the ConfigMap; None if it does not exist. default: of the ClusterPolicy.

    mig: the ConfigMap of the MIG manager; None if no GPU is partitioned, nor has to be.
    """

    object_name: str
    live: KubeObject | None
    default: str = ""
    is_named: bool = False
    mig: mig_steps.Found | None = None

    @property
    def is_there(self) -> bool:
        """Return True if an earlier run shared GPUs."""
        return self.live is not None or (self.mig is not None and self.mig.live is not None)


def present(api: Api, params: GpuSharingParams) -> Result:
    """Bring the profiles of the pools to their nodes. Return the module's result.

    Raises AcceleratorError before the first write if pods with GPUs would end, or if a profile, a label or a
    claim of others is in the way.
    """
    if params["claims"]:
        return _with_claims(params, claim_steps.present(api, params))
    pools = options.read(params["pools"])
    is_wanted = any(pool.is_shared or pool.is_cut for pool in pools)
    found = _look(api, params, pools)
    if not found.is_there and not is_wanted:
        return _result(params, found, {}, {}, pools, [], [])
    config_map.refuse_foreign(found.live, pools)
    nodes = _nodes(api, pools)
    _refuse_labels(found, pools, nodes)
    if found.mig is not None:
        mig_steps.check(found.mig, pools, nodes, params["on_change"])
    asked = judge.questions(nodes, pools, config_map.data(found.live))
    asked += mig_steps.questions(found.mig, params["mig_reboot"])
    disruption = consent.ask(api, asked, params["on_busy"], BUSY)
    kept = [pool for pool in pools if pool.is_shared] if params["only_add"] else pools
    profiles = config_map.wanted(found.live, kept)
    if profiles or found.live is not None:
        _write(api, params, found, profiles)
    _label(api, kept, nodes)
    configs = _partition(api, found.mig, pools, nodes, params["only_add"])
    is_awaited = api.wait_wanted and not api.check_mode and is_wanted
    seen = _wait(api, params, found, pools) if is_awaited else nodes
    return _result(params, found, profiles, configs, pools, seen, disruption)


def _partition(
    api: Api,
    found: mig_steps.Found | None,
    pools: t.Sequence[Shared],
    nodes: t.Sequence[KubeObject],
    only_add: bool,
) -> dict[str, t.Any]:
    """Write the MIG configurations, and label nodes that have no stack yet. Return the configurations."""
    if found is None:
        return {}
    configs = mig_steps.wanted(found, pools, nodes, only_add)
    mig_steps.write(api, found, configs)
    mig_steps.label(api, nodes, pools, only_add, every=False)
    return configs


def absent(api: Api, params: GpuSharingParams) -> Result:
    """Take the labels from the pools' nodes and their profiles from the ConfigMaps; return the result.

    A ConfigMap goes with its last profile, unless a ClusterPolicy still names it. With C(claims) the shared
    claims of the pools go first.
    """
    asked = options.read(params["pools"], params["claims"])
    claimed = claim_steps.absent(api, params) if params["claims"] else claim_steps.NOTHING
    return _with(claimed, _absent(api, params, asked))


def _absent(api: Api, params: GpuSharingParams, asked: t.Sequence[Shared]) -> Result:
    pools = [Shared(pool.name, pool.label) for pool in asked]
    found = _look(api, params, asked)
    # The ConfigMaps may have gone with the operator's namespace, and the labels of nodes have not.
    if not found.is_there and not any(pool.is_shared or pool.is_cut for pool in asked):
        return _result(params, found, {}, {}, pools, [], [])
    nodes = _nodes(api, pools)
    asking = judge.questions(nodes, pools, config_map.data(found.live))
    asking += mig_steps.unlabelling(found.mig, nodes, pools)
    disruption = consent.ask(api, asking, params["on_busy"], BUSY)
    _label(api, pools, nodes)
    profiles = config_map.wanted(found.live, pools)
    is_unused = not profiles and not config_map.others(found.live) and not found.is_named
    if owned(found.live) and is_unused:
        api.delete(CONFIG_MAP, found.object_name, params["namespace"])
    elif found.live is not None:
        _write(api, params, found, profiles)
    configs = {}
    if found.mig is not None:
        mig_steps.label(api, nodes, pools, only_add=False, every=True)
        configs = mig_steps.wanted(found.mig, pools, (), only_add=False)
        mig_steps.remove(api, found.mig, configs)
    return _result(params, found, profiles, configs, pools, nodes, disruption)


def _with_claims(params: GpuSharingParams, done: claim_steps.Done) -> Result:
    object_name = params["config_map"] or config_map.NAME
    return _with(done, _result(params, _Found(object_name, None), {}, {}, [], [], []))


def _with(done: claim_steps.Done, result: Result) -> Result:
    more = {"found": result["found"] or done.found, "ends": [*done.disruption, *result["ends"]]}
    return {**result, "claims": done.claims, **more}


def _look(api: Api, params: GpuSharingParams, pools: t.Iterable[Shared]) -> _Found:
    """Return the ConfigMaps that the option or the ClusterPolicy names, else ours: none costs one request."""
    asked, namespace = list(pools), params["namespace"]
    is_shared, is_cut = any(pool.is_shared for pool in asked), any(pool.is_cut for pool in asked)
    here = {name(obj): obj for obj in api.list(CONFIG_MAP, namespace, keep=_used)}
    first = params["config_map"] or config_map.NAME
    if is_shared or params["config_map"]:
        _add(api, here, first, namespace)
    is_guest = not all(map(owned, here.values()))
    if not (is_shared or is_cut or is_guest or first in here or MIG_CONFIG_MAP in here):
        return _Found(first, None)
    spec = policy(api)
    config = dict((spec.get("devicePlugin") or {}).get("config") or {})
    object_name = params["config_map"] or config.get("name") or config_map.NAME
    if is_shared or first in here:
        _add(api, here, object_name, namespace)
    is_named = config.get("name") == object_name
    is_there = is_cut or not {MIG_CONFIG_MAP, mig_steps.named(spec)}.isdisjoint(here)
    mig = mig_steps.look(api, spec, here, namespace) if is_there else None
    default = str(config.get("default") or "") if is_named else ""
    return _Found(object_name, here.get(object_name), default, is_named, mig)


def _used(live: KubeObject) -> KubeObject | None:
    """Return a ConfigMap that is ours, or that has a profile or a MIG configuration of ours."""
    profiles = set(config_map.ours(live)) - {mig_config.KEY}
    configs = mig_config.ours(config_map.data(live).get(mig_config.KEY, ""))
    return live if owned(live) or profiles or configs else None


def _add(api: Api, here: dict[str, KubeObject], object_name: str, namespace: str) -> None:
    """Read the ConfigMap if it is not in the list yet; skip it if the cluster has none."""
    if object_name not in here and (live := api.get(CONFIG_MAP, object_name, namespace)):
        here[object_name] = live


def policy(api: Api) -> KubeObject:
    """Return the spec of the ClusterPolicy; the operator follows the oldest one alone."""
    return dict(oldest(api.list_if_served(known("ClusterPolicy"))).get("spec") or {})


def _nodes(api: Api, pools: t.Sequence[Shared]) -> list[KubeObject]:
    return api.list(
        NODE, keep=lambda node: node if judge.pool_of(node, pools) or mig_judge.label_of(node) else None
    )


def _refuse_labels(found: _Found, pools: t.Sequence[Shared], nodes: t.Iterable[KubeObject]) -> None:
    """Raise AcceleratorError if a node of a pool that shares has a profile of others."""
    mine = {member.key for member in pools} | set(config_map.ours(found.live))
    for node in nodes:
        pool, value = judge.pool_of(node, pools), labels(node).get(PLUGIN_CONFIG)
        if pool is not None and pool.is_shared and value and value not in mine:
            raise AcceleratorError("GPU-SHARING-LABEL", node=name(node), pool=pool.name, profile=value)


def _write(api: Api, params: GpuSharingParams, found: _Found, profiles: t.Mapping[str, str]) -> None:
    """Apply the ConfigMap if it has to exist, and restart the pods that read a profile before it changed.

    A pod of the device plugin does not look at its ConfigMap again. Nodes of other profiles keep theirs. An
    interrupted run leaves a note on the ConfigMap, and the next run resumes here.
    """
    if not profiles and not config_map.ours(found.live):
        return
    place = (found.object_name, params["namespace"])
    manifest = config_map.build(*place, profiles, found.live, ())
    keys = {*config_map.restarts(found.live), *config_map.changed(found.live, manifest)}
    readers = _readers(api, params, found.object_name, keys) if keys else {}
    if not readers:
        api.apply(manifest, live=found.live)
        return
    live = api.apply(config_map.build(*place, profiles, found.live, readers), live=found.live)
    for pod in judge.stale([pod for pods in readers.values() for pod in pods], config_map.written(live)):
        api.delete(POD, name(pod), params["namespace"], owned_only=False, wait=False)
    api.apply(config_map.build(*place, profiles, live, ()), live=live)


def _readers(
    api: Api, params: GpuSharingParams, object_name: str, keys: t.Collection[str]
) -> dict[str, list[KubeObject]]:
    """Return the pods that read these keys of the ConfigMap, by key; no entry for a key without pods."""
    chosen = {name(node): labels(node)[PLUGIN_CONFIG] for node in api.list(NODE, labels=PLUGIN_CONFIG)}
    found: dict[str, list[KubeObject]] = {}
    for pod in judge.readers(api.list(POD, params["namespace"]), object_name):
        key = chosen.get(pod["spec"].get("nodeName", ""))
        if key in keys:
            found.setdefault(str(key), []).append(pod)
    return found


def _label(api: Api, pools: t.Sequence[Shared], nodes: t.Iterable[KubeObject]) -> None:
    """Give each node the label of its pool's profile; take it from a node whose pool has none."""
    for node in nodes:
        pool, value = judge.pool_of(node, pools), labels(node).get(PLUGIN_CONFIG)
        if pool is None:
            continue
        if pool.is_shared and value != pool.key:
            api.merge_patch(NODE, name(node), None, {"metadata": {"labels": {PLUGIN_CONFIG: pool.key}}})
        elif not pool.is_shared and value == pool.key:
            api.merge_patch(NODE, name(node), None, {"metadata": {"labels": {PLUGIN_CONFIG: None}}})


def _wait(api: Api, params: GpuSharingParams, found: _Found, pools: t.Sequence[Shared]) -> list[KubeObject]:
    """Wait until the nodes whose operands read the ConfigMaps offer their shares; return all nodes."""
    queries = {"nodes": Query(NODE), "pods": Query(POD, params["namespace"])}
    judges: list[t.Callable[[Snapshot], Readiness]] = [judge.Judge(pools, found.object_name)]
    if found.mig is not None:
        judges.append(mig_judge.MigJudge(pools, found.mig.object_name))

    def judged(snapshot: Snapshot) -> Readiness:
        return worst([judge(snapshot) for judge in judges])

    return api.wait(queries, judged, "shares of the GPUs", on_timeout_code="GPU-SHARING-SHARES")["nodes"]


def _result(
    params: GpuSharingParams,
    found: _Found,
    profiles: t.Mapping[str, str],
    configs: t.Mapping[str, t.Any],
    pools: t.Sequence[Shared],
    nodes: t.Sequence[KubeObject],
    disruption: list[Result],
) -> Result:
    """Return the result. config, mig, mig_manager: for a ClusterPolicy; empty if it needs none of them."""
    others = config_map.others(found.live)
    default = {"default": found.default if others else profile.WHOLE}
    is_read = profiles or (found.is_named and others)
    config = {"name": found.object_name, **(default if default["default"] else {})} if is_read else {}
    mig = found.mig if configs else None
    strategy = mig_steps.strategy(pools) or (mig.strategy if mig else "")
    return {
        "config_map": found.object_name,
        "found": found.is_there,
        "config": config,
        "is_named": found.is_named,
        "mig": {"strategy": strategy} if mig and strategy else {},
        "mig_manager": mig_steps.manager_of(mig, params["mig_reboot"]) if mig else {},
        "pools": [_summary(pool, nodes) for pool in pools],
        "claims": [],
        "ends": disruption,
    }


def _summary(pool: Shared, nodes: t.Sequence[KubeObject]) -> Result:
    found = judge.summarize(pool, nodes)
    if pool.is_cut:
        here = [node for node in nodes if judge.pool_of(node, [pool])]
        shared = {entry["name"]: entry["ready"] for entry in found["nodes"]}
        found["nodes"] = [
            {"name": name(node), "ready": mig_judge.is_done(node, pool) and shared.get(name(node), True)}
            for node in here
        ]
    return {
        **found,
        "mig_configs": [mig_name.name(pool.name, partition.config) for partition in pool.partitions],
    }
