# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of the DRA stack: drivers beside a ClusterPolicy belong to the other stack, and nothing waits."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import steps

Data = dict[str, t.Any]
NAMESPACE: t.Final = "nvidia-gpu-operator"
OURS: t.Final = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
KINDS: t.Final = ("ClusterPolicy", "NVIDIADriver", "GPUCluster", "ResourceClaim", "DaemonSet", "Pod", "Node")
PARAMS: t.Final = some_params(backend="dra", namespace=NAMESPACE)


def stack(*objects: Data) -> FakeServer:
    server = FakeServer(*KINDS)
    for one in objects:
        server.put(one)
    return server


def ours(version: str, kind: str, name: str) -> Data:
    return {"apiVersion": f"nvidia.com/{version}", "kind": kind, "metadata": {"name": name, "labels": OURS}}


OPERAND: t.Final[Data] = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {
        "name": "nvidia-device-plugin-daemonset",
        "namespace": NAMESPACE,
        "labels": {"app": "nvidia-device-plugin-daemonset"},
        "ownerReferences": [{"kind": "ClusterPolicy", "name": "gpu-cluster-policy", "uid": "1"}],
    },
    "spec": {"selector": {"matchLabels": {"app": "nvidia-device-plugin-daemonset"}}},
}


@pytest.mark.parametrize("clusters", [[], [ours("v1alpha1", "GPUCluster", "gpu-cluster")]])
def test_drivers_of_a_cluster_policy_are_left_to_its_removal(clusters: list[Data]) -> None:
    policy = ours("v1", "ClusterPolicy", "gpu-cluster-policy")
    server = stack(policy, ours("v1alpha1", "NVIDIADriver", "inference"), OPERAND, *clusters)
    api = api_on(server, seconds=5.0)
    found = steps.absent(api, PARAMS)
    assert found["state"] == "absent"
    assert server.writes() == [
        ("DELETE", f"/apis/nvidia.com/v1alpha1/gpuclusters/{one['metadata']['name']}") for one in clusters
    ]


def test_drivers_that_an_interrupted_removal_left_go() -> None:
    server = stack(ours("v1alpha1", "NVIDIADriver", "training"))
    steps.absent(api_on(server), PARAMS)
    assert server.writes() == [("DELETE", "/apis/nvidia.com/v1alpha1/nvidiadrivers/training")]
