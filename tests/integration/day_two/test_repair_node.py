# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node with an Xid is rebooted, validated and given back; one that stays broken stays cordoned."""

from __future__ import annotations

import typing as t

import pytest
from cluster import must_get
from integration.playbook import Run
from integration.scenarios.place import Data, Place, existing

SCENARIO: t.Final = "gpu-xid-until-reboot"
pytestmark = [
    pytest.mark.long("two reboots and a whole stack: the unit tests of _repair have a node in memory"),
    pytest.mark.story("a stack with two broken nodes, a repair that helps, a repair that does not"),
]
# Nodes of the sandbox run no machine-config daemon whose image the pod could use.
POD: t.Final = {"gpu_repair_reboot_with": "pod", "gpu_repair_reboot_image": "registry.example.com/tools:1"}
REPAIR: t.Final = "Repair the node"


def node(place: Place, name: str) -> Data:
    return must_get(place.client, "v1", "nodes", name)


def boot(place: Place, name: str) -> str:
    return str(node(place, name)["status"]["nodeInfo"]["bootID"])


def repaired(run: Run) -> Data:
    """Return the result of the module gpu_node_repair."""
    return next(one.result for one in run.tasks if one.name == REPAIR)


def test_the_first_run_names_the_xid(place: Place) -> None:
    run = place.run("enable_gpus", gpu_pools=existing(t4=4))
    assert run.rc != 0
    assert "GPU-HW-XID" in run.output


def test_without_a_way_to_reboot_nothing_is_written(place: Place) -> None:
    for given, code in (({}, "REPAIR-NO-REBOOT"), ({"gpu_repair": "reset"}, "REPAIR-RESET")):
        run = place.run("repair_node", gpu_node="t4-0", **given)
        assert (run.rc != 0, repaired(run)["code"], place.writes(run)) == (True, code, [])


def test_a_report_says_what_is_wrong_and_writes_nothing(place: Place) -> None:
    run = place.done("repair_node", gpu_node="t4-0", gpu_report_only=True, **POD)
    found = repaired(run)
    assert (found["action"], found["faults"]) == ("rebooted", ["3 of 4 nvidia.com/gpu are allocatable"])
    assert [one["xid"] for one in found["form"]["gpus"]] == [79]
    assert place.writes(run) == []


def test_a_reboot_helps_and_the_second_run_writes_nothing(place: Place) -> None:
    before = boot(place, "t4-0")
    found = repaired(place.done("repair_node", gpu_node="t4-0", **POD))
    assert (found["action"], found["rebooted_with"], found["cordoned"]) == ("rebooted", "pod", False)
    assert boot(place, "t4-0") != before
    assert found["form"]["gpus"][0]["uuid"].startswith("GPU-")
    assert found["workload"]["nodes"][0]["validated"] == 4
    assert "unschedulable" not in node(place, "t4-0")["spec"]
    assert place.client.list("v1", "pods", "default") == []
    run = place.done("repair_node", gpu_node="t4-0", **POD)
    assert (repaired(run)["action"], place.writes(run)) == ("nothing", [])


def test_a_node_that_stays_broken_stays_cordoned_and_is_not_rebooted_twice(place: Place) -> None:
    run = place.run("repair_node", gpu_node="t4-1", gpu_repair_grace=5, **POD)
    found = repaired(run)
    assert (run.rc != 0, found["code"]) == (True, "REPAIR-STAYS")
    assert [one["xid"] for one in found["form"]["gpus"]] == [64]
    assert node(place, "t4-1")["spec"]["unschedulable"] is True
    after = boot(place, "t4-1")
    run = place.run("repair_node", gpu_node="t4-1", **POD)
    assert (repaired(run)["code"], place.writes(run)) == ("REPAIR-STAYS", [])
    assert boot(place, "t4-1") == after
    refused = place.run("repair_node", gpu_node="t4-1", gpu_repair_replace=True, **POD)
    assert (repaired(refused)["code"], place.writes(refused)) == ("NODE-FOREIGN", [])


def test_the_module_takes_the_name_of_a_node_alone(place: Place) -> None:
    found = place.demo.module("gpu_node_repair", name="t4-0")
    assert (found["action"], found["faults"]) == ("nothing", [])
