# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builders for unit tests of backend custom: parameters, an object, a node."""

from __future__ import annotations

import typing as t

from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackParams

READY = "status.conditions[?type=='Available'].status | [0] == 'True'"


FAILED = "status.conditions[?type=='Degraded'].status | [0] == 'True'"


MESSAGE = "status.conditions[?type=='Degraded'].message | [0]"


POOL = {"name": "fpga", "node_selector": {"pool": "fpga"}, "replicas": 1}


def params(**more: t.Any) -> StackParams:
    """Return options of special_resource for backend custom. custom: changes to option custom."""
    definition = {
        "apiVersion": "fpga.example.com/v1",
        "kind": "FpgaStack",
        "metadata": {"name": "fpga", "namespace": "fpga"},
        "spec": {"image": {"tag": "1"}},
    }
    custom = {
        "definition": definition,
        "ready": READY,
        "failed": FAILED,
        "says": MESSAGE,
        "expected": {"example.com/fpga": 2},
    } | (more.pop("custom", {}) or {})
    base = {
        "backend": "custom",
        "name": "fpga",
        "namespace": "fpga",
        "pools": [POOL],
        "grace": 10.0,
        "custom": custom,
    }
    return some_params(**(base | more))


def live(generation: int = 1, observed: int | None = 1, **conditions: str) -> KubeObject:
    """Return the object. conditions: type -> status."""
    status: KubeObject = {
        "conditions": [
            {"type": kind, "status": value, "message": f"{kind} it is"} for kind, value in conditions.items()
        ]
    }
    status |= {} if observed is None else {"observedGeneration": observed}
    return {"kind": "FpgaStack", "metadata": {"name": "fpga", "generation": generation}, "status": status}


def node(devices: str = "2") -> KubeObject:
    """Return a node of the pool. devices: allocatable example.com/fpga."""
    status: KubeObject = {
        "conditions": [{"type": "Ready", "status": "True"}],
        "allocatable": {"example.com/fpga": devices},
    }
    return {"metadata": {"name": "n1", "labels": {"pool": "fpga"}}, "status": status}
