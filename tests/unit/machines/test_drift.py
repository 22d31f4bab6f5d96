"""What of a live pool differs from the wanted one, field by field."""

from __future__ import annotations

import copy
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    drift,
    machine as machine_facts,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.candidates import Held
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine import SET
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import replacement
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Candidate, Pool

Data = dict[str, t.Any]
PROVIDER: Data = {
    "ami": {"id": "ami-1"},
    "instanceType": "g4dn.xlarge",
    "blockDevices": [{"ebs": {"volumeSize": 120, "volumeType": "gp3"}}],
    "userDataSecret": {"name": "worker-user-data"},
}


def machine_set(
    provider: Data | None = None, labels: Data | None = None, taints: list[Data] | None = None
) -> Data:
    template: Data = {
        "metadata": {"labels": labels or {"team": "ml"}},
        "taints": taints or [],
        "providerSpec": {"value": {**PROVIDER, **(provider or {})}},
    }
    return {
        "metadata": {"name": "set"},
        "spec": {"replicas": 1, "template": {"metadata": {}, "spec": copy.deepcopy(template)}},
    }


def machine(name: str, **provider: t.Any) -> Data:
    return {
        "metadata": {"name": name, "labels": {SET: "set"}},
        "spec": {"providerSpec": {"value": {**PROVIDER, **provider}}},
    }


DISK = [{"ebs": {"volumeSize": 200, "volumeType": "gp3"}}]


@pytest.mark.parametrize(
    ("live", "wanted", "found"),
    [
        ({}, {}, []),
        ({"ami": {"id": "ami-2"}, "userDataSecret": {"name": "worker-user-data-managed"}}, {}, []),
        ({"deviceIndex": 0, "capacityReservationId": "", "metadata": {}}, {}, []),
        ({}, {"blockDevices": DISK}, [("providerSpec.blockDevices[0].ebs.volumeSize", 120, 200)]),
        ({}, {"spotMarketOptions": {}}, [("providerSpec.spotMarketOptions", None, {})]),
        ({"spotMarketOptions": {}}, {}, [("providerSpec.spotMarketOptions", {}, None)]),
        (
            {"blockDevices": [*DISK, *DISK]},
            {},
            [("providerSpec.blockDevices", [*DISK, *DISK], PROVIDER["blockDevices"])],
        ),
    ],
)
def test_fields_of_the_provider(live: Data, wanted: Data, found: list[t.Any]) -> None:
    entries = drift.of_set(machine_set(live), machine_set(wanted))
    assert [(one["field"], one["live"], one["wanted"]) for one in entries] == found


def test_labels_and_taints() -> None:
    live = machine_set(
        labels={"team": "ml", "tier": "1"}, taints=[{"key": "gpu", "value": "a", "effect": "NoSchedule"}]
    )
    wanted = machine_set(
        labels={"team": "ai"},
        taints=[{"key": "gpu", "value": "b", "effect": "NoSchedule"}, {"key": "x", "effect": "NoExecute"}],
    )
    assert [(one["field"], one["live"], one["wanted"]) for one in drift.of_set(live, wanted)] == [
        ("labels.team", "ml", "ai"),
        ("labels.tier", "1", None),
        ("taints.gpu:NoSchedule", "a", "b"),
        ("taints.x:NoExecute", None, ""),
    ]


def test_machines_that_have_the_live_value_are_named_with_it() -> None:
    machines = [
        machine("b"),
        machine("a"),
        machine("new", blockDevices=DISK),
        machine("older", blockDevices=[{"ebs": {"volumeSize": 64, "volumeType": "gp3"}}]),
    ]
    going = machine("going")
    going["metadata"]["deletionTimestamp"] = "2026-11-21T00:00:00Z"
    other = machine("other")
    other["metadata"]["labels"] = {SET: "another"}
    found = drift.report(
        {"set": machine_set()}, {"set": machine_set({"blockDevices": DISK})}, [*machines, going, other]
    )
    assert [(one["live"], one["wanted"], one["machines"]) for one in found] == [
        (120, 200, ["a", "b"]),
        (64, 200, ["older"]),
    ]
    # The template is right by now, and tells no more than what is left.
    assert [
        one["machines"] for one in drift.report({"set": machine_set()}, {"set": machine_set()}, machines)
    ] == [["new"], ["older"]]


