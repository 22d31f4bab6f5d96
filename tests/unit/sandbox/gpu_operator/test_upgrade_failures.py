# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the upgrade of a node fails, when it goes on by itself, and when it does not begin."""

from __future__ import annotations

from unit.sandbox.gpu_operator.builders import NAMESPACE, Object, conditions
from unit.sandbox.gpu_operator.fleet import AUTOMATIC, Fleet

OPEN: Object = {"driver": AUTOMATIC["driver"] | {"kernelModuleType": "open"}}
VALIDATES_SINCE = "nvidia.com/gpu-driver-upgrade-validation-start-time"


def status(fleet: Fleet, pod: str, ready: bool, restarts: int = 0) -> None:
    containers = [{"name": "nvidia-driver-ctr", "ready": ready, "restartCount": restarts}]
    body = {"status": {"conditions": conditions(ready), "containerStatuses": containers}}
    fleet.world.api.patch("v1", "pods", pod, NAMESPACE, body, "status")


def test_a_validation_that_takes_too_long_fails_and_the_upgrade_is_done_all_the_same() -> None:
    fleet = Fleet(1, delays={"driver_upgrade_validation": 5})
    fleet.run(1)
    status(fleet, "validator-gpu-0", ready=False)
    fleet.roll(OPEN)
    fleet.run(5)
    assert fleet.states["gpu-0"][-1] == "validation-required"
    assert VALIDATES_SINCE in fleet.node()["metadata"]["annotations"]
    fleet.run(8)
    assert fleet.states["gpu-0"][-4:] == [
        "validation-required",
        "upgrade-failed",
        "uncordon-required",
        "upgrade-done",
    ]
    assert fleet.cordoned[-1] == set()
    assert VALIDATES_SINCE not in fleet.node()["metadata"]["annotations"]


def test_a_driver_that_restarts_again_and_again_fails_until_it_is_ready() -> None:
    fleet = Fleet(1, delays={"driver_upgrade_restarts": 4})
    fleet.run(1)
    fleet.roll(OPEN)
    while "driver-gpu-0-2" not in fleet.pods():
        fleet.run(0.3)
    status(fleet, "driver-gpu-0-2", ready=False, restarts=11)
    fleet.run()
    assert fleet.states["gpu-0"][-2:] == ["pod-restart-required", "upgrade-failed"]
    assert fleet.cordoned[-1] == {"gpu-0"}
    status(fleet, "driver-gpu-0-2", ready=True)
    fleet.run(3)
    assert fleet.states["gpu-0"][-2:] == ["uncordon-required", "upgrade-done"]
    assert fleet.cordoned[-1] == set()


def test_a_failed_node_that_was_cordoned_before_stays_so() -> None:
    fleet = Fleet(1, delays={"driver_upgrade_validation": 2})
    fleet.run(1)
    fleet.world.api.patch("v1", "nodes", "gpu-0", None, {"spec": {"unschedulable": True}})
    status(fleet, "validator-gpu-0", ready=False)
    fleet.roll(OPEN)
    fleet.run()
    assert fleet.states["gpu-0"][-2:] == ["upgrade-failed", "upgrade-done"]
    assert fleet.cordoned[-1] == {"gpu-0"}


def test_no_node_moves_while_a_daemon_set_has_fewer_pods_than_it_wants() -> None:
    fleet = Fleet(2)
    fleet.run(1)
    body = {"status": {"desiredNumberScheduled": 3}}
    fleet.world.api.patch("apps/v1", "daemonsets", fleet.set["metadata"]["name"], NAMESPACE, body, "status")
    fleet.roll(OPEN)
    fleet.run(5)
    assert [fleet.states[name][-1] for name in fleet.names] == ["upgrade-done", "upgrade-done"]
    body = {"status": {"desiredNumberScheduled": 2}}
    fleet.world.api.patch("apps/v1", "daemonsets", fleet.set["metadata"]["name"], NAMESPACE, body, "status")
    fleet.run()
    assert {"driver-gpu-0-2", "driver-gpu-1-2"} <= fleet.pods()


def test_nodes_stay_in_upgrade_required_while_the_controller_stalls() -> None:
    fleet = Fleet(2, troubles=[{"type": "driver_upgrade_stalls", "node": "gpu-0"}])
    fleet.run(1)
    fleet.roll(OPEN)
    fleet.run()
    assert [fleet.states[name][-1] for name in fleet.names] == ["upgrade-required", "upgrade-done"]
    fleet.world.scenario.now.troubles.clear()
    fleet.run()
    assert fleet.states["gpu-0"][-1] == "upgrade-done"


def test_a_label_that_somebody_holds_is_left_alone() -> None:
    key = "nvidia.com/gpu-driver-upgrade-state"
    held = {"type": "node_label", "node": "gpu-0", "key": key, "value": "upgrade-failed"}
    fleet = Fleet(2, troubles=[held])
    fleet.world.api.patch("v1", "nodes", "gpu-0", None, {"metadata": {"labels": {key: "upgrade-failed"}}})
    fleet.run(3)
    assert [fleet.states[name][-1] for name in fleet.names] == ["upgrade-failed", "upgrade-done"]
