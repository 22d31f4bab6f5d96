# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for somebody who edits labels of nodes and DaemonSets by hand (node_label, operand_unwanted).

The edit ends with the trouble; the real person forgets it.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import place

NOWHERE: t.Final[Object] = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "example.com/no-node-has-this", "operator": "Exists"}]}
            ],
        }
    }
}


class ForeignEdits(Reconciler):
    kinds = ("DaemonSet", "Node")

    def __init__(self) -> None:
        self._labels: dict[tuple[str, str], str | None] = {}
        self._unwanted: set[tuple[str, str]] = set()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        self._label_nodes(cluster)
        self._keep_away(cluster)

    def _label_nodes(self, cluster: Cluster) -> None:
        wanted: dict[tuple[str, str], str] = {}
        for node in cluster.objects("Node"):
            made_of = instance_types.of_node(node)
            if made_of and made_of.gpus:
                wanted |= {
                    (node["metadata"]["name"], str(one["key"])): str(one["value"])
                    for one in cluster.troubles("node_label", **place(node))
                }
        for (name, key), value in wanted.items():
            live = cluster.find("Node", name)
            labels = (live["metadata"].get("labels") or {}) if live else {}
            if live is not None and labels.get(key) != value:
                self._labels.setdefault((name, key), labels.get(key))
                self._write(cluster, name, key, value)
        for name, key in set(self._labels) - set(wanted):
            before = self._labels.pop((name, key))
            if cluster.find("Node", name):
                self._write(cluster, name, key, before)

    def _keep_away(self, cluster: Cluster) -> None:
        for daemon_set in cluster.objects("DaemonSet"):
            name, namespace = daemon_set["metadata"]["name"], daemon_set["metadata"]["namespace"]
            unwanted = any(one.get("operand") == name for one in cluster.troubles("operand_unwanted"))
            edited = (name, namespace) in self._unwanted
            if unwanted == edited:
                continue
            self._unwanted ^= {(name, namespace)}
            cluster.patch(
                "DaemonSet",
                name,
                namespace,
                {"spec": {"template": {"spec": {"affinity": NOWHERE if unwanted else None}}}},
            )

    def _write(self, cluster: Cluster, node: str, key: str, value: str | None) -> None:
        cluster.patch("Node", node, None, {"metadata": {"labels": {key: value}}})
