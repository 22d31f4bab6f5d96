# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Steps of gpu_sharing: ask, write the profiles, label the nodes, restart the readers, and wait."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import PLUGIN_CONFIG
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name, oldest
from .._core.ownership import owned
from .._impact import consent
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes.labels import labels
from . import config_map, judge, options, profile
from .options import GpuSharingParams, Shared

CONFIG_MAP: t.Final = known("ConfigMap")
NODE: t.Final = known("Node")
POD: t.Final = known("Pod")
BUSY: t.Final = "GPU-SHARING-BUSY"
Result = dict[str, t.Any]


class _Found(t.NamedTuple):
    """What is there. live: the ConfigMap; None if it does not exist. default: of the ClusterPolicy."""

    title: str
    live: KubeObject | None
    default: str
    is_named: bool


def present(api: Api, params: GpuSharingParams) -> Result:
    """Bring the profiles of the pools to their nodes. Return the module's result.

    Raises AcceleratorError before the first write if pods with GPUs would end, or if a profile or a label of
    others is in the way.
    """
    pools = options.read(params["pools"])
    is_wanted = any(one.is_shared for one in pools)
    found = _look(api, params, is_wanted)
    if found.live is None and not is_wanted:
        return _result(found, {}, pools, [], [])
    config_map.refuse_foreign(found.live, pools)
    nodes = _nodes(api, pools)
    _refuse_labels(found, pools, nodes)
    ends = consent.ask(
        api, judge.questions(nodes, pools, config_map.data(found.live)), params["on_busy"], BUSY
    )
    kept = [one for one in pools if one.is_shared] if params["only_add"] else pools
    profiles = config_map.wanted(found.live, kept)
    _write(api, params, found, profiles)
    _label(api, kept, nodes)
    is_awaited = api.wait_wanted and not api.check_mode and is_wanted
    seen = _wait(api, params, found, pools) if is_awaited else nodes
    return _result(found, profiles, pools, seen, ends)


def absent(api: Api, params: GpuSharingParams) -> Result:
    """Take the label from the pools' nodes and their profiles from the ConfigMap; return the result.

    The ConfigMap goes with its last profile, unless a ClusterPolicy still names it.
    """
    asked = options.read(params["pools"])
    pools = [Shared(one.name, one.label) for one in asked]
    found = _look(api, params, is_wanted=any(one.is_shared for one in asked))
    if found.live is None:
        return _result(found, {}, pools, [], [])
    nodes = _nodes(api, pools)
    ends = consent.ask(
        api, judge.questions(nodes, pools, config_map.data(found.live)), params["on_busy"], BUSY
    )
    _label(api, pools, nodes)
    profiles = config_map.wanted(found.live, pools)
    is_unused = not profiles and not config_map.others(found.live) and not found.is_named
    if owned(found.live) and is_unused:
        api.delete(CONFIG_MAP, found.title, params["namespace"])
    else:
        _write(api, params, found, profiles)
    return _result(found, profiles, pools, nodes, ends)


def _look(api: Api, params: GpuSharingParams, is_wanted: bool) -> _Found:
    """Return the ConfigMap that the option or the ClusterPolicy names, else that of this collection.

    A cluster where nothing is shared, and nothing has to be, costs one request.
    """
    first = params["config_map"] or config_map.NAME
    live = api.get(CONFIG_MAP, first, params["namespace"])
    if live is None and not is_wanted:
        return _Found(first, None, "", False)
    config = _config(api)
    title = params["config_map"] or config.get("name") or config_map.NAME
    if title != first:
        live = api.get(CONFIG_MAP, title, params["namespace"])
    is_named = config.get("name") == title
    return _Found(title, live, str(config.get("default") or "") if is_named else "", is_named)


def _config(api: Api) -> dict[str, t.Any]:
    """Return devicePlugin.config of the ClusterPolicy; the operator follows the oldest one alone."""
    policy = oldest(api.list_if_served(known("ClusterPolicy")))
    return dict(((policy.get("spec") or {}).get("devicePlugin") or {}).get("config") or {})


