# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a team that installed the GPU operator, and made its ClusterPolicy (foreign_policy).

They use the console (manager Mozilla) or Argo CD (manager argocd-controller). The real ones also watch what
they made: Argo CD would revert a change.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.catalogue.crds import read
from openshift_sandbox.catalogue.packages import PACKAGES, sources
from openshift_sandbox.client import Client
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

PACKAGE: t.Final = "gpu-operator-certified"
POLICY: t.Final = "ClusterPolicy"
CONSOLE: t.Final = "Mozilla"
ARGO_CD: t.Final = "argocd-controller"
APPLICATION: t.Final = "gpu-stack"


def objects(data: Object, source: str) -> list[Object]:
    """Return what installs the operator: a namespace, an OperatorGroup and a Subscription."""
    namespace, operators = data["namespace"], "operators.coreos.com"
    group = {"name": f"{namespace}-group", "namespace": namespace}
    subscription = {
        "channel": str(data["default_channel"]),
        "installPlanApproval": "Automatic",
        "name": data["package"],
        "source": source,
        "sourceNamespace": "openshift-marketplace",
    }
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {
            "apiVersion": f"{operators}/v1",
            "kind": "OperatorGroup",
            "metadata": group,
            "spec": {"targetNamespaces": [namespace]},
        },
        {
            "apiVersion": f"{operators}/v1alpha1",
            "kind": "Subscription",
            "metadata": {"name": data["package"], "namespace": namespace},
            "spec": subscription,
        },
    ]


def marked(obj: Object, manager: str) -> Object:
    """Return an object with the marks that this manager leaves on what it makes."""
    if manager != ARGO_CD:
        return obj
    metadata, group = obj["metadata"], obj["apiVersion"].rpartition("/")[0]
    place = f"{metadata.get('namespace', '')}/{metadata['name']}"
    tracking = f"{APPLICATION}:{group}/{obj['kind']}:{place}"
    return obj | {"metadata": metadata | {"annotations": {"argocd.argoproj.io/tracking-id": tracking}}}


class ForeignOperators(Reconciler):
    kinds = (POLICY, "Subscription")

    def __init__(self) -> None:
        self._has_policy = False

    def reconcile(self, cluster: Cluster, now: float) -> None:
        trouble = cluster.trouble("foreign_policy")
        if trouble is None or self._has_policy or not cluster.served("Subscription"):
            return
        data, manager = read(PACKAGES / f"{PACKAGE}.yml")[0], str(trouble.get("manager", CONSOLE))
        if cluster.find("Subscription", PACKAGE, data["namespace"]) is None:
            catalogs = sources(cluster.scenario).items()
            source = next(name for name, origin in catalogs if origin == data["catalog"])
            for one in objects(data, source):
                self._make(cluster.client, one, manager)
        if cluster.served(POLICY):
            if not cluster.objects(POLICY):
                policy = next(one for one in data["examples"] if one["kind"] == POLICY)
                self._make(cluster.client, policy, manager)
            self._has_policy = True

    def _make(self, client: Client, obj: Object, manager: str) -> None:
        client.acting(manager).apply(marked(obj, manager))
