# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builders for unit tests of KMM Modules: parameters, nodes, pods, builds and slices."""

from __future__ import annotations

import copy
import typing as t

from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    manifest as kmm_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackParams

KERNEL = "5.14.0-570.12.1.el9_6.x86_64"


LABEL = "5-14-0-570-12-1-el9-6-x86-64"


IMAGE = "quay.io/acme/card:${KERNEL_FULL_VERSION}"


POOL = {"name": "cards", "node_selector": {"pool": "cards"}, "expected": {"example.com/card": 2}}


READY = "kmm.node.kubernetes.io/openshift-kmm.card.ready"


CONFIG = {
    "containerImage": f"quay.io/acme/card:{KERNEL}",
    "kernelVersion": KERNEL,
    "modprobe": {"moduleName": "card", "dirName": "/opt"},
}


ENTRY = {"namespace": "openshift-kmm", "name": "card", "config": CONFIG, "bootId": "b1"}


def params(**more: t.Any) -> StackParams:
    """Return options of special_resource for a Module. kmm: changes to option kmm."""
    options = {
        "module_name": "card",
        "kernel_mappings": [{"regexp": r"^5\.14\.", "container_image": IMAGE}],
    } | more.pop("kmm", {})
    base = {
        "backend": "kmm",
        "name": "card",
        "namespace": "openshift-kmm",
        "pools": [POOL],
        "grace": 10.0,
        "kmm": options,
    }
    return some_params(**(base | more))


def node(kernel: str = KERNEL, devices: str = "2", **labels: str) -> KubeObject:
    """Return a node of the pool with the module loaded. devices: allocatable example.com/card."""
    info = {"kernelVersion": kernel, "bootID": "b1"}
    status = {
        "nodeInfo": info,
        "conditions": [{"type": "Ready", "status": "True"}],
        "allocatable": {"example.com/card": devices},
    }
    return {
        "metadata": {"name": "n1", "labels": {"pool": "cards", READY: ""} | labels},
        "spec": {},
        "status": status,
    }


def snapshot(**more: t.Any) -> KubeObject:
    """Return what a wait sees of a ready Module. more: other objects."""
    numbers = {"nodesMatchingSelectorNumber": 1, "desiredNumber": 1, "availableNumber": 1}
    module = kmm_manifest.build(params()) | {"status": {"moduleLoader": numbers}}
    config = {"metadata": {"name": "n1"}, "spec": {"modules": [ENTRY]}, "status": {"modules": [ENTRY]}}
    return copy.deepcopy({"modules": [module], "nodes": [node()], "configs": [config], "pods": []} | more)


def pod(
    labels: KubeObject, reason: str = "Error", node_name: str | None = "n1", waiting: bool = False
) -> KubeObject:
    """Return a broken pod of the Module."""
    container = {
        "name": "worker",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": {"exitCode": 1, "reason": reason}},
    }
    if waiting:
        container["state"] = {"waiting": {"reason": reason, "message": "manifest unknown"}}
    spec = {"nodeName": node_name} if node_name else {}
    return {
        "metadata": {"name": "p", "namespace": "openshift-kmm", "labels": labels},
        "spec": spec,
        "status": {"containerStatuses": [container]},
    }


def pull(kind: str = "until-success") -> KubeObject:
    """Return the pod that pulls the image, and cannot."""
    found = pod(
        {"kmm.node.kubernetes.io/image-owner": "card", "kmm.node.kubernetes.io/pull-pod-type": kind},
        "ImagePullBackOff",
        None,
        waiting=True,
    )
    return found | {"spec": {"containers": [{"image": CONFIG["containerImage"]}]}}


def build(step: str, phase: str) -> KubeObject:
    """As KMM makes them on OpenShift."""
    labels = {"kmm.openshift.io/build.type": step, "kmm.node.kubernetes.io/target-kernel": LABEL}
    status = {"phase": phase, "message": "Dockerfile build strategy has failed."}
    return {
        "metadata": {"name": "card-build", "namespace": "openshift-kmm", "labels": labels},
        "status": status,
    }


DRA = {"device_plugin": None, "dra": {"image": "i", "driver_name": "card.example.com"}}


def published(count: int = 2, generation: int = 1, of: int = 1) -> KubeObject:
    """Return a ResourceSlice of the DRA driver. count: cards. of: slices of the pool."""
    cards = [
        {"name": f"card-{index}", "attributes": {"serial": {"string": f"s{index}"}}} for index in range(count)
    ]
    pool = {"name": "n1", "generation": generation, "resourceSliceCount": of}
    return {"spec": {"driver": "card.example.com", "nodeName": "n1", "pool": pool, "devices": cards}}
