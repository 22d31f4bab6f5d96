"""Pools and nodes for the stand-ins of the machine-config operator."""

from __future__ import annotations

import typing as t

CONFIGURATION = "rendered-worker-0123"
HEALTHY = {"NodeDegraded": "False", "RenderDegraded": "False", "Degraded": "False"}
Data = dict[str, t.Any]


def pool(name: str = "worker") -> Data:
    selector = {"matchLabels": {f"node-role.kubernetes.io/{name}": ""}}
    spec = {"configuration": {"name": CONFIGURATION}, "nodeSelector": selector}
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": name},
        "spec": spec,
        "status": {},
    }


def node(name: str, *roles: str, ready: bool = True, state: str = "Done", cordoned: bool = False) -> Data:
    keys = "machineconfiguration.openshift.io/"
    annotations = {
        f"{keys}currentConfig": CONFIGURATION,
        f"{keys}desiredConfig": CONFIGURATION,
        f"{keys}state": state,
    }
    labels = {f"node-role.kubernetes.io/{role}": "" for role in roles or ("worker",)}
    metadata = {"name": name, "labels": labels, "annotations": annotations}
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": {"unschedulable": True} if cordoned else {},
        "status": status,
    }


def numbers(status: Data) -> tuple[int, ...]:
    return tuple(
        status[f"{kind}MachineCount"] if kind else status["machineCount"]
        for kind in ("", "updated", "ready", "unavailable", "degraded")
    )


def states(status: Data) -> dict[str, str]:
    return {one["type"]: one["status"] for one in status["conditions"]}
