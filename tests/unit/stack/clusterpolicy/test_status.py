# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the GPU operator says of a ClusterPolicy: which policy counts, and what stops the operator."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.stack.builders import POOL, Snapshot, node, some_params, table, verdicts
from unit.stack.clusterpolicy.troubles import Clock, ignored, judge, status

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
)


def no_system(seen: Snapshot) -> None:
    """The operator makes no DaemonSet for any node, since the first one lacks a label of its system."""
    label = "feature.node.kubernetes.io/system-os_release.ID"
    node(seen)["metadata"]["labels"].pop(label, None)
    no_operands(seen, f"{SYSTEM_UNKNOWN}: unable to retrieve OS name from label {label}")


def cannot_reconcile(seen: Snapshot) -> None:
    no_operands(seen, "failed to find Completed Cluster Version")


SYSTEM_UNKNOWN = "failed to retrieve GPU node OS info"


def no_operands(seen: Snapshot, error: str) -> None:
    seen["daemonsets"].clear()
    seen["pods"].clear()
    status(seen, "notReady", "", "ReconcileFailed", error)


def for_machines(seen: Snapshot) -> None:
    node(seen)["metadata"]["labels"]["nvidia.com/gpu.workload.config"] = "vm-passthrough"
    seen["policies"][0]["spec"]["sandboxWorkloads"] = {"enabled": True}
    without_operands(seen)


def for_machines_by_default(seen: Snapshot) -> None:
    seen["policies"][0]["spec"]["sandboxWorkloads"] = {"enabled": True, "defaultWorkload": "vm-vgpu"}
    without_operands(seen)


def without_operands(seen: Snapshot) -> None:
    """No operand for containers is wanted on the node, which offers no GPU then."""
    marks = node(seen)["metadata"]["labels"]
    for key in [key for key in marks if key.startswith("nvidia.com/gpu.deploy.")]:
        del marks[key]
    seen["pods"].clear()
    node(seen)["status"]["allocatable"]["nvidia.com/gpu"] = "0"


@pytest.mark.parametrize(
    ("change", "code", "first", "later", "words"),
    [
        (
            no_system,
            "GPU-CP-RECONCILE",
            "pending",
            "failed",
            "failed to retrieve GPU node OS info: unable to retrieve OS name from label "
            "feature.node.kubernetes.io/system-os_release.ID (nodes without it: gpu-0",
        ),
        (
            cannot_reconcile,
            "GPU-CP-RECONCILE",
            "pending",
            "failed",
            "cannot reconcile ClusterPolicy gpu-cluster-policy: failed to find Completed Cluster Version",
        ),
        (
            for_machines,
            "GPU-WORKLOAD",
            "pending",
            "failed",
            "gpu.workload.config=vm-passthrough gives its GPUs",
        ),
        (
            for_machines_by_default,
            "GPU-WORKLOAD",
            "pending",
            "failed",
            "defaultWorkload vm-vgpu of the policy",
        ),
    ],
)
def test_a_policy_that_can_work_for_no_container(
    seen: Snapshot, change: t.Callable[[Snapshot], None], code: str, first: str, later: str, words: str
) -> None:
    change(seen)
    early, late = judge(seen), judge(seen, after=61)
    assert (early.code, early.verdict, late.code, late.verdict) == (code, first, code, later)
    assert words in f"{early.message} {' '.join(early.details)}"
    assert early.remedy


def test_what_the_operator_cannot_reconcile_is_the_cause_of_every_operand_that_lacks(seen: Snapshot) -> None:
    no_system(seen)
    found = verdicts(table(seen))
    assert found["crd"] == "pending"
    assert table(seen)["driver"]["consequence_of"] == "crd"
    assert any("system-os_release.ID" in line for line in table(seen)["crd"]["evidence"])


def test_operands_that_lacked_before_do_not_hide_what_stops_the_operator(seen: Snapshot) -> None:
    clock, before = Clock(), copy.deepcopy(seen)
    judging = clusterpolicy_judge.Judge(some_params(name="gpu-cluster-policy", grace=60, pools=[POOL]), clock)
    cannot_reconcile(before)
    status(before, "notReady", "", "OperandNotReady", "states not ready: [state-driver]")
    assert judging(before).code == "GPU-OPERAND-LACKING"
    cannot_reconcile(seen)
    for clock.now, expected in ((59, "pending"), (61, "pending"), (120, "failed")):
        verdict = judging(seen)
        assert (verdict.code, verdict.verdict) == ("GPU-CP-RECONCILE", expected)


def test_the_remedy_for_a_label_of_the_system_names_the_node(
    seen: Snapshot,
) -> None:
    no_system(seen)
    remedy = judge(seen).remedy
    assert "oc delete pod -n openshift-nfd -l app=nfd-worker" in remedy
    assert f"spec.nodeName={node(seen)['metadata']['name']}" in remedy


def test_a_younger_policy_is_ignored_though_it_has_no_status_and_is_created_anew(seen: Snapshot) -> None:
    ignored(seen)
    verdict = judge(seen)
    assert (verdict.code, verdict.verdict) == ("GPU-CP-IGNORED", "failed")
    assert "`oc delete clusterpolicy older gpu-cluster-policy`, and the task again" in verdict.remedy


def test_of_two_policies_of_the_same_second_the_first_by_name_counts(seen: Snapshot) -> None:
    seen["policies"].append({"metadata": {"name": "z-other"}, "spec": {}})
    assert judge(seen).is_ready
    seen["policies"].append({"metadata": {"name": "a-other"}, "spec": {}})
    assert judge(seen).code == "GPU-CP-IGNORED"


def test_a_policy_without_a_status_after_the_older_one_is_gone_is_created_anew(seen: Snapshot) -> None:
    seen["policies"][0].pop("status")
    verdict = judge(seen)
    assert verdict.code == "GPU-CP-NOT-READY"
    assert "run `oc delete clusterpolicy gpu-cluster-policy`, and the task again" in verdict.remedy


def test_ready_needs_the_state_and_the_conditions(seen: Snapshot) -> None:
    status(seen, "ready", "", "OperandNotReady", "states not ready: [state-driver]")
    between = judge(seen)
    assert between.verdict == "pending"
    assert (
        "ClusterPolicy gpu-cluster-policy is not ready: state ready, and its conditions are not yet: states"
        in (between.message)
    )
    status(seen, "notReady", "Reconciled")
    assert judge(seen).verdict == "pending"


def test_a_label_for_virtual_machines_is_no_trouble_where_the_policy_serves_none(seen: Snapshot) -> None:
    node(seen)["metadata"]["labels"]["nvidia.com/gpu.workload.config"] = "vm-passthrough"
    assert judge(seen).is_ready
    for_machines(seen)
    assert judge(seen).remedy == (
        "Run `oc label node gpu-0 nvidia.com/gpu.workload.config=container --overwrite`. Virtual machines "
        "with GPUs of the node end."
    )
