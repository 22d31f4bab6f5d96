# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What plan.yml tells: the objects of each step, costs, and the table of all that."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from unit.pools.builders import Data, planned

from ansible_collections.accelerators.openshift.plugins.module_utils._core.diff import foreseen
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.session import Change
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import account
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.report import report

ROOT = Path(__file__).resolve().parents[3]
SET = "MachineSet openshift-machine-api/demo-training-us-east-2a"


def obtained(pool: Data, replicas: int, machines: int, **more: t.Any) -> Data:
    made = [
        {"name": f"m{number}", "machine_set": "demo-training-us-east-2a", "phase": "Running"}
        for number in range(machines)
    ]
    sets = [{"name": "demo-training-us-east-2a", "replicas": replicas}]
    return {
        "pool": {**pool, "candidates": pool["candidates"][:1]},
        "machine_sets": sets,
        "machines": made,
        "nodes": made,
        **more,
    }


def test_an_object_is_told_once_from_its_first_state_to_its_last() -> None:
    changes = [
        Change("Node a", {"spec": {"x": 1}}, {"spec": {"x": 2}}),
        Change("Node a", {"spec": {"x": 2}}, {"spec": {"x": 2, "taints": [{"key": "k"}]}}),
        Change("Node b", {}, {"spec": {}}),
        Change("Node c", {"spec": {}}, {}),
    ]
    assert foreseen(changes, ["Node d", "Node a", "Node d"], {"Node b": "No kind."}) == [
        {"action": "change", "object": "Node a", "fields": ["spec.taints", "spec.x"]},
        {"action": "create", "object": "Node b", "fields": [], "unchecked": "No kind."},
        {"action": "delete", "object": "Node c", "fields": []},
        {"action": "keep", "object": "Node d", "fields": []},
    ]


def test_images_from_mirrors_are_counted_and_those_that_lack_are_named() -> None:
    there = {"image": "r.io/a:1", "answer": "there", "why": "DCGM", "needed_by": ["gpu"], "code": ""}
    lost = {**there, "image": "r.io/b:1", "answer": "404, not found", "code": "MIRROR-MISSING"}
    told = report(planned(), {"images": {"images": [there, lost]}})
    assert told["images"] == [there, lost]
    assert [line for line in told["table"] if line.startswith("pull ")] == [
        "pull    2 images from the mirrors of the cluster",
        "pull    r.io/b:1 (404, not found; DCGM, for gpu)",
    ]
    assert report(planned(), {"images": {"images": []}})["images"] == []


def test_shares_of_a_gpu_are_no_gpus() -> None:
    plan = planned()
    pool = plan["pools"][0]
    shares = [{**one, "expected": {"nvidia.com/mig-1g.5gb": 56}} for one in pool["candidates"]]
    told = report(plan, {"nodes": obtained({**pool, "candidates": shares}, 2, 0)})
    assert told["pools"][0]["devices"] == 16


def test_a_new_pool() -> None:
    plan = planned()
    told = report(
        plan,
        {
            "nodes": {
                "results": [
                    obtained(
                        plan["pools"][0],
                        2,
                        0,
                        foreseen=[{"action": "create", "object": SET, "fields": [], "unchecked": "Why."}],
                    )
                ]
            },
            "skipped": {},
        },
    )
    assert told["objects"] == [
        {"step": "nodes", "action": "create", "object": SET, "fields": [], "unchecked": "Why."}
    ]
    assert (told["drained"], told["rebooted"], told["cost"]) == ([], [], None)
    kinds = {"instance_types": ["p4d.24xlarge"], "others": ["g4dn.12xlarge"], "devices": 16}
    nodes = {"now": 0, "then": 2}
    assert told["pools"][0] == {"name": "training", **kinds, "nodes": nodes, "drift": [], "cost": None}
    assert [line.split() for line in told["table"]] == [
        ["POOL", "INSTANCE", "TYPE", "NODES", "(now/then)", "GPUS", "COST/HOUR"],
        ["training", "p4d.24xlarge", "(else", "g4dn.12xlarge)", "0/2", "16", "-"],
        ["own", "-", "-/-", "-", "-"],
        ["make", *SET.split(), "(unchecked)"],
        ["reboot", "no", "node,", "as", "no", "machine", "configuration", "is", "written"],
        ["limit", "96", "vCPUs", "of", "Running", "On-Demand", "G", "and", "VT", "instances", "(training)"],
        ["limit", "192", "vCPUs", "of", "Running", "On-Demand", "P", "instances", "(training)"],
        ["quota", "team-a/gpu-quota", "requests.nvidia.com/gpu", "8"],
    ]


