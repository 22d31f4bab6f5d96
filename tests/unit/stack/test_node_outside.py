# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes outside the pools: they may be broken, and excuse only what they explain."""

from __future__ import annotations

from unit.stack.builders import POOL, Snapshot, second_node, some_params, unready

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    result as clusterpolicy_result,
)


def not_ready(seen: Snapshot, states: str) -> None:
    seen["policies"][0]["status"] = {
        "state": "notReady",
        "conditions": [
            {"type": "Ready", "status": "False", "reason": "Error", "message": ""},
            {
                "type": "Error",
                "status": "True",
                "reason": "OperandNotReady",
                "message": f"ClusterPolicy is not ready; states not ready: [{states}]",
            },
        ],
    }


def test_nodes_of_nobody_may_be_broken(seen: Snapshot) -> None:
    second_node(seen)
    not_ready(seen, "state-driver")
    assert not clusterpolicy_judge.Judge(
        some_params(name="gpu-cluster-policy", grace=60, pools=[POOL]), lambda: 0.0
    )(seen).is_ready
    unready(
        next(
            one
            for one in seen["pods"]
            if one["metadata"]["name"].endswith("-twin") and "driver-daemonset" in one["metadata"]["name"]
        )
    )
    judging = clusterpolicy_judge.Judge(
        some_params(name="gpu-cluster-policy", grace=60, pools=[POOL]), lambda: 0.0
    )
    assert judging(seen).is_ready
    assert "gpu-1 (driver is not Ready)" in judging.findings[-1].message
    assert clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [POOL])["others"] == [
        {"name": "gpu-1", "operands": [{"name": "driver", "note": "is not Ready"}]}
    ]


def test_they_are_no_excuse_for_what_they_do_not_explain(seen: Snapshot) -> None:
    second_node(seen)
    unready(
        next(
            one
            for one in seen["pods"]
            if one["metadata"]["name"].endswith("-twin") and "driver-daemonset" in one["metadata"]["name"]
        )
    )
    not_ready(seen, "state-driver state-dcgm")
    assert not clusterpolicy_judge.Judge(
        some_params(name="gpu-cluster-policy", grace=60, pools=[POOL]), lambda: 0.0
    )(seen).is_ready
