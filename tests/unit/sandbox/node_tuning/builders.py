"""Nodes, Tuneds and worlds for the stand-ins of the node tuning operator."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World

from openshift_sandbox.seed import tuning
from openshift_sandbox.stand_ins.node_tuning.operand import TunedDaemons
from openshift_sandbox.stand_ins.node_tuning.operator import NodeTuningOperator

Data = dict[str, t.Any]

NAMESPACE = tuning.NAMESPACE
CLUSTER = {"version": "4.22.5"}
POOL = "accelerators.openshift/pool"
ROLE = "machineconfiguration.openshift.io/role"


def node(name: str, role: str = "worker", boot: str = "first", **labels: str) -> Data:
    """Return a Linux node; `pool=training` is the label of a GPU pool."""
    pool = {POOL: labels.pop("pool")} if "pool" in labels else {}
    known = {f"node-role.kubernetes.io/{role}": "", "kubernetes.io/os": "linux"} | pool | labels
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": known, "annotations": {}},
        "spec": {"providerID": f"aws:///us-east-2a/{name}"},
        "status": {"nodeInfo": {"bootID": boot}},
    }


def tuned(name: str, text: str | None = None, priority: int = 20, **recommend: t.Any) -> Data:
    """Return a Tuned with a profile of its own name, for the GPU pool `training`."""
    rule = {"profile": name, "priority": priority} | (
        recommend or {"match": [{"label": POOL, "value": "training"}]}
    )
    data = "[main]\ninclude=openshift-node\n[sysctl]\nvm.swappiness=10\n" if text is None else text
    return {
        "apiVersion": tuning.TUNED_API,
        "kind": "Tuned",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"profile": [{"name": name, "data": data}], "recommend": [rule]},
    }


def mcp(name: str, *roles: str, selector: str | None = None) -> Data:
    """Return a MachineConfigPool that selects MachineConfigs of these roles, and nodes by a label."""
    wanted = [{"key": ROLE, "operator": "In", "values": list(roles or (name,))}]
    labels = {POOL: selector} if selector else {f"node-role.kubernetes.io/{name}": ""}
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": name, "labels": {}},
        "spec": {
            "machineConfigSelector": {"matchExpressions": wanted},
            "nodeSelector": {"matchLabels": labels},
        },
    }


def operator() -> Data:
    """Return the ClusterOperator as the installer leaves it."""
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterOperator",
        "metadata": {"name": "node-tuning"},
        "status": {"conditions": []},
    }


def world(*objects: Data, seconds: float = 2.0, **scenario: t.Any) -> World:
    """Return a world that has come to rest with these objects."""
    made = World(NodeTuningOperator(), TunedDaemons(), **{"cluster": CLUSTER, **scenario})
    for obj in objects:
        made.api.create(obj)
    made.settle(seconds)
    return made


def profile(made: World, name: str) -> Data:
    return made.api.get("Profile", name, NAMESPACE)


def says(made: World, name: str) -> tuple[str, str, str, str]:
    """Return wanted and active profile of a node, and the states of Applied and Degraded."""
    found = profile(made, name)
    states = {one["type"]: one["status"] for one in found["status"]["conditions"]}
    wanted, active = found["spec"]["config"]["tunedProfile"], found["status"]["tunedProfile"]
    return wanted, active, states["Applied"], states["Degraded"]


def reasons(obj: Data) -> dict[str, tuple[str, str]]:
    """Return reason and message of each condition."""
    return {one["type"]: (one["reason"], one["message"]) for one in obj["status"]["conditions"]}


def edit(made: World, name: str, text: str) -> None:
    """Change the text of a Tuned's profile."""
    profiles = [{"name": name, "data": text}]
    made.api.patch(tuning.TUNED_API, "tuneds", name, NAMESPACE, {"spec": {"profile": profiles}})
