# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a driver upgrade does to nodes: when it begins, which way it takes, what it ends."""

from __future__ import annotations

import pytest
from unit.sandbox.gpu_operator.builders import NAMESPACE, Object, conditions
from unit.sandbox.gpu_operator.fleet import AUTOMATIC, LABEL, STEP, TOLERATION, Fleet

WHOLE = [
    "upgrade-required",
    "cordon-required",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "pod-restart-required",
    "validation-required",
    "uncordon-required",
    "upgrade-done",
]
RESTART = ["upgrade-required", *WHOLE[4:]]
TOLERANT: Object = AUTOMATIC | {"daemonsets": {"tolerations": [TOLERATION]}}
OTHER_KERNEL_MODULES: Object = {"driver": AUTOMATIC["driver"] | {"kernelModuleType": "open"}}


def upgraded(fleet: Fleet, spec: Object, version: str = "") -> Fleet:
    fleet.run(1)
    assert set(map(tuple, fleet.states.values())) == {("upgrade-done",)}
    fleet.states = {name: [] for name in fleet.names}
    fleet.roll(spec, version)
    fleet.run()
    return fleet


def way(fleet: Fleet, name: str = "gpu-0") -> list[str]:
    """Return the labels since the change; the first one may be what the node had before."""
    return [state for index, state in enumerate(fleet.states[name]) if (index, state) != (0, "upgrade-done")]


@pytest.mark.parametrize(
    ("version", "labels", "survives"), [("26.3.3", WHOLE, False), ("26.7.0", RESTART, True)]
)
def test_a_toleration_begins_an_upgrade_of_every_node(
    version: str, labels: list[str], survives: bool
) -> None:
    fleet = Fleet(3, version)
    fleet.add_workload("gpu-1")
    upgraded(fleet, TOLERANT)
    assert [way(fleet, name) for name in fleet.names] == [labels] * 3
    assert ("train" in fleet.pods()) is survives
    assert {f"driver-{name}-2" for name in fleet.names} < fleet.pods()
    assert max(map(len, fleet.cordoned)) == 1
    assert not fleet.cordoned[-1]


@pytest.mark.parametrize(
    "spec", [OTHER_KERNEL_MODULES, {"driver": AUTOMATIC["driver"] | {"env": [{"name": "A"}]}}]
)
def test_another_driver_goes_the_whole_way(spec: Object) -> None:
    fleet = Fleet()
    fleet.add_workload("gpu-1")
    assert way(upgraded(fleet, spec)) == WHOLE
    assert "train" not in fleet.pods()


@pytest.mark.parametrize(("before", "after"), [("26.3.0", "26.3.3"), ("26.3.3", "26.7.0")])
def test_another_release_has_another_manager_and_ends_pods(before: str, after: str) -> None:
    fleet = Fleet(1, before)
    fleet.add_workload("gpu-0")
    assert way(upgraded(fleet, AUTOMATIC, after)) == WHOLE
    assert "train" not in fleet.pods()


def test_a_disruption_budget_keeps_pods_until_the_timeout_and_the_driver_with_them() -> None:
    rules = AUTOMATIC["driver"]["upgradePolicy"] | {"podDeletion": {"timeoutSeconds": 15}}
    fleet = Fleet(1, spec={"driver": AUTOMATIC["driver"] | {"upgradePolicy": rules}})
    fleet.add_workload("gpu-0")
    fleet.world.api.budgeted.add("train")
    assert way(upgraded(fleet, OTHER_KERNEL_MODULES))[-1] == "pod-deletion-required"
    assert {"train", "driver-gpu-0-1"} <= fleet.pods()
    fleet.run()
    assert way(fleet)[-1] == "upgrade-failed"
    assert "train" in fleet.pods()
    assert fleet.cordoned[-1] == {"gpu-0"}


def test_a_budget_that_lets_the_pods_go_lets_the_upgrade_go_on() -> None:
    fleet = Fleet(1)
    fleet.add_workload("gpu-0")
    fleet.world.api.budgeted.add("train")
    upgraded(fleet, OTHER_KERNEL_MODULES)
    fleet.world.api.budgeted.clear()
    fleet.run()
    assert way(fleet) == WHOLE
    assert "train" not in fleet.pods()


OWNED: Object = {"ownerReferences": [{"kind": "Job", "name": "job", "uid": "j", "controller": True}]}
AGENT: Object = {"ownerReferences": [{"kind": "DaemonSet", "name": "agent", "uid": "d", "controller": True}]}
STATIC: Object = {"annotations": {"kubernetes.io/config.mirror": "hash"}}


def named(number: str = "1", init: bool = False, **more: object) -> Object:
    """Return a spec whose container names a GPU."""
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": number}}}
    if init:
        return {"containers": [{"name": "c"}], "initContainers": [container]} | more
    return {"containers": [container]} | more


DATA: Object = {"volumes": [{"name": "d", "emptyDir": {}}]}


