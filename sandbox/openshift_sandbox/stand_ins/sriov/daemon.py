# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the config daemon and the device plugin of the SR-IOV operator on each node.

The daemon asks for a drain where functions that exist change, and for a reboot where the firmware or kernel
arguments do. The real one tells plugins to do so, and takes minutes for a node.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core import boots
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.machine_config.keys import says
from openshift_sandbox.stand_ins.sriov.names import (
    COMPLETE,
    CURRENT,
    DEFAULT,
    DESIRED,
    DRAIN,
    IDLE,
    NAMESPACE,
    REBOOT,
    STATE,
    annotation,
)
from openshift_sandbox.stand_ins.sriov.operator import offered
from openshift_sandbox.stand_ins.sriov.policies import (
    VFIO,
    applied,
    configures,
    differs,
    drains,
    reboots,
    restarted,
)

ARGUMENTS: t.Final = "sandbox.openshift/kernel-arguments"
IOMMU: t.Final = "intel_iommu=on iommu=pt"
FAILURE: t.Final = "sriov_sync_fails"
FAILURE_TEXT: t.Final = (
    "failed to create VFs: write /sys/class/net/{}/device/sriov_numvfs: cannot allocate memory"
)


class SriovDaemon(Reconciler):
    kinds = ("MachineConfig", "Node", "Pod", "SriovNetworkNodeState", "SriovOperatorConfig")

    def __init__(self) -> None:
        # The generation of each state that is done, by its uid.
        self._done: dict[str, int] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        config = cluster.find("SriovOperatorConfig", DEFAULT, NAMESPACE)
        states = cluster.objects("SriovNetworkNodeState", NAMESPACE)
        names = {state["metadata"]["name"] for state in states}
        for state in states:
            node = cluster.find("Node", state["metadata"]["name"])
            is_known = "syncStatus" in (state.get("status") or {}) and annotation(state, CURRENT)
            if config is not None and node is not None and is_known and configures(config, node):
                self._sync(cluster, config, state, node)
        for node in cluster.objects("Node"):
            if config is None or node["metadata"]["name"] not in names or not configures(config, node):
                self._offer(cluster, node, [])

    def _sync(self, cluster: Cluster, config: Object, state: Object, node: Object) -> None:
        uid, generation = state["metadata"]["uid"], int(state["metadata"]["generation"])
        spec, status = state.get("spec") or {}, state["status"]
        if self._done.get(uid) == generation and not _is_behind(spec, status):
            self._offer(cluster, node, spec.get("interfaces") or [])
            return
        if generation == 1 and not spec.get("interfaces"):
            self._done[uid] = generation
            return
        if trouble := on_node(cluster, FAILURE, node):
            name = next((one["name"] for one in spec.get("interfaces") or []), "ens1f0np0")
            text = str(trouble.get("text", FAILURE_TEXT.format(name)))
            self._write(cluster, state, {"syncStatus": "Failed", "lastSyncError": text})
            return
        self._write(cluster, state, {"syncStatus": "InProgress"})
        is_reboot = reboots(spec, status, self._has_iommu(cluster, node))
        current = annotation(state, CURRENT)
        asks = is_reboot or drains(spec, status)
        if (asks or current != IDLE) and not config["spec"].get("disableDrain") and current != COMPLETE:
            if current == IDLE:
                self._ask(cluster, state, node, REBOOT if is_reboot else DRAIN)
        elif is_reboot:
            self._reboot(cluster, state, node)
        elif cluster.due(uid, f"sriov_apply {generation}", cluster.delay("sriov_apply", 0.3)):
            self._apply(cluster, state, node)

    def _apply(self, cluster: Cluster, state: Object, node: Object) -> None:
        """Configure the adapters, then let the node go."""
        spec, status = state.get("spec") or {}, state["status"]
        wanted = {one["pciAddress"]: one for one in spec.get("interfaces") or []}
        found = [applied(wanted.get(one["pciAddress"]), one) for one in status.get("interfaces") or []]
        self._ask(cluster, state, node, IDLE)
        self._write(cluster, state, {"interfaces": found, "syncStatus": "Succeeded", "lastSyncError": ""})
        self._offer(cluster, node, spec.get("interfaces") or [])
        self._done[state["metadata"]["uid"]] = int(state["metadata"]["generation"])

    def _reboot(self, cluster: Cluster, state: Object, node: Object) -> None:
        """Start the node again, with the firmware and the arguments that the policies need."""
        if on_node(cluster, "no_reboot", node) or not cluster.due(
            state["metadata"]["uid"], f"sriov_reboot {state['metadata']['generation']}", 1.0
        ):
            return
        spec, status = state.get("spec") or {}, state["status"]
        wanted = {one["pciAddress"]: one for one in spec.get("interfaces") or []}
        found = [
            restarted(wanted[one["pciAddress"]], one) if one["pciAddress"] in wanted else one
            for one in status.get("interfaces") or []
        ]
        mode = (spec.get("system") or {}).get("rdmaMode") or (status.get("system") or {}).get("rdmaMode")
        self._write(cluster, state, {"interfaces": found, "system": {"rdmaMode": mode}})
        if any(group["deviceType"] == VFIO for one in wanted.values() for group in one["vfGroups"]):
            arguments = {"metadata": {"annotations": {ARGUMENTS: IOMMU}}}
            cluster.patch("Node", node["metadata"]["name"], None, arguments)
        boots.restart(cluster, node)

    def _has_iommu(self, cluster: Cluster, node: Object) -> bool:
        config = cluster.find("MachineConfig", says(node, "currentConfig") or "")
        arguments = ((config or {}).get("spec") or {}).get("kernelArguments") or []
        return "intel_iommu=on" in arguments or bool(annotation(node, ARGUMENTS))

    def _ask(self, cluster: Cluster, state: Object, node: Object, what: str) -> None:
        name = node["metadata"]["name"]
        for kind, obj, namespace, key in (
            ("Node", node, None, STATE),
            ("SriovNetworkNodeState", state, NAMESPACE, DESIRED),
        ):
            if annotation(obj, key) != what:
                cluster.patch(kind, name, namespace, {"metadata": {"annotations": {key: what}}})

    def _write(self, cluster: Cluster, state: Object, wanted: Object) -> None:
        live = cluster.find("SriovNetworkNodeState", state["metadata"]["name"], NAMESPACE) or state
        if any(live["status"].get(key) != value for key, value in wanted.items()):
            cluster.patch(
                "SriovNetworkNodeState", state["metadata"]["name"], NAMESPACE, {"status": wanted}, "status"
            )

    def _offer(self, cluster: Cluster, node: Object, interfaces: t.Sequence[Object]) -> None:
        known = (node.get("status") or {}).get("allocatable") or {}
        wanted = offered(node, interfaces)
        if any(known.get(name) != number for name, number in wanted.items()):
            body = {"status": {"capacity": wanted, "allocatable": wanted}}
            cluster.patch("Node", node["metadata"]["name"], None, body, "status")


def _is_behind(spec: Object, status: Object) -> bool:
    """Return whether an adapter is not as the state wants it, as after a new start of the daemon."""
    wanted = {one["pciAddress"]: one for one in spec.get("interfaces") or []}
    return any(differs(wanted.get(one["pciAddress"]), one) for one in status.get("interfaces") or [])
