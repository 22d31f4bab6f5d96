# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource sees through a ClusterPolicy that falsely says ready, and judges each pool by itself.

The tests call the module's function without Ansible, since they look at each claim by itself.
"""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration import direct
from integration.patience import until
from integration.sandbox import gpu_cluster as gpus
from integration.sandbox.subscriptions import Operator
from integration.stack.lies import LIES, Lie
from integration.stack.two_pools import (
    A100,
    MOMENT,
    STAGES,
    T4,
    Data,
    broken,
    crashes,
    idle,
    judge,
    operands,
    stage,
    trouble,
    verdicts,
    well,
)

from openshift_sandbox import faults

pytestmark = pytest.mark.story("a cluster's life: no operator, a plan, two pools that work, lies about them")

SCENARIO: t.Final = "two-pools"


def test_without_the_operator_the_first_stage_says_so(cluster: Cluster) -> None:
    direct.before_the_operator(cluster, "gpu-operator", pools=[T4, A100], wait_timeout=10)


def test_a_plan_that_nobody_approved_is_the_cause(cluster: Cluster) -> None:
    package, namespace, source, channel = gpus.GPU
    operator = Operator(cluster.client, package, namespace, source)
    operator.subscribe(channel)
    plan = until(
        lambda: next(
            iter(cluster.client.list("operators.coreos.com/v1alpha1", "installplans", namespace)), None
        ),
        "an install plan",
    )
    until(lambda: operator.status().get("currentCSV"), "the plan in the subscription")
    found = judge(cluster, wait_timeout=10)
    assert verdicts(found) == {
        "catalogue": "ready",
        "install plan": "pending",
        "csv": "waiting",
        "crd": "waiting",
    }
    assert (
        f"InstallPlan {plan['metadata']['name']} waits for an approval"
        in stage(found, "install plan")["evidence"]
    )
    assert MOMENT.fullmatch(stage(found, "install plan")["since"])
    [csv] = plan["spec"]["clusterServiceVersionNames"]
    operator.approve(csv)
    gpus.install(cluster.client, *gpus.NFD)
    gpus.discover(cluster.client)
    operator.reached(csv, "Succeeded")


def test_two_pools_and_two_releases_of_the_operating_system_come_up(cluster: Cluster) -> None:
    found = judge(cluster, wait_timeout=120, grace=30)
    assert not found.get("failed"), found.get("msg")
    assert verdicts(found) == dict.fromkeys(STAGES, "ready")
    assert all(
        MOMENT.fullmatch(stage(found, name)["since"]) for name in STAGES[3:] if name not in ("nfd labels",)
    ), found["special_resource"]["stages"]
    assert [
        (one["name"], one["ready"], one["nodes_ready"]) for one in found["special_resource"]["pools"]
    ] == [("t4", True, 2), ("a100", True, 2)]
    drivers = {
        one["metadata"]["name"]
        for one in cluster.client.list("apps/v1", "daemonsets", gpus.NAMESPACE)
        if "driver-daemonset" in one["metadata"]["name"]
    }
    assert drivers == {"nvidia-driver-daemonset-9.8.20260801-0", "nvidia-driver-daemonset-9.8.20260901-0"}
    assert found.get("warnings", []) == []


def claims(cluster: Cluster, reason: str) -> bool:
    return (
        gpus.policy_status(cluster.client).get("state") == "ready"
        and gpus.condition(cluster.client, "Ready").get("reason") == reason
    )


@pytest.mark.parametrize("lie", LIES, ids=[one.scenario for one in LIES])
def test_ready_is_not_believed(cluster: Cluster, lie: Lie) -> None:
    if lie.fresh:
        well(cluster)
    with trouble(cluster, lie.scenario):
        found = judge_until(cluster, lie)
    assert found["code"] == lie.code, found["msg"]
    assert lie.text in found["message"]
    assert lie.remedy in found["remedy"]
    assert found["remedy"]
    facts = found["special_resource"]
    assert (facts["state"], facts["reason"]) == ("ready", lie.claim)
    told = stage(found, lie.stage)
    assert told["verdict"] in ("failed", "pending")
    assert told["evidence"]
    assert not lie.since or MOMENT.fullmatch(told["since"])
    assert any(line.startswith(f"{lie.stage} {told['verdict'].upper()}") for line in facts["table"]), facts[
        "table"
    ]
    assert not all(one["ready"] for one in facts["pools"])


def judge_until(cluster: Cluster, lie: Lie) -> Data:
    """Call the module until it reports the lie's code while the policy says ready; return that result."""
    said = ""

    def look() -> Data | None:
        nonlocal said
        before = claims(cluster, lie.claim)
        found = judge(cluster, wait_timeout=lie.wait, node_timeout=0)
        said = str(found.get("msg", "no failure"))
        return found if before and claims(cluster, lie.claim) and found.get("code") == lie.code else None

    try:
        return until(look, f"scenario {lie.scenario}", pause=0.3)
    except AssertionError as error:
        raise AssertionError(f"{error}; last: {said}; {gpus.policy_status(cluster.client)}") from None