@pytest.mark.parametrize("version", ["26.3.3", "26.7.0"])
@pytest.mark.parametrize(
    ("metadata", "spec", "last", "stays"),
    [
        (OWNED, named("0"), "upgrade-done", False),
        (OWNED, named(init=True), "upgrade-done", True),
        (OWNED, named(**DATA), "upgrade-failed", True),
        (OWNED, named("0", **DATA), "upgrade-failed", True),
        ({}, named(), "upgrade-failed", True),
        ({}, named("0"), "upgrade-failed", True),
        (AGENT, named(), "upgrade-failed", True),
        (STATIC, named(), "upgrade-failed", True),
    ],
)
def test_pods_that_the_controller_deletes_and_those_that_fail_the_node(
    version: str, metadata: Object, spec: Object, last: str, stays: bool
) -> None:
    fleet = Fleet(1, version)
    fleet.add_workload("gpu-0")
    fleet.add_pod("other", "gpu-0", {}, spec, **metadata)
    assert way(upgraded(fleet, OTHER_KERNEL_MODULES))[-1] == last
    assert ("other" in fleet.pods()) is stays
    # One pod that may not be deleted keeps all of them.
    assert ("train" in fleet.pods()) is (last == "upgrade-failed")


def test_the_same_template_begins_nothing() -> None:
    fleet = upgraded(Fleet(), AUTOMATIC | {"dcgm": {"enabled": False}})
    assert [way(fleet, name) for name in fleet.names] == [[], []]


def test_a_node_waits_in_validation_until_its_validator_is_ready() -> None:
    fleet = Fleet(1)

    def validator(ready: bool) -> None:
        body = {"status": {"conditions": conditions(ready)}}
        fleet.world.api.patch("v1", "pods", "validator-gpu-0", NAMESPACE, body, "status")

    validator(ready=False)
    assert way(upgraded(fleet, TOLERANT))[-1] == "validation-required"
    assert fleet.cordoned[-1] == {"gpu-0"}
    validator(ready=True)
    fleet.run(3)
    assert way(fleet) == RESTART


def test_a_node_that_asked_for_an_upgrade_goes_the_whole_way() -> None:
    fleet = Fleet(1)
    requested = {"metadata": {"annotations": {"nvidia.com/gpu-driver-upgrade-requested": "true"}}}
    fleet.run(1)
    fleet.world.api.patch("v1", "nodes", "gpu-0", None, requested)
    fleet.run()
    assert way(fleet) == WHOLE
    assert "nvidia.com/gpu-driver-upgrade-requested" not in fleet.node()["metadata"]["annotations"]


def test_a_node_that_was_cordoned_before_stays_so() -> None:
    fleet = Fleet(1)
    fleet.run(1)
    fleet.world.api.patch("v1", "nodes", "gpu-0", None, {"spec": {"unschedulable": True}})
    assert way(upgraded(fleet, TOLERANT)) == [state for state in RESTART if state != "uncordon-required"]
    assert fleet.node()["spec"]["unschedulable"]
    assert list(fleet.node()["metadata"]["annotations"]) == ["nvidia.com/gpu-driver-upgrade-enabled"]


def test_a_failed_node_keeps_its_place() -> None:
    fleet = Fleet()
    fleet.run(1)
    fleet.world.api.patch("v1", "nodes", "gpu-0", None, {"metadata": {"labels": {LABEL: "upgrade-failed"}}})
    fleet.roll(TOLERANT)
    fleet.run(10)
    assert fleet.states["gpu-1"][-1] == "upgrade-required"


@pytest.mark.parametrize(
    "spec",
    [
        {"driver": {"upgradePolicy": {"autoUpgrade": False}}},
        {"driver": {}},
        AUTOMATIC | {"sandboxWorkloads": {"enabled": True}},
    ],
)
def test_without_automatic_upgrades_label_and_annotation_go(spec: Object) -> None:
    fleet = Fleet()
    fleet.run(1)
    assert fleet.node()["metadata"]["annotations"] == {"nvidia.com/gpu-driver-upgrade-enabled": "true"}
    whole = dict.fromkeys(("driver", "sandboxWorkloads")) | spec
    fleet.world.api.patch("nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy", None, {"spec": whole})
    if not spec["driver"]:
        fleet.world.api.get("ClusterPolicy", "gpu-cluster-policy")["spec"]["driver"] = {}
    fleet.run(1)
    assert [fleet.states[name][-1] for name in fleet.names] == ["", ""]
    assert fleet.node()["metadata"]["annotations"] == {}


@pytest.mark.parametrize(("version", "left"), [("26.3.3", "upgrade-done"), ("26.7.0", "")])
def test_what_stays_of_the_upgrade_when_the_policy_is_deleted(version: str, left: str) -> None:
    fleet = Fleet(1, version)
    fleet.run(1)
    fleet.world.api.delete("nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy")
    fleet.run(1)
    assert fleet.states["gpu-0"][-1] == left
    assert fleet.node()["metadata"]["labels"]["nvidia.com/gpu.present"] == "true"
    assert fleet.node()["metadata"]["annotations"] == {"nvidia.com/gpu-driver-upgrade-enabled": "true"}


def test_a_poll_is_what_a_node_waits_for() -> None:
    fleet = Fleet(1, delays={"driver_upgrade_poll": 12})
    upgraded(fleet, TOLERANT)
    fleet.run(5)
    seconds = sum(bool(one) for one in fleet.cordoned) * STEP
    assert 12 <= seconds < 15
