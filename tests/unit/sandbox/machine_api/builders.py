"""Machines and pods in a cluster on AWS, and the world that holds them."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.machine_api.machines import Machines
from openshift_sandbox.stand_ins.machine_api.nodelink import Nodelink

NAMESPACE = "openshift-machine-api"
API = "machine.openshift.io/v1beta1"
CLUSTER = {
    "platform": "AWS",
    "region": "us-east-2",
    "zones": ["us-east-2a"],
    "infrastructure_name": "demo-x7k2p",
    "version": "4.22.5",
    "kernel": "5.14.0-570.12.1.el9_6.x86_64",
    "ostree_version": "9.8.20260801-0",
    "kubelet": "v1.35.4",
}


def make(platform: str = "AWS", **scenario: t.Any) -> World:
    world = World(Machines(), Nodelink(), cluster=CLUSTER, **scenario)
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": platform}}})
    return world


def add(
    world: World,
    name: str = "gpu-1",
    instance_type: str = "g4dn.xlarge",
    zone: str = "us-east-2a",
    **spec: t.Any,
) -> None:
    provider = {
        "value": {"instanceType": instance_type, "placement": {"availabilityZone": zone, "region": zone[:-1]}}
    }
    metadata = {"name": name, "namespace": NAMESPACE}
    world.api.create(
        {
            "apiVersion": API,
            "kind": "Machine",
            "metadata": metadata,
            "spec": {"providerSpec": provider} | spec,
        }
    )


def machine(world: World, name: str = "gpu-1") -> dict[str, t.Any]:
    return world.api.get("Machine", name, NAMESPACE)
