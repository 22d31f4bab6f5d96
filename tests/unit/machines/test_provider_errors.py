"""Which code a provider's words have."""

from __future__ import annotations

import pytest
from unit.machines.builders import CAPACITY, LIMIT, NO_HOST

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import provider_errors

AZURE = (
    "failed to create vm m: cannot create vm: PUT https://management.azure.com/x "
    'RESPONSE 409: 409 Conflict ERROR CODE: {code} {{"message": "{text}"}}'
)


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