def test_what_loops_say_is_told_once_and_pools_that_stay_have_their_command() -> None:
    item = {"warnings": ["of an item"], "other_pools": ["training", "older"]}
    told = report(planned(), {"nodes": {"results": [item, item], "warnings": ["of the loop"]}, "none": None})
    assert told["warnings"] == ["of the loop", "of an item"]
    (stays,) = told["leftovers"]
    assert told["table"][-1] == f"stays   pool older, no longer asked for; {stays['command']}"


def changed() -> Data:
    """Return the report of a pool that loses a set, has another machine replaced, and differs in a disk."""
    plan = planned()
    drift = [
        {
            "machine_set": "demo-training-us-east-2a",
            "field": "providerSpec.blockDevices",
            "live": 1,
            "wanted": 2,
            "machines": ["m0"],
        }
    ]
    done = [
        {"action": "change", "object": SET, "fields": ["spec.replicas"]},
        {"action": "delete", "object": f"{SET}-2", "fields": []},
        {"action": "keep", "object": "Namespace x", "fields": []},
    ]
    gone = [
        {"machine": f"m{number}", "machine_set": "demo-training-us-east-2a-2", "node": node}
        for number, node in ((9, "n9"), (8, ""))
    ]
    other = [{"machine": "m0", "machine_set": "demo-training-us-east-2a", "node": "n0"}]
    nodes = obtained(
        plan["pools"][0], 1, 3, foreseen=done, drift=drift, warnings=["careful"], removed=gone, replaced=other
    )
    return report(plan, {"nodes": nodes, "stack": [{}, {"foreseen": []}]})


def test_which_nodes_of_a_pool_are_drained() -> None:
    assert [
        (one["pool"], one["for"], one["node"], one["machine_set"][-2:]) for one in changed()["drained"]
    ] == [
        ("training", "removed", "n9", "-2"),
        ("training", "removed", "", "-2"),
        ("training", "replaced", "n0", "2a"),
    ]


def test_nodes_that_a_long_result_leaves_out_are_counted() -> None:
    plan = planned()
    left = [
        {"list": name, "pool": None, "number": number} for name, number in (("removed", 40), ("nodes", 97))
    ]
    gone = [{"machine": "m9", "machine_set": "a", "node": "n9"}]
    nodes = obtained(plan["pools"][0], 1, 3, removed=gone, left_out=left)
    told = report(plan, {"nodes": nodes})
    assert told["pools"][0]["nodes"] == {"now": 100, "then": 1}
    others = {
        "pool": "training",
        "machine": "",
        "machine_set": "",
        "node": "40 other nodes",
        "for": "removed",
    }
    assert told["drained"][1] == others
    lines = [line for line in told["table"] if line.startswith("drain ")]
    assert lines == ["drain   n9 (removed, machine m9)", "drain   40 other nodes (removed)"]


def test_a_pool_that_changes() -> None:
    told = changed()
    assert told["warnings"] == ["careful"]
    assert told["table"][3:11] == [
        f"change  {SET} (spec.replicas)",
        f"remove  {SET}-2",
        "keep    Namespace x",
        "drain   n9 (removed, machine m9)",
        "drain   no node (removed, machine m8)",
        "drain   n0 (replaced, machine m0)",
        "reboot  no node, as no machine configuration is written",
        "drift   demo-training-us-east-2a providerSpec.blockDevices",
    ]


