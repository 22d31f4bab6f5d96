"""Builders for tests of node tuning: tunings, live objects, and an operator in memory."""

from __future__ import annotations

import typing as t

from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.tuning import operator_in_memory

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import pool_label
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import entries
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import Tuning
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import manifest
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned.params import (
    NodeTuningParams,
)

NAMESPACE: t.Final = manifest.NAMESPACE
NODE_PROFILE: t.Final = "openshift-node"
NEW: t.Final = "rendered-gpu-a-1"


def tuning(name: str = "training", /, **given: t.Any) -> Tuning:
    """Return the tuning of a pool. given: the option; architecture and the machine's facts too."""
    facts: dict[str, t.Any] = {key: given.pop(key) for key in (*entries.FACTS, "arch") if key in given}
    return entries.tuning(name, pool_label(name), given, "gpu_pools[0].tuning", facts)


def node(name: str, pool: str = "training", **labels: str) -> KubeObject:
    metadata = {"name": name, "labels": {**pool_label(pool), **labels}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}


def conditions(applied: str = "True", degraded: str = "False", **more: str) -> list[KubeObject]:
    """Return both conditions of a Profile. more: reason and message of both."""
    return [
        {"type": "Applied", "status": applied, **more},
        {"type": "Degraded", "status": degraded, **more},
    ]


def profile(name: str, wanted: str, active: str | None = None, data: str = "", **status: t.Any) -> KubeObject:
    """Return the Profile of a node. active: the same as wanted by default. status: further fields of it."""
    spec: KubeObject = {"config": {"tunedProfile": wanted}}
    if data:
        spec["profile"] = [{"name": wanted, "data": data}]
    return {
        "apiVersion": "tuned.openshift.io/v1",
        "kind": "Profile",
        "metadata": {"name": name, "namespace": NAMESPACE, "generation": 2},
        "spec": spec,
        "status": {
            "tunedProfile": wanted if active is None else active,
            "observedGeneration": 2,
            "conditions": conditions(),
            **status,
        },
    }


def rule(profile_name: str, priority: int, *match: KubeObject, **more: t.Any) -> KubeObject:
    return {"profile": profile_name, "priority": priority, **({"match": [*match]} if match else {}), **more}


def tuned_object(name: str, *recommend: KubeObject, **profiles: str) -> KubeObject:
    """Return a Tuned object that others made. profiles: name to text."""
    return {
        "apiVersion": "tuned.openshift.io/v1",
        "kind": "Tuned",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "profile": [{"name": key, "data": text} for key, text in profiles.items()],
            "recommend": [*recommend],
        },
    }


def params(*pools: dict[str, t.Any], **given: t.Any) -> NodeTuningParams:
    """Return the parameters for these pools, with every default."""
    facts = dict.fromkeys(("instance_type", "vcpus", "memory_gib", "numa_nodes", "threads_per_core"))
    plain = {"node_selector": None, "tuning": None, "arch": None, **facts}
    defaults = {
        "state": "present",
        "wait": True,
        "wait_timeout": 1800,
        "on_busy": "fail",
        "lock_timeout": 0,
        "grace": 30,
        "go_on": False,
    }
    made = {**defaults, "pools": [{**plain, **one} for one in pools], **given}
    return t.cast(NodeTuningParams, made)


class World:
    """A cluster whose node tuning operator works at once. status: what its TuneD says on each node."""

    def __init__(self, *nodes: KubeObject, status: t.Mapping[str, t.Any] | None = None) -> None:
        self.server = FakeServer("Node", "Pod", "Tuned", "Profile", "Lease", "ConfigMap", "Namespace")
        self.status = dict(status or {})
        self.clock = FakeClock()
        default = rule(NODE_PROFILE, 40)
        self.server.put(tuned_object("default", default))
        for one in nodes:
            self.server.put(one)
        self.server.request = self.answer
        self.operate()

    def api(self, **more: t.Any) -> Api:
        self.server.requests.clear()
        return api_on(self.server, self.clock, **more)

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        answered = self.server.answer(method, url, body, **more)
        if method != "GET":
            self.operate()
        return answered

    def objects(self, plural: str) -> list[KubeObject]:
        return objects(self.server, plural)

    def operate(self) -> None:
        operate(self.server, self.status)


def objects(server: FakeServer, plural: str) -> list[KubeObject]:
    return [one for key, one in server.objects.items() if key[1] == plural]


def operate(server: FakeServer, status: t.Mapping[str, t.Any]) -> None:
    """Give each node the Profile that the Tuned objects choose."""
    for one in objects(server, "nodes"):
        rules = [
            (entry["priority"], entry["profile"], obj)
            for obj in objects(server, "tuneds")
            for entry in obj["spec"]["recommend"]
            if manifest._selects(entry, one)
        ]
        _priority, wanted, obj = min(rules, key=lambda found: found[0])
        texts = {entry["name"]: entry["data"] for entry in obj["spec"]["profile"]}
        made = profile(one["metadata"]["name"], wanted, data=texts.get(wanted, ""))
        made["status"] |= status
        server.put(made)


def done(**status: t.Any) -> KubeObject:
    """Return a MachineConfigPool with one node that is rolled out."""
    return {
        "metadata": {"name": "gpu-a", "generation": 3},
        "spec": {"configuration": {"name": NEW, "source": [{"name": "99-gpu-a-kernel"}]}, "paused": False},
        "status": {
            "observedGeneration": 3,
            "machineCount": 1,
            "updatedMachineCount": 1,
            "configuration": {"name": NEW},
            "conditions": states(Updated="True", Updating="False", Degraded="False"),
            **status,
        },
    }


def states(**found: str) -> list[KubeObject]:
    return [{"type": kind, "status": status} for kind, status in found.items()]


def at(name: str, **notes: str) -> KubeObject:
    found = operator_in_memory.node(name, config=NEW)
    found["metadata"]["annotations"] |= {
        f"{operator_in_memory.GROUP}/{key}": value for key, value in notes.items()
    }
    return found
