# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the performance profile controller of the node tuning operator.

The TuneD text and the MachineConfig that it makes are shorter than the real ones, which have parts for each
processor vendor, and files for the container runtime. Its webhook, which checks CPUs and huge pages, is not
there.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.tuning import NAMESPACE, dependencies
from openshift_sandbox.stand_ins.core.conditions import condition, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches
from openshift_sandbox.stand_ins.machine_config.pools import members
from openshift_sandbox.stand_ins.node_tuning import performance_parts as parts
from openshift_sandbox.stand_ins.node_tuning.operator import agreed_bootcmdline
from openshift_sandbox.stand_ins.node_tuning.recommend import selects

FINALIZER: t.Final = "foreground-deletion"
NO_POOL: t.Final = "failed to find MCP with the node selector that matches labels {}"
TWO_POOLS: t.Final = "more than one MCP found that matches performance profile node selector {}"
BAD_LABELS: t.Final = (
    "the machine config labels {} do not match the MachineConfigPool {} machineConfigSelector"
)

Failure = tuple[str, str]
"""Reason and message."""


class PerformanceProfiles(Reconciler):
    kinds = (
        "KubeletConfig",
        "MachineConfig",
        "MachineConfigPool",
        "Node",
        "PerformanceProfile",
        "Profile",
        "RuntimeClass",
        "Tuned",
    )

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for profile in cluster.objects("PerformanceProfile"):
            finalizers = profile["metadata"].get("finalizers") or []
            if profile["metadata"].get("deletionTimestamp"):
                self._remove(cluster, profile)
            elif FINALIZER not in finalizers:
                _patch(cluster, profile, {"metadata": {"finalizers": [*finalizers, FINALIZER]}})
            elif cluster.due(profile["metadata"]["uid"], "performance_profile", 0.2):
                self._enact(cluster, profile)

    def _remove(self, cluster: Cluster, profile: Object) -> None:
        """Delete what the profile made; let it go once all of it is gone."""
        left = [
            (kind, name, namespace)
            for kind, name, namespace in parts.names(profile)
            if cluster.find(kind, name, namespace) is not None
        ]
        for kind, name, namespace in left:
            live = cluster.find(kind, name, namespace)
            if live is not None and not live["metadata"].get("deletionTimestamp"):
                cluster.delete(kind, name, namespace)
        kept = [one for one in profile["metadata"].get("finalizers") or [] if one != FINALIZER]
        if not left and FINALIZER in (profile["metadata"].get("finalizers") or []):
            _patch(cluster, profile, {"metadata": {"finalizers": kept}})

    def _enact(self, cluster: Cluster, profile: Object) -> None:
        pool, failure = _pool(cluster, profile)
        if pool is None or failure:
            _report(cluster, profile, failure)
            return
        tuned = _put(cluster, parts.tuned(profile))
        wanted = [
            parts.machine_config(profile),
            parts.kubelet_config(profile, pool),
            parts.runtime_class(profile),
        ]
        if all(_is_there(cluster, one) for one in wanted) or _ready(cluster, pool, tuned):
            for one in wanted:
                _put(cluster, one)
            _report(cluster, profile, _owned_failure(cluster, profile, pool))


def _ready(cluster: Cluster, pool: Object, tuned: Object) -> bool:
    """Return whether all nodes of the pool know this Tuned and agree on their kernel arguments."""
    tuneds, pools = cluster.objects("Tuned", NAMESPACE), cluster.objects("MachineConfigPool")
    deps = dependencies(cluster.scenario.cluster, tuneds)
    expected = f"{tuned['metadata']['name']}:{tuned['metadata']['generation']}"
    nodes = members(pool["metadata"]["name"], cluster.objects("Node"), pools)
    return expected in deps.split(",") and agreed_bootcmdline(nodes, deps) is not None


