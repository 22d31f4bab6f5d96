# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What drift.yml tells: each object that differs, its fields, and the command that puts it right."""

from __future__ import annotations

import typing as t

import pytest
from unit.pools.builders import Data, planned

from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._drift.report import report

SET: t.Final = "MachineSet openshift-machine-api/demo-training-us-east-2a"
POLICY: t.Final = "ClusterPolicy gpu-cluster-policy"
RUN: t.Final = "ansible-playbook accelerators.openshift.enable_gpus -e @FILE --tags"


def diff(object_name: str, before: Data, after: Data) -> Data:
    return {"before_header": object_name, "after_header": object_name, "before": before, "after": after}


def of(**steps: t.Any) -> Data:
    return report({**planned(), "leftovers": []}, steps)


def policy(**spec: t.Any) -> Data:
    return {"metadata": {"labels": dict(MANAGED_BY)}, "spec": spec}


def nodes(machines: int, live: int, **more: t.Any) -> Data:
    return {
        "pool": {"name": "training"},
        "machine_sets": [{"name": "demo-training-us-east-2a", "replicas": machines}],
        "nodes": [{"name": f"n{number}"} for number in range(live)],
        **more,
    }


def test_a_cluster_that_is_right() -> None:
    found = of(nodes={"results": [nodes(2, 2, drift=[])]}, stack=[{}, {"changed": False}], policy={})
    assert (found["verdict"], found["code"], found["findings"], found["commands"]) == ("none", "", [], [])
    assert found["table"] == ["No drift, the cluster is as gpu_pools says."]


def test_a_changed_object_tells_each_field_with_both_values() -> None:
    before, between, after = (
        policy(dcgm={"enabled": False}, x=0),
        policy(dcgm={"enabled": True}, x=0),
        policy(dcgm={"enabled": True}, x=1),
    )
    found = of(stack={"diff": [diff(POLICY, before, between), diff(POLICY, between, after)]})
    (one,) = found["findings"]
    assert (one["kind"], one["object"], one["pool"], one["step"]) == ("changed", POLICY, "", "stack")
    assert one["fields"] == [
        {"field": "spec.dcgm.enabled", "live": False, "wanted": True},
        {"field": "spec.x", "live": 0, "wanted": 1},
    ]
    assert found["commands"] == [f"{RUN} gpu_operator -e gpu_operator_adopt=take"]
    assert (found["verdict"], found["code"]) == ("found", "DRIFT-FOUND")
    assert found["message"] == f"1 object differs from gpu_pools: {POLICY}."
    assert found["table"] == [
        f"POOL  {'OBJECT':<{len(POLICY)}}  FIELD              LIVE   WANTED",
        f"all   {POLICY}  spec.dcgm.enabled  false  true",
        f"all   {POLICY}  spec.x             0      1",
        f"run   {RUN} gpu_operator -e gpu_operator_adopt=take",
    ]


SUBSCRIPTION: t.Final = "Subscription nvidia-gpu-operator/gpu-operator-certified"
NOTE: t.Final = "accelerators.openshift/replaced-defaults"


def kept(object_name: str, before: Data, after: Data, manager: str = "Argo CD (gpu-stack)") -> Data:
    return {**diff(object_name, before, after), "manager": manager}


@pytest.mark.parametrize("manager", ["Argo CD (gpu-stack)", "Flux", "Red Hat Advanced Cluster Management"])
def test_what_another_tool_keeps_is_changed_there_and_not_by_a_run(manager: str) -> None:
    before, after = (
        {"spec": {"installPlanApproval": "Automatic"}},
        {"spec": {"installPlanApproval": "Manual"}},
    )
    mine = diff(POLICY, policy(x=0), policy(x=1))
    found = of(stack={"diff": [kept(SUBSCRIPTION, before, after, manager), mine]})
    assert [(one["object"], one["manager"]) for one in found["findings"]] == [
        (SUBSCRIPTION, manager),
        (POLICY, ""),
    ]
    assert found["findings"][0]["command"] == ""
    assert found["commands"] == [f"{RUN} gpu_operator -e gpu_operator_adopt=take"]
    assert found["warnings"][0].startswith(f"{SUBSCRIPTION} is kept by {manager}: change it there (in Git)")
    assert "adopt" not in "".join(found["warnings"])


def test_what_another_tool_keeps_as_asked_is_no_drift() -> None:
    """Only the marks of this collection would be new."""
    before: Data = {"spec": {"installPlanApproval": "Automatic"}}
    marks = {"labels": dict(MANAGED_BY), "annotations": {NOTE: "driver.upgradePolicy"}}
    found = of(stack={"diff": [kept(SUBSCRIPTION, before, {**before, "metadata": marks})]})
    assert (found["verdict"], found["findings"], found["warnings"]) == ("none", [], [])


def test_a_missing_object_and_one_too_many() -> None:
    plan = {**planned(), "leftovers": [{"object": "ResourceQuota b/q", "command": "oc delete"}]}
    made = diff("PriorityClass high", {}, {"value": 1})
    gone = nodes(0, 0, diff=[diff(SET, {"spec": {"replicas": 1}}, {})], other_pools=["old"])
    found = report(plan, {"policy": {"results": [{"diff": [made]}]}, "nodes": {"results": [gone]}})
    told = {one["object"]: (one["kind"], one["command"]) for one in found["findings"]}
    assert told == {
        "PriorityClass high": ("missing", f"{RUN} gpu_policy"),
        SET: ("surplus", f"{RUN} gpu_node_pool"),
        "pool old": (
            "surplus",
            "ansible-playbook accelerators.openshift.remove_pool -e gpu_pool=old",
        ),
        "ResourceQuota b/q": ("surplus", "oc delete"),
    }
    rows = [line.split("  ")[-1].strip() for line in found["table"][1:5]]
    assert rows == ["yes", "no", "no", "no"]


