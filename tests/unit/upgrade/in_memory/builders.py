# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a driver upgrade, and the pods that it ends."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import (
    GpuDriverUpgradeParams,
)

NAMESPACE: t.Final = "nvidia-gpu-operator"
OLD, NEW = "595.91.07", "610.57.04"


def params(**given: t.Any) -> GpuDriverUpgradeParams:
    """Return the options of an upgrade to NEW, without a validation and without any patience."""
    found: dict[str, t.Any] = {
        "action": "run",
        "repository": "nvcr.io/nvidia",
        "image": "driver",
        "version": NEW,
        "branch": None,
        "pools": [],
        "only": [],
        "canary": None,
        "wave": "1",
        "window": None,
        "outside_window": "end",
        "wait_for": None,
        "probe": None,
        "rollback": True,
        "validate": False,
        "validation": None,
        "queues": None,
        "adopt": "report",
        "namespace": NAMESPACE,
        "node_timeout": 600,
        "grace": 0,
        "settle": 0,
        "on_busy": "fail",
        "delete_emptydir": False,
        "evict_unmanaged": False,
        "wait": True,
        "wait_timeout": 300,
        "lock_timeout": 0,
    }
    return GpuDriverUpgradeParams(**(found | given))


def gpu_pod(object_name: str, on: str) -> KubeObject:
    """Return a running pod with a GPU, of a ReplicaSet."""
    owner = {"kind": "ReplicaSet", "name": object_name, "uid": "u", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": object_name,
            "namespace": "team",
            "labels": {"app": object_name},
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": on,
            "containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
        },
        "status": {"phase": "Running"},
    }
