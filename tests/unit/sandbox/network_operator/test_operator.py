# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the network operator makes: DaemonSets, states, conditions by release, and devices on nodes."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.hardware.gpus import NICS
from openshift_sandbox.hardware.instance_types import described
from openshift_sandbox.stand_ins.network_operator.daemon_sets import RDMA, SRIOV
from openshift_sandbox.stand_ins.network_operator.node import devices
from openshift_sandbox.stand_ins.network_operator.operator import OPERATOR, NetworkOperator

Object = dict[str, t.Any]

NAMESPACE = "nvidia-network-operator"
LABELS = {
    "feature.node.kubernetes.io/pci-15b3.present": "true",
    "feature.node.kubernetes.io/kernel-version.full": "5.14.0-570",
    "feature.node.kubernetes.io/system-os_release.ID": "rhel",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "9.8",
    "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION": "9.8.1",
}
DRIVER = {"image": "doca-driver", "repository": "nvcr.io/nvidia/mellanox", "version": "doca3.5.0"}


def make(release: str = "26.7.0", served: bool = True, **scenario: t.Any) -> World:
    world = World(NetworkOperator(), **scenario)
    container = {"name": "manager", "image": f"nvcr.io/nvidia/cloud-native/network-operator:v{release}"}
    body = {
        "spec": {"template": {"spec": {"containers": [container]}}},
        "status": {"conditions": [{"type": "Available", "status": "True"}]},
    }
    world.api.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": OPERATOR, "namespace": NAMESPACE},
        }
        | body
    )
    world.api.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "node-0", "labels": LABELS},
            "spec": {},
            "status": {},
        }
    )
    return world


def policy(world: World, name: str = "nic-cluster-policy", **spec: t.Any) -> Object:
    world.api.create(
        {
            "apiVersion": "mellanox.com/v1alpha1",
            "kind": "NicClusterPolicy",
            "metadata": {"name": name},
            "spec": spec,
        }
    )
    world.settle(2)
    return t.cast(Object, world.api.get("NicClusterPolicy", name)["status"])


def test_a_policy_of_another_name_is_ignored() -> None:
    found = policy(make(), "mine", ofedDriver=DRIVER)
    assert found["state"] == "ignore"
    assert "Only instance with predefined name nic-cluster-policy is supported" in found["reason"]


def test_the_driver_has_one_daemon_set_a_kernel() -> None:
    world = make()
    found = policy(world, ofedDriver=DRIVER)
    (made,) = world.api.all("DaemonSet")
    assert made["metadata"]["name"].startswith("mofed-rhel9.8-")
    assert made["spec"]["updateStrategy"] == {"type": "OnDelete"}
    assert (
        made["spec"]["template"]["spec"]["containers"][0]["image"]
        == "nvcr.io/nvidia/mellanox/doca-driver:doca3.5.0-rhel9.8-amd64"
    )
    assert found["state"] == "notReady"
    assert {one["name"]: one["state"] for one in found["appliedStates"] if one["state"] != "ignore"} == {
        "state-OFED": "notReady"
    }
    assert len(found["appliedStates"]) == 12


@pytest.mark.parametrize(("release", "has"), [("26.4.0", False), ("26.7.0", True)])
def test_conditions_came_with_a_release(release: str, has: bool) -> None:
    found = policy(make(release), ofedDriver=DRIVER)
    assert ("conditions" in found) is has
    if has:
        assert {one["type"]: (one["status"], one["reason"]) for one in found["conditions"]} == {
            "Ready": ("False", "ComponentsNotReady"),
            "OFEDDriverReady": ("False", "ComponentNotReady"),
        }


def test_an_image_from_nowhere_is_an_error() -> None:
    found = policy(make(), ofedDriver={"image": "doca-driver"})
    assert found["state"] == "error"
    assert "repository and version must be set" in next(
        one["message"] for one in found["appliedStates"] if one["name"] == "state-OFED"
    )


def test_what_is_not_asked_for_any_more_goes() -> None:
    world = make()
    policy(world, ofedDriver=DRIVER)
    world.api.patch(
        "mellanox.com/v1alpha1",
        "nicclusterpolicies",
        "nic-cluster-policy",
        None,
        {"spec": {"ofedDriver": None}},
    )
    world.settle(2)
    assert world.api.all("DaemonSet") == []
    assert world.api.get("NicClusterPolicy", "nic-cluster-policy")["status"]["state"] == "ready"


@pytest.mark.parametrize(
    ("app", "config", "expected"),
    [
        (
            RDMA,
            '{"configList": [{"resourceName": "a", "rdmaHcaMax": 63, "selectors": {"vendors": ["15b3"]}}]}',
            {"rdma/a": "63"},
        ),
        (
            RDMA,
            '{"configList": [{"resourceName": "a", "rdmaHcaMax": 63, "selectors": {"deviceIDs": ["101b"]}}]}',
            {"rdma/a": "0"},
        ),
        (
            SRIOV,
            '{"resourceList": [{"resourceName": "b", "resourcePrefix": "x.org", "selectors": {}}]}',
            {"x.org/b": "2"},
        ),
    ],
)
def test_what_a_plugin_offers(app: str, config: str, expected: Object) -> None:
    assert devices(app, config, NICS["CX7"], 2) == expected


def test_a_machine_with_adapters_is_described() -> None:
    machine = described("112x2048x8xH100+8xCX7-IB")
    assert (machine.gpus, machine.nics, machine.nic) == (8, 8, NICS["CX7-IB"])
    assert described("16x64").nic is None
