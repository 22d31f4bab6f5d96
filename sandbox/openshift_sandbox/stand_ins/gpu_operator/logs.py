# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for what the GPU operator's containers print: an installation, Xids, and lines of a scenario.

Most of the real ones print far more. The trouble log_line adds lines.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.pod_logs import PodLogs
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node, place
from openshift_sandbox.stand_ins.gpu_operator import mig, output
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import MANAGER
from openshift_sandbox.stand_ins.gpu_operator.machines import output as machines
from openshift_sandbox.stand_ins.gpu_operator.node import lost_gpus
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import (
    CRASH,
    INIT_CRASH,
    app_of,
    crash_of,
    is_driver,
)
from openshift_sandbox.stand_ins.gpu_operator.rules import digest, versions
from openshift_sandbox.stand_ins.gpu_operator.upgrade import manager

PLUGIN: t.Final = "nvidia-device-plugin-daemonset"


class GpuLogs(Reconciler):
    kinds = ("ClusterPolicy", "MachineConfig", "Node", "Pod")

    def __init__(self) -> None:
        self._logs = PodLogs()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        pods = cluster.objects("Pod")
        for pod in pods:
            node = cluster.find("Node", pod["spec"].get("nodeName") or "")
            if node is None or pod["metadata"].get("deletionTimestamp"):
                continue
            lines = self._usual(cluster, pod, node)
            more = self._asked(cluster, pod, node)
            if lines or more:
                self._logs.write(
                    cluster, pod, lines, {name: [*lines, *texts] for name, texts in more.items()}
                )
            else:
                self._logs.forget(cluster, pod)
        self._logs.keep_only({pod["metadata"]["uid"] for pod in pods})

    def _usual(self, cluster: Cluster, pod: Object, node: Object) -> list[str]:
        if is_driver(pod):
            begun = INIT_CRASH not in (pod["metadata"].get("annotations") or {})
            return self._driver(cluster, pod, node) if begun else []
        if app_of(pod) == mig.MANAGER:
            problem = (pod["metadata"].get("annotations") or {}).get(mig.PROBLEM)
            return [str(problem)] if problem else []
        if found := machines.lines(cluster, pod, node):
            return found
        lost = lost_gpus(cluster, node) if app_of(pod) == PLUGIN else None
        if not lost or "xid" not in lost:
            return []
        devices = [
            output.device_uuid(node["metadata"]["name"], index) for index in range(int(lost.get("count", 1)))
        ]
        return [output.unhealthy(int(lost["xid"]), device) for device in devices]

    def _driver(self, cluster: Cluster, pod: Object, node: Object) -> list[str]:
        version = versions.driver(pod)
        kernel = node.get("status", {}).get("nodeInfo", {}).get("kernelVersion", "")
        if CRASH in (pod["metadata"].get("annotations") or {}):
            trouble = crash_of(cluster, pod, node) or on_node(cluster, "operand_crashloop", node) or {}
            return output.failed_driver_log(version, kernel, trouble.get("text", output.DRIVER_FAILURE))
        return output.driver_log(version, kernel)

    def _asked(self, cluster: Cluster, pod: Object, node: Object) -> dict[str, list[str]]:
        """Return the lines that troubles ask for, by container.

        A trouble without operand or container applies to every one.
        """
        found: dict[str, list[str]] = {}
        if INIT_CRASH in (pod["metadata"].get("annotations") or {}):
            found[MANAGER] = manager.log(node["metadata"]["name"], bool(digest.of(pod["spec"])))
        containers = [
            one["name"] for one in [*(pod["spec"].get("initContainers") or []), *pod["spec"]["containers"]]
        ]
        for one in cluster.troubles("log_line", **place(node)):
            if "operand" in one and not pod["metadata"]["name"].startswith(one["operand"]):
                continue
            for name in containers:
                if instance_types.of_node(node) and one.get("container", name) == name:
                    found.setdefault(name, []).extend(str(one["text"]).splitlines())
        return found
