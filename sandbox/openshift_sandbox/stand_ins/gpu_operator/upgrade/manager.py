# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""k8s-driver-manager, the init container of a driver pod: it unloads the driver of the pod before.

It cannot while pods hold GPUs, and then ends with an error again and again. Where the operator upgrades
drivers by itself, the manager evicts no pod; else it does. Compared with the source of v0.12.0 (2026-09): the
real one stops the operands on the node, so pods that come back meanwhile get no GPU; here they get one, and
do not matter on a node whose driver the upgrade controller restarts. Pods that made the manager fail before
still do there. The real one also drains the node when ENABLE_AUTO_DRAIN says so. Here a node knows its driver
only from an earlier pod of the same DaemonSet.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.drain import evict
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.gpu_operator.driver_owners import UPGRADE as STATE
from openshift_sandbox.stand_ins.gpu_operator.rules import digest
from openshift_sandbox.stand_ins.gpu_operator.rules.devices import holders
from openshift_sandbox.stand_ins.gpu_operator.rules.upgrade_states import RESTART

ENABLED: t.Final = "nvidia.com/gpu-driver-upgrade-enabled"
IN_USE: t.Final = "Could not unload NVIDIA driver kernel modules, driver is in use"


class Loaded(t.NamedTuple):
    """The driver that a node runs: since which boot, from which DaemonSet, and installed with what."""

    boot: str
    daemon_set: str
    digest: str


def loaded(pod: Object, node: Object) -> Loaded:
    """Return what a node runs once a driver pod is Ready."""
    owners = pod["metadata"].get("ownerReferences") or [{"uid": ""}]
    boot = (node.get("status") or {}).get("nodeInfo", {}).get("bootID", "")
    return Loaded(str(boot), str(owners[0]["uid"]), digest.of(pod["spec"]))


def log(node: str, has_digest: bool) -> list[str]:
    """Return what the manager prints when it cannot unload the driver."""
    why = (
        "has been superseded by the GPU Operator's upgrade policy"
        if has_digest
        else "is disabled by the upgrade policy"
    )
    return [
        f"Auto eviction of GPU pods on node {node} {why}",
        f"Auto drain of the node {node} {why}",
        "Unloading NVIDIA driver kernel modules...",
        IN_USE,
    ]


class DriverManagers:
    """The managers of all nodes, and what each node has loaded."""

    def __init__(self) -> None:
        self._loaded: dict[str, Loaded] = {}
        self._passed: dict[str, str] = {}
        # Driver pod -> the pods that made its manager fail.
        self._blocking: dict[str, set[str]] = {}

    def started(self, pod: Object, node: Object) -> None:
        """Note the driver of a pod that is Ready."""
        self._loaded[node["metadata"]["uid"]] = loaded(pod, node)
        self._passed[node["metadata"]["uid"]] = pod["metadata"]["uid"]

    def fails(self, cluster: Cluster, pod: Object, node: Object) -> bool:
        """Return whether the manager in a driver pod cannot unload the driver before; evict pods if it may.

        A manager that has ended well stays so.
        """
        name, uid, own = node["metadata"]["name"], node["metadata"]["uid"], pod["metadata"]["uid"]
        if self._passed.get(uid) == own:
            return False
        before, now = self._loaded.get(uid), loaded(pod, node)
        in_place = before == now and bool(now.digest)
        others = before is None or (before.boot, before.daemon_set) != (now.boot, now.daemon_set)
        using = holders(cluster.objects("Pod"), name)
        blocking = self._blocking.setdefault(own, set())
        if (node["metadata"].get("labels") or {}).get(STATE) == RESTART:
            using = [one for one in using if one["metadata"]["uid"] in blocking]
        if others or in_place or not using:
            self._passed[uid] = own
            return False
        blocking.update(one["metadata"]["uid"] for one in using)
        if (node["metadata"].get("annotations") or {}).get(ENABLED) == "true":
            return True
        if cluster.due(own, "eviction_retry", 0.3):
            cluster.restart(own, "eviction_retry")
            for one in using:
                if not one["metadata"].get("deletionTimestamp"):
                    evict(cluster, one)
        return True
