# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge NVIDIADriver objects: every way in which one is not ready on its nodes."""

from __future__ import annotations

import typing as t

import pytest
from unit.stack.nvidiadriver.builders import MAJOR, POOL, Data, driver, node, pool
from unit.stack.nvidiadriver.test_manifest import OWNED, TRIPLE

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_UPGRADE,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    judge as nvidiadriver_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver.judge import (
    summarize,
)


def snapshot(
    state: str = "ready",
    error: str = "",
    image: str = "nvcr.io/nvidia/driver:595.91.07",
    **labels: str | None,
) -> dict[str, list[Data]]:
    conditions = [
        {
            "type": "Ready",
            "status": "False" if error else "True",
            "reason": "Error" if error else "Reconciled",
        }
    ]
    conditions += [
        {
            "type": "Error",
            "status": "True" if error else "False",
            "reason": error or "Ready",
            "message": error,
        }
    ]
    live = {
        "metadata": {"name": "a"},
        "spec": TRIPLE | {"nodeSelector": {POOL: "a"}},
        "status": {"state": state, "conditions": conditions},
    }
    template = {"spec": {"nodeSelector": {nvidiadriver_judge.OWNER: "a"}, "containers": [{"image": image}]}}
    daemonset = {
        "metadata": {"name": "d", "ownerReferences": [{"kind": "NVIDIADriver", "name": "a"}]},
        "spec": {"template": template},
    }
    marks = {key: value for key, value in {**OWNED, **labels}.items() if value is not None}
    return {"drivers": [live], "nodes": [node("n", **marks)], "daemonsets": [daemonset] if image else []}


@pytest.mark.parametrize("step", ["", "upgrade-required"])
def test_a_node_that_a_label_holds_back_is_in_no_upgrade(step: str) -> None:
    marks = {DRIVER_UPGRADE: step, "nvidia.com/gpu-driver-upgrade.skip": "true"}
    found = nvidiadriver_judge.judge(snapshot(**marks), [driver("a")])
    assert [one.code for one in found if not one.is_ready] == []


@pytest.mark.parametrize(
    ("step", "policy", "codes"),
    [
        ("drain-required", {}, ["GPU-UPG-RUNNING"]),
        ("drain-required", {"autoUpgrade": True}, ["GPU-UPG-RUNNING"]),
        ("drain-required", {"autoUpgrade": False}, []),
        ("upgrade-failed", {}, []),
        ("upgrade-done", {}, []),
    ],
)
def test_only_an_upgrade_that_goes_on_is_waited_for(step: str, policy: Data, codes: list[str]) -> None:
    seen = snapshot(**{DRIVER_UPGRADE: step})
    seen["drivers"][0]["spec"]["upgradePolicy"] = policy
    assert [one.code for one in nvidiadriver_judge.judge(seen, [driver("a")])] == codes


def test_a_driver_without_a_version_is_no_older_and_one_that_is_not_there_yet_is_told_as_it_will_be() -> None:
    seen = snapshot()
    del seen["drivers"][0]["spec"]["version"]
    assert nvidiadriver_judge.judge(seen, [driver("a")]) == []
    assert summarize(seen, [driver("a")])[0]["version"] == ""
    (found,) = summarize({**seen, "drivers": [], "nodes": []}, [driver("a", gpu="x")])
    assert (found["state"], found["version"], found["node_selector"]) == ("", "", {"gpu": "x"})


def test_a_finding_about_a_node_names_its_pool() -> None:
    seen = snapshot(image="")
    (found,) = nvidiadriver_judge.judge(seen, [driver("a")], t.cast(t.Any, [pool("a")]))
    assert (found.pool, found.node, found.stage) == ("a", "n", "driver")


def test_a_node_that_the_selector_leaves_out_is_not_judged() -> None:
    other = snapshot(**t.cast(Data, {POOL: "b", nvidiadriver_judge.OWNER: None}))
    assert nvidiadriver_judge.judge(other, [driver("a")]) == []
    other["drivers"][0]["spec"] = {"default": True}
    assert nvidiadriver_judge.judge(other, [driver("a")]) == []
    assert nvidiadriver_judge.judge(snapshot(**t.cast(Data, {MAJOR: None})), [driver("a")]) == []
    unknown = snapshot("")
    assert "state unknown." in t.cast(t.Any, nvidiadriver_judge.judge(unknown, [driver("a")])[0]).message


def test_the_truth() -> None:
    assert nvidiadriver_judge.judge(snapshot(), [driver("a")]) == []
    (found,) = summarize(snapshot(), [driver("a")])
    assert found == {
        "name": "a",
        "state": "ready",
        "reason": "Reconciled",
        "version": "595.91.07",
        "node_selector": {POOL: "a"},
        "nodes": ["n"],
    }


@pytest.mark.parametrize(
    ("seen", "reason", "code", "text"),
    [
        (snapshot("notReady", "ConflictingNodeSelector"), "Overlap:a", "GPU-NVD-OVERLAP", "notReady"),
        (snapshot("notReady", "ReconcileFailed"), "Failed:a", "GPU-NVD-FAILED", "ReconcileFailed"),
        (snapshot("notReady", "DriverNotReady"), "NotReady:a", "GPU-NVD-NOT-READY", "DriverNotReady"),
        (
            snapshot("ready", "DriverNotReady"),
            "NotReady:a",
            "GPU-NVD-NOT-READY",
            "state ready: DriverNotReady",
        ),
        (
            snapshot(image="", **t.cast(Data, {MAJOR: None})),
            "NoMajor:n",
            "GPU-NVD-EMPTY",
            "a is ready all the same",
        ),
        (snapshot(image=""), "NoDaemonSet:n", "GPU-NVD-EMPTY", "has no DaemonSet"),
        (snapshot(**{nvidiadriver_judge.OWNER: "b"}), "Owner:n", "GPU-NVD-OWNER", "owner is b"),
        (
            snapshot(**t.cast(Data, {nvidiadriver_judge.OWNER: None})),
            "Owner:n",
            "GPU-NVD-OWNER",
            "does not own it yet",
        ),
        (
            snapshot(image="nvcr.io/nvidia/driver:580.82.07"),
            "Rollout:n",
            "GPU-NVD-NOT-READY",
            "version 595.91.07",
        ),
        (
            snapshot(**{DRIVER_UPGRADE: "cordon-required"}),
            "Upgrade:n",
            "GPU-UPG-RUNNING",
            "cordon-required",
        ),
        ({**snapshot(), "drivers": []}, "NoDriver:a", "GPU-DELETED", "does not exist"),
    ],
)
def test_every_way_not_to_be_ready(seen: dict[str, list[Data]], reason: str, code: str, text: str) -> None:
    part = nvidiadriver_judge.judge(seen, [driver("a")])[0]
    assert (part.verdict, part.reason) == ("failed" if reason == "Overlap:a" else "pending", reason)
    assert part.code == code
    assert text in part.message
    assert (part.pool, ".." in part.message) == ("", False)
    assert part.remedy
