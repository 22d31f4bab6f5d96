# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The troubles of a driver upgrade, each as its scenario has it."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import (
    NAMESPACE,
    Object,
    add_job_pod,
    add_operand,
    conditions,
    make,
    pod_annotations,
)
from unit.sandbox.gpu_operator.fleet import AUTOMATIC, Fleet

from openshift_sandbox import scenario
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import CRASH, OperandPods
from openshift_sandbox.stand_ins.gpu_operator.workloads import EXIT_CODE, GpuWorkloads

OLD, NEW = "580.82.07", "595.91.07"
TOOLKIT, VALIDATOR = "nvidia-container-toolkit-daemonset", "nvidia-operator-validator"
OPEN: Object = {"driver": AUTOMATIC["driver"] | {"kernelModuleType": "open"}}


def of(name: str) -> dict[str, t.Any]:
    """Return the troubles and the delays of a scenario."""
    found = scenario.load(name)
    return {"troubles": found.troubles, "delays": found.delays}


def with_driver(version: str, *apps: str, **more: t.Any) -> World:
    """Return a node with a driver pod of a version, and other operands."""
    world = make(OperandPods(), GpuWorkloads(), **more)
    driver = {"app.kubernetes.io/component": "nvidia-driver"}
    add_operand(world, "driver", "ready", ready=True, **driver)
    pod = world.api.get("Pod", "driver", NAMESPACE)
    pod["spec"]["containers"][0]["image"] = f"nvcr.io/nvidia/driver:{version}-rhel9.8"
    for app in apps:
        add_operand(world, app)
    world.settle(3)
    return world


def test_no_upgrade_begins() -> None:
    fleet = Fleet(2, **of("driver-upgrade-stalls"))
    fleet.run(1)
    fleet.roll(OPEN)
    fleet.run()
    assert [fleet.states[name][-1] for name in fleet.names] == ["upgrade-required"] * 2


def test_driver_pods_restart_and_the_controller_has_nothing_to_do() -> None:
    fleet = Fleet(2, **of("driver-restarts-in-use"))
    fleet.run(1)
    fleet.roll(OPEN)
    fleet.run(3)
    assert {"driver-gpu-0-2", "driver-gpu-1-2"} <= fleet.pods()
    assert [fleet.states[name] for name in fleet.names] == [["upgrade-done"]] * 2
    assert not any(fleet.cordoned)


def test_an_upgrade_that_failed_says_that_it_is_done() -> None:
    fleet = Fleet(1, **of("driver-upgrade-heals"))
    fleet.run(1)
    body = {"status": {"conditions": conditions(False)}}
    fleet.world.api.patch("v1", "pods", "validator-gpu-0", NAMESPACE, body, "status")
    fleet.roll(OPEN)
    fleet.run(15)
    assert fleet.states["gpu-0"][-3:] == ["upgrade-failed", "uncordon-required", "upgrade-done"]


@pytest.mark.parametrize(("version", "fails"), [(OLD, False), (NEW, True)])
def test_a_new_driver_does_not_build_or_does_not_validate(version: str, fails: bool) -> None:
    built = with_driver(version, **of("driver-canary-fails"))
    assert (CRASH in pod_annotations(built, "driver")) is fails
    validated = with_driver(version, VALIDATOR, **of("driver-upgrade-heals"))
    assert (CRASH in pod_annotations(validated, VALIDATOR)) is fails


@pytest.mark.parametrize(("version", "waits"), [(OLD, False), (NEW, True)])
def test_operands_wait_behind_a_driver_that_is_ready(version: str, waits: bool) -> None:
    world = with_driver(version, TOOLKIT, **of("operands-wait"))
    assert (HOLD in pod_annotations(world, TOOLKIT)) is waits


def test_operands_wait_for_a_while() -> None:
    world = with_driver(NEW, TOOLKIT, troubles=[{"type": "operands_wait", "seconds": 10}])
    assert HOLD in pod_annotations(world, TOOLKIT)
    world.settle(8)
    assert HOLD not in pod_annotations(world, TOOLKIT)


@pytest.mark.parametrize(("version", "code"), [(OLD, "0"), (NEW, "1")])
def test_programs_fail_on_a_new_driver(version: str, code: str) -> None:
    world = with_driver(version, troubles=[{"type": "cuda_fails", "version": NEW}])
    add_job_pod(world, "cuda", NAMESPACE)
    world.settle(3)
    assert pod_annotations(world, "cuda")[EXIT_CODE] == code
