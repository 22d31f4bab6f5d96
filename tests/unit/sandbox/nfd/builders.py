"""Nodes and worker pods of NFD, and the world that holds them."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World

from openshift_sandbox.scenario import load
from openshift_sandbox.seed.nodes import node_manifest
from openshift_sandbox.stand_ins.nfd.worker import NfdWorker

NAMESPACE = "openshift-nfd"
NFD = "nfd.openshift.io/v1"
AWS = load("aws").cluster
VENDORS = "sources: {pci: {deviceClassWhitelist: ['0200', '03', '12'], deviceLabelFields: [vendor]}}"


def node(name: str, instance_type: str = "g4dn.xlarge") -> dict[str, t.Any]:
    return node_manifest(
        AWS,
        name=name,
        instance_type_name=instance_type,
        zone="us-east-2a",
        address="10.0.0.20",
        provider_id=f"aws:///us-east-2a/{name}",
    )


def pod(on: str, ready: bool = True) -> dict[str, t.Any]:
    metadata = {
        "name": f"nfd-worker-{on}",
        "namespace": NAMESPACE,
        "ownerReferences": [{"kind": "DaemonSet", "name": "nfd-worker", "uid": "uid-nfd-worker"}],
    }
    state = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": on},
        "status": state,
    }


def make(**scenario: t.Any) -> World:
    world = World(NfdWorker(), cluster=AWS, **scenario)
    world.api.create(
        {
            "apiVersion": NFD,
            "kind": "NodeFeatureDiscovery",
            "metadata": {"name": "nfd-instance", "namespace": NAMESPACE},
            "spec": config(VENDORS),
        }
    )
    world.api.create(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "nfd-worker", "namespace": NAMESPACE},
            "spec": {},
        }
    )
    for name, kind in (("gpu", "g4dn.xlarge"), ("cpu", "m6i.2xlarge")):
        world.api.create(node(name, kind))
        world.api.create(pod(name))
    world.settle(1)
    return world


def config(text: str) -> dict[str, t.Any]:
    return {"workerConfig": {"configData": text}}


def labels(world: World, name: str) -> dict[str, str]:
    published = world.api.get("NodeFeature", name, NAMESPACE)["spec"]["labels"]
    return {key.removeprefix("feature.node.kubernetes.io/"): value for key, value in published.items()}
