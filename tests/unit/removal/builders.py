# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a cluster with the pool `training` and its driver stack, for the tests of a removal."""

from __future__ import annotations

import typing as t

Data = dict[str, t.Any]
LABEL: t.Final = "app.kubernetes.io/managed-by"
OURS: t.Final = {LABEL: "accelerators.openshift"}
POOL: t.Final = "accelerators.openshift/pool"
API: t.Final = "openshift-machine-api"


def made(kind: str, api_version: str, name: str, namespace: str = "", **metadata: t.Any) -> Data:
    """Return an object that this collection made; labels replaces its labels."""
    place = {"namespace": namespace} if namespace else {}
    given = {"name": name, "uid": f"{kind}-{name}", "labels": OURS, **place, **metadata}
    return {"apiVersion": api_version, "kind": kind, "metadata": given}


def theirs(kind: str, api_version: str, name: str, namespace: str = "") -> Data:
    """Return an object that Argo CD made."""
    return made(kind, api_version, name, namespace, labels={"argocd.argoproj.io/instance": "gitops"})


def machine_set(pool: str, **labels: str) -> Data:
    marks = {**OURS, POOL: pool, **labels}
    return made("MachineSet", "machine.openshift.io/v1beta1", f"demo-{pool}-a", API, labels=marks)


def machine(pool: str, node: str) -> Data:
    marks = {POOL: pool, "machine.openshift.io/cluster-api-machineset": f"demo-{pool}-a"}
    found = made("Machine", "machine.openshift.io/v1beta1", f"demo-{pool}-a-1", API, labels=marks)
    return {**found, "spec": {}, "status": {"phase": "Running", "nodeRef": {"name": node}}}


def node(name: str, labels: Data | None = None, gpus: int = 1) -> Data:
    allocatable = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": allocatable}}


def pod(name: str, on: str, gpus: int = 1, namespace: str = "team-a", **metadata: t.Any) -> Data:
    owner = {"kind": "Job", "name": "fit", "uid": "j", "controller": True}
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    given = {
        "name": name,
        "namespace": namespace,
        "uid": f"pod-{name}",
        "ownerReferences": [owner],
        **metadata,
    }
    containers = [{"name": "main", "resources": {"limits": limits}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": given,
        "spec": {"nodeName": on, "containers": containers},
        "status": {"phase": "Running"},
    }


POLICY: t.Final = made("ClusterPolicy", "nvidia.com/v1", "gpu-cluster-policy")
THEIR_POLICY: t.Final = theirs("ClusterPolicy", "nvidia.com/v1", "theirs")
INSTANCE: t.Final = made("NodeFeatureDiscovery", "nfd.openshift.io/v1", "nfd-instance", "openshift-nfd")
OPERATOR: t.Final = made(
    "Subscription", "operators.coreos.com/v1alpha1", "gpu-operator", "nvidia-gpu-operator"
)
