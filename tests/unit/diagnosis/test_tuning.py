# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer of tuning: pools that are degraded, paused or updating, and what that explains on their nodes."""

from __future__ import annotations

import typing as t

import pytest
from unit import managed
from unit.diagnosis.builders import RUN, ago, cordoned, found_in, leased, node, result, roots, saw

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import nodes, tuning
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Trouble
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.node import (
    CURRENT,
    DESIRED,
    REASON,
    STATE,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import machine_config, paused

Data = dict[str, t.Any]
POOL: t.Final = "accelerators.openshift/pool"
DONE: t.Final = {CURRENT: "rendered-1", DESIRED: "rendered-1", STATE: "Done"}
BEHIND: t.Final = {CURRENT: "rendered-0", DESIRED: "rendered-0", STATE: "Done"}
WORKING: t.Final = {CURRENT: "rendered-0", DESIRED: "rendered-1", STATE: "Working"}
NOT_DRAINED: t.Final = "failed to drain node: n1 after 1 hour"


def pool(name: str = "gpu-train", *conditions: Data, **more: t.Any) -> Data:
    label = {"node-role.kubernetes.io/worker": ""} if name == "worker" else more.pop("label", {POOL: "train"})
    spec = {"nodeSelector": {"matchLabels": label}, "configuration": {"name": "rendered-1"}}
    spec["paused"] = more.pop("is_paused", False)
    metadata = {"name": name, "labels": {POOL: "train"} if name == "gpu-train" else {}, **more}
    return {"metadata": metadata, "spec": spec, "status": {"conditions": list(conditions)}}


def condition(kind: str, text: str) -> Data:
    return {"type": kind, "status": "True", "message": text, "lastTransitionTime": ago(4000)}


def stuck(reason: str) -> Data:
    return cordoned(annotations={**WORKING, STATE: "Degraded", REASON: reason})


def driver(node: str) -> Trouble:
    more: Data = {"message": "m", "remedy": "r", "node": node, "pool": "train"}
    return Trouble(layer="driver", code="GPU-DRV-CRASH", about=f"Node {node}", **more)


def test_a_tuned_pool_is_healthy() -> None:
    seen = saw(nodes=[node(annotations=DONE)], config_pools=[pool("worker"), pool()])
    assert not found_in(seen)
    assert not tuning.more(seen)
    assert result(seen)["diagnosis"]["notes"] == []


def test_a_node_that_cannot_be_drained_names_pod_and_budget() -> None:
    broken = pool("gpu-train", condition("NodeDegraded", "x"))
    seen = saw(nodes=[stuck(NOT_DRAINED)], config_pools=[pool("worker"), broken])
    assert tuning.more(seen)[tuning.PODS].fields == "spec.nodeName=n1"
    pod = {
        "metadata": {"name": "api", "namespace": "team", "labels": {"app": "api"}},
        "spec": {"nodeName": "n1"},
    }
    budget = {
        "metadata": {"name": "keep", "namespace": "team"},
        "spec": {"selector": {"matchLabels": {"app": "api"}}},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1},
    }
    seen.objects |= {tuning.PODS: [pod], tuning.BUDGETS: [budget]}
    first, *others = found_in(seen, driver("n1"))
    assert (first.code, first.node, first.since) == ("REBOOT-DRAIN", "n1", ago(4000))
    assert any("PodDisruptionBudget keep allows no disruption" in line for line in first.evidence)
    assert [(one.code, one.cause) for one in others] == [("GPU-DRV-CRASH", "tuning")]


def test_a_degraded_node_has_its_reason() -> None:
    seen = saw(nodes=[stuck("unexpected on-disk state")], config_pools=[pool()])
    (found,) = found_in(seen)
    assert (found.code, found.about) == ("REBOOT-DEGRADED", "Node n1")
    assert "unexpected on-disk state" in found.message
    assert "spec.nodeName=n1" in found.remedy


def test_a_configuration_that_cannot_be_rendered_explains_no_driver() -> None:
    broken = pool("gpu-train", condition("RenderDegraded", "conflicting kernelType"))
    seen = saw(nodes=[node(annotations=DONE)], config_pools=[broken])
    assert [code for code, _about in roots(seen, driver("n1"))] == ["REBOOT-RENDER", "GPU-DRV-CRASH"]


def test_a_plain_worker_that_is_degraded_counts_only_if_gpu_nodes_wait_behind_it() -> None:
    broken = pool("worker", condition("NodeDegraded", "Node w0 is reporting: disk"))
    healthy = saw(nodes=[node(annotations=DONE)], config_pools=[broken])
    assert not found_in(healthy)
    (note,) = result(healthy)["diagnosis"]["notes"]
    assert "Node w0 is reporting: disk" in note
    assert roots(saw(nodes=[node(annotations=BEHIND)], config_pools=[broken])) == [
        ("REBOOT-DEGRADED", "MachineConfigPool worker")
    ]


