# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a colleague who taints nodes by hand (node_taint).

The real one tells nobody.
"""

from __future__ import annotations

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node


class ForeignTaints(Reconciler):
    kinds = ("Node",)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for node in cluster.objects("Node"):
            made_of = instance_types.of_node(node)
            trouble = on_node(cluster, "node_taint", node)
            if trouble is None or made_of is None or not made_of.gpus:
                continue
            wanted = {"key": trouble["key"], "effect": trouble.get("effect", "NoSchedule")}
            wanted |= {"value": trouble["value"]} if "value" in trouble else {}
            taints = node["spec"].get("taints") or []
            if not any(one["key"] == wanted["key"] and one["effect"] == wanted["effect"] for one in taints):
                version = node["metadata"]["resourceVersion"]
                body = {"metadata": {"resourceVersion": version}, "spec": {"taints": [*taints, wanted]}}
                cluster.patch("Node", node["metadata"]["name"], None, body)
