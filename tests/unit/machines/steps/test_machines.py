# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of a pool: a refused one has changed nothing."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import FakeServer
from unit.machines.builders import Data, cluster, lived, plan
from unit.nodes.builders import pod

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine import SET
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.pool_options import (
    GpuMachinesetParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import health, machines

SPACE: t.Final = "openshift-machine-api"
KINDS: t.Final = ("MachineSet", "Machine", "Node", "Pod", "MachineHealthCheck", "MachineAutoscaler")


def busy_pool() -> FakeServer:
    """Return a cluster with a scaled pool, its health check, and a pod with a GPU on its one node."""
    server = FakeServer(*KINDS, "ClusterAutoscaler")
    (one,) = lived(plan())
    one["metadata"]["annotations"]["machine.openshift.io/cluster-api-autoscaler-node-group-min-size"] = "1"
    server.put(one)
    labels = {"accelerators.openshift/pool": "t4", SET: one["metadata"]["name"]}
    ours = {"accelerators.openshift/pool": "t4", "app.kubernetes.io/managed-by": "accelerators.openshift"}
    machine: Data = {"spec": {}, "status": {"phase": "Running", "nodeRef": {"name": "n1"}}}
    for kind, version, more in (
        ("Machine", "machine.openshift.io/v1beta1", machine),
        ("MachineHealthCheck", "machine.openshift.io/v1beta1", {}),
        ("MachineAutoscaler", "autoscaling.openshift.io/v1beta1", {}),
    ):
        metadata = {"name": "t4", "namespace": SPACE, "labels": labels if kind == "Machine" else ours}
        server.put({"apiVersion": version, "kind": kind, "metadata": metadata, **more})
    server.put({"apiVersion": "v1", "kind": "Pod", **pod("job", node="n1", gpus=1)})
    return server


def test_a_removal_that_is_refused_has_deleted_neither_health_check_nor_autoscaler() -> None:
    server = busy_pool()
    params = {"namespace": SPACE, "on_busy": "fail"}
    with pytest.raises(AcceleratorError) as caught:
        machines.absent(api_on(server), "t4", t.cast(GpuMachinesetParams, params))
    assert caught.value.code == "NODE-BUSY"
    assert server.writes() == []


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_removal_does_not_wait_for_nodes_that_nobody_deletes(check_mode: bool) -> None:
    server = FakeServer(*KINDS)
    labels = {"accelerators.openshift/pool": "t4"}
    server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "by-hand", "labels": labels}})
    clock = FakeClock()
    api = api_on(server, clock, check_mode=check_mode)
    started = clock()
    machines.absent(api, "t4", t.cast(GpuMachinesetParams, {"namespace": SPACE, "on_busy": "fail"}))
    assert clock() == started
    (warning,) = api.warnings
    assert "The nodes by-hand of pool t4 stay" in warning
    assert server.writes() == []


def test_node_health_checks_that_a_health_check_disables_are_named_before_the_write() -> None:
    server = FakeServer(*KINDS, "NodeHealthCheck")
    metadata = {"name": "nhc-worker"}
    server.put(
        {"apiVersion": "remediation.medik8s.io/v1alpha1", "kind": "NodeHealthCheck", "metadata": metadata}
    )
    api = api_on(server, check_mode=True)
    health.present(api, cluster(), "t4", SPACE, {"max_unhealthy": 1})
    (warning,) = api.warnings
    assert "nhc-worker" in warning
    quiet = api_on(FakeServer(*KINDS))
    health.present(quiet, cluster(), "t4", SPACE, {"max_unhealthy": 1})
    assert quiet.warnings == []
