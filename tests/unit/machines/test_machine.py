"""One Machine: how far it has come, and whose fault it is."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    machine as machine_facts,
    provider_errors,
)

Data = dict[str, t.Any]
SINCE = "2026-01-01T00:00:00Z"
NOW = 1767225600.0  # the same moment
CAPACITY = (
    "error creating EC2 instance: InsufficientInstanceCapacity: We currently do not have "
    "sufficient p5.48xlarge capacity"
)
AZURE = (
    "failed to create vm m: cannot create vm: PUT https://management.azure.com/x "
    'RESPONSE 409: 409 Conflict ERROR CODE: {code} {{"message": "{text}"}}'
)
NO_HOST = "No available BareMetalHost found"
LOST = "Can't find created instance."
LIMIT = (
    "error launching instance: You have requested more vCPU capacity than your current vCPU limit of 8 allows"
)


def machine(phase: str = "", node: str = "", refusal: str = "", since: str = SINCE, **status: t.Any) -> Data:
    body: Data = {"phase": phase, **status}
    if node:
        body["nodeRef"] = {"name": node}
    if refusal:
        condition = {
            "type": "MachineCreation",
            "status": "False",
            "reason": "MachineCreationFailed",
            "message": refusal,
            "lastTransitionTime": since,
        }
        body["providerStatus"] = {"conditions": [condition]}
    return {
        "metadata": {"name": "m-1", "namespace": "openshift-machine-api", "labels": {machine_facts.SET: "m"}},
        "status": body,
    }


def node(ready: str = "True") -> Data:
    return {
        "metadata": {"name": "n-1"},
        "status": {
            "conditions": [{"type": "Ready", "status": ready, "message": "container runtime is down"}]
        },
    }


def judge(obj: Data, its_node: Data | None = None, now: float = NOW, patience: float = 120.0) -> t.Any:
    return machine_facts.judge(obj, its_node, now, patience, "p5.48xlarge in us-east-2a")


@pytest.mark.parametrize(
    ("obj", "its_node", "verdict", "code", "words"),
    [
        (machine(), None, "pending", "MACH-TIMEOUT", "is New"),
        (machine("Provisioning"), None, "pending", "MACH-TIMEOUT", "is Provisioning"),
        (machine("Provisioned"), None, "pending", "MACH-NO-NODE", "has not joined"),
        (machine("Running", "n-1"), None, "pending", "", "does not carry the pool's label"),
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


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (CAPACITY, "MACH-CAPACITY"),
        ("ZONE_RESOURCE_POOL_EXHAUSTED", "MACH-CAPACITY"),
        ("SkuNotAvailable: The requested size", "MACH-CAPACITY"),
        (LIMIT, "MACH-QUOTA"),
        ("VcpuLimitExceeded: you have hit it", "MACH-QUOTA"),
        ("Quota 'NVIDIA_T4_GPUS' exceeded. Limit: 1.0 in region", "MACH-QUOTA"),
        (
            "Your requested instance type (p5.48xlarge) is not supported in your requested Availability Zone",
            "MACH-UNSUPPORTED",
        ),
        (
            (
                "ReservationCapacityExceeded: Requested reservation does not have sufficient "
                "compatible and available capacity"
            ),
            "MACH-RESERVATION",
        ),
        (
            (
                "InsufficientFreeAddressesInSubnet: Insufficient addresses in subnet subnet-1 to "
                "complete your request"
            ),
            "MACH-SUBNET",
        ),
        ("UnauthorizedOperation: You are not authorized to perform this operation", "MACH-FORBIDDEN"),
        ("InvalidAMIID.NotFound: The image id '[ami-0]' does not exist", "MACH-IMAGE"),
        ('failed to get user data: secrets "worker-user-data" not found', "MACH-USER-DATA"),
        ("SpotMaxPriceTooLow: Your Spot request price of 0.01 is lower than the minimum", "MACH-SPOT-PRICE"),
        ("No valid host was found. There are not enough hosts available.", "MACH-CAPACITY"),
        # Amazon's, as its provider hands them on: without the code when they are final
        (
            (
                "error launching instance: The requested reservation does not have sufficient "
                "compatible and available capacity for this request."
            ),
            "MACH-RESERVATION",
        ),
        (
            (
                "error launching instance: There are not enough free addresses in subnet 'subnet-1' "
                "to satisfy the requested number of instances."
            ),
            "MACH-SUBNET",
        ),
        (
            (
                "error launching instance: You are not authorized to perform this operation. Encoded "
                "authorization failure message: x"
            ),
            "MACH-FORBIDDEN",
        ),
        ("error launching instance: Max spot instance count exceeded", "MACH-QUOTA"),
        (
            (
                "error launching instance: Your Spot request price of 0.50 is lower than the minimum "
                "required Spot request fulfillment price of 1.58."
            ),
            "MACH-SPOT-PRICE",
        ),
        ("error launching instance: Invalid value 'p9.xlarge' for InstanceType.", "MACH-TYPE"),
        (
            (
                "error launching instance: The requested configuration is currently not supported. "
                "Please check the documentation"
            ),
            "MACH-UNSUPPORTED",
        ),
        (
            (
                "error getting blockDeviceMappings: error describing AMI: InvalidAMIID.NotFound: The "
                "image id '[ami-1]' does not exist"
            ),
            "MACH-IMAGE",
        ),
        (
            (
                "error creating EC2 instance: InsufficientInstanceCapacity: There is no Spot "
                "capacity available that matches your request."
            ),
            "MACH-CAPACITY",
        ),
        # Azure's
        (
            AZURE.format(
                code="OperationNotAllowed",
                text="it results in exceeding approved standardNCASv3_T4Family Cores quota.",
            ),
            "MACH-QUOTA",
        ),
        (
            AZURE.format(
                code="SkuNotAvailable",
                text="Following SKUs have failed for Capacity Restrictions: Standard_NC4as_T4_v3' is",
            ),
            "MACH-CAPACITY",
        ),
        (
            AZURE.format(
                code="SkuNotAvailable",
                text="is currently not available in location 'eastus' zones '1' for subscription 'x'.",
            ),
            "MACH-UNSUPPORTED",
        ),
        (
            AZURE.format(
                code="InvalidParameter", text="The value Standard_X provided for the VM size is not valid."
            ),
            "MACH-TYPE",
        ),
        (
            AZURE.format(
                code="SubnetIsFull",
                text=(
                    "Subnet s with address prefix 10.0.0.0/29 does not have enough capacity for 1 IP "
                    "addresses."
                ),
            ),
            "MACH-SUBNET",
        ),
        (
            AZURE.format(
                code="AuthorizationFailed",
                text="The client 'x' does not have authorization to perform action",
            ),
            "MACH-FORBIDDEN",
        ),
        (
            AZURE.format(code="OverconstrainedZonalAllocationRequest", text="Allocation failed."),
            "MACH-CAPACITY",
        ),
        (
            (
                "failed to create nic m-nic: failed to obtain instance type information for VMSize "
                "'Standard_X' from Azure: resource not found"
            ),
            "MACH-TYPE",
        ),
        # Google's
        ("Quota exceeded. Metric: NVIDIA_T4_GPUS. Usage: 0. Limit: 0.", "MACH-QUOTA"),
        (
            (
                "googleapi: Error 503: The zone 'projects/p/zones/z' does not have enough resources "
                "available to fulfill the request."
            ),
            "MACH-CAPACITY",
        ),
        ("MachineType n1-standard-4 is not available in the zone us-central1-f.", "MACH-UNSUPPORTED"),
        (
            (
                "AcceleratorType nvidia-x not available in the zone z : googleapi: Error 404: The "
                "resource 'acceleratorTypes/x' was not found"
            ),
            "MACH-UNSUPPORTED",
        ),
        (
            (
                "Invalid value for field 'resource.machineType': 'url'. Machine type with name 'g2' "
                "does not exist in zone 'z'."
            ),
            "MACH-UNSUPPORTED",
        ),
        (
            (
                "Invalid value for field 'sourceImage': 'projects/x'. The referenced image resource "
                "cannot be found."
            ),
            "MACH-IMAGE",
        ),
        ("IP_SPACE_EXHAUSTED: IP space of 'projects/p/subnetworks/s' is exhausted.", "MACH-SUBNET"),
        (
            "Required 'compute.instances.create' permission for 'projects/p/zones/z/instances/m', forbidden",
            "MACH-FORBIDDEN",
        ),
        # OpenStack's, vSphere's, Nutanix', IBM Cloud's, bare metal's
        ("Machine validation failed: Unable to find flavor with name gpu.xl", "MACH-TYPE"),
        ("Machine validation failed: could not find compute availability zone: az9", "MACH-UNSUPPORTED"),
        ("template not found, specify valid value", "MACH-IMAGE"),
        ("No host is compatible with the virtual machine.", "MACH-CAPACITY"),
        ("Insufficient resources to satisfy configured failover level for vSphere HA.", "MACH-CAPACITY"),
        (
            (
                'spec.providerSpec.value.gpus.name: Invalid value: "T4": no available GPU found that '
                "matches required GPU inputs"
            ),
            "MACH-NO-GPU",
        ),
        (
            "No host has enough available memory for VM m that uses 8 vCPUs and 32768 MB of memory",
            "MACH-CAPACITY",
        ),
        (
            "Creating a new instance will put the user over quota. Allocated: 0, Requested: 8, Quota: 0",
            "MACH-QUOTA",
        ),
        ("could not find instance profile: gx9", "MACH-TYPE"),
        (NO_HOST, "MACH-HOST"),
        ("Missing fields from ProviderSpec: [Image.URL Image.Checksum]", "MACH-CONFIG"),
        ("something never seen", "MACH-CONFIG"),
    ],
)
def test_codes_of_texts(text: str, code: str) -> None:
    assert provider_errors.code_of(text) == code


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


def of_provider(
    obj: Data, labels: Data | None = None, annotations: Data | None = None, **value: t.Any
) -> Data:
    obj["spec"] = {"providerSpec": {"value": value}}
    obj["metadata"]["labels"].update(labels or {})
    obj["metadata"]["annotations"] = annotations or {}
    obj["metadata"]["creationTimestamp"] = SINCE
    return obj


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
