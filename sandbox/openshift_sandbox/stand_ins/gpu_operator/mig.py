# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the MIG manager: it turns the label nvidia.com/mig.config into a layout and a state.

The real one splits GPUs, stops their clients and may reboot the node.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.loop import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import app_of, ready_on

MANAGER: t.Final = "nvidia-mig-manager"
CONFIG: t.Final = "nvidia.com/mig.config"
STATE: t.Final = "nvidia.com/mig.config.state"
LAYOUT: t.Final = "sandbox.openshift/mig-layout"
"""Annotation of a Node: the layout of its GPUs."""
WHOLE: t.Final = ("", "all-disabled")
# Only uniform layouts: how many slices of one kind a GPU has.
PER_GPU: t.Final = {"1g": 7, "2g": 3, "3g": 2, "4g": 1, "7g": 1}


def layout_of(node: Object) -> str:
    """Return the layout of the GPUs of a node."""
    return str((node["metadata"].get("annotations") or {}).get(LAYOUT, ""))


def offered(layout: str, gpus: int, strategy: str) -> dict[str, int]:
    """Return what the device plugin offers of a number of GPUs that are all split alike."""
    profile = layout.removeprefix("all-")
    if layout in WHOLE or strategy not in ("single", "mixed"):
        return {"nvidia.com/gpu": gpus}
    slices = gpus * PER_GPU[profile.partition(".")[0]]
    return (
        {"nvidia.com/gpu": slices}
        if strategy == "single"
        else {"nvidia.com/gpu": 0, f"nvidia.com/mig-{profile}": slices}
    )


class MigManager(Reconciler):
    kinds = ("Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        running = ready_on(cluster.objects("Pod"), lambda pod: app_of(pod) == MANAGER)
        for node in cluster.objects("Node"):
            labels, made_of = node["metadata"].get("labels") or {}, instance_types.of_node(node)
            wanted = labels.get(CONFIG)
            if (
                wanted is None
                or node["metadata"]["name"] not in running
                or made_of is None
                or not (made_of.gpu and made_of.gpu.mig_capable)
            ):
                continue
            if on_node(cluster, "mig_stuck", node):
                if labels.get(STATE) != "pending":
                    self._write(cluster, node, "pending", None)
                continue
            bad = on_node(cluster, "mig_fails", node) or (
                wanted not in WHOLE and wanted.removeprefix("all-").partition(".")[0] not in PER_GPU
            )
            self._cut(cluster, node, wanted, labels.get(STATE), bool(bad))

    def _cut(self, cluster: Cluster, node: Object, wanted: str, state: str | None, bad: bool) -> None:
        uid = node["metadata"]["uid"]
        done = state == "failed" if bad else state == "success" and layout_of(node) == wanted
        if done:
            cluster.restart(uid, "mig_config")
        elif state != "pending":
            self._write(cluster, node, "pending", None)
        elif cluster.due(uid, "mig_config", 0.3):
            self._write(cluster, node, "failed" if bad else "success", None if bad else wanted)

    def _write(self, cluster: Cluster, node: Object, state: str, layout: str | None) -> None:
        body: Object = {"metadata": {"labels": {STATE: state}}}
        if layout is not None:
            body["metadata"]["annotations"] = {LAYOUT: layout}
        cluster.patch("Node", node["metadata"]["name"], None, body)
