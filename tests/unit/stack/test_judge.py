# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all judges share: a line for each node, and when nothing of a stack is left."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest
from unit.stack.builders import POOL, Snapshot, node
from unit.stack.clusterpolicy.troubles import (
    Clock,
    crash,
    judge,
    lose_label,
    no_daemonset,
    no_devices,
    no_image,
    plugin_crash,
    status,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import worst
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.backend import OPTIONS, choose
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.judge import (
    ROLLOUT,
    GoOn,
    hold_for_others,
    judge_gone,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Finding


def test_consequences_stand_in_one_line(seen: Snapshot) -> None:
    for one in seen["pods"]:
        one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    assert judge(seen).details == ("gpu-0: driver is not Ready, 6 operands wait for it",)


def test_a_node_has_one_line_that_changes_only_with_what_it_waits_for(seen: Snapshot) -> None:
    """What was not made yet and what is not Ready yet both wait for the driver.

    The exporter that waits for nobody does not count.
    """
    node(seen)["metadata"]["name"] = "gpu-0.example.com"
    for one in seen["pods"]:
        one["spec"]["nodeName"] = "gpu-0.example.com"
        one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    no_devices(seen)
    status(seen, "notReady", "OperandNotReady")
    expected = ("gpu-0…: driver is not Ready, 6 operands wait for it; nvidia.com/gpu 0 of 4",)
    assert judge(seen).details == expected
    no_daemonset(seen)
    assert judge(seen).details == expected
    next(one for one in seen["pods"] if "node-status-exporter" in one["metadata"]["name"])["status"][
        "conditions"
    ] = [{"type": "Ready", "status": "True"}]
    assert judge(seen).details == expected


def test_absence_means_no_operand_and_no_pod(seen: Snapshot) -> None:
    assert judge_gone({"daemonsets": [], "pods": []}).is_ready
    assert judge_gone({"daemonsets": [], "pods": seen["pods"]}).code == "GPU-LEFT"
    assert judge_gone(seen).details


def asked(**more: t.Any) -> dict[str, t.Any]:
    """Options as a user gives them who sets only these."""
    given = {"backend": "clusterpolicy", "state": "present", "pools": [POOL], "spec": {}}
    return dict.fromkeys(OPTIONS) | given | more


def verdict_after(seen: Snapshot, seconds: float, **more: t.Any) -> str:
    clock = Clock()
    judging = clusterpolicy_judge.Judge(choose(asked(**more))[1], clock)
    judging(seen)
    clock.now = seconds
    return judging(seen).verdict


@pytest.mark.parametrize("change", [crash, plugin_crash, no_image])
def test_a_crash_and_an_image_have_five_minutes_unless_a_time_is_set(
    seen: Snapshot, change: t.Callable[[Snapshot], None]
) -> None:
    change(seen)
    assert [verdict_after(seen, seconds) for seconds in (299, 300)] == ["pending", "failed"]
    assert verdict_after(seen, 5, grace=5) == "failed"


def test_a_label_has_a_minute(seen: Snapshot) -> None:
    lose_label(seen)
    assert [verdict_after(seen, seconds) for seconds in (59, 60)] == ["pending", "failed"]


FAILED: t.Final = Finding("failed", "Crash", "Node a-0: driver crashes.", "GPU-DRV-CRASH", pool="a")
LATE: t.Final = Finding("pending", "Starts", "Node b-0: driver starts.", "GPU-OPERAND", pool="b")
SHARED: t.Final = Finding("failed", "Gone", "The operator is gone.", "GPU-CP-ABSENT")
STATUS: t.Final = Finding("pending", "NotReady", "It is notReady.", "GPU-CP-NOT-READY", waits=True)
AT_WORK: t.Final = Finding("pending", ROLLOUT, "The operator is at work.", "GPU-CP-NOT-READY")


@pytest.mark.parametrize("open_now", [LATE, AT_WORK])
def test_a_failed_pool_waits_for_those_that_are_not_ready_yet(open_now: Finding) -> None:
    found = [FAILED, open_now, STATUS]
    verdict = hold_for_others(worst(found), found)
    assert (verdict.verdict, verdict.code) == ("pending", open_now.code)
    assert verdict.message == f"{open_now.message} Failed already: pool a."


UPDATING: t.Final = Finding("pending", "Updating", "Node g-0 is updated.", "GPU-NODE-UPDATING", pool="g")


@pytest.mark.parametrize("open_now", [LATE, AT_WORK])
def test_a_pool_that_was_given_up_waits_for_those_that_are_not_ready_yet(open_now: Finding) -> None:
    found = [UPDATING, open_now]
    verdict = hold_for_others(worst(found), found, given_up=["g"])
    assert (verdict.verdict, verdict.code) == ("pending", open_now.code)


def test_a_pool_that_was_given_up_does_not_delay_the_end() -> None:
    found = [STATUS, UPDATING]
    assert hold_for_others(worst(found), found) == worst(found)
    verdict = hold_for_others(worst(found), found, given_up=["g"])
    assert (verdict.verdict, verdict.code) == ("failed", "GPU-NODE-UPDATING")
    both = [FAILED, UPDATING]
    assert hold_for_others(worst(both), both, given_up=["g"]) == worst(both)


def test_the_others_have_to_be_ready_for_a_while_before_a_pool_that_was_given_up_ends_the_wait() -> None:
    now = [0.0]
    go_on = GoOn(["g"], 5.0, lambda: now[0])

    def verdict(*findings: Finding) -> str:
        return go_on(worst(findings), findings).verdict

    assert verdict(UPDATING) == "pending"
    now[0] = 4.0
    assert verdict(UPDATING, LATE) == "pending"
    now[0] = 6.0
    assert verdict(UPDATING) == "pending"
    now[0] = 11.0
    assert verdict(UPDATING) == "failed"


def test_a_pool_that_was_given_up_and_is_ready_counts_as_ready() -> None:
    found = [replace(UPDATING, verdict="ready")]
    assert hold_for_others(worst(found), found, given_up=["g"]).is_ready


@pytest.mark.parametrize(
    "found",
    [[FAILED, STATUS], [FAILED, replace(LATE, verdict="failed")], [FAILED, LATE, SHARED], [LATE], []],
    ids=["the others are ready", "all have failed", "a failure of no pool", "none has failed", "ready"],
)
def test_any_other_verdict_stays(found: list[Finding]) -> None:
    assert hold_for_others(worst(found), found) == worst(found)


def test_a_pool_whose_nodes_wait_behind_the_failed_one_is_not_waited_for() -> None:
    found = [FAILED, replace(LATE, node="b-0"), STATUS]
    assert hold_for_others(worst(found), found, blocked={"b-0"}) == worst(found)
    assert hold_for_others(worst(found), found, blocked={"b-1"}).verdict == "pending"
