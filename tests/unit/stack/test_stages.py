# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages: which one is the cause, which ones wait for it, and since when."""

from __future__ import annotations

from unit.stack.builders import NINE, POOL, TEN, Snapshot, node, pod, second_node, table, unready, verdicts

from ansible_collections.accelerators.openshift.plugins.module_utils._stack import stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import (
    Place,
    Stage,
    is_consequence,
    late,
)

BEHIND_DRIVER = {
    "toolkit": "waiting",
    "device plugin": "waiting",
    "validator": "waiting",
    "metrics": "waiting",
    "allocatable": "waiting",
}


def test_a_stack_that_works_is_ready_at_every_stage(seen: Snapshot) -> None:
    for one in seen["pods"]:
        one["status"]["conditions"][0] |= {"type": "Ready", "status": "True", "lastTransitionTime": TEN}
    found = table(seen)
    assert list(found) == list(clusterpolicy_judge.CHAIN.needs)
    assert verdicts(found) == {}
    assert found["driver"]["since"] == TEN
    assert found["csv"]["evidence"] == ["checked only if something is not ready"]
    assert stages.lines(list(found.values())) == [f"ready: {', '.join(clusterpolicy_judge.CHAIN.needs)}"]


def test_what_waits_for_the_driver_is_its_consequence(seen: Snapshot) -> None:
    second_node(seen, "training")
    for one in seen["pods"]:
        if one["spec"]["nodeName"] == "gpu-0" and "node-status-exporter" not in one["metadata"]["name"]:
            unready(one)
    node(seen)["status"]["allocatable"]["nvidia.com/gpu"] = "0"
    driver = pod(seen, "nvidia-driver")["status"]
    driver["containerStatuses"][0] |= {
        "ready": False,
        "restartCount": 4,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    }
    found = table(seen, POOL | {"replicas": 2})
    assert verdicts(found) == {"driver": "pending", **BEHIND_DRIVER}
    assert {found[name]["consequence_of"] for name in BEHIND_DRIVER} == {"driver"}
    assert found["driver"]["since"] == NINE
    [behind] = found["driver"]["nodes"]
    assert (behind["pool"], behind["node"], behind["verdict"], behind["since"]) == (
        "training",
        "gpu-0",
        "pending",
        NINE,
    )
    assert found["driver"]["of"] == 2
    lines = stages.lines(list(found.values()))
    assert lines[0] == "ready: catalogue, install plan, csv, crd, nfd labels"
    assert lines[1].startswith(
        f"driver PENDING since {NINE} on 1 of 2 nodes: gpu-0: driver is in CrashLoopBackOff"
    )
    assert lines[2:] == ["toolkit, device plugin, validator, metrics, allocatable wait for driver"]


def test_a_trouble_of_its_own_behind_another_one_is_no_consequence(seen: Snapshot) -> None:
    for one in seen["pods"]:
        unready(one)
    plugin = pod(seen, "nvidia-device-plugin")["status"]["containerStatuses"][0]
    plugin |= {"ready": False, "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    found = table(seen)
    assert (found["driver"]["verdict"], found["device plugin"]["verdict"], found["toolkit"]["verdict"]) == (
        "pending",
        "pending",
        "waiting",
    )
    assert found["device plugin"]["consequence_of"] == ""


def test_a_node_without_its_label_makes_everything_wait_for_the_label(seen: Snapshot) -> None:
    del node(seen)["metadata"]["labels"]["feature.node.kubernetes.io/pci-10de.present"]
    for one in seen["pods"]:
        unready(one)
    found = table(seen)
    assert found["nfd labels"]["verdict"] == "pending"
    assert {found[name]["consequence_of"] for name in ("driver", *BEHIND_DRIVER)} == {"nfd labels"}


def test_the_nodes_that_a_pool_lacks_wait_for_their_labels(seen: Snapshot) -> None:
    seen["nodes"] = []
    found = table(seen)
    assert found["nfd labels"]["evidence"] == [
        "pool training: 0 of 1 nodes match accelerators.openshift/pool=training"
    ]
    assert found["allocatable"]["consequence_of"] == "nfd labels"
    assert found["driver"]["nodes"][0]["node"] == ""


def test_without_pools_only_what_the_cluster_has_once_is_told(seen: Snapshot) -> None:
    assert [
        one["name"] for one in clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [])["stages"]
    ] == [
        "catalogue",
        "install plan",
        "csv",
        "crd",
    ]


def test_before_the_policy_everything_waits_for_it(seen: Snapshot) -> None:
    seen["policies"] = []
    found = table(seen)
    assert found["crd"]["verdict"] == "pending"
    assert found["nfd labels"]["verdict"] == "ready"
    assert {found[name]["consequence_of"] for name in ("driver", *BEHIND_DRIVER)} == {"crd"}


def test_a_consequence_is_as_patient_as_its_cause(seen: Snapshot) -> None:
    seen["daemonsets"] = [one for one in seen["daemonsets"] if one["metadata"]["name"] != "nvidia-dcgm"]
    alone = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", [POOL])
    assert not any(is_consequence(one, late(alone), clusterpolicy_judge.CHAIN) for one in alone)
    unready(pod(seen, "nvidia-driver"))
    behind = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", [POOL])
    assert [one.code for one in behind if is_consequence(one, late(behind), clusterpolicy_judge.CHAIN)] == [
        "GPU-OPERAND-LACKING"
    ]


def test_a_stage_that_could_wait_for_nothing_is_pending_itself() -> None:
    settled = stages.with_causes(
        {"driver": Stage("driver", "waiting"), "toolkit": Stage("toolkit", "waiting")},
        clusterpolicy_judge.CHAIN,
    )
    assert (settled["driver"].verdict, settled["toolkit"].consequence_of) == ("pending", "driver")


def test_the_worst_node_decides_and_the_oldest_trouble_dates_it() -> None:
    places = [
        Place("a", "n0", Stage("driver", "pending", TEN)),
        Place("a", "n1", Stage("driver", "pending", NINE)),
        Place("a", "n2", Stage("driver")),
    ]
    found = stages.across("driver", places)
    assert (found["verdict"], found["since"], [one["node"] for one in found["nodes"]], found["of"]) == (
        "pending",
        NINE,
        ["n0", "n1"],
        3,
    )
