# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that the NFD operator makes for a NodeFeatureDiscovery."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Object

IMAGE: t.Final = "registry.redhat.io/openshift4/ose-node-feature-discovery-rhel9:v4.22"
MASTER, GC, WORKER = "nfd-master", "nfd-gc", "nfd-worker"
CONTROL_PLANE_ROLES: t.Final = ("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane")
PORTS: t.Final = {MASTER: 8080, WORKER: 8080, GC: 8080}


def operands(cr: Object) -> list[Object]:
    """Return them in the order of creation.

    The CR owns each, so that the garbage collector can delete them.
    """
    operand = cr["spec"].get("operand") or {}
    made = [_service_account(name) for name in (MASTER, GC, WORKER)]
    made.append(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": WORKER},
            "data": {"nfd-worker-conf": config_data(cr)},
        }
    )
    made += [_network_policy(name) for name in (MASTER, GC, WORKER)]
    made.append(
        _deployment(
            MASTER, operand, [*operand.get("masterTolerations", []), *_control_plane_tolerations()], {}
        )
    )
    made.append(
        _deployment(
            GC,
            operand,
            [*operand.get("gcTolerations", []), *_control_plane_tolerations()],
            operand.get("gcNodeSelector") or {},
        )
    )
    made.append(_worker(operand))
    return [_owned(cr, obj) for obj in made]


def config_data(cr: Object) -> str:
    """Return the configuration of nfd-worker in a NodeFeatureDiscovery."""
    return str((cr["spec"].get("workerConfig") or {}).get("configData") or "")


def _worker(operand: Object) -> Object:
    roles = [("node-role.kubernetes.io/master", "DoesNotExist"), ("node-role.kubernetes.io/worker", "Exists")]
    terms = [{"matchExpressions": [{"key": key, "operator": operator}]} for key, operator in roles]
    spec = _pod_spec(WORKER, operand) | {
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        },
        "tolerations": [
            {"operator": "Exists", "effect": "NoSchedule"},
            *operand.get("workerTolerations", []),
        ],
        "nodeSelector": operand.get("workerNodeSelector") or {},
        "priorityClassName": operand.get("workerPriorityClassName") or "",
        "volumes": [
            {
                "name": "nfd-worker-config",
                "configMap": {
                    "name": WORKER,
                    "items": [{"key": "nfd-worker-conf", "path": "nfd-worker.conf"}],
                },
            }
        ],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": WORKER},
        "spec": _workload(WORKER, spec),
    }


def _deployment(name: str, operand: Object, tolerations: list[Object], selector: dict[str, str]) -> Object:
    spec = _pod_spec(name, operand) | {"tolerations": tolerations, "nodeSelector": selector}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": 1} | _workload(name, spec),
    }


def _workload(name: str, spec: Object) -> Object:
    return {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
    }


def _pod_spec(name: str, operand: Object) -> Object:
    container = {
        "name": name,
        "image": operand.get("image") or IMAGE,
        "command": [name],
        "imagePullPolicy": operand.get("imagePullPolicy") or "IfNotPresent",
    }
    return {"serviceAccountName": name, "containers": [container]}


def _control_plane_tolerations() -> list[Object]:
    return [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in CONTROL_PLANE_ROLES]


def _service_account(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}


def _network_policy(name: str) -> Object:
    ingress = [{"ports": [{"protocol": "TCP", "port": PORTS[name]}]}]
    spec = {
        "podSelector": {"matchLabels": {"app": name}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": ingress,
        "egress": [{}],
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name},
        "spec": spec,
    }


def _owned(cr: Object, obj: Object) -> Object:
    metadata = cr["metadata"]
    owner = {
        "apiVersion": cr["apiVersion"],
        "kind": cr["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    references = [owner | {"controller": True, "blockOwnerDeletion": True}]
    return obj | {
        "metadata": obj["metadata"]
        | {"namespace": metadata["namespace"], "labels": {"app": "nfd"}, "ownerReferences": references}
    }
