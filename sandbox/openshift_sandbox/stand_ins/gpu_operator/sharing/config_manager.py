# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for config-manager: it chooses the configuration of the device plugin by a label of the node.

It runs in the pods of the device plugin, GPU feature discovery and the MPS daemon. Like the real one it tells
the program of a new choice, and never of a new content: a program reads the content when it starts. The real
kubelet needs up to 90 s until a mounted ConfigMap has its new content.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import (
    CRASH,
    INIT_CRASH,
    TOOLKIT,
    app_of,
    node_of,
    ready_on,
)
from openshift_sandbox.stand_ins.gpu_operator.sharing import containers, geometry, process


class ConfigManagers(Reconciler):
    kinds = ("ConfigMap", "Node", "Pod")

    def __init__(self) -> None:
        self._mounted: dict[str, Object] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        pods = [pod for pod in cluster.objects("Pod") if node_of(pod) and containers.main(pod)]
        if not pods:
            return
        toolkits = ready_on(cluster.objects("Pod"), lambda pod: app_of(pod) == TOOLKIT)
        for pod in pods:
            node = cluster.find("Node", str(node_of(pod)))
            if node is None:
                continue
            made_of = instance_types.of_node(node)
            cuts = geometry.cuts(node, made_of.gpus if made_of else 0)
            fails = bool(process.problem(pod, cuts))
            name, crashing = containers.config_map(pod), ""
            if name:
                crashing = self._manage(cluster, pod, node, name, toolkits, fails)
            self._crash(cluster, pod, containers.main(pod) if fails else crashing)
        uids = {pod["metadata"]["uid"] for pod in pods}
        self._mounted = {uid: data for uid, data in self._mounted.items() if uid in uids}

    def _manage(
        self, cluster: Cluster, pod: Object, node: Object, name: str, toolkits: set[str], fails: bool
    ) -> str:
        """Let the manager of a pod choose; return its container if it crashes, or an empty text.

        `fails`: the program ends at once; it reads the content again each time it starts.
        """
        found = cluster.find("ConfigMap", name, pod["metadata"]["namespace"])
        chosen = process.key(pod)
        if chosen is None:
            if node["metadata"]["name"] in toolkits:
                self._begin(cluster, pod, node, name, found)
            return ""
        data, wanted = self._content(cluster, pod, found), self._wanted(pod, node)
        if wanted == chosen:
            if fails and data.get(wanted, "") != process.text(pod):
                self._annotate(cluster, pod, process.read(wanted, data.get(wanted, "")))
            return ""
        if wanted and wanted not in data:
            return containers.SIDECAR
        if not on_node(cluster, "plugin_keeps_config", node):
            self._annotate(cluster, pod, process.read(wanted, data.get(wanted, "")))
        return ""

    def _begin(self, cluster: Cluster, pod: Object, node: Object, name: str, found: Object | None) -> None:
        """Choose before the program starts, which it does not while the ConfigMap or the key is missing."""
        if found is None:
            message = f'MountVolume.SetUp failed for volume "{name}" : configmap "{name}" not found'
            events.record(cluster, pod, "kubelet", "FailedMount", message, "Warning")
            return
        data, wanted = found.get("data") or {}, self._wanted(pod, node)
        missing = not data or bool(wanted and wanted not in data)
        if missing != (INIT_CRASH in (pod["metadata"].get("annotations") or {})):
            self._annotate(cluster, pod, {INIT_CRASH: "true" if missing else None})
        if not missing:
            self._mounted[pod["metadata"]["uid"]] = data
            self._annotate(cluster, pod, process.read(wanted, data.get(wanted, "")))

    def _wanted(self, pod: Object, node: Object) -> str:
        label = (node["metadata"].get("labels") or {}).get(containers.LABEL)
        return str(label or containers.env(pod, containers.SIDECAR, containers.DEFAULT))

    def _content(self, cluster: Cluster, pod: Object, found: Object | None) -> Object:
        """Return what is mounted in a pod: the kubelet writes a new content a while later."""
        uid, live = pod["metadata"]["uid"], (found or {}).get("data")
        mounted = self._mounted.setdefault(uid, live or {})
        if live is None or live == mounted:
            cluster.restart(uid, "config_map_mount")
        elif cluster.due(uid, "config_map_mount", 0.3):
            self._mounted[uid] = live
        return self._mounted[uid]

    def _crash(self, cluster: Cluster, pod: Object, container: str) -> None:
        """Let one container of a pod crash again and again, or none."""
        crashing = (pod["metadata"].get("annotations") or {}).get(CRASH)
        if crashing != "true" and (crashing or "") != container:
            self._annotate(cluster, pod, {CRASH: container or None})

    def _annotate(self, cluster: Cluster, pod: Object, changes: t.Mapping[str, str | None]) -> None:
        cluster.patch(
            "Pod",
            pod["metadata"]["name"],
            pod["metadata"]["namespace"],
            {"metadata": {"annotations": dict(changes)}},
        )
