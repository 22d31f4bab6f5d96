# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the controller of ClusterResourceQuotas: it counts the pods of all selected namespaces.

The real one counts every kind of object, and an admission plugin of OpenShift's API server refuses what is
too much. Here only requests and limits of pods are counted, and nothing is refused.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.quantities import amount
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches

ENDED: t.Final = ("Succeeded", "Failed")


def is_selected(selector: Object, namespace: Object) -> bool:
    """Return whether the namespace has all labels and all annotations of the selector."""
    metadata = namespace["metadata"]
    annotations = metadata.get("annotations") or {}
    return matches(selector.get("labels") or {}, metadata.get("labels") or {}) and all(
        annotations.get(key) == value for key, value in (selector.get("annotations") or {}).items()
    )


def used(hard: t.Iterable[str], pods: t.Iterable[Object]) -> dict[str, str]:
    """Return what pods that have not ended use of each limit."""
    live = [pod for pod in pods if (pod.get("status") or {}).get("phase") not in ENDED]
    return {key: _used(key, live) for key in hard}


def _used(key: str, pods: list[Object]) -> str:
    if key in ("pods", "count/pods"):
        return str(len(pods))
    kind, _dot, resource = key.partition(".")
    if kind not in ("requests", "limits"):
        kind, resource = "requests", key
    total = sum(
        amount(((one.get("resources") or {}).get(kind) or {}).get(resource, "0"))
        for pod in pods
        for one in pod["spec"]["containers"]
    )
    return f"{total:g}"


class ClusterQuotas(Reconciler):
    kinds = ("ClusterResourceQuota", "Namespace", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if not cluster.served("ClusterResourceQuota"):
            return
        for quota in cluster.objects("ClusterResourceQuota"):
            status = self._status(cluster, quota["spec"])
            if quota.get("status") != status:
                before = (quota.get("status") or {}).get("total") or {}
                total = {
                    key: {**dict.fromkeys(before.get(key) or {}), **value}
                    for key, value in status["total"].items()
                }
                body = {"status": {**status, "total": total}}
                name = quota["metadata"]["name"]
                cluster.patch("ClusterResourceQuota", name, None, body, subresource="status")

    def _status(self, cluster: Cluster, spec: Object) -> Object:
        hard = spec["quota"].get("hard") or {}
        spaces = sorted(
            one["metadata"]["name"]
            for one in cluster.objects("Namespace")
            if is_selected(spec["selector"], one)
        )
        pods = {space: cluster.objects("Pod", space) for space in spaces}
        everything = [pod for space in spaces for pod in pods[space]]
        return {
            "total": {"hard": hard, "used": used(hard, everything)},
            "namespaces": [
                {"namespace": space, "status": {"hard": hard, "used": used(hard, pods[space])}}
                for space in spaces
            ],
        }
