# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MachineConfigPools of GPU nodes on a machine-config operator in memory, paused and released."""

from __future__ import annotations

import typing as t

import pytest
from unit.tuning.operator_in_memory import KINDS, Operator, config, node, pool

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._update import pause_steps

ROLE: t.Final = "machineconfiguration.openshift.io/role"


def own_pool(object_name: str = "gpu", **spec: t.Any) -> KubeObject:
    """Return a MachineConfigPool of GPU nodes."""
    rule = {"key": ROLE, "operator": "In", "values": ["worker", object_name]}
    return pool(object_name, machineConfigSelector={"matchExpressions": [rule]}, **spec)


def gpu(name: str, object_name: str = "gpu") -> KubeObject:
    """Return a GPU node of this MachineConfigPool."""
    return node(name, labels={f"node-role.kubernetes.io/{object_name}": ""})


def cpu(name: str) -> KubeObject:
    """Return a node without GPUs."""
    found = node(name)
    del found["metadata"]["labels"]["accelerators.openshift/pool"]
    return found


def version(progressing: str = "False", release: str = "4.22.9") -> KubeObject:
    """Return the ClusterVersion of a cluster that was updated to this release."""
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "metadata": {"name": "version"},
        "status": {
            "conditions": [{"type": "Progressing", "status": progressing, "message": "Working"}],
            "history": [{"state": "Completed", "version": release}],
        },
    }


def cluster(*more: KubeObject, progressing: str = "False") -> Operator:
    """Return a cluster with the GPU nodes g1 and g2 in a pool of their own, and the node c1 without GPUs."""
    objects = (own_pool(), gpu("g1"), gpu("g2"), cpu("c1"), version(progressing), *more)
    return Operator(*objects, kinds=(*KINDS, "ClusterVersion"))


def params(**more: t.Any) -> t.Any:
    """Return the options of update_pools."""
    given = {"state": "paused", "version": "4.22.9", "order": "together", "cancelled": False}
    return {**given, "on_busy": "fail", "lock_timeout": 0, **more}


def paused(operator: Operator, **more: t.Any) -> dict[str, t.Any]:
    """Pause as the module does, and return its result."""
    return pause_steps.paused(operator.api(**more), params())


def released(operator: Operator, on_busy: str = "fail", **more: t.Any) -> dict[str, t.Any]:
    """Release as the module does, and return its result."""
    return pause_steps.released(operator.api(**more), params(on_busy=on_busy))


def update(operator: Operator) -> None:
    """Bring another configuration to all pools, as a release does."""
    operator.server.put(config("01-worker-kernel", "worker", "new"))
    operator._work()


def refusal(call: t.Callable[[], t.Any]) -> AcceleratorError:
    """Return the error of the call."""
    with pytest.raises(AcceleratorError) as caught:
        call()
    return caught.value
