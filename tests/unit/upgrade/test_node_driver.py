# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node runs, and which patches hold it back, release it, and begin it again."""

from __future__ import annotations

import copy
import typing as t

from unit.stack.builders import FIXTURE, pod
from unit.upgrade.in_memory.builders import OLD

from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import node_driver
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.node_driver import (
    HELD,
    SKIP,
    NodeDriver,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import Triple

STATE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
WANTED: t.Final = Triple("nvcr.io/nvidia", "driver", OLD)


def driver(state: str = "upgrade-done", is_ready: bool = True, is_current: bool = True) -> NodeDriver:
    seen = copy.deepcopy(FIXTURE)
    (node,) = seen["nodes"]
    node["metadata"]["labels"] |= {STATE: state}
    one = pod(seen, "nvidia-driver")
    one["status"]["conditions"] = [{"type": "Ready", "status": str(is_ready)}]
    return NodeDriver(node, one, f"nvcr.io/nvidia/driver:{OLD}-rhel9.6", is_current)


def test_the_driver_of_a_node_is_read_from_its_pod() -> None:
    seen = copy.deepcopy(FIXTURE)
    containers = [
        {"name": "openshift-driver-toolkit-ctr", "image": "t"},
        {"name": "nvidia-driver-ctr", "image": "d"},
    ]
    pod(seen, "nvidia-driver")["spec"]["containers"] = containers
    found = node_driver.all_of(seen)["gpu-0"]
    assert (found.image, found.is_current, found.is_ready) == ("d", True, True)
    pod(seen, "nvidia-driver")["metadata"]["labels"]["controller-revision-hash"] = "older"
    assert not node_driver.all_of(seen)["gpu-0"].is_current


def test_a_node_is_due_until_the_wanted_driver_works_there() -> None:
    assert not driver().is_due(WANTED, WANTED)
    assert driver(is_ready=False).is_due(WANTED, WANTED)
    assert driver(state="upgrade-failed").is_due(WANTED, WANTED)
    assert driver(is_current=False).is_due(WANTED, WANTED)
    assert driver().is_due(WANTED._replace(version="1"), WANTED)


def test_without_a_named_driver_the_newest_revision_counts() -> None:
    assert driver().runs(Triple("", "", ""))
    assert not driver(is_current=False).runs(Triple("", "", ""))


def test_a_label_that_a_person_set_is_not_ours() -> None:
    one = driver()
    one.node["metadata"]["labels"][SKIP] = "true"
    assert one.is_skipped
    assert not one.is_held
    one.node["metadata"]["annotations"] = {HELD: "true"}
    assert one.is_held


def test_a_released_node_is_not_emptied_for_nothing() -> None:
    assert node_driver.release(driver(state="upgrade-required"))["metadata"]["labels"] == {
        SKIP: None,
        STATE: "upgrade-done",
    }
    old = driver(state="upgrade-required", is_current=False)
    assert node_driver.release(old)["metadata"]["labels"] == {SKIP: None}


# The label alone would only restart a driver that is what its DaemonSet says.
REQUIRED = {
    "metadata": {
        "labels": {STATE: "upgrade-required"},
        "annotations": {"nvidia.com/gpu-driver-upgrade-requested": "true"},
    }
}


def test_a_failed_node_begins_again() -> None:
    assert node_driver.again(driver()) is None
    assert node_driver.again(driver(is_current=False)) is None
    assert node_driver.again(driver(state="upgrade-failed", is_ready=False)) == REQUIRED
    assert node_driver.again(driver(state="validation-required", is_current=False)) == REQUIRED
    assert node_driver.again(driver(state="validation-required")) is None
    right = node_driver.again(driver(state="upgrade-failed"))
    assert right is not None
    assert right["metadata"]["labels"] == {STATE: "uncordon-required"}


def test_a_pod_that_its_manager_blocks_begins_again() -> None:
    one = driver(is_ready=False)
    assert one.pod is not None
    status = {"name": "k8s-driver-manager", "ready": False, "restartCount": 7}
    one.pod["status"]["initContainerStatuses"] = [status]
    assert one.is_blocked
    assert node_driver.again(one) == REQUIRED
