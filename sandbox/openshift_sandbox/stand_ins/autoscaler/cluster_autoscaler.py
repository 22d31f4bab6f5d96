# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the cluster autoscaler, and for its operator where it serves ClusterAutoscalers.

The real one also counts the pods of DaemonSets in a template, balances similar groups, removes nodes whose
pods could move, and looks every 10 s. Like the real one it accepts GPUs without the accelerator label: no
limit applies to them, and their nodes count as ready before their GPUs exist, so it orders more of them.
"""

from __future__ import annotations

import time
import typing as t
from datetime import UTC, datetime

from openshift_sandbox.seed.nodes import MACHINE_NAMESPACE
from openshift_sandbox.stand_ins.autoscaler import (
    deployment as autoscaler_deployment,
    plan as autoscaler_plan,
    status,
)
from openshift_sandbox.stand_ins.autoscaler.groups import DELETED, Group, View, group
from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.conditions import timestamp
from openshift_sandbox.stand_ins.core.durations import age, seconds
from openshift_sandbox.stand_ins.core.pod_fit import Room
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.machine_api.machine_sets import DELETE_FIRST

NAME: t.Final = "default"
COMPONENT: t.Final = "cluster-autoscaler"
OLD_DELETE_FIRST: t.Final = "machine.openshift.io/cluster-api-delete-machine"
MINUTES: t.Final = 60.0


class ClusterAutoscalers(Reconciler):
    """The operator: it makes a Deployment for the ClusterAutoscaler `default`, and ignores others."""

    kinds = ("ClusterAutoscaler", "Deployment")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        autoscaler = cluster.find("ClusterAutoscaler", NAME)
        deployment = cluster.find("Deployment", f"cluster-autoscaler-{NAME}", MACHINE_NAMESPACE)
        if autoscaler is None:
            if deployment and not deployment["metadata"].get(
                "deletionTimestamp"
            ):  # the garbage collector would do it, but learns late about a new CRD
                cluster.delete("Deployment", deployment["metadata"]["name"], MACHINE_NAMESPACE)
            return
        wanted = autoscaler_deployment.manifest(autoscaler)
        if deployment is None:
            metadata = {"name": autoscaler_deployment.SERVICE_ACCOUNT, "namespace": MACHINE_NAMESPACE}
            cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
            cluster.apply(wanted)
        elif _arguments(deployment) != _arguments(wanted):
            cluster.apply(wanted)


class ClusterAutoscaler(Reconciler):
    """The autoscaler: it works while its Deployment is Available."""

    kinds = ("ClusterAutoscaler", "ConfigMap", "Deployment", "Machine", "MachineSet", "Node", "Pod")

    def __init__(self) -> None:
        self._backoff: dict[str, float] = {}
        self._idle_since: dict[str, float] = {}
        self._templates: dict[str, Room] = {}
        self._grown: float = float("-inf")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        autoscaler = cluster.find("ClusterAutoscaler", NAME)
        if (
            autoscaler is None
            or not cluster.available(f"cluster-autoscaler-{NAME}", MACHINE_NAMESPACE)
            or not cluster.due(COMPONENT, "autoscaler_scan", 1.0)
        ):
            return
        cluster.restart(COMPONENT, "autoscaler_scan")
        cluster.due(COMPONENT, "autoscaler_scan", 1.0)
        self._backoff = {name: until for name, until in self._backoff.items() if until > now}
        spec = autoscaler.get("spec") or {}
        groups = self._groups(cluster, spec)
        changed = (
            self._give_up(cluster, spec, groups, now)
            or self._scale_up(cluster, spec, groups, now)
            or self._scale_down(cluster, spec, groups, now)
        )
        if changed:
            cluster.resync("MachineSet")  # a scale request does not answer with a MachineSet
            groups = self._groups(cluster, spec)
        self._report(cluster, groups)

    def _groups(self, cluster: Cluster, spec: Object) -> list[Group]:
        def stable(node: Object) -> bool:
            return cluster.due(node["metadata"]["uid"], "autoscaler_stabilization", MINUTES)

        sets = [
            one
            for one in cluster.objects("MachineSet", MACHINE_NAMESPACE)
            if not one["metadata"].get("deletionTimestamp")
        ]
        view = View(
            cluster.objects("Machine"),
            cluster.objects("Node"),
            spec.get("startupTaints") or [],
            stable,
            self._templates,
        )
        found = [group(one, view) for one in sets]
        return [one for one in found if one is not None]

    def _give_up(self, cluster: Cluster, spec: Object, groups: list[Group], now: float) -> bool:
        """Take back what the cloud did not deliver.

        Leave the group alone for a while. Return whether it gave up.
        """
        patience, wall = seconds(spec.get("maxNodeProvisionTime"), 15 * MINUTES), datetime.now(UTC)
        changed = False
        for one in groups:
            lost = autoscaler_plan.broken(
                one, lambda machine: age(machine["metadata"].get("creationTimestamp"), wall) > patience
            )
            if lost:
                self._backoff[one.id] = now + cluster.delay("autoscaler_backoff", 5 * MINUTES)
                self._shrink(cluster, one, [machine["metadata"]["name"] for machine in lost])
                changed = True
        return changed

    def _scale_up(self, cluster: Cluster, spec: Object, groups: list[Group], now: float) -> bool:
        wall, patience = (
            datetime.now(UTC),
            seconds((spec.get("scaleUp") or {}).get("newPodScaleUpDelay"), 0.0),
        )
        everything, nodes = cluster.objects("Pod"), cluster.objects("Node")
        refused = autoscaler_plan.unschedulable(
            everything, spec.get("podPriorityThreshold", autoscaler_plan.CUTOFF)
        )
        waiting = autoscaler_plan.homeless(refused, nodes, everything, spec.get("startupTaints") or [])
        pods = [
            pod
            for pod in waiting
            if not patience or age(pod["metadata"]["creationTimestamp"], wall) >= patience
        ]
        plan = autoscaler_plan.scale_up(pods, groups, nodes, spec.get("resourceLimits") or {}, self._backoff)
        for pod, text in plan.refused:
            events.record(cluster, pod, COMPONENT, "NotTriggerScaleUp", text)
            told = cluster.find("ConfigMap", status.NAME, MACHINE_NAMESPACE)
            if autoscaler_plan.TOTAL_REACHED in text and told:
                total = spec["resourceLimits"]["maxNodesTotal"]
                events.record(
                    cluster,
                    told,
                    COMPONENT,
                    "MaxNodesTotalReached",
                    f"Max total nodes in cluster reached: {total}",
                    "Warning",
                )
        if plan.group is None or plan.size <= plan.group.target:
            return False
        _resize(cluster, plan.group, plan.size)
        for pod in plan.pods:
            events.record(cluster, pod, COMPONENT, "TriggeredScaleUp", plan.triggered)
        self._grown = now
        return True

    def _scale_down(self, cluster: Cluster, spec: Object, groups: list[Group], now: float) -> bool:
        down = spec.get("scaleDown") or {"enabled": True}
        idle = {
            node["metadata"]["uid"]: (one, node)
            for one in groups
            for node in autoscaler_plan.unneeded(one, cluster.objects("Pod"))
        }
        self._idle_since = {uid: self._idle_since.get(uid, now) for uid in idle} if down["enabled"] else {}
        if not self._idle_since or now - self._grown < seconds(down.get("delayAfterAdd"), 10 * MINUTES):
            return False
        patience = seconds(down.get("unneededTime"), 10 * MINUTES)
        due = [idle[uid] for uid, since in self._idle_since.items() if now - since >= patience]
        for one, node in due[:1]:
            taint = {"key": DELETED, "value": str(int(time.time())), "effect": "NoSchedule"}
            version = {"resourceVersion": node["metadata"]["resourceVersion"]}
            if cluster.patch(
                "Node",
                node["metadata"]["name"],
                None,
                {"metadata": version, "spec": {"taints": [*(node["spec"].get("taints") or []), taint]}},
            ):
                names = [
                    machine["metadata"]["name"]
                    for machine in one.machines
                    if machine["spec"].get("providerID") == node["spec"]["providerID"]
                ]
                self._shrink(cluster, one, names)
        return bool(due)

    def _shrink(self, cluster: Cluster, one: Group, machines: list[str]) -> None:
        """Mark Machines first, so that the MachineSet deletes exactly these."""
        for name in machines:
            cluster.patch(
                "Machine",
                name,
                MACHINE_NAMESPACE,
                {"metadata": {"annotations": dict.fromkeys((DELETE_FIRST, OLD_DELETE_FIRST), timestamp())}},
            )
        _resize(cluster, one, one.target - len(machines))

    def _report(self, cluster: Cluster, groups: list[Group]) -> None:
        idle = {
            one.id: sum(1 for node in one.nodes if node["metadata"]["uid"] in self._idle_since)
            for one in groups
        }
        report = status.report(groups, cluster.objects("Node"), self._backoff, idle)
        if not status.says(cluster.find("ConfigMap", status.NAME, MACHINE_NAMESPACE), report):
            cluster.apply(
                status.config_map(report, datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f +0000 UTC"))
            )


def _resize(cluster: Cluster, one: Group, size: int) -> None:
    cluster.patch("MachineSet", one.name, MACHINE_NAMESPACE, {"spec": {"replicas": size}}, "scale")


def _arguments(deployment: Object) -> list[str]:
    arguments: list[str] = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    return arguments
