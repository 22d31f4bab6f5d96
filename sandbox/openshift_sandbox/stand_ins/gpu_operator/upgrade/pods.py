# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods that a node waits for, or loses, before its driver pod restarts.

Compared with the source of v26.7.0 (2026-11): one pod that kubectl's drain would refuse to delete keeps all
of them. When pods could not be deleted, the drain follows if the policy enables it; without it the upgrade of
the node has failed.
"""

from __future__ import annotations

import math
import time
import typing as t

from openshift_sandbox.stand_ins.core.drain import MIRROR, evict, evictable
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.core.selectors import matches_text
from openshift_sandbox.stand_ins.gpu_operator.driver_owners import labels
from openshift_sandbox.stand_ins.gpu_operator.rules.devices import ENDED, counted
from openshift_sandbox.stand_ins.gpu_operator.rules.upgrade_states import DRAIN, FAILED, JOBS, PODS, RESTART
from openshift_sandbox.stand_ins.gpu_operator.upgrade.places import Place

WAITS_SINCE: t.Final = "nvidia.com/gpu-driver-upgrade-wait-for-pod-completion-start-time"
KEPT: t.Final = "nvidia.com/gpu-driver-upgrade-drain.skip!=true"

# Node -> the pods that its step found first. Pods that come later are not evicted, nor waited for.
Found = dict[str, set[str]]


def after_jobs(cluster: Cluster, one: Place, rules: Object, _found: Found) -> str:
    """Return the label of a node that waits for pods of the policy's selector to end.

    With a timeout, an annotation of the node says since when it waits.
    """
    wanted = rules.get("waitForCompletion") or {}
    selector, timeout = wanted.get("podSelector") or "", float(wanted.get("timeoutSeconds") or 0)
    left = [
        pod
        for pod in cluster.objects("Pod")
        if selector
        and pod["spec"].get("nodeName") == one.name
        and pod["status"].get("phase") in ("Running", "Pending")
        and matches_text(selector, labels(pod))
    ]
    known = (one.node["metadata"].get("annotations") or {}).get(WAITS_SINCE)
    if left and not timeout:
        return JOBS
    if left and not cluster.due(one.uid, "driver_upgrade_jobs", timeout):
        if known is None:
            _annotate(cluster, one, str(int(time.time())))
        return JOBS
    if known is not None:
        _annotate(cluster, one, None)
    return PODS


def after_deletion(cluster: Cluster, one: Place, rules: Object, found: Found) -> str:
    """Evict the pods that name a GPU; return the next label of the node."""
    deletion = rules.get("podDeletion") or {}
    pods = _first(found, one, counted(cluster.objects("Pod"), one.name))
    failed = DRAIN if (rules.get("drain") or {}).get("enable") else FAILED
    return _emptied(cluster, one, deletion, pods, "pod_deletion", PODS, failed)


def after_drain(cluster: Cluster, one: Place, rules: Object, found: Found) -> str:
    """Evict all pods that the drain selects; return the next label of the node."""
    drain = rules.get("drain") or {}
    if not drain.get("enable"):
        return RESTART
    selector = ",".join(filter(None, (drain.get("podSelector"), KEPT)))
    pods = [
        pod
        for pod in cluster.objects("Pod")
        if pod["spec"].get("nodeName") == one.name and evictable(pod) and matches_text(selector, labels(pod))
    ]
    return _emptied(cluster, one, drain, _first(found, one, pods), "driver_upgrade_drain", DRAIN, FAILED)


def _first(found: Found, one: Place, pods: list[Object]) -> list[Object]:
    """Return those of the pods that the step found when it began with the node."""
    uids = found.setdefault(one.uid, {pod["metadata"]["uid"] for pod in pods})
    return [pod for pod in pods if pod["metadata"]["uid"] in uids]


def _emptied(
    cluster: Cluster, one: Place, rules: Object, pods: list[Object], step: str, state: str, failed: str
) -> str:
    """Evict pods; return the label `failed` when one may not be deleted, or has not left in time."""
    if not pods:
        return RESTART
    seconds = float(rules.get("timeoutSeconds", 300)) or math.inf
    refused = [pod for pod in pods if _is_refused(pod, rules)]
    if refused or cluster.due(one.uid, step, seconds):
        return failed
    if cluster.due(one.uid, "eviction_retry", 0.3):
        cluster.restart(one.uid, "eviction_retry")
        for pod in pods:
            if not pod["metadata"].get("deletionTimestamp"):
                evict(cluster, pod)
    return state


def _is_refused(pod: Object, rules: Object) -> bool:
    """Return whether kubectl's drain refuses a pod, or passes it over: it is static or of a DaemonSet."""
    owners = pod["metadata"].get("ownerReferences") or []
    if pod["metadata"].get("deletionTimestamp") or pod["status"].get("phase") in ENDED:
        return False
    if MIRROR in (pod["metadata"].get("annotations") or {}):
        return True
    if any(owner.get("kind") == "DaemonSet" for owner in owners):
        return True
    data = any("emptyDir" in volume for volume in pod["spec"].get("volumes") or [])
    return (not owners and not rules.get("force")) or (data and not rules.get("deleteEmptyDir"))


def _annotate(cluster: Cluster, one: Place, value: str | None) -> None:
    cluster.patch("Node", one.name, None, {"metadata": {"annotations": {WAITS_SINCE: value}}})
