# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of MIG in gpu_sharing: the ConfigMap of the MIG manager, and the label of nodes without a stack."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import MIG_CONFIG, MIG_CONFIG_MAP
from .._core.errors import AcceleratorError, KindNotServedError
from .._core.objects import KubeObject, name, number_of
from .._core.ownership import owned
from .._impact.impact import Question
from .._impact.policy_fields import MIG_MANAGER
from .._kube.client import Api
from .._kube.kinds import known
from . import mig_config, mig_judge, mig_name, partitions
from .options import Shared
from .schema import MIG

CONFIG_MAP: t.Final = known("ConfigMap")
_NODE: t.Final = known("Node")
_MACHINE: t.Final = known("Machine")
_LINK: t.Final = "machine.openshift.io/machine"
# The ConfigMap that older releases of the GPU operator name by themselves, and write again.
_OPERATORS: t.Final = "default-mig-parted-config"
_REBOOT: t.Final = {"name": "WITH_REBOOT", "value": "true"}


class Found(t.NamedTuple):
    """What is there. live: the ConfigMap, None if it does not exist. strategy: of the ClusterPolicy.

    default: the configuration that the ClusterPolicy gives nodes without a label; empty for none. rests:
    False if the ClusterPolicy says that these nodes get none; older releases have a default of their own.
    reboots: whether the ClusterPolicy lets the MIG manager reboot nodes.
    """

    object_name: str
    namespace: str
    live: KubeObject | None
    is_named: bool
    strategy: str
    default: str = ""
    rests: bool = True
    reboots: bool = False

    @property
    def text(self) -> str:
        """Return the file of configurations."""
        return str(((self.live or {}).get("data") or {}).get(mig_config.KEY) or "")


def look(api: Api, spec: KubeObject, here: t.Mapping[str, KubeObject], namespace: str) -> Found:
    """Return the ConfigMap that the ClusterPolicy names, else that of this collection.

    spec: of the ClusterPolicy. here: the ConfigMaps of this collection by name.
    """
    object_name = MIG_CONFIG_MAP if named(spec) in ("", _OPERATORS) else named(spec)
    live = here.get(object_name) or api.get(CONFIG_MAP, object_name, namespace)
    strategy = str((spec.get("mig") or {}).get("strategy") or "")
    is_named, default = named(spec) == object_name, _config(spec, "default")
    env = (spec.get("migManager") or {}).get("env") or []
    rests = ((spec.get("migManager") or {}).get("config") or {}).get("default") != ""
    return Found(
        object_name, namespace, live, is_named, strategy, default, bool(spec) and rests, _REBOOT in env
    )


def named(spec: KubeObject) -> str:
    """Return the name of the ConfigMap that the ClusterPolicy names for the MIG manager, or ""."""
    return _config(spec, "name")


def _config(spec: KubeObject, key: str) -> str:
    return str(((spec.get("migManager") or {}).get("config") or {}).get(key) or "")


def wanted(
    found: Found, pools: t.Sequence[Shared], nodes: t.Iterable[KubeObject], only_add: bool
) -> dict[str, list[partitions.Entry]]:
    """Return all configurations of this collection: those of these pools, and those that are still needed.

    These are configurations of other pools, and old ones that a node still has.
    """
    ours, used = mig_config.ours(found.text), {mig_judge.label_of(node) for node in nodes}
    prefixes = {mig_name.prefix(member.name) for member in pools}
    kept = {
        name: entries
        for name, entries in ours.items()
        if only_add or name in used or mig_name.pool_prefix(name) not in prefixes
    }
    return kept | {
        mig_name.name(pool.name, partition.config): partition.config
        for pool in pools
        for partition in pool.partitions
    }


def strategy(pools: t.Iterable[Shared]) -> str:
    """Return the strategy of these pools, which the planner holds to one; "" if none is partitioned."""
    return next((partitions.strategy(pool.sharing[MIG]) for pool in pools if pool.is_cut), "")


def manager_of(found: Found, may_reboot: bool) -> KubeObject:
    """Return the option C(mig_manager) of the ClusterPolicy. may_reboot: whether it reboots nodes.

    If it says nothing about a default, some releases set one that undoes MIG on all nodes without a label.
    """
    more = {"env": [_REBOOT]} if may_reboot else {}
    return {"config": {"name": found.object_name, "default": found.default}, **more}


def questions(found: Found | None, may_reboot: bool) -> list[Question]:
    """Return what to find out before the ClusterPolicy lets the MIG manager reboot nodes.

    The managers of all nodes restart, and each tries the change again that its node's label asks for.
    """
    if found is None or found.reboots or not may_reboot:
        return []
    cause = "gpu_mig_reboot lets the MIG manager try a change again that failed; a reboot ends all pods"
    order = "all of these nodes at once"
    return [Question(cause, "the MIG manager", MIG_MANAGER.nodes, is_certain=False, order=order)]


def unlabelling(
    found: Found | None, nodes: t.Iterable[KubeObject], pools: t.Sequence[Shared]
) -> list[Question]:
    """Return what to find out before nodes lose the label of their configuration.

    The GPU operator then gives them the default, and the MIG manager cuts the GPUs anew.
    """
    if found is None or not found.rests:
        return []
    losing = [node for node, pool in mig_judge.differing(nodes, pools) if mig_judge.is_at_work(node)]
    if not losing:
        return []
    values = {mig_judge.label_of(node) for node in losing}
    default = found.default or "the default of the GPU operator"
    cause = (
        f"without the label {MIG_CONFIG} the GPU operator gives the nodes {default}, and the MIG manager "
        "cuts the GPUs anew"
    )
    return [
        Question(
            cause,
            "the MIG manager",
            MIG_CONFIG,
            is_certain=False,
            order="all of these nodes at once",
            reaches=lambda marks: marks.get(MIG_CONFIG) in values,
        )
    ]


