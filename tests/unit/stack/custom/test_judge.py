# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge of backend custom: expressions, generations, nodes."""

from __future__ import annotations

import pytest
from unit.engine import FakeClock
from unit.stack.custom.builders import live, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
    judge as custom_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom.manifest import expressions


@pytest.mark.parametrize(
    ("obj", "nodes", "reason", "code"),
    [
        (live(Available="True"), [node()], "Ready", ""),
        (live(Available="True", observed=None), [node()], "Ready", ""),
        (live(Available="True", generation=2), [node()], "Unobserved", "GPU-CR-NOT-READY"),
        (live(), [node()], "NotReady", "GPU-CR-NOT-READY"),
        (live(Available="False", Degraded="True"), [node()], "Failed", "GPU-CR-FAILED"),
        (live(Available="True"), [node("1")], "Allocatable:n1", "GPU-ALLOC"),
        (live(Available="True"), [], "NodesMissing", "GPU-NODES"),
    ],
)
def test_the_verdict(obj: KubeObject, nodes: list[KubeObject], reason: str, code: str) -> None:
    judge = custom_judge.Judge(params(), FakeClock())
    found = judge({"objects": [obj], "nodes": nodes})
    assert (found.verdict, found.reason, found.code) == ("pending" if code else "ready", reason, code)


@pytest.mark.parametrize(
    ("obj", "said", "line"),
    [
        (live(Degraded="True"), "says that it failed: Degraded it is.", "failed: Degraded it is"),
        (live(), "is not ready.", "not ready"),
        (live(Degraded="False"), "is not ready: Degraded it is.", "not ready: Degraded it is"),
        (
            live(generation=2, Degraded="True"),
            "is not ready: its operator has seen generation 1 of 2.",
            "its operator has seen generation 1 of 2",
        ),
    ],
)
def test_what_the_object_says_is_told_with_the_command_that_shows_more(
    obj: KubeObject, said: str, line: str
) -> None:
    for namespace, where in (("", ""), ("fpga", " -n fpga")):
        obj["metadata"]["namespace"] = namespace
        found = custom_judge.judge(obj, expressions(params()))
        assert (found.message, found.details) == (f"FpgaStack fpga {said}", (line,))
        assert found.remedy.startswith(f"Run `oc describe fpgastack fpga{where}`; ")


def test_an_object_without_a_generation_is_not_old() -> None:
    obj = live(observed=0, Available="True")
    del obj["metadata"]["generation"]
    assert custom_judge.judge(obj, expressions(params())).is_ready


def test_the_object_says_since_when_it_is_not_ready() -> None:
    late = live()
    late["metadata"]["creationTimestamp"] = "2026-11-22T01:00:00Z"
    found = custom_judge.Judge(params(), FakeClock()).summarize({"objects": [late], "nodes": [node()]})
    assert found["table"][:2] == [
        "ready: nodes, allocatable",
        "crd PENDING since 2026-11-22T01:00:00Z: not ready",
    ]


def test_a_failure_that_lasts_is_final_and_says_why() -> None:
    clock = FakeClock()
    judge = custom_judge.Judge(params(), clock)
    seen = {"objects": [live(Available="False", Degraded="True")], "nodes": [node()]}
    assert judge(seen).verdict == "pending"
    clock.sleep(11.0)
    found = judge(seen)
    assert (found.verdict, found.code) == ("failed", "GPU-CR-FAILED")
    assert "Degraded it is" in found.message
    assert judge.summarize(seen)["state"] == "failed"


@pytest.mark.parametrize(
    ("seen", "state", "reason", "message"),
    [
        (
            {"objects": [live(Available="True", Degraded="False")], "nodes": [node()]},
            "ready",
            "Ready",
            "Degraded it is",
        ),
        ({"objects": [live(Available="True")], "nodes": [node("1")]}, "pending", "Allocatable:n1", ""),
        ({"objects": [], "nodes": []}, "pending", "Missing", "fpga does not exist"),
    ],
)
def test_the_result_says_what_the_object_says(
    seen: KubeObject, state: str, reason: str, message: str
) -> None:
    found = custom_judge.Judge(params(), FakeClock()).summarize(seen)
    assert (found["name"], found["state"], found["reason"]) == ("fpga", state, reason)
    assert (message in found["message"], bool(found["message"])) == (True, bool(message))
    assert [each["name"] for each in found["nodes"]] == ["n1"] * len(seen["nodes"])


def test_missing_devices_are_final_only_once_the_object_is_ready() -> None:
    clock = FakeClock()
    judge = custom_judge.Judge(params(), clock)
    slow, done = (
        {"objects": [live()], "nodes": [node("0")]},
        {"objects": [live(Available="True")], "nodes": [node("0")]},
    )
    assert judge(slow).verdict == "pending"
    clock.sleep(100.0)
    assert judge(slow).verdict == "pending"
    assert judge(done).verdict == "pending"
    clock.sleep(11.0)
    assert judge(done).code == "GPU-ALLOC"
    assert judge(done).verdict == "failed"
