# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a colleague who limits a namespace by hand (namespace_quota).

The same colleague edits a quota so that it counts no pod any more (quota_voids_itself).

The real one tells nobody. This one edits each quota once; the real one may do it again.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import MERGE, resource_path
from openshift_sandbox.stand_ins.core.kinds import TABLE
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

NAME: t.Final = "set-by-a-colleague"


EDITOR: t.Final = "kubectl-edit"
# No pod has a priority class and none at the same time. The API server accepts it.
NO_POD: t.Final[Object] = {
    "matchExpressions": [
        {"scopeName": "PriorityClass", "operator": operator} for operator in ("Exists", "DoesNotExist")
    ]
}


class ForeignQuotas(Reconciler):
    kinds = ("Namespace", "ResourceQuota")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for trouble in cluster.troubles("namespace_quota"):
            namespace = trouble["namespace"]
            if cluster.find("Namespace", namespace) is None:
                cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            if cluster.find("ResourceQuota", NAME, namespace) is None:
                metadata = {"name": NAME, "namespace": namespace}
                cluster.apply(
                    {
                        "apiVersion": "v1",
                        "kind": "ResourceQuota",
                        "metadata": metadata,
                        "spec": {"hard": trouble["hard"]},
                    }
                )


class EditedQuotas(Reconciler):
    kinds = ("ResourceQuota",)

    def __init__(self) -> None:
        self._done: set[str] = set()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for trouble in cluster.troubles("quota_voids_itself"):
            quota = cluster.find("ResourceQuota", trouble.get("name", "gpu-quota"), trouble["namespace"])
            if quota is not None and quota["metadata"]["uid"] not in self._done:
                edit(cluster, quota)
                self._done.add(quota["metadata"]["uid"])


def edit(cluster: Cluster, quota: Object) -> None:
    """Give the quota scopes that no pod has, as `oc edit` does. Raises ApiError."""
    api_version, plural = TABLE["ResourceQuota"]
    metadata = quota["metadata"]
    path = resource_path(api_version, plural, metadata["name"], metadata["namespace"])
    body = {"spec": {"scopeSelector": NO_POD}}
    cluster.client.checked("PATCH", path, body, MERGE, {"fieldManager": EDITOR})
