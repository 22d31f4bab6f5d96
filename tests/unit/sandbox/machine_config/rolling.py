"""A cluster whose pools are rendered and rolled out, for the stand-ins of the machine-config operator."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World
from unit.sandbox.machine_config.builders import Data

from openshift_sandbox.seed.nodes import rendered
from openshift_sandbox.seed.pools import machine_config_pool, machine_configs
from openshift_sandbox.stand_ins.machine_config.daemon import MachineConfigDaemon
from openshift_sandbox.stand_ins.machine_config.kubelet_configs import KubeletConfigs
from openshift_sandbox.stand_ins.machine_config.pools import MachineConfigPools
from openshift_sandbox.stand_ins.machine_config.render import RenderController

API = "machineconfiguration.openshift.io/v1"
KEYS = "machineconfiguration.openshift.io/"
CLUSTER = {"version": "4.22.5"}
BASE = rendered(CLUSTER, "worker")
GPU = "accelerators.openshift/pool"


def gpu_pool(name: str = "gpu-training", **spec: t.Any) -> Data:
    """Return the pool of the nodes of GPU pool `training`, as an administrator writes it."""
    roles = {"key": f"{KEYS}role", "operator": "In", "values": ["worker", name]}
    return {
        "apiVersion": API,
        "kind": "MachineConfigPool",
        "metadata": {"name": name, "labels": {"accelerators.openshift/pool": "training"}},
        "spec": {
            "machineConfigSelector": {"matchExpressions": [roles]},
            "nodeSelector": {"matchLabels": {GPU: "training"}},
        }
        | spec,
    }


def machine_config(name: str, role: str = "gpu-training", *arguments: str, **spec: t.Any) -> Data:
    metadata = {"name": name, "labels": {f"{KEYS}role": role}}
    return {
        "apiVersion": API,
        "kind": "MachineConfig",
        "metadata": metadata,
        "spec": {"kernelArguments": list(arguments)} | spec,
    }


def kubelet_config(name: str = "gpu-training", **values: t.Any) -> Data:
    selector = {"matchLabels": {"accelerators.openshift/pool": "training"}}
    spec = {"machineConfigPoolSelector": selector, "kubeletConfig": values}
    return {"apiVersion": API, "kind": "KubeletConfig", "metadata": {"name": name}, "spec": spec}


def worker(name: str, pool: str = "", zone: str = "a", **fields: t.Any) -> Data:
    """Return a worker with the configuration of a fresh cluster."""
    labels = {"node-role.kubernetes.io/worker": "", "topology.kubernetes.io/zone": zone}
    notes = {f"{KEYS}currentConfig": BASE, f"{KEYS}desiredConfig": BASE, f"{KEYS}state": "Done"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels | ({GPU: pool} if pool else {}), "annotations": notes},
        "spec": {},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"bootID": "first", "kernelVersion": "old", "osImage": "RHCOS 1"},
            "capacity": {"cpu": "96", "memory": "1024Gi", "nvidia.com/gpu": "8"},
            "allocatable": {"cpu": "95500m", "memory": "1047450Mi", "nvidia.com/gpu": "8"},
        },
    }


def cluster(*objects: Data, seconds: float = 2.0, version: str = "4.22.5", **scenario: t.Any) -> World:
    """Return a fresh cluster that has come to rest with these objects."""
    world = World(
        KubeletConfigs(),
        RenderController(),
        MachineConfigPools(),
        MachineConfigDaemon(),
        cluster={"version": version},
        **scenario,
    )
    for role in ("worker", "master"):
        for one in (*machine_configs(CLUSTER, role), machine_config_pool(CLUSTER, role, 0)):
            world.api.create(one)
    for one in objects:
        world.api.create(one)
    world.settle(seconds)
    return world


def add(world: World, obj: Data, seconds: float = 0.5) -> None:
    """Create an object and let the world act."""
    world.api.create(obj)
    world.settle(seconds)


def pool(world: World, name: str = "gpu-training") -> Data:
    return world.api.get("MachineConfigPool", name)


def configuration(world: World, name: str = "gpu-training") -> str:
    """Return the configuration that a pool wants."""
    return str(pool(world, name)["spec"]["configuration"]["name"])


def states(world: World, name: str = "gpu-training") -> dict[str, str]:
    return {one["type"]: one["status"] for one in pool(world, name)["status"]["conditions"]}


def message(world: World, kind: str, name: str = "gpu-training") -> str:
    conditions = pool(world, name)["status"]["conditions"]
    return str(next(one["message"] for one in conditions if one["type"] == kind))


def says(world: World, name: str) -> tuple[str, str, bool]:
    """Return the configuration and the state of a node, and whether it is cordoned."""
    found = world.api.get("Node", name)
    notes = found["metadata"]["annotations"]
    return notes[f"{KEYS}currentConfig"], notes[f"{KEYS}state"], bool(found["spec"].get("unschedulable"))


def boot(world: World, name: str) -> str:
    return str(world.api.get("Node", name)["status"]["nodeInfo"]["bootID"])
