# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a node, and which Xids logs, events and conditions name."""

from __future__ import annotations

import typing as t

import pytest
from unit.repair.node_in_memory import PLUGIN, UUID, node, pod

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._repair import findings

READY: t.Final = {"type": "Ready", "status": "True"}


def event(text: str, when: str = "2026-11-23T01:00:00Z") -> KubeObject:
    return {"metadata": {"name": "e"}, "reason": "GpuError", "message": text, "lastTimestamp": when}


def test_devices_are_missing_by_the_capacity_and_by_the_label() -> None:
    assert findings.faults(node(), findings.wanted(node())) == ["7 of 8 nvidia.com/gpu are allocatable"]
    fallen = node(capacity={"nvidia.com/gpu": "7"})
    assert findings.wanted(fallen) == {"nvidia.com/gpu": 8}


def test_slices_of_a_gpu_count_by_the_capacity() -> None:
    cut = node(capacity={"nvidia.com/mig-1g.5gb": "14"}, allocatable={"nvidia.com/mig-1g.5gb": "7"})
    cut["metadata"]["labels"] |= {"nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "mixed"}
    assert findings.faults(cut, findings.wanted(cut)) == ["7 of 14 nvidia.com/mig-1g.5gb are allocatable"]


@pytest.mark.parametrize(
    ("kind", "status", "number"),
    [("GpuXidError", "True", 1), ("GpuXidError", "False", 0), ("DiskPressure", "True", 0)],
)
def test_a_condition_about_gpus_counts_while_it_is_true(kind: str, status: str, number: int) -> None:
    found = node(allocatable={"nvidia.com/gpu": "8"})
    found["status"]["conditions"] = [
        READY,
        {"type": kind, "status": status, "reason": "Xid79", "message": f"XID error Xid 79 on {UUID}"},
    ]
    assert len(findings.faults(found, findings.wanted(found))) == number
    named = [(one.number, one.device) for one in findings.of_conditions(found)]
    assert named == [(79, UUID)] * number


def test_a_node_that_is_not_ready_says_why() -> None:
    found = node(conditions=[{"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting"}])
    assert findings.faults(found, {}) == ["the node is not Ready: Kubelet stopped posting"]


def test_events_name_their_xids_once_and_the_newest_time() -> None:
    text = f"NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus. {UUID}"
    found = findings.of_events([event(text, "2026-11-22T01:00:00Z"), event(text), event("all is well")])
    assert [(one.number, one.device) for one in found] == [(79, UUID)]
    assert "2026-11-23" in found[0].seen


def test_an_xid_that_takes_no_gpu_out_of_service_counts_since_the_last_start() -> None:
    found = node(conditions=[{**READY, "lastTransitionTime": "2026-11-23T00:30:00Z"}])
    told = [event("NVRM: Xid (PCI:0000:3b:00): 109, pid=7"), event("NVRM: Xid (PCI:0000:3b:00): 13, pid=7")]
    (line,) = findings.unnoticed(found, told)
    assert line.startswith("Xid 109 on a GPU: a context switch timed out")
    assert not findings.unnoticed(found, [event("Xid 109", "2026-11-23T00:29:59Z")])


def test_the_gravest_advice_decides() -> None:
    reports = [findings.Report(number, "", "") for number in (63, 64, 79)]
    assert findings.gravest(reports) == "replace"
    assert findings.gravest([]) == ""


def test_the_pod_of_the_device_plugin_is_known_by_its_label() -> None:
    assert findings.is_plugin(pod(PLUGIN))
    assert not findings.is_plugin(pod("train-0"))
