# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver upgrade of a node: its steps, what is left, how it fails, and pods that no upgrade replaces."""

from __future__ import annotations

import typing as t

import pytest
from unit.stack.builders import Snapshot, node, pod, second_node
from unit.stack.clusterpolicy.troubles import DRIVER, crash, judge, old_pod, upgrade_failed, upgrading

from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import NO_RUN, Run
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands, upgrade
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import node_driver

LABEL = "nvidia.com/gpu-driver-upgrade-state"


def automatic(seen: Snapshot) -> None:
    seen["policies"][0]["spec"].setdefault("driver", {})["upgradePolicy"] = {"autoUpgrade": True}


def behind(seen: Snapshot, prefix: str = DRIVER) -> None:
    """A pod that was just replaced and is not Ready yet."""
    pod(seen, prefix)["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


@pytest.mark.parametrize(
    ("step", "command"),
    [
        ("upgrade-required", f"`oc get nodes -L {LABEL}`"),
        ("cordon-required", f"`oc get nodes -L {LABEL}`"),
        ("wait-for-jobs-required", "`oc get pods -A --field-selector spec.nodeName=gpu-0`"),
        ("pod-deletion-required", "`oc get pods -A --field-selector spec.nodeName=gpu-0`"),
        ("drain-required", "`oc get pods -A --field-selector spec.nodeName=gpu-0`"),
        ("pod-restart-required", "`oc get pods -n nvidia-gpu-operator --field-selector spec.nodeName=gpu-0`"),
        ("validation-required", "-l app=nvidia-operator-validator --field-selector spec.nodeName=gpu-0`"),
        ("uncordon-required", f"`oc get nodes -L {LABEL}`"),
    ],
)
def test_an_old_pod_in_the_middle_of_an_upgrade_is_an_upgrade_under_way(
    seen: Snapshot, step: str, command: str
) -> None:
    automatic(seen)
    old_pod(seen)
    node(seen)["metadata"]["labels"][LABEL] = step
    verdict = judge(seen, after=600)
    assert (verdict.code, verdict.verdict) == ("GPU-UPG-RUNNING", "pending")
    assert f"the driver upgrade is at {step}" in verdict.message
    assert command in verdict.remedy


def test_a_new_driver_pod_that_starts_is_an_upgrade_under_way(seen: Snapshot) -> None:
    upgrading(seen)
    behind(seen)
    assert judge(seen, after=600).code == "GPU-UPG-RUNNING"


def test_a_new_driver_that_crashes_is_no_upgrade_under_way(seen: Snapshot) -> None:
    upgrading(seen)
    crash(seen)
    assert judge(seen, after=301).code == "GPU-DRV-CRASH"


def test_what_is_left_of_an_upgrade_is_told_in_nodes_and_minutes(seen: Snapshot) -> None:
    second_node(seen, pool="training")
    upgrading(seen)
    message = judge(seen, replicas=2).message
    assert "complete on 1 of 2 nodes" in message
    assert "2 to 10 min a node, so 2 to 10 min more" in message


def test_each_node_of_an_upgrade_makes_the_wait_longer_when_its_turn_comes() -> None:
    def rolling(*states: str, label: str = "gpu") -> list[dict[str, t.Any]]:
        key = f"nvidia.com/{label}-driver-upgrade-state"
        return [
            {"metadata": {"name": f"n{number}", "labels": {key: state}}}
            for number, state in enumerate(states)
        ]

    budget = upgrade.Budget(1800, 600)
    assert budget.seconds(rolling("", "upgrade-done", "upgrade-failed")) == 1800
    assert budget.seconds(rolling("drain-required", "upgrade-required", "upgrade-required")) == 2400
    assert budget.seconds(rolling("upgrade-done", "drain-required", "upgrade-required")) == 3000
    assert budget.seconds(rolling("upgrade-done", "drain-required", "upgrade-required")) == 3000, "stuck"
    assert budget.seconds(rolling("upgrade-done", "upgrade-done", "upgrade-done")) == 3600
    nics = upgrade.Budget(1800, 300)
    assert nics.seconds(rolling("drain-required", label="ofed")) == 2100


def test_a_label_does_not_help_where_nothing_upgrades_by_itself(seen: Snapshot) -> None:
    old_pod(seen)
    seen["policies"][0]["spec"]["driver"] = {"upgradePolicy": {"autoUpgrade": False}}
    verdict = judge(seen)
    assert verdict.code == "GPU-DRV-OUTDATED"
    assert verdict.remedy.startswith("Set driver.upgrade_policy.auto_upgrade to true;")
    assert "oc label" not in verdict.remedy
    automatic(seen)
    verdict = judge(seen)
    assert "the operator has not begun its upgrade" in verdict.message
    assert "oc logs -n nvidia-gpu-operator deployment/gpu-operator" in verdict.remedy


@pytest.mark.parametrize("state", ["upgrade-done", "upgrade-required"])
def test_a_node_that_is_to_be_skipped_keeps_its_old_pod(seen: Snapshot, state: str) -> None:
    automatic(seen)
    old_pod(seen)
    node(seen)["metadata"]["labels"] |= {upgrade.SKIP: "true", LABEL: state}
    verdict = judge(seen)
    assert (verdict.code, verdict.verdict) == ("GPU-DRV-OUTDATED", "failed")
    assert "which this collection did not set" in verdict.message
    assert "`oc label node gpu-0 nvidia.com/gpu-driver-upgrade.skip-`" in verdict.remedy
    assert "the operator then ends the pods with GPUs on the node at once" in verdict.remedy


@pytest.mark.parametrize("state", ["", "upgrade-done", "upgrade-required"])
def test_a_node_that_a_run_of_ours_holds_back_names_the_run_at_once(seen: Snapshot, state: str) -> None:
    automatic(seen)
    old_pod(seen)
    run = Run("jo", "bastion", "m", 4711, "1")
    held = node_driver.hold(run)["metadata"]
    node(seen)["metadata"]["labels"] |= {**held["labels"], LABEL: state}
    node(seen)["metadata"]["annotations"] = held["annotations"]
    verdict = judge(seen)
    assert (verdict.code, verdict.verdict) == ("GPU-UPG-HELD", "failed")
    assert "the driver upgrade of jo@bastion (pid 4711) since 20" in verdict.message
    assert "ConfigMap gpu-driver-upgrade" in verdict.message
    assert upgrade.RESUME in verdict.remedy
    assert "oc label" not in verdict.remedy


def test_a_node_that_a_run_of_an_older_release_holds_back_is_ours_too(seen: Snapshot) -> None:
    old_pod(seen)
    node(seen)["metadata"]["labels"][upgrade.SKIP] = "true"
    node(seen)["metadata"]["annotations"] = {upgrade.HELD: "true"}
    assert "the driver upgrade of an earlier run (ConfigMap" in judge(seen).message


def test_a_node_that_is_held_back_and_has_its_driver_is_no_trouble(seen: Snapshot) -> None:
    automatic(seen)
    held = node_driver.hold(NO_RUN)["metadata"]
    node(seen)["metadata"]["labels"] |= {**held["labels"], LABEL: "upgrade-required"}
    node(seen)["metadata"]["annotations"] = held["annotations"]
    assert judge(seen).is_ready


def new_driver_not_ready(seen: Snapshot) -> None:
    behind(seen)


def new_driver_ready(seen: Snapshot) -> None:
    behind(seen, "nvidia-operator-validator")


@pytest.mark.parametrize(
    ("change", "why", "way_out"),
    [
        (old_pod, " still runs", f"`oc label node gpu-0 {LABEL}=upgrade-required"),
        (old_pod, "its old driver pod nvidia-driver-", "disruption budget keeps (`oc get pdb -A`)"),
        (new_driver_not_ready, "its new driver pod", "`oc delete pod -n nvidia-gpu-operator nvidia-driver-"),
        (new_driver_ready, "its new driver runs", "-l app=nvidia-operator-validator"),
    ],
)
def test_a_failed_upgrade_says_why_and_the_way_out(
    seen: Snapshot, change: t.Callable[[Snapshot], None], why: str, way_out: str
) -> None:
    upgrade_failed(seen)
    change(seen)
    verdict = judge(seen)
    assert (verdict.code, verdict.verdict) == ("GPU-UPG-FAILED", "failed")
    assert why in verdict.message
    assert way_out in verdict.remedy
    assert "cordoned" not in verdict.message, "after a rollback the node is not"


def test_findings_of_other_codes_keep_their_message(seen: Snapshot) -> None:
    found = upgrade.judge_outdated(
        node(seen), operands.Operand("driver", "d", "p", note=operands.OUTDATED), is_automatic=False
    )
    assert found is not None
    assert upgrade.with_progress([found], 3) == [found]


@pytest.mark.parametrize(
    ("rules", "states", "waiting"),
    [
        ({}, ("upgrade-failed", "upgrade-required", "upgrade-done"), {"gpu-1"}),
        ({}, ("drain-required", "upgrade-required", "upgrade-required"), set()),
        ({"maxParallelUpgrades": 2}, ("upgrade-failed", "upgrade-required", "upgrade-done"), set()),
        ({"maxParallelUpgrades": 2}, ("upgrade-failed", "upgrade-failed", "upgrade-required"), {"gpu-2"}),
        ({"maxParallelUpgrades": 0}, ("upgrade-failed", "upgrade-failed", "upgrade-required"), set()),
        (
            {"maxParallelUpgrades": 0, "maxUnavailable": "25%"},
            ("upgrade-failed", "upgrade-required", ""),
            {"gpu-1"},
        ),
        (
            {"maxParallelUpgrades": 5, "maxUnavailable": 2},
            ("upgrade-failed", "upgrade-required", ""),
            set(),
        ),
    ],
)
@pytest.mark.parametrize(
    ("key", "label"), [("driver", LABEL), ("ofedDriver", "nvidia.com/ofed-driver-upgrade-state")]
)
def test_nodes_wait_in_vain_behind_nodes_that_failed(
    rules: dict[str, t.Any], states: tuple[str, ...], waiting: set[str], key: str, label: str
) -> None:
    nodes = [
        {"metadata": {"name": f"gpu-{number}", "labels": {label: state} if state else {}}}
        for number, state in enumerate(states)
    ]
    policies = [{"spec": {key: {"version": "1", "upgradePolicy": rules}}}]
    assert upgrade.blocked({"policies": policies, "nodes": nodes}) == waiting


def test_a_policy_that_leaves_the_driver_to_other_objects_keeps_no_node_waiting() -> None:
    nodes = [
        {"metadata": {"name": state, "labels": {LABEL: state}}}
        for state in ("upgrade-failed", "upgrade-required")
    ]
    spec = {"driver": {"useNvidiaDriverCRD": True, "upgradePolicy": {"maxParallelUpgrades": 1}}}
    assert upgrade.blocked({"policies": [{"spec": spec}], "nodes": nodes}) == set()
    assert upgrade.blocked({"nodes": nodes}) == set()
