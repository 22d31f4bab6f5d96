# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why the upgrade controller begins with no further node."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import judge
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.targets import Target


def node(object_name: str, cordoned: bool = False, state: str = "upgrade-required") -> KubeObject:
    return {
        "metadata": {"name": object_name, "labels": {"nvidia.com/gpu-driver-upgrade-state": state}},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def why(nodes: list[KubeObject], **rules: t.Any) -> str:
    live = {"metadata": {"name": "d"}, "spec": {"upgradePolicy": rules}}
    return judge.why_no_slot(
        Target("NVIDIADriver", live, tuple(one["metadata"]["name"] for one in nodes)), nodes
    )


def test_cordoned_nodes_take_all_places() -> None:
    nodes = [node("a", cordoned=True), *(node(object_name) for object_name in "bcd")]
    assert "maxUnavailable allows 1 of 4 nodes to be away, and a is cordoned" in why(nodes)
    assert why(nodes, maxUnavailable="50%") == ""
    assert why(nodes, maxUnavailable=2) == ""


def test_failed_upgrades_take_all_places() -> None:
    nodes = [node("a", state="upgrade-failed"), *(node(object_name) for object_name in "bcd")]
    assert "maxParallelUpgrades is 1, and the upgrade of a failed" in why(nodes)
    assert why(nodes, maxParallelUpgrades=0) == ""


@pytest.mark.parametrize("state", ["cordon-required", "pod-restart-required"])
def test_a_running_upgrade_is_no_obstacle(state: str) -> None:
    assert why([node("a", cordoned=True, state=state), *(node(object_name) for object_name in "bcd")]) == ""
