"""Machines and machine sets for tests: as the cluster has them, and as a plan makes them."""

from __future__ import annotations

import copy
import typing as t
from pathlib import Path

import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    candidates,
    machine as machine_facts,
    plan as machine_plan,
    pool_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.plan import MachinePlan
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.pool_options import (
    GpuMachinesetParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import infrastructure
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool

Data = dict[str, t.Any]
SINCE = "2026-01-01T00:00:00Z"
NOW = 1767225600.0  # the same moment
CAPACITY = (
    "error creating EC2 instance: InsufficientInstanceCapacity: We currently do not have "
    "sufficient p5.48xlarge capacity"
)
NO_HOST = "No available BareMetalHost found"
LOST = "Can't find created instance."
LIMIT = (
    "error launching instance: You have requested more vCPU capacity than your current vCPU limit of 8 allows"
)


def machine(phase: str = "", node: str = "", refusal: str = "", since: str = SINCE, **status: t.Any) -> Data:
    body: Data = {"phase": phase, **status}
    if node:
        body["nodeRef"] = {"name": node}
    if refusal:
        condition = {
            "type": "MachineCreation",
            "status": "False",
            "reason": "MachineCreationFailed",
            "message": refusal,
            "lastTransitionTime": since,
        }
        body["providerStatus"] = {"conditions": [condition]}
    return {
        "metadata": {"name": "m-1", "namespace": "openshift-machine-api", "labels": {machine_facts.SET: "m"}},
        "status": body,
    }


def judge(obj: Data, its_node: Data | None = None, now: float = NOW, patience: float = 120.0) -> t.Any:
    return machine_facts.judge(obj, its_node, now, patience, "p5.48xlarge in us-east-2a")


def of_provider(
    obj: Data, labels: Data | None = None, annotations: Data | None = None, **value: t.Any
) -> Data:
    obj["spec"] = {"providerSpec": {"value": value}}
    obj["metadata"]["labels"].update(labels or {})
    obj["metadata"]["annotations"] = annotations or {}
    obj["metadata"]["creationTimestamp"] = SINCE
    return obj


WORKER = yaml.safe_load((Path(__file__).resolve().parents[1] / "fixtures/worker_machine_set.yml").read_text())
OURS = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
TAINTS = [{"key": "nvidia.com/gpu", "value": "t4", "effect": "NoSchedule"}]


def worker(zone: str = "us-east-2a", **provider: t.Any) -> Data:
    one: Data = copy.deepcopy(WORKER)
    one["metadata"]["name"] = f"demo-x7k2p-worker-{zone}"
    value = one["spec"]["template"]["spec"]["providerSpec"]["value"]
    value["placement"]["availabilityZone"] = zone
    value.update(provider)
    return one


def cluster(platform: str = "AWS", topology: str = "HighlyAvailable") -> infrastructure.Infrastructure:
    return infrastructure.read(
        {
            "status": {
                "infrastructureName": "demo-x7k2p",
                "platformStatus": {"type": platform},
                "controlPlaneTopology": topology,
            }
        }
    )


def params(**changes: t.Any) -> Data:
    return {
        "name": "t4",
        "instance_type": "g4dn.xlarge",
        "zones": ["us-east-2a"],
        "replicas": 1,
        "labels": {},
        "taints": [],
        "disk": {},
        "market": "on_demand",
        "namespace": "openshift-machine-api",
        **changes,
    }


def drafted(options: Data, cloud: str | None = None, prefix: str | None = None) -> Pool:
    (pool,) = pool_options.draft(t.cast(GpuMachinesetParams, options)).pools(Place(cloud, prefix))
    return pool


def plan(
    live: list[Data] | None = None, on: infrastructure.Infrastructure | None = None, **changes: t.Any
) -> MachinePlan:
    options = params(**changes)
    on = on or cluster()
    pool = drafted(options, on.cloud, on.name)
    live = [worker()] if live is None else live
    return machine_plan.plan(
        on, pool, candidates.start(pool, machine_plan.held(on, pool, live)).shares, live, options
    )


def lived(planned: MachinePlan) -> list[Data]:
    """The planned sets as the cluster holds them after the apply."""
    sets = copy.deepcopy(list(planned.manifests.values()))
    for one in sets:
        one["metadata"]["labels"] |= OURS
    return sets