@pytest.mark.parametrize("metadata", [{}, {"labels": {"their": "own"}}, {"labels": dict(MANAGED_BY)}])
def test_our_label_on_an_object_of_somebody_else_is_no_difference(metadata: Data) -> None:
    before = {"metadata": metadata, "spec": {"x": 1}}
    after = {"metadata": {"labels": {**metadata.get("labels", {}), **MANAGED_BY}}, "spec": {"x": 1}}
    assert of(stack={"diff": [diff(POLICY, before, after)]})["verdict"] == "none"
    after["spec"] = {"x": 2}
    (one,) = of(stack={"diff": [diff(POLICY, before, after)]})["findings"]
    assert [field["field"] for field in one["fields"]] == ["spec.x"]


def test_a_pool_that_was_scaled_by_hand_says_who_did_it() -> None:
    scaled = diff(SET, {"spec": {"replicas": 3}}, {"spec": {"replicas": 2}})
    said = "Somebody scaled machine set demo to 3 with `oc scale`."
    found = of(nodes={"results": [nodes(2, 3, diff=[scaled])], "warnings": [said]})
    (one,) = found["findings"]
    assert (one["pool"], one["fields"]) == (
        "training",
        [{"field": "spec.replicas", "live": 3, "wanted": 2}],
    )
    assert one["command"].endswith("-e gpu_node_pool_adopt=take -e gpu_node_pool_on_scaled=take")
    assert (found["warnings"], found["table"][-1]) == ([said], f"note  {said}")


def test_what_a_run_does_on_its_way_is_no_difference() -> None:
    """To scale a pool down, a run empties a node, marks its Machine and evicts pods."""
    mark = {"annotations": {"machine.openshift.io/delete-machine": "true"}}
    cordon: Data = {"metadata": {"annotations": {"accelerators.openshift/cordoned": "pool"}}}
    changes = [
        diff(
            "Node a",
            {"metadata": {"annotations": {}}, "spec": {}},
            {**cordon, "spec": {"unschedulable": True}},
        ),
        diff("Machine m/a", {"metadata": {"annotations": {}}}, {"metadata": mark}),
        diff("Pod team/a", {"spec": {}}, {}),
        diff(SET, {"spec": {"replicas": 3}}, {"spec": {"replicas": 2}}),
    ]
    found = of(nodes={"results": [nodes(2, 3, diff=changes)]})
    assert [one["object"] for one in found["findings"]] == [SET]


def test_one_command_for_each_role() -> None:
    scaled = diff(SET, {"spec": {"replicas": 3}}, {"spec": {"replicas": 2}})
    label = diff("Node a", {"metadata": {"labels": {}}}, {"metadata": {"labels": {"team": "ml"}}})
    found = of(nodes={"results": [nodes(2, 3, diff=[label, scaled])]})
    assert found["commands"] == [
        f"{RUN} gpu_node_pool -e gpu_node_pool_adopt=take -e gpu_node_pool_on_scaled=take"
    ]


def test_the_monitoring_is_put_right_by_its_own_playbook() -> None:
    entry = diff("Console cluster", {"spec": {"plugins": []}}, {"spec": {"plugins": ["ours"]}})
    (finding,) = of(monitoring={"diff": [entry]})["findings"]
    command = "ansible-playbook accelerators.openshift.monitor_gpus -e @FILE -e gpu_monitoring_adopt=take"
    assert (finding["step"], finding["command"]) == ("monitoring", command)


def test_machines_that_only_a_replacement_puts_right() -> None:
    field = "providerSpec.blockDevices[0].ebs.volumeSize"
    drift = [
        {"machine_set": "s", "field": field, "live": 120, "wanted": 200, "machines": ["m1", "m2"]},
        {"machine_set": "s", "field": "labels.tier", "live": "a", "wanted": None, "machines": []},
    ]
    found = of(nodes={"results": [nodes(2, 2, drift=drift)]})
    assert [(one["object"], one["fields"]) for one in found["findings"]] == [
        (f"Machine {name}", [{"field": field, "live": 120, "wanted": 200}]) for name in ("m1", "m2")
    ]
    assert found["commands"] == [f"{RUN} gpu_node_pool -e gpu_node_pool_on_change=replace"]


def test_a_machine_that_is_no_node() -> None:
    (one,) = of(nodes={"results": [nodes(2, 1)]})["findings"]
    assert (one["kind"], one["object"]) == ("nodes", "pool training")
    assert one["fields"] == [{"field": "nodes", "live": 1, "wanted": 2}]


def test_a_step_that_could_not_look_leaves_the_verdict_open() -> None:
    failed = {"failed": True, "code": "API-CONFLICT", "msg": "API-CONFLICT: no."}
    of_pool = {**failed, "__gpu_node_pool_pool": {"name": "training"}}
    found = of(stack=[{}, failed], nodes={"results": [of_pool]})
    assert (found["verdict"], found["code"]) == ("unknown", "DRIFT-UNKNOWN")
    assert [one["object"] for one in found["findings"]] == ["step gpu_operator", "pool training"]
    assert "could not look  API-CONFLICT: no." in found["table"][1]
    with_drift = of(stack=failed, policy={"diff": [diff("PriorityClass a", {}, {"value": 1})]})
    assert with_drift["code"] == "DRIFT-FOUND"


def test_long_values_are_short_in_the_table_and_whole_in_the_data() -> None:
    value = [{"key": "k" * 90}]
    found = of(labels={"diff": [diff("Node a", {"x": value}, {"x": None})]})
    assert found["findings"][0]["fields"][0]["live"] == value
    assert max(map(len, found["table"][:2])) < 110
    assert found["table"][1].endswith("...  -")
