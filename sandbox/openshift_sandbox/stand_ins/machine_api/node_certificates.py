# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for kubelets that ask for certificates while machine-approver is away (csr_pending).

A trouble foreign_csr adds the request of a stranger. Without these troubles there are no requests, since
machine-approver would approve them at once. The real kubelet asks again every 15 minutes; these ask once.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.conditions import timestamp
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.machine_api import certificate_requests as requests
from openshift_sandbox.stand_ins.machine_api.machines import phase_of, slowness
from openshift_sandbox.stand_ins.machine_api.nodelink import joining_node, place

KIND: t.Final = "CertificateSigningRequest"
OPERATOR: t.Final = "openshift-machine-config-operator"
BOOTSTRAPPER: t.Final = f"system:serviceaccount:{OPERATOR}:node-bootstrapper"
BOOTSTRAP_GROUPS: t.Final = (
    f"system:serviceaccounts:{OPERATOR}",
    "system:serviceaccounts",
    "system:authenticated",
)
NODE_GROUPS: t.Final = (requests.NODES, "system:authenticated")
RBAC: t.Final = "rbac.authorization.k8s.io"
APPROVAL: t.Final = {
    "type": "Approved",
    "status": "True",
    "reason": "NodeCSRApprove",
    "message": "This CSR was approved by the Node CSR Approver",
}


class NodeCertificates(Reconciler):
    kinds = (KIND, "Infrastructure", "Machine", "MachineConfigPool", "Node", "Secret")

    def __init__(self) -> None:
        self._allowed = False

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for machine in cluster.objects("Machine"):
            if not machine["metadata"].get("deletionTimestamp") and phase_of(machine) in {
                "Provisioned",
                "Running",
            }:
                self._ask(cluster, machine)
        for foreign in cluster.troubles("foreign_csr"):
            node = str(foreign.get("name", "intruder"))
            if not requests.requested(cluster.objects(KIND), requests.CLIENT, node):
                self._send(cluster, requests.client_request(node), BOOTSTRAPPER, BOOTSTRAP_GROUPS)

    def _ask(self, cluster: Cluster, machine: Object) -> None:
        held = cluster.trouble("csr_pending", **place(machine))
        if not held and not any(requests.pending(one) for one in cluster.objects(KIND)):
            return
        manifest = joining_node(cluster, machine)
        name = manifest["metadata"]["name"]
        client = requests.requested(cluster.objects(KIND), requests.CLIENT, name)
        serving = requests.requested(cluster.objects(KIND), requests.SERVING, name)
        if not held:
            self._approve(cluster, [*client, *serving])
        elif client and cluster.find("Node", name) and not serving:
            found = [one for one in manifest["status"]["addresses"] if one["address"] != "localhost"]
            names, addresses = (
                [one["address"] for one in found if (one["type"] == "InternalIP") is ip]
                for ip in (False, True)
            )
            wanted = requests.serving_request(name, sorted(set(names)), addresses)
            self._send(cluster, wanted, f"{requests.PREFIX}{name}", NODE_GROUPS)
        elif (
            not client
            and not cluster.find("Node", name)
            and cluster.due(machine["metadata"]["uid"], "node_joins", 0.7, slowness(cluster, machine))
        ):
            self._send(cluster, requests.client_request(name), BOOTSTRAPPER, BOOTSTRAP_GROUPS)

    def _approve(self, cluster: Cluster, found: list[Object]) -> None:
        """Approve the requests: machine-approver is back."""
        for one in found:
            if requests.pending(one):
                body = {"status": {"conditions": [APPROVAL | {"lastUpdateTime": timestamp()}]}}
                cluster.patch(KIND, one["metadata"]["name"], None, body, "approval")

    def _send(self, cluster: Cluster, request: Object, user: str, groups: t.Sequence[str]) -> None:
        """Send a request as that user, since the API server notes who asked."""
        if not self._allowed:
            for binding in bindings():
                cluster.apply(binding)
            self._allowed = True
        cluster.client.impersonating(user, groups).create(request)
        cluster.resync(KIND)


def bindings() -> list[Object]:
    """Return who may ask for certificates. On a real cluster the Node authorizer allows it."""
    account = {"kind": "ServiceAccount", "name": "node-bootstrapper", "namespace": OPERATOR}
    group = {"kind": "Group", "name": requests.NODES, "apiGroup": RBAC}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "system:node-bootstrapper"}
    return [
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": role,
            "subjects": [subject],
        }
        for name, subject in (
            ("system-bootstrap-node-bootstrapper", account),
            ("sandbox-node-requests", group),
        )
    ]
