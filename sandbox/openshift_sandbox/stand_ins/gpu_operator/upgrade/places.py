# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes with their driver pods, as the upgrade controller sees them."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core import conditions
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.gpu_operator.driver_owners import UPGRADE as STATE, labels
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import is_driver, node_of
from openshift_sandbox.stand_ins.gpu_operator.readiness import latest_revision

TOOLKIT: t.Final = {"openshift.driver-toolkit": "true"}
PLAIN: t.Final = "nvidia-driver-daemonset"


class Place(t.NamedTuple):
    """A node, its driver pod, and what the pod's DaemonSet wants; without a DaemonSet both are None."""

    node: Object
    pod: Object
    revision: str | None
    template: Object | None

    @property
    def name(self) -> str:
        return str(self.node["metadata"]["name"])

    @property
    def uid(self) -> str:
        return str(self.node["metadata"]["uid"])

    @property
    def state(self) -> str:
        return state(self.node)

    @property
    def is_orphan(self) -> bool:
        return not self.pod["metadata"].get("ownerReferences")

    @property
    def is_behind(self) -> bool:
        current = labels(self.pod).get("controller-revision-hash")
        return self.revision is not None and current != self.revision

    @property
    def is_stale(self) -> bool:
        return self.is_orphan or self.is_behind

    @property
    def is_cordoned(self) -> bool:
        return bool(self.node["spec"].get("unschedulable"))

    def annotated(self, key: str) -> bool:
        return (self.node["metadata"].get("annotations") or {}).get(key) == "true"


def state(node: Object) -> str:
    """Return the label of a node that says how far its upgrade is; empty when it has none."""
    return labels(node).get(STATE, "")


def is_unavailable(node: Object) -> bool:
    """Return whether maxUnavailable counts a node: it is cordoned or not Ready."""
    is_unready = conditions.find(node, "Ready").get("status", "True") != "True"
    return bool(node["spec"].get("unschedulable")) or is_unready


def find(cluster: Cluster, namespace: str, delegated: bool) -> list[Place] | None:
    """Return the nodes with a driver pod that counts; None while a DaemonSet has fewer pods than it wants.

    delegated: NVIDIADriver objects install the drivers.
    """
    revisions, pods = cluster.objects("ControllerRevision", namespace), cluster.objects("Pod", namespace)
    sets = {one["metadata"]["uid"]: one for one in cluster.objects("DaemonSet", namespace) if is_driver(one)}
    found = []
    for pod in pods:
        node = cluster.find("Node", node_of(pod) or "")
        if node is None or not is_driver(pod) or not (delegated or _is_seen(pod)):
            continue
        made_by = sets.get(_owner(pod))
        newest = latest_revision(revisions, made_by) if made_by else None
        template = made_by["spec"]["template"]["spec"] if made_by else None
        found.append(Place(node, pod, newest, template))
    return found if all(_is_scheduled(one, pods) for one in sets.values()) else None


def _owner(pod: Object) -> str:
    return str(next(iter(pod["metadata"].get("ownerReferences") or []), {"uid": ""})["uid"])


def _is_scheduled(daemon_set: Object, pods: list[Object]) -> bool:
    """Return whether a DaemonSet has its pods: a pod that is being deleted counts as one."""
    wanted = (daemon_set.get("status") or {}).get("desiredNumberScheduled")
    owned = [pod for pod in pods if _owner(pod) == daemon_set["metadata"]["uid"]]
    return wanted is None or wanted == len(owned)


def _is_seen(pod: Object) -> bool:
    """Return whether the upgrade of the policy's driver counts a pod.

    Its own, and others with the toolkit's label.
    """
    owners = pod["metadata"].get("ownerReferences") or []
    return any(owner["name"].startswith(PLAIN) for owner in owners) or TOOLKIT.items() <= labels(pod).items()
