# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU nodes and the pods of the GPU operator, and the world that holds them."""

from __future__ import annotations

import typing as t
from pathlib import Path

from unit.sandbox.catalogue.builders import load
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.gpu_operator import daemon_sets, operands
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.rules import release

Object = dict[str, t.Any]
NAMESPACE = "nvidia-gpu-operator"
INSTANCE = "g4dn.12xlarge"


def make(*reconcilers: Reconciler, directory: Path = Path("/nonexistent"), **scenario: t.Any) -> World:
    world = World(*reconcilers, directory=directory, **scenario)
    labels = {"node.kubernetes.io/instance-type": INSTANCE, "accelerators.openshift/pool": "test"}
    world.api.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "gpu-0", "labels": labels},
            "spec": {},
            "status": {},
        }
    )
    return world


def add_job_pod(
    world: World, name: str, namespace: str, count: int = 1, resource: str = "nvidia.com/gpu"
) -> None:
    """Create a running pod on gpu-0 that holds devices."""
    container = {"name": "cuda", "image": "cuda", "resources": {"limits": {resource: str(count)}}}
    world.api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"nodeName": "gpu-0", "restartPolicy": "Never", "containers": [container]},
            "status": {"phase": "Running"},
        }
    )


def add_operand(
    world: World, app: str, hold: str | None = "init", ready: bool = False, **labels: str
) -> None:
    metadata = {
        "name": app,
        "namespace": NAMESPACE,
        "labels": {"app": app} | labels,
        "annotations": {HOLD: hold} if hold else {},
    }
    world.api.create(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": app, "namespace": NAMESPACE, "labels": {"app": app} | labels},
            "spec": {},
        }
    )
    spec = {"nodeName": "gpu-0", "containers": [{"name": "one", "image": "nvcr.io/nvidia/driver:580.1"}]}
    world.api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": spec,
            "status": {"phase": "Pending", "conditions": conditions(ready)},
        }
    )


def add_driver(world: World, ready: bool = False) -> None:
    add_operand(
        world, "nvidia-driver-daemonset", "ready", ready, **{"app.kubernetes.io/component": "nvidia-driver"}
    )


def conditions(ready: bool) -> list[Object]:
    return [
        {"type": "Initialized", "status": "True"},
        {"type": "Ready", "status": "True" if ready else "False"},
    ]


def pod_annotations(world: World, name: str, namespace: str = NAMESPACE) -> Object:
    return t.cast(Object, world.api.get("Pod", name, namespace)["metadata"].get("annotations", {}))


def deployment(version: str = "26.7.0") -> Object:
    """Return the operator's Deployment as OLM makes it of a release in the catalogue."""
    csv = load("gpu-operator-certified").csv(version)
    (found,) = csv["spec"]["install"]["spec"]["deployments"]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": found["name"], "namespace": NAMESPACE},
        "spec": found["spec"],
        "status": {"conditions": [{"type": "Available", "status": "True"}]},
    }


RELEASE = release.of(deployment())
BY_NAME = {operand.name: operand for operand in operands.OPERANDS}


def policy(**spec: t.Any) -> Object:
    return {
        "metadata": {"name": "gpu-cluster-policy", "uid": "u1", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": spec,
    }


def daemon_set(name: str = "nvidia-dcgm", **spec: t.Any) -> Object:
    return daemon_sets.daemon_set(BY_NAME[name], policy(**spec), RELEASE)


def labels(world: World) -> dict[str, str]:
    found: dict[str, str] = world.api.get("Node", "gpu-0")["metadata"]["labels"]
    return found
