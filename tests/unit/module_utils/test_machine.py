"""One Machine: how far it has come, and whose fault it is."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils import _machine, _machine_errors

Data = dict[str, t.Any]
SINCE = "2026-01-01T00:00:00Z"
NOW = 1767225600.0  # the same moment
CAPACITY = "error creating EC2 instance: InsufficientInstanceCapacity: We currently do not have sufficient p5.48xlarge capacity"
LIMIT = "error launching instance: You have requested more vCPU capacity than your current vCPU limit of 8 allows"


def machine(phase: str = "", node: str = "", refusal: str = "", since: str = SINCE, **status: t.Any) -> Data:
    body: Data = {"phase": phase, **status}
    if node:
        body["nodeRef"] = {"name": node}
    if refusal:
        condition = {"type": "MachineCreation", "status": "False", "reason": "MachineCreationFailed", "message": refusal, "lastTransitionTime": since}
        body["providerStatus"] = {"conditions": [condition]}
    return {"metadata": {"name": "m-1", "namespace": "openshift-machine-api", "labels": {_machine.SET: "m"}}, "status": body}


def node(ready: str = "True") -> Data:
    return {"metadata": {"name": "n-1"}, "status": {"conditions": [{"type": "Ready", "status": ready, "message": "container runtime is down"}]}}


def judge(obj: Data, its_node: Data | None = None, now: float = NOW, patience: float = 120.0) -> t.Any:
    return _machine.judge(obj, its_node, now, patience, "p5.48xlarge in us-east-2a")


@pytest.mark.parametrize(
    ("obj", "its_node", "verdict", "code", "words"),
    [
        (machine(), None, "pending", "MACH-TIMEOUT", "is New"),
        (machine("Provisioning"), None, "pending", "MACH-TIMEOUT", "is Provisioning"),
        (machine("Provisioned"), None, "pending", "MACH-NO-NODE", "has not joined"),
        (machine("Running", "n-1"), None, "pending", "", "does not carry the pool's label"),
        (machine("Running", "n-1"), node("False"), "pending", "MACH-NODE-NOT-READY", "container runtime is down"),
        (machine("Running", "n-1"), node(), "ready", "", ""),
        (machine("Failed", errorReason="InvalidConfiguration", errorMessage=LIMIT), None, "failed", "MACH-QUOTA", LIMIT),
        (machine("Failed", errorReason="InsufficientResources", errorMessage=CAPACITY), None, "failed", "MACH-CAPACITY", CAPACITY),
        (machine("Failed", errorReason="InvalidConfiguration", errorMessage="no such subnet"), None, "failed", "MACH-CONFIG", "no such subnet"),
        (machine("Running", "n-1", errorReason="UpdateError", errorMessage="gone"), node(), "failed", "MACH-CONFIG", "gone"),
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


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (CAPACITY, "MACH-CAPACITY"),
        ("ZONE_RESOURCE_POOL_EXHAUSTED", "MACH-CAPACITY"),
        ("SkuNotAvailable: The requested size", "MACH-CAPACITY"),
        (LIMIT, "MACH-QUOTA"),
        ("VcpuLimitExceeded: you have hit it", "MACH-QUOTA"),
        ("Quota 'NVIDIA_T4_GPUS' exceeded. Limit: 1.0 in region", "MACH-QUOTA"),
        ("Your requested instance type (p5.48xlarge) is not supported in your requested Availability Zone", "MACH-UNSUPPORTED"),
        ("ReservationCapacityExceeded: Requested reservation does not have sufficient compatible and available capacity", "MACH-RESERVATION"),
        ("InsufficientFreeAddressesInSubnet: Insufficient addresses in subnet subnet-1 to complete your request", "MACH-SUBNET"),
        ("UnauthorizedOperation: You are not authorized to perform this operation", "MACH-FORBIDDEN"),
        ("InvalidAMIID.NotFound: The image id '[ami-0]' does not exist", "MACH-IMAGE"),
        ("failed to get user data: secrets \"worker-user-data\" not found", "MACH-USER-DATA"),
        ("SpotMaxPriceTooLow: Your Spot request price of 0.01 is lower than the minimum", "MACH-SPOT-PRICE"),
        ("No valid host was found. There are not enough hosts available.", "MACH-CAPACITY"),
        ("something never seen", "MACH-CONFIG"),
    ],
)
def test_codes_of_texts(text: str, code: str) -> None:
    assert _machine_errors.code_of(text) == code


def test_summary() -> None:
    found = _machine.summarize(machine("Provisioning", refusal=CAPACITY))
    assert found == {"name": "m-1", "machine_set": "m", "phase": "Provisioning", "zone": "", "instance_type": "", "node": "", "error": CAPACITY, "since": SINCE}
