# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of the drivers: what refuses it, and in what order."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.stack.builders import some_params
from unit.stack.nvidiadriver.builders import POOL

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import driver
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import steps

Data = dict[str, t.Any]
KINDS: t.Final = ("ClusterPolicy", "NVIDIADriver", "GPUCluster", "DaemonSet", "Pod", "Node")
OURS: t.Final = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
DRIVER: t.Final[Data] = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "NVIDIADriver",
    "metadata": {"name": "training", "labels": OURS},
    "spec": {"nodeSelector": {POOL: "training"}},
}
CLUSTER: t.Final[Data] = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "GPUCluster",
    "metadata": {"name": "gpu-cluster"},
}
NODE: t.Final[Data] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "gpu-0", "labels": {POOL: "training", **dict([driver.DRIVEN.split("=")])}},
}
BUSY: t.Final[Data] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "trainer", "namespace": "team-a"},
    "spec": {
        "nodeName": "gpu-0",
        "containers": [
            {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}},
        ],
    },
    "status": {"phase": "Running"},
}


def refused(on_busy: str, *objects: Data) -> tuple[AcceleratorError, FakeServer]:
    """Return the error of a removal with these objects, and the server. The task does not wait."""
    server = FakeServer(*KINDS)
    for one in objects:
        server.put(one)
    with pytest.raises(AcceleratorError) as caught:
        steps.absent(api_on(server, wait_wanted=False), some_params(on_busy=on_busy))
    return caught.value, server


@pytest.mark.parametrize("on_busy", ["fail", "wait", "drain"])
def test_a_cluster_that_needs_the_drivers_is_named_before_the_pods(on_busy: str) -> None:
    """Whatever on_busy allows, the removal could not go on, so no pod is asked about or waited for."""
    problem, server = refused(on_busy, DRIVER, CLUSTER, NODE, BUSY)
    assert problem.code == "GPU-CP-NEEDED"
    assert "GPUCluster gpu-cluster needs NVIDIADriver training" in str(problem)
    assert server.writes() == []


def test_without_such_a_cluster_a_pod_with_gpus_refuses_the_removal() -> None:
    problem, server = refused("fail", DRIVER, NODE, BUSY)
    assert (problem.code, server.writes()) == ("GPU-BUSY", [])
    assert "team-a/trainer" in str([problem, *problem.evidence])
