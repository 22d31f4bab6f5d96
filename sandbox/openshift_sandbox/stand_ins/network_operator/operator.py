# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the NVIDIA Network Operator: it turns a NicClusterPolicy into DaemonSets and a status.

A NicNodePolicy does so for some nodes. The real one also serves other kinds.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.conditions import condition, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.network_operator import daemon_sets
from openshift_sandbox.stand_ins.network_operator.daemon_sets import APPLIED, STATES

OPERATOR: t.Final = "nvidia-network-operator-controller-manager"
NAME: t.Final = "nic-cluster-policy"
# This release added conditions; earlier ones have only appliedStates.
CONDITIONS_SINCE: t.Final = (26, 7)
CONDITIONS: t.Final = {
    "state-OFED": "OFEDDriverReady",
    "state-SRIOV-device-plugin": "SRIOVDevicePluginReady",
    "state-RDMA-device-plugin": "RDMASharedDevicePluginReady",
    "state-nv-ipam-cni": "NVIPAMReady",
    "state-nic-feature-discovery": "NICFeatureDiscoveryReady",
    "state-ipoib-cni": "IPoIBCNIReady",
}
NODE_STATES: t.Final = {name: one for name, one in STATES.items() if one[0] in daemon_sets.OF_NODES}


def operator_of(cluster: Cluster) -> Object | None:
    """Return the operator's Deployment while it is Available."""
    found = [one for one in cluster.objects("Deployment") if one["metadata"]["name"] == OPERATOR]
    return next((one for one in found if cluster.available(OPERATOR, one["metadata"]["namespace"])), None)


class NetworkOperator(Reconciler):
    kinds = ("NicClusterPolicy", "NicNodePolicy", "Deployment", "DaemonSet", "ImageStream", "Node")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        deployment = operator_of(cluster)
        if deployment is None:
            return
        is_new = version_of(deployment) >= CONDITIONS_SINCE
        for policy in cluster.objects("NicNodePolicy"):
            self._of_nodes(cluster, policy, deployment["metadata"]["namespace"], is_new)
        for policy in cluster.objects("NicClusterPolicy"):
            name = policy["metadata"]["name"]
            if policy["metadata"].get("deletionTimestamp") or not cluster.due(
                policy["metadata"]["uid"], "network_operator", 0.3
            ):
                continue
            if name != NAME:
                reason = (
                    f"Unsupported NicClusterPolicy instance {name}. Only instance with predefined name "
                    f"{NAME} is supported"
                )
                self._write(cluster, policy, {"state": "ignore", "reason": reason})
                continue
            found = {
                state: self._state(cluster, policy, key, daemon_set, deployment["metadata"]["namespace"])
                for state, (key, daemon_set) in STATES.items()
            }
            if cluster.trouble("nicclusterpolicy_lies"):
                found = {
                    state: ("ready" if how != "ignore" else how, "")
                    for state, (how, _message) in found.items()
                }
            self._write(cluster, policy, status(policy, found, is_new))

    def _of_nodes(self, cluster: Cluster, policy: Object, namespace: str, is_new: bool) -> None:
        """Apply a NicNodePolicy, unless another one selects a node of it too."""
        if policy["metadata"].get("deletionTimestamp") or not cluster.due(
            policy["metadata"]["uid"], "network_operator", 0.3
        ):
            return
        if problem := overlap(cluster.objects("NicNodePolicy"), cluster.objects("Node")):
            self._write(cluster, policy, {"state": "error", "reason": problem})
            return
        found = {
            state: self._state(cluster, policy, key, daemon_set, namespace)
            for state, (key, daemon_set) in NODE_STATES.items()
        }
        self._write(cluster, policy, status(policy, found, is_new))

    def _state(
        self, cluster: Cluster, policy: Object, key: str, daemon_set: str, namespace: str
    ) -> tuple[str, str]:
        """Return the state of one component, as appliedStates has it."""
        if not key or daemon_sets.part_of(policy, key) is None:
            self._remove(cluster, policy, key, daemon_set, namespace, set())
            return "ignore", ""
        if key == "ofedDriver" and not cluster.served("ImageStream"):
            return "error", 'no matches for kind "ImageStream" in version "image.openshift.io/v1"'
        try:
            wanted = daemon_sets.daemon_sets(policy, key, daemon_set, namespace, cluster.objects("Node"))
        except daemon_sets.ImageError as error:
            what = "failed to create k8s objects from manifest: failed to validate"
            return "error", f"{what} {key.rpartition('.')[2]} image spec: {error}"
        self._remove(cluster, policy, key, daemon_set, namespace, {one["metadata"]["name"] for one in wanted})
        applied = [self._applied(cluster, one) for one in wanted]
        return ("ready", "") if all(daemon_set_ready(one) for one in applied) else ("notReady", "")

    def _applied(self, cluster: Cluster, wanted: Object) -> Object:
        live = cluster.find("DaemonSet", wanted["metadata"]["name"], wanted["metadata"]["namespace"])
        if (
            live
            and (live["metadata"].get("annotations") or {}).get(APPLIED)
            == wanted["metadata"]["annotations"][APPLIED]
        ):
            return live
        return cluster.apply(wanted)

    def _remove(
        self, cluster: Cluster, policy: Object, key: str, name: str, namespace: str, keep: set[str]
    ) -> None:
        """Delete DaemonSets of components that are not wanted, and of kernels that no node has."""
        for live in cluster.objects("DaemonSet", namespace):
            metadata = live["metadata"]
            ours = any(
                owner["uid"] == policy["metadata"]["uid"] for owner in metadata.get("ownerReferences", [])
            )
            driver = daemon_sets.DRIVER_LABEL in (metadata.get("labels") or {})
            same = driver if key == "ofedDriver" else metadata["name"] == name + daemon_sets.suffix(policy)
            if ours and same and metadata["name"] not in keep and not metadata.get("deletionTimestamp"):
                cluster.delete("DaemonSet", metadata["name"], namespace)

    def _write(self, cluster: Cluster, policy: Object, wanted: Object) -> None:
        before = policy.get("status") or {}
        if any(before.get(field) != value for field, value in wanted.items()):
            cluster.patch(policy["kind"], policy["metadata"]["name"], None, {"status": wanted}, "status")


