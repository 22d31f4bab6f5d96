"""How the webhook reads fields, and what it does about Machines and other platforms."""

from __future__ import annotations

import copy

import pytest
from unit.sandbox.admission.builders import CONTEXT, SPECS, Data, judged, machine_set

from openshift_sandbox.stand_ins.admission.platform import Verdict
from openshift_sandbox.stand_ins.admission.review import PLATFORMS, defaulted, validated


def test_a_field_in_another_case_is_that_field() -> None:
    verdict = judged("AWS", {"capacityReservationId": None, "CapacityReservationID": "cr-1"})
    assert verdict.warnings == []
    assert "it must start with 'cr-'" in verdict.text


@pytest.mark.parametrize("platform", [None, "OpenStack"])
def test_other_platforms_are_looked_at_from_outside_alone(platform: str | None) -> None:
    assert validated(PLATFORMS.get(platform or ""), machine_set({"flavour": 1}), None, CONTEXT) == Verdict(
        [], []
    )
    verdict = validated(None, machine_set({}, {"other": "label"}), None, CONTEXT)
    assert verdict.text.startswith("spec.template.metadata.labels: Invalid value: map[string]string{")
    assert verdict.text.endswith("`selector` does not match template `labels`")


def test_a_selector_stays_what_it_is() -> None:
    old, new = machine_set(SPECS["AWS"]), machine_set(SPECS["AWS"])
    new["spec"]["selector"]["matchLabels"]["more"] = "x"
    new["spec"]["template"]["metadata"]["labels"]["more"] = "x"
    assert validated(PLATFORMS["AWS"], new, old, CONTEXT).errors == [
        "spec.selector: Forbidden: selector is immutable"
    ]
    assert validated(PLATFORMS["AWS"], old, old, CONTEXT).errors == []


class TestMachines:
    def machine(self, hooks: list[Data], deleting: bool = True) -> Data:
        metadata: Data = {
            "name": "m",
            "namespace": "openshift-machine-api",
            "finalizers": ["machine.machine.openshift.io"],
        }
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleting else {}
        return {
            "kind": "Machine",
            "metadata": metadata,
            "spec": {"lifecycleHooks": {"preDrain": hooks}, "providerSpec": {"value": SPECS["AWS"]}},
        }

    def test_a_hook_may_go_and_not_come_once_the_machine_is_deleted(self) -> None:
        hook = {"name": "wait", "owner": "somebody"}
        verdict = validated(PLATFORMS["AWS"], self.machine([hook]), self.machine([]), CONTEXT)
        assert verdict.errors == [
            "spec.lifecycleHooks.preDrain: Forbidden: pre-drain hooks are immutable when machine is "
            "marked for deletion:"
            " the following hooks are new or changed: [{Name:wait Owner:somebody}]"
        ]
        assert validated(PLATFORMS["AWS"], self.machine([]), self.machine([hook]), CONTEXT).errors == []
        assert (
            validated(
                PLATFORMS["AWS"],
                self.machine([hook], deleting=False),
                self.machine([], deleting=False),
                CONTEXT,
            ).errors
            == []
        )

    def test_a_broken_machine_may_still_lose_its_finalizer(self) -> None:
        old = self.machine([])
        old["spec"]["providerSpec"]["value"] = {}
        new = copy.deepcopy(old)
        del new["metadata"]["finalizers"]
        assert validated(PLATFORMS["AWS"], new, old, CONTEXT).errors == []
        assert validated(PLATFORMS["AWS"], old, old, CONTEXT).errors != []

    def test_a_machine_gets_the_cluster_s_label(self) -> None:
        made, _problems = defaulted(PLATFORMS["AWS"], self.machine([], deleting=False), CONTEXT)
        assert made["metadata"]["labels"] == {"machine.openshift.io/cluster-api-cluster": "demo-x7k2p"}
