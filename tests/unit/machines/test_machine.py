"""One Machine: how far it has come, and whose fault it is."""

from __future__ import annotations

import pytest
from unit.machines.builders import (
    CAPACITY,
    LIMIT,
    LOST,
    NO_HOST,
    NOW,
    SINCE,
    Data,
    judge,
    machine,
    of_provider,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import machine as machine_facts


def node(ready: str = "True") -> Data:
    return {
        "metadata": {"name": "n-1"},
        "status": {
            "conditions": [{"type": "Ready", "status": ready, "message": "container runtime is down"}]
        },
    }


@pytest.mark.parametrize(
    ("obj", "its_node", "verdict", "code", "words"),
    [
        (machine(), None, "pending", "MACH-TIMEOUT", "is New"),
        (machine("Provisioning"), None, "pending", "MACH-TIMEOUT", "is Provisioning"),
        (machine("Provisioned"), None, "pending", "MACH-NO-NODE", "has not joined"),
        (machine("Running", "n-1"), None, "pending", "", "does not have the pool's label"),
        (
            machine("Running", "n-1"),
            node("False"),
            "pending",
            "MACH-NODE-NOT-READY",
            "container runtime is down",
        ),
        (machine("Running", "n-1"), node(), "ready", "", ""),
        (
            machine("Failed", errorReason="InvalidConfiguration", errorMessage=LIMIT),
            None,
            "failed",
            "MACH-QUOTA",
            LIMIT,
        ),
        (
            machine("Failed", errorReason="InsufficientResources", errorMessage=CAPACITY),
            None,
            "failed",
            "MACH-CAPACITY",
            CAPACITY,
        ),
        (
            machine("Failed", errorReason="InvalidConfiguration", errorMessage="no such subnet"),
            None,
            "failed",
            "MACH-CONFIG",
            "no such subnet",
        ),
        (
            machine("Provisioning", errorReason="InsufficientResources", errorMessage=NO_HOST),
            None,
            "pending",
            "MACH-HOST",
            NO_HOST,
        ),
        (
            machine("Running", "n-1", errorReason="UpdateError", errorMessage="tried again"),
            node(),
            "ready",
            "",
            "",
        ),
        (machine("Failed", errorMessage=LOST), None, "failed", "MACH-INSTANCE-LOST", LOST),
        (machine("Provisioning", refusal=CAPACITY), None, "pending", "MACH-CAPACITY", CAPACITY),
    ],
)
def test_verdicts(obj: Data, its_node: Data | None, verdict: str, code: str, words: str) -> None:
    found = judge(obj, its_node)
    assert (found.verdict, found.code) == (verdict, code)
    assert words in found.message
    assert found.details


@pytest.mark.parametrize(("later", "verdict"), [(119, "pending"), (120, "failed"), (-50, "pending")])
def test_a_refusal_is_final_only_after_a_while(later: float, verdict: str) -> None:
    found = judge(machine("Provisioning", refusal=CAPACITY), now=NOW + later)
    assert (found.verdict, found.code) == (verdict, "MACH-CAPACITY")
    assert all(text in found.message for text in (CAPACITY, "us-east-2a", "p5.48xlarge", SINCE))


def test_a_failed_machine_is_named_in_the_remedy() -> None:
    found = judge(machine("Failed", errorMessage=LIMIT))
    assert "oc delete machine -n openshift-machine-api m-1" in found.remedy


def test_a_machine_that_goes_away_is_not_failed() -> None:
    obj = machine("Failed", errorReason="InvalidConfiguration", errorMessage=LIMIT)
    obj["metadata"]["deletionTimestamp"] = SINCE
    assert judge(obj).verdict == "pending"


def test_summary() -> None:
    found = machine_facts.summarize(machine("Provisioning", refusal=CAPACITY))
    assert found == {
        "name": "m-1",
        "machine_set": "m",
        "phase": "Provisioning",
        "zone": "",
        "instance_type": "",
        "node": "",
        "code": "MACH-CAPACITY",
        "error": CAPACITY,
        "since": SINCE,
    }


def test_a_health_check_replaces_what_was_lost_and_nothing_else() -> None:
    lost, refused = machine("Failed", errorMessage=LOST), machine("Failed", errorMessage=LIMIT)
    assert [
        machine_facts.judge(one, None, NOW, 120.0, "x", None, True).verdict for one in (lost, refused)
    ] == [
        "pending",
        "failed",
    ]


def test_a_failed_task_of_vcenter_is_final() -> None:
    obj = machine("Provisioning", refusal="No host is compatible with the virtual machine.")
    assert judge(obj).verdict == "pending"
    obj["status"]["providerStatus"]["conditions"][0]["reason"] = "MachineCreationSucceeded"
    assert judge(obj).verdict == "failed"


def test_a_machine_without_host_waits_for_one_from_its_beginning() -> None:
    obj = of_provider(machine("Provisioning", errorReason="InsufficientResources", errorMessage=NO_HOST))
    assert [judge(obj, now=NOW + later).verdict for later in (119, 120)] == ["pending", "failed"]


def test_the_trouble_of_a_host_is_told() -> None:
    obj = of_provider(
        machine("Provisioning"), annotations={"metal3.io/BareMetalHost": "openshift-machine-api/gpu-0"}
    )
    host = {
        "metadata": {"name": "gpu-0"},
        "status": {"errorType": "provisioning error", "errorMessage": "Image provisioning failed:\n timeout"},
    }
    found = machine_facts.judge(obj, None, NOW, 120.0, "bare metal", host)
    assert (found.verdict, found.code) == ("pending", "MACH-HOST")
    assert (
        "openshift-machine-api/gpu-0: provisioning error: Image provisioning failed: timeout" in found.message
    )


def test_lines_tell_since_when_and_stay_the_same() -> None:
    obj = of_provider(
        machine(
            "Provisioned",
            conditions=[
                {"type": "InstanceExists", "status": "True", "lastTransitionTime": "2026-01-01T00:01:00Z"}
            ],
        )
    )
    lines = {judge(obj, now=NOW + later).details for later in (0, 30, 60)}
    assert lines == {
        ("m-1 (p5.48xlarge in us-east-2a): Provisioned since 2026-01-01T00:01:00Z, not a node yet",)
    }
