"""A cluster with one Module and one node, and the world that holds them."""

from __future__ import annotations

import typing as t
from pathlib import Path

from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.device_plugins.any_vendor import DevicePlugins
from openshift_sandbox.stand_ins.kmm import modules
from openshift_sandbox.stand_ins.kmm.operator import KmmOperator
from openshift_sandbox.stand_ins.kmm.preflight import KmmPreflight
from openshift_sandbox.stand_ins.kmm.worker import KmmWorkers

Object = dict[str, t.Any]
SPACE = "openshift-kmm"
KERNEL = "5.14.0-570.12.1.el9_6.x86_64"
READY = f"kmm.node.kubernetes.io/{SPACE}.card.ready"


def world(directory: Path, *troubles: Object, **spec: t.Any) -> World:
    made = World(
        KmmOperator(),
        KmmWorkers(),
        KmmPreflight(),
        DevicePlugins(),
        directory=directory,
        troubles=list(troubles),
    )
    status = {"nodeInfo": {"kernelVersion": KERNEL, "bootID": "b1"}}
    made.api.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n1", "labels": {"card": "true"}},
            "spec": {},
            "status": status,
        }
    )
    available = {"conditions": [{"type": "Available", "status": "True"}]}
    metadata = {"name": modules.OPERATOR, "namespace": SPACE}
    made.api.create(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {}, "status": available}
    )
    container = {
        "modprobe": {"moduleName": "card"},
        "kernelMappings": [{"regexp": "^5", "containerImage": "card:${KERNEL_FULL_VERSION}"}],
    }
    body = {"selector": {"card": "true"}, "moduleLoader": {"container": container}} | spec
    made.api.create(
        {
            "apiVersion": modules.API,
            "kind": "Module",
            "metadata": {"name": "card", "namespace": SPACE},
            "spec": body,
        }
    )
    return made


def advance(made: World, phase: str = "Succeeded") -> list[str]:
    """End pods as KWOK does; return their names."""
    names = [
        pod["metadata"]["name"]
        for pod in made.api.all("Pod")
        if (pod.get("status") or {}).get("phase") != phase
    ]
    for name in names:
        made.api.patch("v1", "pods", name, SPACE, {"status": {"phase": phase}}, "status")
    made.settle(1.0)
    return names
