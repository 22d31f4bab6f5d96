# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of the network adapters: causes, consequences and pools."""

from __future__ import annotations

import pytest
from unit.stack.nicclusterpolicy.builders import (
    POOL,
    READY,
    Data,
    crashing,
    elsewhere,
    judging,
    node,
    offering,
    params,
    pod,
    policy,
    stages,
    tainted,
    told,
    unlabelled,
    world,
)
from unit.stack.nicclusterpolicy.test_judge import BEHIND, NEWER

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    node as nic_node,
)


def test_every_stage_is_told() -> None:
    found = told(world(pods=[pod("mofed", conditions=READY), pod("rdma-shared-dp-ds", conditions=READY)]))
    names = [
        "catalogue",
        "install plan",
        "csv",
        "crd",
        "nfd labels",
        "driver",
        "device plugin",
        "secondary",
        "allocatable",
    ]
    assert [(one["name"], one["verdict"]) for one in found["stages"]] == [(name, "ready") for name in names]
    assert found["table"] == [f"ready: {', '.join(names)}"]
    assert (found["name"], found["state"], found["others"]) == ("nic-cluster-policy", "ready", [])
    assert found["nodes"] == [
        {
            "name": "n1",
            "pool": "ib",
            "expected": {},
            "allocatable": {"rdma/rdma_a": 63},
            "driver_loaded": True,
        }
    ]
    by_name = {one["name"]: one for one in found["stages"]}
    assert by_name["driver"]["since"] == "2026-11-22T02:00:00Z"
    assert by_name["secondary"]["evidence"] == ["not requested"]
    assert by_name["csv"]["evidence"] == ["checked only if something is not ready"]


# Each of them with a policy that says ready.
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"pods": [crashing()], "nodes": [offering(0)]}, {"driver": ("failed", ""), **BEHIND}),
        ({"pods": [], "nodes": [offering(0)]}, {"driver": ("pending", ""), **BEHIND}),
        (
            {"nodes": [unlabelled()], "pods": []},
            {
                "nfd labels": ("failed", ""),
                "driver": ("waiting", "nfd labels"),
                "device plugin": ("waiting", "nfd labels"),
            },
        ),
        (
            {"pods": [pod("mofed")], "nodes": [offering(0)]},
            {"device plugin": ("pending", ""), "allocatable": ("waiting", "device plugin")},
        ),
        ({"nodes": [offering(0)]}, {"allocatable": ("failed", "")}),
        ({"nodes": [tainted()]}, {"driver": ("pending", "")}),
        ({"nodes": [node(**{nic_node.UPGRADE: "upgrade-failed"})]}, {"driver": ("failed", "")}),
        (
            {"nodes": [node(**{nic_node.UPGRADE: "pod-restart-required"})], "revisions": [NEWER]},
            {"driver": ("pending", "")},
        ),
        ({"revisions": [NEWER]}, {"driver": ("failed", "")}),
        (
            {"nodes": [node(**{nic_node.WAITS: "true"})]},
            {"driver": ("pending", ""), "device plugin": ("waiting", "driver")},
        ),
        (
            {"nodes": []},
            {
                "nfd labels": ("pending", ""),
                "driver": ("waiting", "nfd labels"),
                "device plugin": ("waiting", "nfd labels"),
                "secondary": ("waiting", "nfd labels"),
                "allocatable": ("waiting", "nfd labels"),
            },
        ),
        (
            {"policies": []},
            {
                "crd": ("pending", ""),
                "driver": ("waiting", "crd"),
                "device plugin": ("waiting", "crd"),
                "secondary": ("waiting", "crd"),
                "allocatable": ("waiting", "crd"),
            },
        ),
    ],
)
def test_the_cause_and_what_only_waits_for_it(changes: dict[str, list[Data]], expected: Data) -> None:
    assert stages(world(**changes)) == expected


def test_the_operators_own_error_is_a_cause() -> None:
    applied = [{"name": "state-OFED", "state": "error", "message": "no matches for kind"}]
    assert stages(world(policies=[policy("error", appliedStates=applied)]))["crd"] == ("failed", "")


def test_a_policy_that_alone_is_not_ready_is_the_trouble() -> None:
    assert stages(world(policies=[policy("notReady")])) == {"crd": ("pending", "")}


def test_nodes_of_nobody_hold_nothing_up() -> None:
    judge = judging(params())
    assert judge(elsewhere()).is_ready
    assert "outside the pools alone: n2 (mofed is not Ready)" in judge.findings[-1].message
    found = told(elsewhere())
    assert [(one["name"], one["ready"]) for one in found["pools"]] == [("ib", True)]
    assert found["others"] == [{"name": "n2", "operands": [{"name": "mofed", "note": "is not Ready"}]}]


def test_only_devices_of_network_adapters_are_told() -> None:
    found = told(world(), {**POOL, "expected": {"rdma/rdma_a": 63, "nvidia.com/gpu": 8}})
    assert found["nodes"][0]["expected"] == {"rdma/rdma_a": 63}
    none = told(world(), nic_cluster_policy={"ofed_driver": {}})
    assert none["nodes"][0]["allocatable"] == {}
    evidence = {one["name"]: one["evidence"] for one in none["stages"]}
    assert evidence["allocatable"] == ["not requested"]


def test_pools_are_judged_each_by_itself() -> None:
    found = told(elsewhere(), POOL, {"name": "theirs", "node_selector": {"pool": "theirs"}})
    assert [(one["name"], one["ready"], one["code"]) for one in found["pools"]] == [
        ("ib", True, ""),
        ("theirs", False, "NIC-DRV"),
    ]
