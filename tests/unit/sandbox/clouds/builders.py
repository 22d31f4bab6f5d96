# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines in the cluster of a scenario, and the world that holds them."""

from __future__ import annotations

import copy
import typing as t

from unit.sandbox.fake_api import World

from openshift_sandbox import scenario
from openshift_sandbox.seed import installer
from openshift_sandbox.stand_ins.machine_api.machines import Machines
from openshift_sandbox.stand_ins.machine_api.nodelink import Nodelink

Data = dict[str, t.Any]
NAMESPACE = "openshift-machine-api"
API = "machine.openshift.io/v1beta1"
CLUSTER = "machine.openshift.io/cluster-api-cluster"
VGPU = "/dc-east/vm/gpu/rhcos-9.8-2xL40S"


def make(name: str, *troubles: Data) -> World:
    shape = scenario.load(name).cluster
    world = World(Machines(), Nodelink(), cluster=shape, troubles=list(troubles))
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": shape["platform"]}}})
    return world


def value(name: str, number: int = 0, **more: t.Any) -> Data:
    """Return the provider specification of a worker set, with changes."""
    sets = installer.machine_sets(scenario.load(name).cluster)
    found: Data = sets[number]["spec"]["template"]["spec"]["providerSpec"]["value"]
    return copy.deepcopy(found) | more


def outcome(world: World, provider: Data, name: str = "gpu-1", seconds: float = 6) -> Data:
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {CLUSTER: "demo-x7k2p"}}
    world.api.create(
        {
            "apiVersion": API,
            "kind": "Machine",
            "metadata": metadata,
            "spec": {"providerSpec": {"value": provider}},
        }
    )
    world.settle(seconds)
    return world.api.get("Machine", name, NAMESPACE)


def rests(world: World) -> bool:
    before = len(world.api.writes)
    world.settle(10)
    return len(world.api.writes) == before


def creation(machine: Data) -> Data:
    found: Data = next(
        one
        for one in machine["status"]["providerStatus"]["conditions"]
        if one["type"].startswith("MachineCreat")
    )
    return found


T4: t.Final[Data] = {"gpus": [{"type": "nvidia-tesla-t4", "count": 1}], "onHostMaintenance": "Terminate"}


def azure(size: str = "Standard_NC4as_T4_v3", **more: t.Any) -> Data:
    return {"vmSize": size, "location": "eastus", "zone": "1", "acceleratedNetworking": True} | more


def gcp(kind: str = "g2-standard-4", **more: t.Any) -> Data:
    return {
        "machineType": kind,
        "region": "us-central1",
        "zone": "us-central1-a",
        "projectID": "demo-project",
    } | more


def aws(kind: str = "p5.48xlarge", **more: t.Any) -> Data:
    return {
        "instanceType": kind,
        "placement": {"availabilityZone": "us-east-2a", "region": "us-east-2"},
        "ami": {"id": "ami-1"},
    } | more


def creation_text(machine: Data) -> tuple[str, str, str]:
    [found] = machine["status"]["providerStatus"]["conditions"]
    return found["type"], found["status"], found["message"]