@pytest.mark.parametrize("ready", ["True", "Unknown"], ids=["drains", "boots"])
def test_an_update_is_busy_and_explains_the_node(ready: str) -> None:
    seen = saw(nodes=[cordoned(annotations=WORKING, ready=ready, since=200)], config_pools=[pool()])
    assert not roots(seen, driver("n1"))
    assert roots(seen, driver("n2")) == [("GPU-DRV-CRASH", "Node n2")]
    (first, *_others) = found_in(seen)
    assert (first.code, first.is_busy, first.since) == ("GPU-NODE-UPDATING", True, ago(7200))


def test_a_node_that_does_not_come_back_from_its_update() -> None:
    seen = saw(nodes=[cordoned(annotations=WORKING, ready="Unknown", since=2000)], config_pools=[pool()])
    assert roots(seen) == [("GPU-NODE-NOT-READY", "Node n1")]


def test_nodes_that_wait_for_their_turn_are_a_note() -> None:
    seen = saw(nodes=[node(annotations=BEHIND)], config_pools=[pool()])
    assert not found_in(seen)
    expected = "1 GPU node of MachineConfigPool gpu-train behind its configuration: n1."
    assert result(seen)["diagnosis"]["notes"] == [expected]


def test_a_pause_that_a_killed_run_left() -> None:
    left = pool(is_paused=True, annotations={machine_config.ROLLOUT: RUN})
    seen = saw(nodes=[node(annotations=BEHIND)], config_pools=[left], lease=[leased("other", 5)])
    assert tuning.more(seen) == {nodes.LEASE: nodes.LEASE_QUERY}
    assert roots(seen) == [("REBOOT-PAUSED", "MachineConfigPool gpu-train")]
    (found,) = found_in(seen)
    assert "by the run of root@bastion (pid 4711)" in found.message
    assert "tune_nodes -e @FILE` with pool train" in found.remedy
    assert "reboots the nodes" in result(seen)["diagnosis"]["troubles"][0]["remedy"]
    works = saw(nodes=[node(annotations=BEHIND)], config_pools=[left], lease=[leased(RUN, 5)])
    assert not found_in(works)


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ({paused.UPDATE: "4.22.9"}, "for the update to 4.22.9 by before_openshift_update"),
        ({}, f"is paused by kubectl-patch since {ago(500)}"),
    ],
    ids=["before an update", "an administrator"],
)
def test_a_pause_on_purpose_is_a_note(note: dict[str, str], text: str) -> None:
    by = [managed.entry("kubectl-patch", {"paused": True}, time=ago(500))]
    own = pool(is_paused=True, annotations=note, managedFields=by)
    seen = saw(nodes=[node(annotations=BEHIND)], config_pools=[own])
    assert not found_in(seen)
    (told,) = result(seen)["diagnosis"]["notes"]
    assert text in told
    assert "with 1 GPU node behind its configuration" in told


def test_two_pools_that_select_the_same_nodes() -> None:
    other = pool("other", label={"nvidia.com/gpu.present": "true"})
    seen = saw(nodes=[node(annotations=DONE)], config_pools=[pool("worker"), pool(), other])
    assert roots(seen) == [("REBOOT-FOREIGN-POOL", "MachineConfigPool other")]
    (found,) = found_in(seen)
    assert "MachineConfigPool gpu-train: MachineConfigPool other selects n1 too" in found.message


def test_a_control_plane_with_gpus_has_the_pool_master() -> None:
    one = node(annotations=DONE)
    one["metadata"]["labels"]["node-role.kubernetes.io/master"] = ""
    master = pool("master", label={"node-role.kubernetes.io/master": ""})
    assert not found_in(saw(nodes=[one], config_pools=[pool("worker"), master, pool()]))


def test_a_cluster_without_machine_config_pools() -> None:
    assert not found_in(saw(nodes=[node()]))


def test_five_thousand_degraded_nodes() -> None:
    several = [pool(f"p{one}", label={"x": str(one)}) for one in range(8)]
    many = [{**stuck("disk")} for _one in range(5000)]
    for number, one in enumerate(many):
        one["metadata"]["name"] = f"n{number}"
    seen = saw(nodes=many, config_pools=[pool("worker"), pool(), *several])
    assert len([*tuning.judge(seen), *tuning.notes(seen)]) == 5000
