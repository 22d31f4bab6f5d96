# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the node tuning operator: Tuned `default`, a Profile for each node, kernel arguments.

The real one runs in a Deployment, and its operand in a DaemonSet; here neither has pods. The real one refuses
two texts of one profile, matches labels of pods, and defers changes until a node starts again.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.tuning import (
    BOOTCMDLINE,
    DEFAULT,
    DEPENDENCIES,
    KEYS,
    NAMESPACE,
    default_tuned,
    dependencies,
    is_linux,
    new_profile,
)
from openshift_sandbox.stand_ins.core.conditions import condition, holds, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.machine_config.pools import pool_of, pools_of
from openshift_sandbox.stand_ins.node_tuning import recommend
from openshift_sandbox.stand_ins.node_tuning.cluster_operator import report

GENERATED: t.Final = f"{KEYS}generated-by-controller-version"
IDLE: t.Final = {"Removed", "Unmanaged"}


class NodeTuningOperator(Reconciler):
    kinds = ("ClusterOperator", "MachineConfig", "MachineConfigPool", "Node", "Profile", "Tuned")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if not cluster.served("Tuned"):
            return
        default = self._default(cluster)
        if default is None or default["spec"].get("managementState") in IDLE:
            return
        tuneds = self._tuneds(cluster)
        for tuned in tuneds:
            _validate(cluster, tuned)
        nodes = [node for node in cluster.objects("Node") if is_linux(node)]
        _forget(cluster, nodes)
        deps = dependencies(cluster.scenario.cluster, tuneds)
        if not cluster.due(deps, "node_tuning", 0.2):
            return
        chosen = _choices(cluster, tuneds, nodes)
        for node in nodes:
            _follow(cluster, node, chosen[node["metadata"]["name"]], tuneds, default)
        across, conflicts = _sync_machine_configs(cluster, nodes, chosen, deps)
        _prune(cluster, tuneds)
        report(cluster, across, conflicts)

    def _default(self, cluster: Cluster) -> Object | None:
        """Return the Tuned `default` after restoring it."""
        wanted, live = default_tuned(), cluster.find("Tuned", DEFAULT, NAMESPACE)
        if live is None:
            return cluster.create({key: value for key, value in wanted.items() if key != "status"})
        if all(live["spec"].get(key) == value for key, value in wanted["spec"].items()):
            return live
        return cluster.patch("Tuned", DEFAULT, NAMESPACE, {"spec": wanted["spec"]})

    def _tuneds(self, cluster: Cluster) -> list[Object]:
        """Return the Tuneds of the operator's namespace.

        A hosted cluster has only `default`: the others are deleted there, since they belong into a NodePool.
        """
        tuneds = [
            one for one in cluster.objects("Tuned", NAMESPACE) if not one["metadata"].get("deletionTimestamp")
        ]
        if cluster.scenario.cluster.get("control_plane_topology") != "External":
            return tuneds
        for one in tuneds:
            if one["metadata"]["name"] != DEFAULT:
                cluster.delete("Tuned", one["metadata"]["name"], NAMESPACE)
        return [one for one in tuneds if one["metadata"]["name"] == DEFAULT]


def machine_config_name(pool: Object) -> str:
    """Return the name of the MachineConfig with the kernel arguments of a pool's TuneD profile."""
    return f"50-nto-{pool['metadata']['name']}"


def agreed_bootcmdline(members: t.Sequence[Object], deps: str) -> str | None:
    """Return the kernel arguments that all nodes of a pool report for these Tuneds, or None."""
    notes = [node["metadata"].get("annotations") or {} for node in members]
    if not notes or any(one.get(DEPENDENCIES) != deps for one in notes):
        return None
    found = {str(one.get(BOOTCMDLINE, "")) for one in notes}
    return found.pop() if len(found) == 1 else None


def _validate(cluster: Cluster, tuned: Object) -> None:
    known = (tuned.get("status") or {}).get("conditions") or []
    wanted = merged(known, [condition("Valid", True, "AsExpected", "")])
    if wanted != known:
        status = {"status": {"conditions": wanted}}
        cluster.patch("Tuned", tuned["metadata"]["name"], NAMESPACE, status, "status")


def _forget(cluster: Cluster, nodes: t.Sequence[Object]) -> None:
    """Delete the Profiles of nodes that no longer exist."""
    names = {node["metadata"]["name"] for node in nodes}
    for profile in cluster.objects("Profile", NAMESPACE):
        name = profile["metadata"]["name"]
        if name not in names and not profile["metadata"].get("deletionTimestamp"):
            cluster.delete("Profile", name, NAMESPACE)