def check(found: Found, pools: t.Sequence[Shared], nodes: t.Sequence[KubeObject], on_change: str) -> None:
    """Raise AcceleratorError before the first write if something is in the way of the partitions."""
    mig_config.written(found.text, wanted(found, pools, nodes, only_add=True), found.object_name)
    _refuse_strategy(found, pools)
    _refuse_unknown(found, nodes)
    behind = [
        (node, pool)
        for node, pool in mig_judge.differing(nodes, pools)
        if mig_judge.is_at_work(node) and on_change == "fail"
    ]
    if not behind:
        return
    lines = [
        f"node {name(node)} of pool {pool.name} has {mig_judge.label_of(node) or 'no configuration'}, wanted "
        f"{mig_judge.wanted(node, pool) or 'whole GPUs'}"
        for node, pool in behind
    ]
    nodes_behind = number_of(len(behind), "node")
    raise AcceleratorError("GPU-MIG-CHANGE", nodes=nodes_behind, difference=lines[0], evidence=lines)


def _refuse_strategy(found: Found, pools: t.Sequence[Shared]) -> None:
    """Raise AcceleratorError if pools of another list need the other strategy."""
    here, asked = {mig_name.prefix(pool.name) for pool in pools}, strategy(pools)
    others = [config for config in mig_config.ours(found.text) if mig_name.pool_prefix(config) not in here]
    if asked and others and found.strategy and found.strategy != asked:
        raise AcceleratorError(
            "GPU-MIG-STRATEGY",
            strategy=asked,
            configuration=others[0],
            other=found.strategy,
            evidence=others,
        )


def _refuse_unknown(found: Found, nodes: t.Iterable[KubeObject]) -> None:
    """Raise AcceleratorError if a node has a configuration of the operator's file, which is replaced."""
    if found.is_named:
        return
    known_names = {*mig_config.theirs(mig_config.written(found.text, {}, found.object_name)), ""}
    for node in nodes:
        value = mig_judge.label_of(node)
        if value not in known_names and not mig_name.pool_prefix(value):
            raise AcceleratorError(
                "GPU-MIG-FOREIGN", node=name(node), configuration=value, config_map=found.object_name
            )


def write(api: Api, found: Found, configs: t.Mapping[str, list[partitions.Entry]]) -> KubeObject | None:
    """Write the configurations; return the ConfigMap as it is then, None if there is none.

    In a file of others only the lines of this collection change.
    """
    text = mig_config.written(found.text, configs, found.object_name)
    if text == found.text or (found.live is None and not configs):
        return found.live
    if found.live is not None and not owned(found.live):
        version = found.live["metadata"].get("resourceVersion")
        body = {"metadata": {"resourceVersion": version}, "data": {mig_config.KEY: text}}
        return api.merge_patch(CONFIG_MAP, found.object_name, found.namespace, body)
    metadata = {"name": found.object_name, "namespace": found.namespace}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {mig_config.KEY: text}}
    return api.apply(manifest, live=found.live)


def remove(api: Api, found: Found, configs: t.Mapping[str, list[partitions.Entry]]) -> None:
    """Take the configurations of pools out of the file; delete a file that holds nothing else.

    A file that a ClusterPolicy still names stays.
    """
    is_empty = not configs and not mig_config.has_others(
        mig_config.written(found.text, {}, found.object_name)
    )
    if owned(found.live) and is_empty and not found.is_named:
        api.delete(CONFIG_MAP, found.object_name, found.namespace)
    else:
        write(api, found, configs)


def label(
    api: Api, nodes: t.Iterable[KubeObject], pools: t.Sequence[Shared], only_add: bool, every: bool
) -> None:
    """Give nodes the label of their configuration, and take it from nodes whose pool has whole GPUs.

    every: also nodes that offer GPUs, which otherwise wait for gpu_repartition.
    """
    for node, pool in mig_judge.differing(nodes, pools):
        value = mig_judge.wanted(node, pool) or None
        if (value or not only_add) and (every or not mig_judge.is_at_work(node)):
            give(api, node, {MIG_CONFIG: value})


def give(api: Api, node: KubeObject, marks: t.Mapping[str, str | None]) -> None:
    """Give a node these labels; None takes one away.

    A label of its Machine comes first: the Machine API copies that to the node again and again.
    """
    link = str((node["metadata"].get("annotations") or {}).get(_LINK) or "")
    namespace, _slash, object_name = link.rpartition("/")
    if object_name and (machine := _machine(api, object_name, namespace)):
        have = ((machine["spec"].get("metadata") or {}).get("labels")) or {}
        stale = {key: value for key, value in marks.items() if key in have and have[key] != value}
        if stale:
            body = {"spec": {"metadata": {"labels": stale}}}
            api.merge_patch(_MACHINE, object_name, namespace, body)
    api.merge_patch(_NODE, name(node), None, {"metadata": {"labels": dict(marks)}})


def _machine(api: Api, object_name: str, namespace: str) -> KubeObject | None:
    try:
        return api.get(_MACHINE, object_name, namespace)
    except KindNotServedError:
        return None
