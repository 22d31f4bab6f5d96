"""Each rule of the webhook from both sides: what it refuses and what it accepts."""

from __future__ import annotations

import pytest
from unit.sandbox.admission.builders import RESERVATION, SPECS, Data, judged
from unit.sandbox.admission.cases.all_platforms import ACCEPTED, REFUSED

from openshift_sandbox.stand_ins.admission.platform import Context, Verdict


@pytest.mark.parametrize("platform", SPECS)
def test_what_the_installer_writes_passes_in_silence(platform: str) -> None:
    assert judged(platform) == Verdict([], [])


@pytest.mark.parametrize(("platform", "over", "text"), REFUSED)
def test_a_rule_refuses(platform: str, over: Data, text: str) -> None:
    assert text in judged(platform, over).text


@pytest.mark.parametrize(("platform", "over"), ACCEPTED)
def test_what_a_rule_lets_pass(platform: str, over: Data) -> None:
    """The webhook also accepts what a cloud will refuse:

    GPUs on an A3, restart policy Always, Migrate with a G2.
    """
    assert judged(platform, over).errors == []


@pytest.mark.parametrize(
    ("platform", "over", "text"),
    [
        (
            "AWS",
            {"capacityReservation": RESERVATION},
            (
                'providerSpec.value: Unsupported value: "capacityReservation": Unknown field '
                "(capacityReservation) will be ignored"
            ),
        ),
        ("AWS", {"placement": {"partition": 1}}, "Unknown field (partition) will be ignored"),
        (
            "AWS",
            {"kind": "AzureMachineProviderSpec"},
            (
                "incorrect GroupVersionKind for AWSMachineProviderConfig object: "
                "machine.openshift.io/v1beta1, Kind=Azure"
            ),
        ),
        ("AWS", {"subnet": {"filters": None}}, "providerSpec.subnet: No subnet has been provided."),
        (
            "AWS",
            {"iamInstanceProfile": None},
            (
                "providerSpec.iamInstanceProfile: no IAM instance profile provided: nodes may be unable to "
                "join the cluster"
            ),
        ),
        (
            "AWS",
            {"tags": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]},
            "providerSpec.tags: duplicated tag names (a): only the first value",
        ),
        (
            "GCP",
            {"serviceAccounts": []},
            (
                "providerSpec.serviceAccounts: no service account provided: nodes may be unable to join "
                "the cluster"
            ),
        ),
        (
            "VSphere",
            {"numCPUs": 1},
            (
                "providerSpec.numCPUs: 1 is missing or less than the minimum value (2): nodes may not boot "
                "correctly"
            ),
        ),
        (
            "VSphere",
            {"cloneMode": "linkedClone"},
            "linkedClone clone mode is set. DiskGiB parameter will be ignored",
        ),
        (
            "Nutanix",
            {"memorySize": "1Gi"},
            "providerSpec.memorySize: 1024 is missing or less than the recommended minimum value (2048)",
        ),
    ],
)
def test_what_is_only_warned_of(platform: str, over: Data, text: str) -> None:
    verdict = judged(platform, over)
    assert verdict.errors == []
    assert [one for one in verdict.warnings if text in one]


def test_a_secret_that_is_missing_is_warned_of() -> None:
    verdict = judged("GCP", {}, Context("demo-x7k2p", has_secret=lambda _name, _namespace: False))
    text = (
        'providerSpec.credentialsSecret: Invalid value: "gcp-cloud-credentials": not found. Expected '
        "CredentialsSecret to exist"
    )
    assert verdict == Verdict([], [text])
