# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenShift Virtualization as somebody installed it before: operator, HyperConverged, virtual machines.

There is no Subscription, and no ClusterServiceVersion: OLM would replace the CRD, and lose the converter.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.nodes import Object

NAMESPACE: t.Final = "openshift-cnv"
LABELS: t.Final = {"name": "hyperconverged-cluster-operator"}
IMAGE: t.Final = (
    "registry.redhat.io/container-native-virtualization/hyperconverged-cluster-operator-rhel9:v4.22.2"
)


def namespaces(cluster: Object) -> list[Object]:
    """Return the namespaces; none where the scenario has no `virtualization`."""
    found = cluster.get("virtualization")
    names = dict.fromkeys([NAMESPACE, *(one["namespace"] for one in (found or {}).get("machines") or [])])
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names if found]


def objects(cluster: Object) -> list[Object]:
    """Return the operator, its object and the machines that run; none without `virtualization`."""
    found = cluster.get("virtualization")
    if not found:
        return []
    container = {"name": "hyperconverged-cluster-operator", "image": IMAGE}
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [container]}}
    operator = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "hco-operator", "namespace": NAMESPACE, "labels": LABELS},
        "spec": {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": template},
    }
    hyperconverged = {
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": NAMESPACE},
        "spec": found.get("hyperconverged") or {},
    }
    return [operator, hyperconverged, *(machine(**one) for one in found.get("machines") or [])]


def machine(
    name: str, namespace: str, gpus: t.Sequence[str] = (), node_selector: Object | None = None
) -> Object:
    """Return a virtual machine that runs, with one GPU of each of these resources."""
    wanted = [{"name": f"gpu{number}", "deviceName": resource} for number, resource in enumerate(gpus)]
    devices = {"gpus": wanted} if wanted else {}
    spec = {"domain": {"devices": devices, "memory": {"guest": "2Gi"}}}
    spec |= {"nodeSelector": node_selector} if node_selector else {}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"runStrategy": "Always", "template": {"metadata": {}, "spec": spec}},
    }
