"""The startup taint of new nodes: who is closed, why, and how Machine and node are opened."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import startup
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import STARTUP_TAINT

OTHER: t.Final = {"key": "team", "effect": "NoSchedule"}
READY: t.Final = {"type": "Ready", "status": "True"}


def node(*taints: t.Any, status: str = "") -> dict[str, t.Any]:
    condition = {
        "type": startup.CONDITION,
        "status": status,
        "reason": "Failed",
        "message": "the CUDA program failed: no devices",
        "lastTransitionTime": "2026-11-01T03:00:00Z",
    }
    return {
        "metadata": {
            "name": "gpu-0",
            "resourceVersion": "7",
            "annotations": {startup.LINK: "openshift-machine-api/demo-a"},
        },
        "spec": {"taints": list(taints)},
        "status": {"conditions": [READY, *([condition] if status else [])]},
    }


def test_a_node_that_fails_is_named_with_since_when_why_and_a_remedy() -> None:
    found = startup.failure(node(STARTUP_TAINT, status="False"))
    assert found is not None
    assert found.code == "NODE-GATED"
    for part in ("gpu-0", "2026-11-01T03:00:00Z", "the CUDA program failed: no devices"):
        assert part in found.message
    assert "-e gpu_node=gpu-0" in found.remedy


def test_a_node_that_is_open_or_has_not_failed_is_not_named() -> None:
    assert startup.failure(node(STARTUP_TAINT)) is None
    assert startup.failure(node(STARTUP_TAINT, status="True")) is None
    assert startup.failure(node(OTHER, status="False")) is None


def test_the_machine_loses_the_startup_taint_alone() -> None:
    assert startup.machine_of(node()) == ("openshift-machine-api", "demo-a")
    assert startup.machine_of({"metadata": {}}) == ("", "")
    machine = {"metadata": {"resourceVersion": "3"}, "spec": {"taints": [OTHER, STARTUP_TAINT]}}
    body = startup.open_machine(machine)
    assert body == {"metadata": {"resourceVersion": "3"}, "spec": {"taints": [OTHER]}}
    assert startup.open_machine({**machine, **body}) is None


def test_a_failed_condition_becomes_true_and_others_stay() -> None:
    body = startup.passed(node(status="False"), "2026-11-01T04:00:00Z")
    assert body is not None
    ready, ours = body["status"]["conditions"]
    assert (ready, ours["status"], ours["lastTransitionTime"]) == (READY, "True", "2026-11-01T04:00:00Z")
    assert body["metadata"] == {"resourceVersion": "7"}
    assert startup.passed(node(), "now") is None
    assert startup.passed(node(status="True"), "now") is None