@pytest.mark.parametrize(("nodes", "line"), [(["n1", "n2"], "n1, n2"), (None, "nodes that are not known")])
def test_which_nodes_restart_follows_from_what_is_written(nodes: list[str] | None, line: str) -> None:
    written = [
        {"action": "create", "object": "MachineConfig 50-hugepages", "fields": []},
        {"action": "keep", "object": "KubeletConfig cpu-manager", "fields": []},
        {"action": "change", "object": "ClusterPolicy gpu-cluster-policy", "fields": ["spec.driver.version"]},
    ]
    told = report(planned(), {"tuning": {"foreseen": written, **({"rebooted": nodes} if nodes else {})}})
    assert (told["rebooted"], told["no_reboot"]) == (
        [{"by": "MachineConfig 50-hugepages", "nodes": nodes}],
        "",
    )
    assert [one for one in told["table"] if one.startswith("reboot")] == [
        f"reboot  {line} (MachineConfig 50-hugepages)"
    ]
    why = report(planned(), {"stack": {"foreseen": written[1:]}})["no_reboot"]
    kinds = "MachineConfig, MachineConfigPool, KubeletConfig, ContainerRuntimeConfig, PerformanceProfile"
    assert why.startswith(f"The run would write no {kinds} or SriovNetworkNodePolicy. The pod of a driver")


def test_what_the_autoscaler_may_do() -> None:
    bounds = [{"name": "demo-a", "pool": "training", "machine_set": "demo-a", "min": 0, "max": 4}]
    plan = planned()
    limits_now = [
        {"type": plan["pools"][0]["accelerator"], "min": 0, "max": 32},
        {"type": "of-others", "min": 0, "max": 8},
    ]
    handed = [{"autoscalers": made, "limits": limits_now} for made in ([], bounds)]
    told = report(plan, {"nodes": [{"health_check": {}}, *handed]})
    assert told["autoscaling"] == {"machine_sets": bounds, "gpu_limits": limits_now[:1]}
    assert [one for one in told["table"] if one.startswith("scale")] == [
        "scale   demo-a from 0 to 4 machines",
        f"scale   {plan['pools'][0]['accelerator']} from 0 to 32 GPUs in the whole cluster",
    ]


@pytest.mark.parametrize(
    ("prices", "row", "last"),
    [
        (
            {"p4d.24xlarge": 21.96, "g4dn.12xlarge": 3.912},
            "7.82-43.92 medium",
            "cost    7.82-43.92 an hour (medium)",
        ),
        ({"p4d.24xlarge": 21.96}, "-", "cost    not known, no price of g4dn.12xlarge"),
    ],
)
def test_what_it_costs(prices: Data, row: str, last: str) -> None:
    plan = planned()
    costs = [account.cost(pool, account.read_prices(prices)) for pool in map(Pool.from_result, plan["pools"])]
    told = report(
        {**plan, "costs": costs, "cost": account.total_cost(costs)},
        {"nodes": obtained(plan["pools"][0], 2, 0)},
    )
    assert told["table"][1].endswith(f"16    {row}")
    assert told["table"][-1] == last


def test_the_plan_is_of_the_very_steps_that_are_run() -> None:
    """plan.yml has every role of enable_gpus.yml with the same inputs, and tells of the same results."""
    runs, tells = (
        yaml.safe_load((ROOT / f"playbooks/{name}.yml").read_text())[0] for name in ("enable_gpus", "plan")
    )
    assert tells["roles"] == runs["roles"]
    assert tells["tasks"] == runs["tasks"]
    assert tells["check_mode"] is True
    assert tells["vars"] == runs["vars"]
    shown = [task for task in runs["post_tasks"] if task["name"] == "Show what would be done"]
    assert [tells["post_tasks"][0]["ansible.builtin.debug"]] == [
        one["ansible.builtin.debug"] for one in shown
    ]
