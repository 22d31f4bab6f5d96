# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a host that a privileged pod tells to reboot: `chroot /host systemctl reboot`.

It looks for that command, and for the boot id that the pod's script compares first. The real one runs any
script; the pod is there afterwards, and ends at once because the boot id is another one. Here it is deleted.
"""

from __future__ import annotations

from openshift_sandbox.stand_ins.core.boots import restart
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node

COMMAND = "systemctl reboot"


class Reboots(Reconciler):
    kinds = ("Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for pod in cluster.objects("Pod"):
            node = cluster.find("Node", pod["spec"].get("nodeName") or "")
            if node is None or not asks(pod, node) or pod["metadata"].get("deletionTimestamp"):
                continue
            uid = pod["metadata"]["uid"]
            if not on_node(cluster, "no_reboot", node) and cluster.due(uid, "pod_reboot", 1.0):
                restart(cluster, node)


def asks(pod: Object, node: Object) -> bool:
    """Return whether the pod is privileged and reboots this boot of the node."""
    for container in pod["spec"]["containers"]:
        text = " ".join(container.get("command") or [])
        if (container.get("securityContext") or {}).get("privileged") and COMMAND in text:
            return str(node["status"]["nodeInfo"]["bootID"]) in text
    return False