def _nodes(api: Api, pools: t.Sequence[Shared]) -> list[KubeObject]:
    return api.list(NODE, keep=lambda node: node if judge.pool_of(node, pools) else None)


def _refuse_labels(found: _Found, pools: t.Sequence[Shared], nodes: t.Iterable[KubeObject]) -> None:
    """Raise AcceleratorError if a node of a pool that shares has a profile of others."""
    mine = {one.key for one in pools} | set(config_map.ours(found.live))
    for node in nodes:
        pool, value = judge.pool_of(node, pools), labels(node).get(PLUGIN_CONFIG)
        if pool is not None and pool.is_shared and value and value not in mine:
            message = (
                f"Node {name(node)} of pool {pool.name} has the label {PLUGIN_CONFIG}={value}, so its device "
                "plugin reads a profile of others. Nothing was changed."
            )
            remedy = f"Run `oc label node {name(node)} {PLUGIN_CONFIG}-`, or remove `sharing` of the pool."
            raise AcceleratorError("GPU-SHARING-LABEL", message, remedy)


def _write(api: Api, params: GpuSharingParams, found: _Found, profiles: t.Mapping[str, str]) -> None:
    """Apply the ConfigMap if it has to exist, and restart the pods that read a profile before it changed.

    A pod of the device plugin does not look at its ConfigMap again. Nodes of other profiles keep theirs. An
    interrupted run leaves a note on the ConfigMap, and the next run resumes here.
    """
    if not profiles and not config_map.ours(found.live):
        return
    place = (found.title, params["namespace"])
    manifest = config_map.build(*place, profiles, found.live, ())
    keys = {*config_map.restarts(found.live), *config_map.changed(found.live, manifest)}
    readers = _readers(api, params, found.title, keys) if keys else {}
    if not readers:
        api.apply(manifest, live=found.live)
        return
    live = api.apply(config_map.build(*place, profiles, found.live, readers), live=found.live)
    for pod in judge.stale([pod for pods in readers.values() for pod in pods], config_map.written(live)):
        api.delete(POD, name(pod), params["namespace"], owned_only=False, wait=False)
    api.apply(config_map.build(*place, profiles, live, ()), live=live)


def _readers(
    api: Api, params: GpuSharingParams, title: str, keys: t.Collection[str]
) -> dict[str, list[KubeObject]]:
    """Return the pods that read these keys of the ConfigMap, by key; no entry for a key without pods."""
    chosen = {name(node): labels(node)[PLUGIN_CONFIG] for node in api.list(NODE, labels=PLUGIN_CONFIG)}
    found: dict[str, list[KubeObject]] = {}
    for pod in judge.readers(api.list(POD, params["namespace"]), title):
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
    """Wait until the nodes whose device plugin reads the ConfigMap offer their shares; return all nodes."""
    queries = {"nodes": Query(NODE), "pods": Query(POD, params["namespace"])}
    judged = judge.Judge(pools, found.title)
    return api.wait(queries, judged, "shares of the GPUs", on_timeout_code="GPU-SHARING-SHARES")["nodes"]


def _result(
    found: _Found,
    profiles: t.Mapping[str, str],
    pools: t.Iterable[Shared],
    nodes: t.Sequence[KubeObject],
    ends: list[Result],
) -> Result:
    """Return the result. config: for C(device_plugin.config) of a ClusterPolicy; empty without profiles."""
    default = found.default if config_map.others(found.live) else profile.WHOLE
    config = {"name": found.title, **({"default": default} if default else {})} if profiles else {}
    return {
        "config_map": found.title,
        "found": found.live is not None,
        "config": config,
        "is_named": found.is_named,
        "pools": [judge.summarize(one, nodes) for one in pools],
        "ends": ends,
    }
