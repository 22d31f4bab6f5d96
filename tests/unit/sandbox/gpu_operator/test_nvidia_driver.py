# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the NVIDIADriver controller makes: owners, DaemonSets and states."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import NAMESPACE
from unit.sandbox.gpu_operator.cluster import CLUSTER, GPU, put, run_daemon_sets

from openshift_sandbox.stand_ins.gpu_operator.driver_owners import OWNER
from openshift_sandbox.stand_ins.gpu_operator.nvidia_driver import MAJOR, NvidiaDriver

Object = dict[str, t.Any]
TRIPLE: t.Final = {
    "repository": "nvcr.io/nvidia",
    "image": "driver",
    "version": "595.91.07",
    "driverType": "gpu",
}


def make(*drivers: tuple[str, Object], switched: bool = True, labels: Object | None = None) -> World:
    world = World(NvidiaDriver())
    for one in CLUSTER:
        put(world, *one)
    found = {**GPU, "nvidia.com/gpu.present": "true", MAJOR: "9", "pool": "a", **(labels or {})}
    marks = {key: value for key, value in found.items() if value is not None}
    world.api.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "node-0", "labels": marks},
            "spec": {},
            "status": {},
        }
    )
    put(
        world,
        "nvidia.com/v1",
        "ClusterPolicy",
        "gpu-cluster-policy",
        None,
        {"spec": {"driver": {"useNvidiaDriverCRD": switched}}},
    )
    for name, spec in drivers:
        put(world, "nvidia.com/v1alpha1", "NVIDIADriver", name, None, {"spec": TRIPLE | spec})
    world.settle(2)
    return world


def state(world: World, name: str = "a") -> tuple[str, str]:
    status = world.api.get("NVIDIADriver", name)["status"]
    error = next(one for one in status["conditions"] if one["type"] == "Error")
    ready = next(one for one in status["conditions"] if one["type"] == "Ready")
    return status["state"], (error if error["status"] == "True" else ready)["reason"]


def owner(world: World) -> str | None:
    found: str | None = world.api.get("Node", "node-0")["metadata"]["labels"].get(OWNER)
    return found


def test_a_driver_owns_its_nodes_and_has_a_daemonset_for_them() -> None:
    world = make(("a", {"nodeSelector": {"pool": "a"}}), ("rest", {"default": True}))
    (made,) = world.api.all("DaemonSet")
    assert made["metadata"]["name"].startswith("nvidia-gpu-driver-rhel9-")
    assert made["spec"]["updateStrategy"] == {"type": "OnDelete"}
    assert made["spec"]["template"]["spec"]["nodeSelector"][OWNER] == owner(world) == "a"
    assert state(world) == ("notReady", "DriverNotReady")
    run_daemon_sets(world)
    assert state(world) == ("ready", "Reconciled")


def test_without_the_switch_it_is_disabled() -> None:
    world = make(("a", {}), switched=False)
    assert (state(world), owner(world), world.api.all("DaemonSet")) == (("disabled", "Reconciled"), None, [])


def test_switched_off_it_says_so_and_leaves_everything_as_it_is() -> None:
    world = make(("a", {}))
    world.api.patch(
        "nvidia.com/v1",
        "clusterpolicies",
        "gpu-cluster-policy",
        None,
        {"spec": {"driver": {"useNvidiaDriverCRD": False}}},
    )
    world.settle(2)
    assert (state(world), owner(world), len(world.api.all("DaemonSet"))) == (
        ("disabled", "Reconciled"),
        "a",
        1,
    )


def test_two_for_one_node_stop_every_driver() -> None:
    world = make(
        ("a", {"nodeSelector": {"pool": "a"}}), ("b", {}), ("elsewhere", {"nodeSelector": {"pool": "none"}})
    )
    assert {state(world, name) for name in ("a", "b", "elsewhere")} == {
        ("notReady", "ConflictingNodeSelector")
    }
    assert owner(world) is None


def test_two_defaults_are_an_error_of_another_name() -> None:
    assert state(make(("a", {"default": True}), ("b", {"default": True}))) == ("notReady", "ReconcileFailed")


def test_a_node_without_its_major_version_is_not_counted() -> None:
    world = make(("a", {}), labels={MAJOR: None})
    assert (state(world), owner(world), world.api.all("DaemonSet")) == (("ready", "Reconciled"), "a", [])


def test_a_broken_image_is_told() -> None:
    assert state(make(("a", {"version": ""}))) == ("notReady", "ReconcileFailed")


def test_the_namespace_is_the_operators() -> None:
    world = make(("a", {}))
    assert {one["metadata"]["namespace"] for one in world.api.all("DaemonSet")} == {NAMESPACE}