def _choices(
    cluster: Cluster, tuneds: t.Sequence[Object], nodes: t.Sequence[Object]
) -> dict[str, recommend.Choice]:
    rules, pools = recommend.rules(tuneds), cluster.objects("MachineConfigPool")
    places = {
        node["metadata"]["name"]: recommend.Place(node["metadata"].get("labels") or {}, pools_of(node, pools))
        for node in nodes
    }
    return {name: recommend.choice(rules, place) for name, place in places.items()}


def _follow(
    cluster: Cluster, node: Object, choice: recommend.Choice, tuneds: t.Sequence[Object], default: Object
) -> None:
    """Make the Profile of a node what the rules say. Tell it all profiles: one may include another."""
    wanted = new_profile(
        cluster.scenario.cluster, node, default, choice.profile, recommend.definitions(tuneds)
    )
    operand = choice.operand or {}
    wanted["spec"]["config"] |= {
        "debug": operand.get("debug", False),
        "verbosity": operand.get("verbosity", 0),
        "tunedConfig": operand.get("tunedConfig") or {},
    }
    notes = {DEPENDENCIES: dependencies(cluster.scenario.cluster, tuneds)}
    live = cluster.find("Profile", node["metadata"]["name"], NAMESPACE)
    if live is None:
        wanted["metadata"]["annotations"] = notes
        cluster.create(wanted)
        return
    known = live["metadata"].get("annotations") or {}
    if live["spec"] != wanted["spec"] or any(known.get(key) != value for key, value in notes.items()):
        config = wanted["spec"]["config"]
        config["tunedConfig"] = {"reapply_sysctl": None} | config["tunedConfig"]
        body = {"metadata": {"annotations": notes}, "spec": wanted["spec"]}
        cluster.patch("Profile", node["metadata"]["name"], NAMESPACE, body)


def _sync_machine_configs(
    cluster: Cluster, nodes: t.Sequence[Object], chosen: t.Mapping[str, recommend.Choice], deps: str
) -> tuple[int, int]:
    """Write the kernel arguments of pools whose nodes were chosen by machineConfigLabels.

    Return how many Profiles have labels that several pools select, and how many differ within their pool.
    """
    pools, across, conflicts = cluster.objects("MachineConfigPool"), 0, 0
    for node in nodes:
        name = node["metadata"]["name"]
        labels = chosen[name].machine_config_labels
        if labels is None or not _is_applied(cluster, name, chosen[name].profile):
            continue
        found = [pool for pool in pools if recommend.selects(pool, labels)]
        if len(found) > 1:
            across += 1
            continue
        members = [one for one in nodes if pool_of(one, pools) in found]
        arguments = agreed_bootcmdline(members, deps)
        if arguments is not None:
            _write_machine_config(cluster, found[0], labels, arguments.split())
        elif all((one["metadata"].get("annotations") or {}).get(DEPENDENCIES) == deps for one in members):
            conflicts += 1
    return across, conflicts


def _is_applied(cluster: Cluster, name: str, wanted: str) -> bool:
    profile = cluster.find("Profile", name, NAMESPACE) or {}
    return (profile.get("status") or {}).get("tunedProfile") == wanted and holds(profile, "Applied")


def _write_machine_config(
    cluster: Cluster, pool: Object, labels: recommend.Labels, arguments: list[str]
) -> None:
    name = machine_config_name(pool)
    live = cluster.find("MachineConfig", name)
    if live is None and not arguments:
        return  # an empty MachineConfig would only reboot the nodes
    if live is None:
        metadata = {"name": name, "labels": dict(labels), "annotations": {GENERATED: "v4.22.0"}}
        cluster.create(
            {
                "apiVersion": "machineconfiguration.openshift.io/v1",
                "kind": "MachineConfig",
                "metadata": metadata,
                "spec": {"kernelArguments": arguments},
            }
        )
    elif live["spec"].get("kernelArguments") != arguments:
        cluster.patch("MachineConfig", name, None, {"spec": {"kernelArguments": arguments}})


def _prune(cluster: Cluster, tuneds: t.Sequence[Object]) -> None:
    """Delete the operator's MachineConfigs that no rule asks for any more, so that the nodes roll back."""
    labels = [rule.machine_config_labels for rule in recommend.rules(tuneds) if rule.machine_config_labels]
    pools = cluster.objects("MachineConfigPool")
    used = {
        min(machine_config_name(pool) for pool in found)
        for one in labels
        if (found := [pool for pool in pools if recommend.selects(pool, one)])
    }
    for config in cluster.objects("MachineConfig"):
        metadata = config["metadata"]
        if GENERATED in (metadata.get("annotations") or {}) and metadata["name"] not in used:
            cluster.delete("MachineConfig", metadata["name"])
