# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A driver pod that starts while pods use GPUs: the driver before cannot be unloaded."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import (
    NAMESPACE,
    Object,
    add_driver,
    conditions,
    make,
    pod_annotations,
)

from openshift_sandbox.stand_ins.gpu_operator.logs import GpuLogs
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import INIT_CRASH, OperandPods
from openshift_sandbox.stand_ins.gpu_operator.rules import digest

DRIVER = "nvidia-driver-daemonset"
ENABLED = {"nvidia.com/gpu-driver-upgrade-enabled": "true"}


def add_pod(world: World, name: str, spec: Object, uid: str = "", ready: bool = True) -> None:
    labels = {"app.kubernetes.io/component": "nvidia-driver"} if uid else {}
    owners = {"ownerReferences": [{"kind": "DaemonSet", "name": DRIVER, "uid": uid}]} if uid else {}
    body = {
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels} | owners,
        "spec": {"nodeName": "gpu-0"} | spec,
        "status": {"phase": "Running", "conditions": conditions(ready)},
    }
    world.api.create({"apiVersion": "v1", "kind": "Pod"} | body)


def driver(marked: str = "") -> Object:
    env = {"env": [{"name": digest.ENV, "value": marked}]} if marked else {}
    return {"containers": [{"name": "nvidia-driver-ctr", "image": "nvcr.io/nvidia/driver:580.1"} | env]}


def restarted(
    before: Object, after: Object, owner: str = "ds", boot: str = "", automatic: bool = True
) -> World:
    """Return a node whose driver pod has been replaced while a pod with a GPU runs."""
    world = make(OperandPods())
    add_driver(world)
    world.api.delete("v1", "pods", DRIVER, NAMESPACE)
    if automatic:
        world.api.patch("v1", "nodes", "gpu-0", None, {"metadata": {"annotations": ENABLED}})
    add_pod(world, "driver-1", before, "ds")
    world.settle(1)
    gpu = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
    add_pod(world, "train", gpu)
    world.api.delete("v1", "pods", "driver-1", NAMESPACE)
    if boot:
        body = {"status": {"nodeInfo": {"bootID": boot}}}
        world.api.patch("v1", "nodes", "gpu-0", None, body, "status")
    add_pod(world, "driver-2", after, owner, ready=False)
    world.settle(1)
    return world


def crashes(world: World) -> bool:
    return INIT_CRASH in pod_annotations(world, "driver-2")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (driver(), driver(), True),
        (driver("a"), driver("b"), True),
        (driver("a"), driver("a"), False),
    ],
    ids=("without digests", "another driver", "the same driver"),
)
def test_a_driver_in_use_is_not_replaced(before: Object, after: Object, expected: bool) -> None:
    world = restarted(before, after)
    assert crashes(world) is expected
    assert world.api.get("Pod", "train", NAMESPACE)


def test_the_pod_starts_when_the_pods_with_gpus_have_gone() -> None:
    world = restarted(driver(), driver())
    world.api.delete("v1", "pods", "train", NAMESPACE)
    world.settle(1)
    assert not crashes(world)


def test_the_pod_starts_once_the_controller_has_emptied_the_node() -> None:
    """Another pod with a GPU has come meanwhile."""
    world = restarted(driver(), driver())
    world.api.delete("v1", "pods", "train", NAMESPACE)
    add_pod(world, "train-again", {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]})
    state = {"nvidia.com/gpu-driver-upgrade-state": "pod-restart-required"}
    world.api.patch("v1", "nodes", "gpu-0", None, {"metadata": {"labels": state}})
    world.settle(1)
    assert not crashes(world)


def test_the_pod_waits_for_pods_that_the_controller_did_not_end() -> None:
    world = restarted(driver(), driver())
    state = {"nvidia.com/gpu-driver-upgrade-state": "pod-restart-required"}
    world.api.patch("v1", "nodes", "gpu-0", None, {"metadata": {"labels": state}})
    world.settle(1)
    assert crashes(world)


@pytest.mark.parametrize("changed", [{"owner": "other"}, {"boot": "b-2"}], ids=("DaemonSet", "boot"))
def test_a_node_that_started_again_has_no_driver(changed: dict[str, t.Any]) -> None:
    assert not crashes(restarted(driver(), driver(), **changed))


def test_the_manager_evicts_pods_where_the_operator_does_not_upgrade_by_itself() -> None:
    world = restarted(driver(), driver(), automatic=False)
    assert "train" not in {pod["metadata"]["name"] for pod in world.api.all("Pod")}
    assert not crashes(world)


def test_its_log_says_why_it_evicted_nothing(tmp_path: Path) -> None:
    world = make(GpuLogs(), directory=tmp_path)
    add_pod(world, "driver-2", driver(), "ds", ready=False)
    world.api.patch("v1", "pods", "driver-2", NAMESPACE, {"metadata": {"annotations": {INIT_CRASH: "true"}}})
    world.settle(1)
    text = (tmp_path / "pod-logs" / f"{NAMESPACE}_driver-2_k8s-driver-manager.log").read_text()
    assert "Auto eviction of GPU pods on node gpu-0 is disabled by the upgrade policy" in text
    assert "driver is in use" in text
