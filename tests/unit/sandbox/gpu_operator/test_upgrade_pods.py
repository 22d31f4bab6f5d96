# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods a driver upgrade waits for and ends, and what happens when one stays."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.gpu_operator.builders import Object
from unit.sandbox.gpu_operator.fleet import AUTOMATIC, LABEL, Fleet

WAITS_SINCE = "nvidia.com/gpu-driver-upgrade-wait-for-pod-completion-start-time"
JOB: Object = {"ownerReferences": [{"kind": "Job", "name": "job", "uid": "j"}]}
DAEMON: Object = {"ownerReferences": [{"kind": "DaemonSet", "name": "dcgm", "uid": "d"}]}
GPU: Object = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
SCRATCH: Object = GPU | {"volumes": [{"name": "scratch", "emptyDir": {}}]}


def policy(**rules: t.Any) -> Object:
    return {"driver": {"upgradePolicy": {"autoUpgrade": True} | rules}}


def begun(rules: Object, name: str = "train", spec: Object | None = None, **metadata: t.Any) -> Fleet:
    """Return one node whose upgrade has begun while a pod runs on it."""
    fleet = Fleet(1, spec=policy(**rules))
    fleet.run(1)
    fleet.states = {"gpu-0": []}
    fleet.add_pod(name, "gpu-0", metadata.pop("labels", {}), spec or GPU, **metadata)
    fleet.roll({"driver": fleet.spec["driver"] | {"kernelModuleType": "open"}})
    fleet.run()
    return fleet


def last(fleet: Fleet) -> str:
    return fleet.states["gpu-0"][-1]


@pytest.mark.parametrize(
    ("deletion", "spec", "metadata", "state"),
    [
        ({}, GPU, {}, "upgrade-failed"),
        ({"force": True}, GPU, {}, "upgrade-done"),
        ({}, SCRATCH, JOB, "upgrade-failed"),
        ({"deleteEmptyDir": True}, SCRATCH, JOB, "upgrade-done"),
        ({"force": True, "deleteEmptyDir": True}, GPU, DAEMON, "upgrade-failed"),
    ],
    ids=("no controller", "force", "emptyDir", "deleteEmptyDir", "DaemonSet"),
)
def test_a_pod_that_drain_refuses_fails_the_upgrade(
    deletion: Object, spec: Object, metadata: Object, state: str
) -> None:
    fleet = begun({"podDeletion": deletion}, spec=spec, **metadata)
    assert last(fleet) == state
    assert ("train" in fleet.pods()) is (state == "upgrade-failed")
    assert fleet.cordoned[-1] == ({"gpu-0"} if state == "upgrade-failed" else set())


def test_one_refused_pod_keeps_the_others() -> None:
    fleet = Fleet(1, spec=policy())
    fleet.run(1)
    fleet.add_pod("bare", "gpu-0", {}, GPU)
    fleet.add_workload("gpu-0")
    fleet.roll({"driver": fleet.spec["driver"] | {"kernelModuleType": "open"}})
    fleet.run()
    assert {"bare", "train"} <= fleet.pods()


def test_the_drain_follows_when_pods_could_not_be_deleted() -> None:
    fleet = begun({"drain": {"enable": True, "force": True}})
    assert "drain-required" in fleet.states["gpu-0"]
    assert last(fleet) == "upgrade-done"
    assert "train" not in fleet.pods()


def test_the_drain_ends_pods_without_a_gpu_but_not_those_that_say_so() -> None:
    fleet = Fleet(1, spec=policy(drain={"enable": True, "force": True, "podSelector": "tier=web"}))
    fleet.run(1)
    fleet.add_pod("train", "gpu-0", {"tier": "web"}, GPU)
    fleet.add_pod("web", "gpu-0", {"tier": "web"})
    fleet.add_pod("kept", "gpu-0", {"tier": "web", "nvidia.com/gpu-driver-upgrade-drain.skip": "true"})
    fleet.add_pod("other", "gpu-0", {"tier": "db"})
    fleet.roll({"driver": fleet.spec["driver"] | {"kernelModuleType": "open"}})
    fleet.run()
    assert fleet.pods() & {"train", "web", "kept", "other"} == {"kept", "other"}


def test_a_budget_fails_the_drain_after_its_timeout() -> None:
    rules = {"podDeletion": {"timeoutSeconds": 3}, "drain": {"enable": True, "timeoutSeconds": 3}}
    fleet = Fleet(1, spec=policy(**rules))
    fleet.run(1)
    fleet.add_workload("gpu-0")
    fleet.world.api.budgeted.add("train")
    fleet.roll({"driver": fleet.spec["driver"] | {"kernelModuleType": "open"}})
    fleet.run()
    assert fleet.states["gpu-0"][-2:] == ["drain-required", "upgrade-failed"]
    assert "train" in fleet.pods()


@pytest.mark.parametrize(("seconds", "state"), [(0, "wait-for-jobs-required"), (5, "upgrade-done")])
def test_a_node_waits_for_the_pods_of_a_selector(seconds: int, state: str) -> None:
    rules = {"waitForCompletion": {"podSelector": "app in (train,tune)", "timeoutSeconds": seconds}}
    fleet = begun(rules, labels={"app": "tune"}, **JOB)
    assert last(fleet) == state
    assert (WAITS_SINCE in fleet.node()["metadata"]["annotations"]) is False


def test_a_node_that_waits_goes_on_when_the_pods_have_ended() -> None:
    rules = {"waitForCompletion": {"podSelector": "app=train", "timeoutSeconds": 60}}
    fleet = begun(rules, labels={"app": "train"}, **JOB)
    assert WAITS_SINCE in fleet.node()["metadata"]["annotations"]
    ended = {"status": {"phase": "Succeeded"}}
    fleet.world.api.patch("v1", "pods", "train", "nvidia-gpu-operator", ended, "status")
    fleet.run()
    assert last(fleet) == "upgrade-done"
    assert WAITS_SINCE not in fleet.node()["metadata"]["annotations"]


def test_a_pod_that_runs_elsewhere_or_with_other_labels_is_not_waited_for() -> None:
    assert last(begun({"waitForCompletion": {"podSelector": "app=train"}}, labels={"app": "web"})) != (
        "wait-for-jobs-required"
    )


def test_a_node_with_the_label_skip_waits_in_upgrade_required() -> None:
    fleet = Fleet(2, spec=AUTOMATIC)
    fleet.run(1)
    skip = {"metadata": {"labels": {"nvidia.com/gpu-driver-upgrade.skip": "true"}}}
    fleet.world.api.patch("v1", "nodes", "gpu-0", None, skip)
    fleet.roll({"driver": AUTOMATIC["driver"] | {"kernelModuleType": "open"}})
    fleet.run()
    assert [fleet.node(name)["metadata"]["labels"][LABEL] for name in fleet.names] == [
        "upgrade-required",
        "upgrade-done",
    ]
    assert "driver-gpu-0-1" in fleet.pods()
