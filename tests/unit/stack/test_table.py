# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools of a result: each is judged by itself, also by what another judge finds."""

from __future__ import annotations

from functools import partial

from unit.stack.builders import OTHER, POOL, Snapshot, node, second_node, some_params
from unit.stack.clusterpolicy.troubles import Clock, no_daemonset

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import startup
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import STARTUP_TAINT
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import table as stack_table
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.steps import (
    ExtraCauses,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import on_object


def test_what_another_judge_finds_is_told_in_its_stage(seen: Snapshot) -> None:
    """Backend nvidiadriver looks at its objects besides."""
    found = on_object(
        "pending",
        "Owner:gpu-0",
        "Node gpu-0: nobody owns it.",
        code="GPU-NVD-OWNER",
        stage="driver",
        pool="training",
        node="gpu-0",
    )
    judge = clusterpolicy_judge.Judge(
        some_params(name="gpu-cluster-policy", grace=60, pools=[POOL]), lambda: 0.0
    )
    verdict = ExtraCauses({}, lambda _snapshot: [found]).over(judge)(seen)
    told = clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [POOL], judge.findings)
    assert (verdict.code, told["pools"][0]["ready"]) == ("GPU-NVD-OWNER", False)
    assert told["table"][-1] == "driver PENDING on 1 of 1 nodes: Node gpu-0: nobody owns it."


def test_what_waits_does_not_fail_before_another_judges_finding_about_the_node(seen: Snapshot) -> None:
    """The operator gives the node its owner after a while: only then begins the time of what really fails."""
    clock = Clock()
    cause = partial(on_object, "pending", stage="driver", pool="training", node="gpu-0")
    causes = {0.0: "GPU-NVD-OWNER", 10.0: "GPU-NVD-EMPTY", 60.0: "GPU-NVD-EMPTY"}
    judge = clusterpolicy_judge.Judge(some_params(name="gpu-cluster-policy", grace=60, pools=[POOL]), clock)
    both = ExtraCauses(
        {}, lambda _snapshot: [cause("Cause:gpu-0", "There is none.", causes[clock.now])]
    ).over(judge)
    no_daemonset(seen)
    for clock.now, code in causes.items():
        verdict = both(seen)
        assert (verdict.verdict, verdict.code) == ("pending", code)
    assert [one.code for one in judge.findings if not one.is_ready][1] == "GPU-OPERAND-LACKING"
    alone = ExtraCauses({}, lambda _snapshot: []).over(judge)
    for clock.now, verdict_alone in ((70.0, "pending"), (130.0, "failed")):
        assert (alone(seen).verdict, alone(seen).code) == (verdict_alone, "GPU-OPERAND-LACKING")


def test_each_pool_is_judged_by_itself(seen: Snapshot) -> None:
    second_node(seen)
    node(seen)["metadata"]["labels"]["nvidia.com/mig.config.state"] = "failed"
    wanted = [POOL, OTHER]
    parts = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", wanted)
    sick, well = stack_table.pools_of(seen, wanted, parts)
    assert (sick["name"], sick["ready"], sick["code"], sick["nodes"], sick["nodes_ready"]) == (
        "training",
        False,
        "GPU-MIG-FAILED",
        1,
        0,
    )
    assert "gpu-0" in sick["message"]
    assert well == {
        "name": "other",
        "ready": True,
        "nodes": 1,
        "nodes_ready": 1,
        "code": "",
        "message": "",
        "remedy": "",
        "closed": [],
    }


def test_a_new_node_that_does_not_pass_is_named_beside_the_verdict_of_its_pool(seen: Snapshot) -> None:
    parts = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", [POOL])
    node = seen["nodes"][0]
    node.setdefault("spec", {})["taints"] = [dict(STARTUP_TAINT)]
    node["status"].setdefault("conditions", []).append(
        {"type": startup.CONDITION, "status": "False", "message": "the CUDA program failed"}
    )
    (pool,) = stack_table.pools_of(seen, [POOL], parts)
    assert [one["code"] for one in pool["closed"]] == ["NODE-GATED"]
    assert "the CUDA program failed" in pool["closed"][0]["message"]


def test_a_policy_that_does_not_count_makes_no_pool_ready(seen: Snapshot) -> None:
    seen["policies"].append({"metadata": {"name": "a-first-one"}, "spec": {}})
    parts = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", [POOL])
    assert [one["ready"] for one in stack_table.pools_of(seen, [POOL], parts)] == [False]
