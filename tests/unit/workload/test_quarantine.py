"""Marks on nodes that failed their validation: ours go again, those of others stay."""

from __future__ import annotations

import typing as t

import pytest
from unit.workload.builders import node

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import FAILED, STARTUP
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import quarantine

THEIRS: t.Final = {"key": "team", "value": "vision", "effect": "NoSchedule"}
OURS: t.Final = {"key": FAILED, "value": "dcgm", "effect": "NoSchedule"}
CORDON: t.Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def tainted(*taints: KubeObject, cordoned: bool = False, version: str = "7") -> KubeObject:
    found = node()
    found["metadata"]["resourceVersion"] = version
    found["spec"] = {"taints": list(taints)} | ({"unschedulable": True} if cordoned else {})
    return found


def merged(before: KubeObject, patch: KubeObject) -> KubeObject:
    """Return the node after a merge patch of its metadata and spec."""
    marks = {**(before["metadata"].get("annotations") or {}), **(patch["metadata"].get("annotations") or {})}
    spec = {**before["spec"], **patch["spec"]}
    kept = {key: value for key, value in marks.items() if value is not None}
    return {
        **before,
        "metadata": {**before["metadata"], "annotations": kept},
        "spec": {key: value for key, value in spec.items() if value is not None},
    }


def test_a_report_marks_nothing() -> None:
    assert quarantine.close(tainted(), "report", "matmul", "run") is None
    assert quarantine.tolerations(tainted(THEIRS)) == []
    assert quarantine.open_again(tainted(THEIRS)) is None


def test_a_taint_comes_beside_those_of_others_and_goes_again() -> None:
    before = tainted(THEIRS)
    closing = quarantine.close(before, "taint", "dcgm:3", "run")
    assert closing == {"metadata": {"resourceVersion": "7"}, "spec": {"taints": [THEIRS, OURS]}}
    closed = merged(before, closing)
    assert quarantine.close(closed, "taint", "dcgm:3", "run") is None, "a second run writes nothing"
    assert [one["key"] for one in quarantine.tolerations(closed)] == [FAILED]
    opening = quarantine.open_again(closed)
    assert opening is not None
    assert merged(closed, opening)["spec"]["taints"] == [THEIRS]


def test_a_cordon_of_ours_goes_again_with_the_taint_that_it_makes() -> None:
    before = tainted(THEIRS)
    closing = quarantine.close(before, "cordon", "matmul", "run")
    assert closing is not None
    closed = merged(before, closing)
    closed["spec"]["taints"] = [THEIRS, CORDON]
    assert closed["spec"]["unschedulable"] is True
    assert [one["key"] for one in quarantine.tolerations(closed)] == [CORDON["key"]]
    opening = quarantine.open_again(closed)
    assert opening is not None
    opened = merged(closed, opening)
    assert not opened["spec"].get("unschedulable")
    assert opened["metadata"]["annotations"] == {}
    assert quarantine.open_again(opened) is None


@pytest.mark.parametrize("how", ["taint", "cordon"])
def test_a_cordon_of_somebody_else_stays_and_is_not_tolerated(how: str) -> None:
    theirs = tainted(CORDON, cordoned=True)
    assert quarantine.tolerations(theirs) == []
    assert quarantine.open_again(theirs) is None
    if how == "cordon":
        assert quarantine.close(theirs, how, "matmul", "run") is None
    else:
        closing = quarantine.close(theirs, how, "matmul", "run")
        assert closing is not None
        assert quarantine.open_again(merged(theirs, closing)) == {
            "metadata": {"resourceVersion": "7"},
            "spec": {"taints": [CORDON]},
        }


def test_the_taint_of_the_gate_goes_from_a_node_that_passed() -> None:
    gate = {"key": STARTUP, "effect": "NoSchedule"}
    assert [one["key"] for one in quarantine.tolerations(tainted(gate, THEIRS))] == [STARTUP]
    opening = quarantine.open_again(tainted(gate, THEIRS))
    assert opening is not None
    assert opening["spec"] == {"taints": [THEIRS]}