def _pool(cluster: Cluster, profile: Object) -> tuple[Object | None, Failure | None]:
    """Return the one pool whose node selector matches the profile's, or why there is none."""
    selector = profile["spec"]["nodeSelector"]
    told = ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    found = [
        pool
        for pool in cluster.objects("MachineConfigPool")
        if pool["spec"].get("nodeSelector") and matches(pool["spec"]["nodeSelector"], selector)
    ]
    if len(found) != 1:
        text = TWO_POOLS if found else NO_POOL
        return None, ("GettingMachineConfigPoolFailed", text.format(f'"{told}"'))
    name, labels = found[0]["metadata"]["name"], parts.machine_config_labels(profile)
    if not found[0]["metadata"].get("labels"):
        text = f'the MachineConfigPool "{name}" does not have any labels that can be used to bind it'
        return None, ("BadMachineConfigLabels", text)
    if not selects(found[0], labels):
        return None, ("BadMachineConfigLabels", BAD_LABELS.format(labels, f'"{name}"'))
    return found[0], None


def _owned_failure(cluster: Cluster, profile: Object, pool: Object) -> Failure | None:
    """Return the first failure of what the profile made: kubelet, pool, Profiles of the nodes."""
    kubelet = cluster.find("KubeletConfig", parts.name_of(profile)) or {}
    conditions = (kubelet.get("status") or {}).get("conditions") or []
    if conditions and conditions[-1]["type"] == "Failure":
        return "KubeletConfig failure", conditions[-1]["message"]
    lines = _pool_lines(pool)
    if lines:
        return "MCPDegraded", "".join(lines)
    lines = [
        line
        for one in cluster.objects("Profile", NAMESPACE)
        if (node := cluster.find("Node", one["metadata"]["name"]))
        and profile["spec"]["nodeSelector"].items() <= (node["metadata"].get("labels") or {}).items()
        for line in _profile_lines(one)
    ]
    return ("TunedProfileDegraded", "".join(lines)) if lines else None


def _pool_lines(pool: Object) -> list[str]:
    name = pool["metadata"]["name"]
    return [
        f"Machine config pool {name} Degraded {field.capitalize()}: {one[field]}.\n"
        for one in (pool.get("status") or {}).get("conditions") or []
        if one["type"] in {"NodeDegraded", "RenderDegraded"} and one["status"] == "True"
        for field in ("reason", "message")
        if one.get(field)
    ]


def _profile_lines(one: Object) -> list[str]:
    """Return lines about a Profile that is Degraded and not Applied; one of them alone does not count."""
    found = {each["type"]: each for each in (one.get("status") or {}).get("conditions") or []}
    states = [found.get(kind, {}).get("status") for kind in ("Degraded", "Applied")]
    if states != ["True", "False"]:
        return []
    name, degraded = one["metadata"]["name"], found["Degraded"]
    return [
        f"Tuned {name} Degraded {field.capitalize()}: {degraded[field]}.\n" for field in ("reason", "message")
    ]


def _report(cluster: Cluster, profile: Object, failure: Failure | None) -> None:
    """Write the four conditions. Available says that the parts exist, not that nodes have them."""
    reason, message = failure or ("", "")
    states = {
        "Available": failure is None,
        "Upgradeable": failure is None,
        "Progressing": False,
        "Degraded": failure is not None,
    }
    wanted = [
        condition(kind, state, *((reason, message) if kind == "Degraded" and failure else ()))
        for kind, state in states.items()
    ]
    known = profile.get("status") or {}
    before = known.get("conditions") or []
    body = {
        "conditions": merged(before, wanted),
        "tuned": f"{NAMESPACE}/{parts.tuned_name(profile)}",
        "runtimeClass": parts.name_of(profile),
    }
    if any(known.get(key) != value for key, value in body.items()):
        _patch(cluster, profile, {"status": body}, "status")


def _is_there(cluster: Cluster, wanted: Object) -> bool:
    live = cluster.find(wanted["kind"], wanted["metadata"]["name"])
    return live is not None and live.get("spec") == wanted.get("spec")


def _put(cluster: Cluster, wanted: Object) -> Object:
    """Create an object, or correct its spec."""
    metadata = wanted["metadata"]
    live = cluster.find(wanted["kind"], metadata["name"], metadata.get("namespace"))
    if live is None:
        return cluster.create(wanted)
    if "spec" not in wanted or live["spec"] == wanted["spec"]:
        return live
    body = {"spec": wanted["spec"]}
    return cluster.patch(wanted["kind"], metadata["name"], metadata.get("namespace"), body) or live


def _patch(cluster: Cluster, profile: Object, body: Object, subresource: str | None = None) -> None:
    cluster.patch("PerformanceProfile", profile["metadata"]["name"], None, body, subresource)
