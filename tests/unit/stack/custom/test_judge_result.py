# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages of an object of any operator: its own word, its nodes, what they offer."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import pending, ready
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
    judge as custom_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackPool

LIVE: KubeObject = {"metadata": {"name": "x", "creationTimestamp": "2026-11-22T01:00:00Z"}}
POOL: StackPool = {"name": "cards", "node_selector": {"pool": "cards"}, "expected": {"example.com/card": 2}}
LATE = pending("NotReady", "x is not ready.", code="GPU-CR-NOT-READY", remedy="Wait.", details=("not ready",))


def node(devices: str = "2", is_ready: str = "True") -> KubeObject:
    status = {
        "conditions": [{"type": "Ready", "status": is_ready}],
        "allocatable": {"example.com/card": devices},
    }
    return {"metadata": {"name": "n1", "labels": {"pool": "cards"}}, "status": status}


@pytest.mark.parametrize(
    ("live", "own", "nodes", "failed", "lines"),
    [
        (LIVE, ready(), [node()], "", ["ready: crd, nodes, allocatable"]),
        (
            LIVE,
            ready(),
            [],
            "",
            [
                "ready: crd",
                "nodes PENDING on 1 of 1 nodes: pool cards: 0 of 1 nodes match pool=cards",
                "allocatable waits for nodes",
            ],
        ),
        (
            LIVE,
            ready(),
            [node(is_ready="False")],
            "",
            ["ready: crd, allocatable", "nodes PENDING on 1 of 1 nodes: n1: the node is not Ready"],
        ),
        (
            LIVE,
            LATE,
            [node("0")],
            "",
            [
                "ready: nodes",
                "crd PENDING since 2026-11-22T01:00:00Z: not ready",
                "allocatable waits for crd",
            ],
        ),
        (
            LIVE,
            ready(),
            [node("1")],
            "GPU-ALLOC",
            ["ready: crd, nodes", "allocatable FAILED on 1 of 1 nodes: n1: offers example.com/card 1 of 2"],
        ),
        (None, LATE, [], "GPU-CR-NOT-READY", ["crd FAILED: not ready"]),
    ],
)
def test_stages(
    live: KubeObject | None, own: t.Any, nodes: list[KubeObject], failed: str, lines: list[str]
) -> None:
    found = custom_judge.summarize(live, own, nodes, [POOL], failed)
    assert found["table"][: len(lines)] == lines
    assert [one["name"] for one in found["pools"]] == ["cards"]
    assert found["pools"][0]["ready"] is (lines == ["ready: crd, nodes, allocatable"])


def test_no_pool_is_ready_before_the_object() -> None:
    assert custom_judge.summarize(LIVE, LATE, [node()], [POOL])["pools"][0]["ready"] is False
