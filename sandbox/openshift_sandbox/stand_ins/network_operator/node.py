# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the network operator's pods on a node: driver build, labels, allocatable devices.

The real driver takes minutes to build.
"""

from __future__ import annotations

import json
import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.pod_logs import PodLogs
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import (
    CRASH,
    app_of,
    initialized,
    node_of,
    ready_on,
)
from openshift_sandbox.stand_ins.network_operator.daemon_sets import DRIVER_LABEL, PRESENT, RDMA, SRIOV, WAIT
from openshift_sandbox.stand_ins.network_operator.operator import NAME

BUILD_FAILURE: t.Final = (
    "cat: /run/mellanox/drivers/.driver-ready: No such file or directory; cannot access "
    "'/run/mellanox/drivers/.driver-ready'"
)
# The prefix of a resource where the configuration names none.
PREFIXES: t.Final = {RDMA: "rdma", SRIOV: "nvidia.com"}
_PLUGINS: t.Final = tuple(PREFIXES)


def is_nic_driver(pod: Object) -> bool:
    """Return whether a pod is a driver pod of the network operator."""
    return DRIVER_LABEL in (pod["metadata"].get("labels") or {})


def devices(app: str, config: str, nic: instance_types.Nic, ports: int) -> dict[str, str]:
    """Return the number of each resource that a plugin with this configuration offers on a node with these
    ports.
    """
    data = json.loads(config or "{}")
    offered = {}
    for entry in data.get("configList" if app == RDMA else "resourceList") or []:
        selectors = entry.get("selectors") or {}
        fits = nic.pci_vendor in (selectors.get("vendors") or [nic.pci_vendor]) and nic.pci_device in (
            selectors.get("deviceIDs") or [nic.pci_device]
        )
        number = (int(entry.get("rdmaHcaMax", 1)) if app == RDMA else ports) if fits else 0
        offered[f"{entry.get('resourcePrefix') or PREFIXES[app]}/{entry['resourceName']}"] = str(number)
    return offered


def policy_of(policies: t.Iterable[Object], key: str, node: Object) -> Object | None:
    """Return the policy that has a part for the node; a NicNodePolicy selects nodes."""
    labels = node["metadata"].get("labels") or {}
    for policy in policies:
        own = policy["spec"].get("nodeSelector") or {}
        if key in policy["spec"] and own.items() <= labels.items():
            return policy
    return None


class NicNode(Reconciler):
    kinds = ("NicClusterPolicy", "NicNodePolicy", "Node", "Pod")

    def __init__(self) -> None:
        self._logs = PodLogs()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        policy = cluster.find("NicClusterPolicy", NAME)
        policies = [*([policy] if policy else []), *cluster.objects("NicNodePolicy")]
        pods = [
            pod for pod in cluster.objects("Pod") if is_nic_driver(pod) or app_of(pod).startswith(_PLUGINS)
        ]
        self._logs.keep_only({pod["metadata"]["uid"] for pod in pods})
        for pod in pods:
            node = cluster.find("Node", node_of(pod) or "")
            if node and is_nic_driver(pod):
                self._drive(cluster, pod, node)
        loaded = ready_on(pods, is_nic_driver)
        plugins = {
            app: ready_on([pod for pod in pods if app_of(pod).startswith(app)], bool) for app in PREFIXES
        }
        for node in cluster.objects("Node"):
            labels = node["metadata"].get("labels") or {}
            made_of = instance_types.of_node(node)
            if made_of is None or made_of.nic is None or labels.get(PRESENT) != "true":
                continue
            is_loaded = node["metadata"]["name"] in loaded
            driver = policy_of(policies, "ofedDriver", node)
            wanted = str(driver is not None and not is_loaded).lower() if driver or policy else None
            self._label(cluster, node, wanted)
            for app, key in ((RDMA, "rdmaSharedDevicePlugin"), (SRIOV, "sriovDevicePlugin")):
                serving = policy_of(policies, key, node)
                config = str((((serving or {}).get("spec") or {}).get(key) or {}).get("config") or "")
                running = node["metadata"]["name"] in plugins[app]
                self._advertise(cluster, node, devices(app, config, made_of.nic, made_of.nics), running)

    def _drive(self, cluster: Cluster, pod: Object, node: Object) -> None:
        annotations = pod["metadata"].get("annotations") or {}
        trouble = on_node(cluster, "nic_driver_build", node)
        if trouble and CRASH not in annotations and initialized(pod):
            self._logs.write(
                cluster, pod, ["Starting NVIDIA DOCA driver build", str(trouble.get("text", BUILD_FAILURE))]
            )
            self._annotate(cluster, pod, {CRASH: "true", HOLD: None})
        elif CRASH in annotations and not trouble:
            self._annotate(cluster, pod, {CRASH: None})
        elif (
            HOLD in annotations
            and not trouble
            and initialized(pod)
            and cluster.due(pod["metadata"]["uid"], "nic_driver", 1.0)
        ):
            self._annotate(cluster, pod, {HOLD: None})

    def _label(self, cluster: Cluster, node: Object, wanted: str | None) -> None:
        """Write the label; remove it with the policies. Without a driver nothing waits."""
        if (node["metadata"].get("labels") or {}).get(WAIT) != wanted:
            cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"labels": {WAIT: wanted}}})

    def _advertise(self, cluster: Cluster, node: Object, offered: dict[str, str], running: bool) -> None:
        """Write the resources of a node: a kubelet that once knew a plugin keeps its resource at zero."""
        known = (node.get("status") or {}).get("allocatable") or {}
        wanted = {
            name: number if running else "0" for name, number in offered.items() if running or name in known
        }
        if any(known.get(name) != number for name, number in wanted.items()):
            cluster.patch(
                "Node",
                node["metadata"]["name"],
                None,
                {"status": {"capacity": wanted, "allocatable": wanted}},
                "status",
            )

    def _annotate(self, cluster: Cluster, pod: Object, changes: dict[str, str | None]) -> None:
        cluster.patch(
            "Pod",
            pod["metadata"]["name"],
            pod["metadata"]["namespace"],
            {"metadata": {"annotations": changes}},
        )
