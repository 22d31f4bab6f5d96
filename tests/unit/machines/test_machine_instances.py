"""Instances that are gone, never started, do not join, or of which the provider says nothing."""

from __future__ import annotations

import pytest
from unit.machines.builders import LOST, NOW, SINCE, Data, judge, machine, of_provider

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import machine as machine_facts


def with_node(obj: Data) -> Data:
    obj["status"]["nodeRef"] = {"name": "n-1"}
    return obj


MISSING = [{"type": "InstanceExists", "status": "False", "reason": "InstanceMissing"}]
CREATE_ERROR = "vm has unexpected 'Failed' provisioning state"


@pytest.mark.parametrize(
    ("obj", "code", "words"),
    [
        (
            of_provider(
                machine("Failed", errorReason="CreateError", errorMessage=CREATE_ERROR),
                kind="AzureMachineProviderSpec",
            ),
            "MACH-CAPACITY",
            "most likely",
        ),
        (
            of_provider(
                machine("Failed", errorMessage="can't find created instance"), kind="GCPMachineProviderSpec"
            ),
            "MACH-CAPACITY",
            "most likely",
        ),
        (
            of_provider(machine("Failed", conditions=MISSING), kind="GCPMachineProviderSpec"),
            "MACH-CAPACITY",
            "most likely",
        ),
        (
            with_node(
                of_provider(
                    machine("Failed", errorMessage="can't find created instance"),
                    kind="GCPMachineProviderSpec",
                )
            ),
            "MACH-INSTANCE-LOST",
            "instance",
        ),
        (
            of_provider(machine("Failed", errorMessage=LOST), kind="AWSMachineProviderConfig"),
            "MACH-INSTANCE-LOST",
            LOST,
        ),
        (
            with_node(
                of_provider(
                    machine("Failed", errorMessage=LOST), {"machine.openshift.io/interruptible-instance": ""}
                )
            ),
            "MACH-SPOT-RECLAIMED",
            "reclaimed",
        ),
        (
            with_node(of_provider(machine("Failed", errorMessage=LOST), marketType="CapacityBlock")),
            "MACH-RESERVATION",
            "has ended",
        ),
        (
            of_provider(machine("Provisioned"), annotations={"machine.openshift.io/instance-state": "ERROR"}),
            "MACH-CAPACITY",
            "no valid host",
        ),
        (
            of_provider(machine("Provisioning", providerStatus={"instanceState": "failed"})),
            "MACH-CAPACITY",
            "state failed",
        ),
    ],
)
def test_instances_that_are_gone_or_never_started(obj: Data, code: str, words: str) -> None:
    found = judge(obj, patience=1e9)
    assert (found.verdict, found.code) == ("failed", code)
    assert words in found.message
    is_refusal = code in ("MACH-CAPACITY", "MACH-RESERVATION")
    assert machine_facts.refused(obj, NOW, 1e9)[0] == (code if is_refusal else "")


@pytest.mark.parametrize(
    ("provider_id", "words"),
    [
        ("aws:///us-east-2a/i-0abc", "aws ec2 get-console-output --latest --instance-id i-0abc"),
        ("gce://p/us-central1-a/m-1", "get-serial-port-output m-1 --zone us-central1-a"),
        ("azure:///subscriptions/s/vm/m-1", "get-boot-log --ids /subscriptions/s/vm/m-1"),
        ("", "console of the instance m-1"),
    ],
)
def test_where_to_look_when_an_instance_does_not_join(provider_id: str, words: str) -> None:
    obj = of_provider(machine("Provisioned"), {"machine.openshift.io/zone": "us-central1-a"})
    obj["spec"]["providerID"] = provider_id
    assert words in judge(obj).remedy


class TestSilence:
    """OpenStack's provider says nothing of a server that it did not get."""

    def waiting(self, kind: str = "OpenstackProviderSpec", **annotations: str) -> Data:
        return of_provider(
            {**machine("Provisioning"), "status": {"phase": "Provisioning"}},
            annotations=annotations,
            kind=kind,
        )

    @pytest.mark.parametrize(
        ("seconds", "verdict", "code"),
        [(60, "pending", "MACH-TIMEOUT"), (121, "pending", "MACH-SILENT"), (901, "failed", "MACH-SILENT")],
    )
    def test_it_is_told_after_the_patience_and_counts_after_fifteen_minutes(
        self, seconds: int, verdict: str, code: str
    ) -> None:
        now = machine_facts.moment(SINCE) + seconds
        found = machine_facts.judge(self.waiting(), None, now, 120.0, "g1.l40s.1 in az0")
        assert (found.verdict, found.code) == (verdict, code)
        assert bool(machine_facts.refused(self.waiting(), now, 120.0)[0]) is (verdict == "failed")
        if code == "MACH-SILENT":
            assert f"m-1 (g1.l40s.1 in az0) has had no server since {SINCE}" in found.message
            for words in ("no instance", "no condition", "quota is full", "no valid host"):
                assert words in found.message.lower()
            for words in ("machine-api-controllers", "openstack quota show"):
                assert words in found.remedy

    @pytest.mark.parametrize(
        "one",
        [{"kind": "AWSMachineProviderConfig"}, {"machine.openshift.io/instance-state": "BUILD"}],
        ids=["of another provider", "has a server"],
    )
    def test_others_are_only_slow(self, one: Data) -> None:
        now = machine_facts.moment(SINCE) + 2000
        assert machine_facts.judge(self.waiting(**one), None, now, 120.0, "x").code == "MACH-TIMEOUT"
        assert machine_facts.refused(self.waiting(**one), now, 120.0) == ("", "")
        gone = self.waiting()
        gone["metadata"]["deletionTimestamp"] = SINCE
        assert machine_facts.refused(gone, now, 120.0) == ("", "")