def test_a_policy_that_is_ready_before_its_operands_are(cluster: Cluster) -> None:
    """Delete one node's driver pod, whose successor starts slowly: the policy still says ready."""
    well(cluster)
    sandbox = cluster.needs_sandbox()
    with trouble(cluster, "clusterpolicy-lies"), trouble(cluster, "slow-driver"):
        driver = next(
            pod
            for pod in gpus.pods_on(cluster.client, "t4-0")
            if pod["metadata"]["name"].startswith("nvidia-driver-daemonset")
        )
        faults.add(
            sandbox,
            "log_line",
            {"operand": "nvidia-driver", "node": "t4-0", "text": "Building kernel modules, 12 of 40"},
        )
        cluster.client.delete("v1", "pods", driver["metadata"]["name"], gpus.NAMESPACE)
        until(
            lambda: (
                driver["metadata"]["name"]
                not in [pod["metadata"]["name"] for pod in gpus.pods_on(cluster.client, "t4-0")]
            ),
            "the pod is gone",
        )
        found = judge(cluster, wait_timeout=6)
        faults.clear(sandbox, "log_line", {})
    assert (found["code"], found["special_resource"]["state"]) == ("GPU-OPERAND", "ready")
    assert stage(found, "driver")["verdict"] == "pending"
    assert [line for line in found["evidence"] if "Building kernel modules, 12 of 40" in line], found[
        "evidence"
    ]


def test_a_broken_node_of_somebody_else_does_not_matter(cluster: Cluster) -> None:
    well(cluster)
    with trouble(cluster, "foreign-node-broken"):
        until(lambda: crashes(cluster, "nvidia-driver-daemonset", "foreign-0"), "its driver crashes")
        until(lambda: gpus.policy_status(cluster.client).get("state") == "notReady", "the policy is notReady")
        found = judge(cluster, grace=30, wait_timeout=60)
    assert not found.get("failed"), found.get("msg")
    facts = found["special_resource"]
    assert (facts["state"], facts["reason"]) == ("notReady", "OperandNotReady")
    assert all(one["ready"] for one in facts["pools"])
    assert [one["name"] for one in facts["others"]] == ["foreign-0"]
    assert (
        "notReady for nodes outside the pools alone: foreign-0 (driver is not Ready)" in found["warnings"][0]
    )


def test_the_healthy_pool_is_done_and_the_other_is_refused(cluster: Cluster) -> None:
    well(cluster)
    with trouble(cluster, "one-pool-broken"):
        until(lambda: broken(cluster), "both nodes of the pool are broken")
        for pod in operands(cluster, "a100-1"):
            cluster.client.delete("v1", "pods", pod["metadata"]["name"], gpus.NAMESPACE)
        until(lambda: idle(cluster, "a100-1"), "what needs the driver waits for it")
        found = judge(cluster)
        alone = judge(cluster, T4, grace=30, wait_timeout=60)
    facts = found["special_resource"]
    pools = {one["name"]: one for one in facts["pools"]}
    assert (pools["t4"]["ready"], pools["t4"]["nodes_ready"], pools["t4"]["message"]) == (True, 2, "")
    assert (pools["a100"]["ready"], pools["a100"]["nodes_ready"], pools["a100"]["code"]) == (
        False,
        0,
        "GPU-MIG-FAILED",
    )
    assert "t4" not in found["message"]
    assert "foreign-0" not in str(found["evidence"]) + found["message"]
    lines = [line for line in found["evidence"] if line.startswith(("a100", "t4"))]
    assert lines[0] == "a100-0: could not be repartitioned (all-1g.5gb: failed)"
    assert lines[1].startswith("a100-1: driver is in CrashLoopBackOff")
    driver, allocatable = stage(found, "driver"), stage(found, "allocatable")
    assert [(one["pool"], one["node"]) for one in driver["nodes"]] == [("a100", "a100-1")]
    assert {one["node"]: (one["verdict"], one["consequence_of"]) for one in allocatable["nodes"]} == {
        "a100-0": ("failed", ""),
        "a100-1": ("waiting", "driver"),
    }
    assert {one["node"]: one["consequence_of"] for one in stage(found, "toolkit")["nodes"]} == {
        "a100-1": "driver"
    }
    assert any("wait for driver" in line for line in facts["table"]), facts["table"]
    assert not alone.get("failed"), alone.get("msg")


class Log(t.NamedTuple):
    """A line in the log of a crashing operand's container, and the code that the line gives the failure."""

    operand: str
    container: str
    text: str
    code: str


LOGS: t.Final = [
    Log(
        "nvidia-device-plugin-daemonset",
        "nvidia-device-plugin",
        "Failed to initialize NVML: Unknown Error",
        "GPU-CDI-LOST",
    ),
    Log(
        "nvidia-container-toolkit-daemonset",
        "nvidia-container-toolkit-ctr",
        'no runtime for "nvidia" is configured',
        "GPU-TK-RUNTIME",
    ),
]


@pytest.mark.parametrize("case", LOGS, ids=[one.code for one in LOGS])
def test_a_known_line_in_the_right_container_is_the_cause(cluster: Cluster, case: Log) -> None:
    sandbox = cluster.needs_sandbox()
    where = {"operand": case.operand, "node": "a100-0"}
    faults.add(sandbox, "log_line", {**where, "container": case.container, "text": case.text})
    faults.add(sandbox, "operand_crashloop", where)
    try:
        until(lambda: crashes(cluster, case.operand), f"{case.operand} crashes")
        found = judge(cluster)
    finally:
        faults.clear(sandbox, "operand_crashloop", where)
        faults.clear(sandbox, "log_line", where)
    assert found["code"] == case.code, found["msg"]
    assert f"/{case.container}: {case.text}" in "\n".join(found["evidence"])
    assert len([line for line in found["evidence"] if "/" in line.partition(":")[0]]) <= 40


def test_all_is_well_in_the_end(cluster: Cluster) -> None:
    found = judge(cluster, grace=30)
    assert not found.get("failed"), found.get("msg")
    assert found["special_resource"]["table"] == [f"ready: {', '.join(STAGES)}"]