def daemon_set_ready(daemon_set: Object) -> bool:
    """Return whether the numbers say ready, for any generation; zero wanted pods are not counted yet."""
    status = daemon_set.get("status") or {}
    wanted, there = status.get("desiredNumberScheduled", 0), status.get("numberAvailable", 0)
    return bool(wanted and wanted == there == status.get("updatedNumberScheduled", 0))


def version_of(deployment: Object) -> tuple[int, ...]:
    """Return the release, by the operator's image."""
    tag = (
        deployment["spec"]["template"]["spec"]["containers"][0]["image"].rpartition(":")[2].removeprefix("v")
    )
    return tuple(int(part) for part in tag.split(".")[:2])


def status(policy: Object, found: dict[str, tuple[str, str]], with_conditions: bool) -> Object:
    """Return the status of a policy."""
    states = [how for how, _message in found.values()]
    state = "error" if "error" in states else "notReady" if "notReady" in states else "ready"
    applied = [
        {"name": name, "state": how} | ({"message": message} if message else {})
        for name, (how, message) in found.items()
    ]
    wanted: Object = {"state": state, "reason": "", "appliedStates": applied}
    if with_conditions:
        known = (policy.get("status") or {}).get("conditions") or []
        asked = {name: entry for name, entry in found.items() if entry[0] != "ignore"}
        ready = condition("Ready", state == "ready", *_WHOLE[state])
        parts = [
            condition(CONDITIONS[name], how == "ready", _REASONS[how], message)
            for name, (how, message) in asked.items()
        ]
        of = {"observedGeneration": policy["metadata"].get("generation", 1)}
        wanted["conditions"] = merged(known, [one | of for one in (ready, *parts)])
    return wanted


def overlap(policies: t.Sequence[Object], nodes: t.Sequence[Object]) -> str:
    """Return which nodes several NicNodePolicies select, as the operator says it."""
    found = {
        node["metadata"]["name"]: [
            one["metadata"]["name"]
            for one in policies
            if (one["spec"].get("nodeSelector") or {}).items()
            <= (node["metadata"].get("labels") or {}).items()
        ]
        for node in nodes
    }
    parts = [
        f'node "{name}" is selected by policies: [{", ".join(sorted(names))}]'
        for name, names in sorted(found.items())
        if len(names) > 1
    ]
    return f"node selector overlap detected: {'; '.join(parts)}" if parts else ""


_WHOLE: t.Final = {
    "ready": ("AllComponentsReady", ""),
    "notReady": ("ComponentsNotReady", "One or more components are not yet ready"),
    "error": ("ComponentError", "One or more components are in error state"),
}
_REASONS: t.Final = {"ready": "ComponentReady", "notReady": "ComponentNotReady", "error": "ComponentError"}