@pytest.mark.parametrize(
    ("on_change", "size", "remark"),
    [
        (
            "new_machines",
            200,
            (
                "Machine set set: blockDevices changed. New machines get the change; existing "
                "machines keep the old values."
            ),
        ),
        ("replace", 200, ""),
        (
            "report",
            120,
            (
                "Machine set set differs from the pool in blockDevices, labels and was not changed "
                "(on_change: report)."
            ),
        ),
    ],
)
def test_what_is_written(on_change: str, size: int, remark: str) -> None:
    wanted = machine_set({"blockDevices": DISK}, labels={"team": "ai"})
    wanted["spec"]["replicas"] = 3
    manifest, told = drift.to_write(machine_set(), wanted, on_change)
    provider = manifest["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert (provider["blockDevices"][0]["ebs"]["volumeSize"], manifest["spec"]["replicas"], told) == (
        size,
        3,
        remark,
    )
    assert manifest["spec"]["template"]["spec"]["metadata"]["labels"]["team"] == (
        "ml" if on_change == "report" else "ai"
    )


def test_what_others_wrote_into_a_reported_template_is_not_sent() -> None:
    live = machine_set({"deviceIndex": 0})
    fields: Data = {
        "f:spec": {"f:template": {"f:spec": {"f:providerSpec": {"f:value": {"f:instanceType": {}}}}}}
    }
    live["metadata"]["managedFields"] = [
        {"manager": "accelerators.openshift", "operation": "Apply", "fieldsV1": fields}
    ]
    manifest, _told = drift.to_write(live, machine_set({"blockDevices": DISK}), "report")
    assert manifest["spec"]["template"] == {
        "spec": {"providerSpec": {"value": {"instanceType": "g4dn.xlarge"}}}
    }


def test_a_machine_that_is_a_mirror_is_named() -> None:
    theirs, moving = machine("m-2"), machine("m-1")
    theirs["status"] = {"authoritativeAPI": "ClusterAPI"}
    moving["status"] = {"authoritativeAPI": "Migrating"}
    machine_facts.refuse_mirrors(
        [machine("m-3"), {**machine("m-4"), "status": {"authoritativeAPI": "MachineAPI"}}]
    )
    with pytest.raises(AcceleratorError) as caught:
        machine_facts.refuse_mirrors([machine("m-3"), theirs, moving])
    assert caught.value.code == "MACH-MIRRORED"
    assert "m-1, m-2. Nothing was changed" in caught.value.message
    assert caught.value.evidence == ["m-1: authoritativeAPI Migrating", "m-2: authoritativeAPI ClusterAPI"]


@pytest.mark.parametrize(("surge", "is_refused"), [(1, True), (2, True), (3, False)])
def test_another_instance_type_needs_as_large_a_surge(surge: int, is_refused: bool) -> None:
    pool = Pool("t", (Candidate("g4dn.2xlarge", ("a", "b")),))
    held = [
        Held("s-a", "g4dn.xlarge", "a", 2),
        Held("s-b", "g4dn.xlarge", "b", 1),
        Held("s-a-2", "g4dn.2xlarge", "a", 4),
        Held("s-c", "g5.xlarge", "a", 0),
    ]
    if not is_refused:
        replacement.foresee_types(held, pool, surge)
        return
    with pytest.raises(AcceleratorError) as caught:
        replacement.foresee_types(held, pool, surge)
    assert (caught.value.code, caught.value.layer) == ("POOL-SURGE", "machine")
    assert "Set gpu_node_pool_max_surge (module option max_surge) to 3" in caught.value.remedy
    assert caught.value.evidence == ["s-a: 2 of g4dn.xlarge", "s-b: 1 of g4dn.xlarge"]
