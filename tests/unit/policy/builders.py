# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools, parameters and a server for tests of gpu_admission."""

from __future__ import annotations

import typing as t

from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import GPU
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._policy.options import (
    GpuAdmissionParams,
    Partition,
    read,
)

TAINT: t.Final = {"key": GPU, "effect": "NoSchedule"}
TEAM: t.Final = {"key": "dedicated", "value": "a", "effect": "NoSchedule"}
KINDS: t.Final = (
    *("Namespace", "Deployment", "Pod", "StatefulSet", "DaemonSet", "Job", "CronJob"),
    *("PersistentVolumeClaim", "Service"),
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
)
MUTATING: t.Final = ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")


def pool(name: str = "training", *taints: t.Mapping[str, str], **more: t.Any) -> dict[str, t.Any]:
    """Return an entry of the option pools."""
    base = {"name": name, "node_selector": None, "taints": [*taints], "resources": [GPU], "spare": 0}
    return {**base, **more}


def params(*pools: dict[str, t.Any], **more: t.Any) -> GpuAdmissionParams:
    """Return the parameters of a task with these pools."""
    given: dict[str, t.Any] = {
        "pools": [*pools],
        "admission": "none",
        "add_tolerations": False,
        "exempt_namespaces": ["nvidia-gpu-operator"],
        "spare_namespace": "gpu-spare",
        "spare_image": "pause",
        "prove": False,
        "proof_namespace": "gpu-validation",
        "state": "present",
        "wait": True,
        "wait_timeout": 60,
        "lock_timeout": 0,
    }
    return t.cast("GpuAdmissionParams", given | more)


def partition(name: str = "training", *taints: t.Mapping[str, str], **more: t.Any) -> Partition:
    """Return a pool as the steps have it."""
    (found,) = read(params(pool(name, *taints, **more)))
    return found


class Server(FakeServer):
    """A server with the kinds of gpu_admission. adds: whether it serves policies that change pods."""

    def __init__(self, *objects: KubeObject, adds: bool = True) -> None:
        super().__init__(*KINDS, *(MUTATING if adds else ()))
        for one in objects:
            self.put(one)

    def names(self, kind: str) -> list[str]:
        """Return the names of the objects of a kind."""
        return sorted(one["metadata"]["name"] for one in self.objects.values() if one["kind"] == kind)

    def one(self, kind: str) -> KubeObject:
        """Return the only object of a kind."""
        (found,) = (one for one in self.objects.values() if one["kind"] == kind)
        return found
