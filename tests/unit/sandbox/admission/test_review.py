"""The Machine API's admission webhook: each rule from both sides, what is filled in, and what is lost on the way."""

from __future__ import annotations

import copy
import typing as t

import pytest

from openshift_sandbox import scenario
from openshift_sandbox.programs import admission
from openshift_sandbox.seed import installer
from openshift_sandbox.stand_ins.admission.azure import resource_id_error
from openshift_sandbox.stand_ins.admission.platform import Context, Verdict
from openshift_sandbox.stand_ins.admission.review import PLATFORMS, defaulted, validated

Data = dict[str, t.Any]

CONTEXT = Context("demo-x7k2p", "us-east-2")
LABELS = {"machine.openshift.io/cluster-api-machineset": "gpu"}
RESERVATION = "cr-0123456789abcdef0"
GROUP = "/subscriptions/1/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/c"
TAG = "urn:vmomi:InventoryServiceTag:5736bf56-49f5-4667-b38c-b97e09dc9578:GLOBAL"

INSTALLED = {
    name: installer.machine_sets(scenario.load(name.lower()).cluster)[0]["spec"]["template"]["spec"][
        "providerSpec"
    ]["value"]
    for name in ("AWS", "Azure", "GCP")
}
VSPHERE = {
    "apiVersion": "machine.openshift.io/v1beta1",
    "kind": "VSphereMachineProviderSpec",
    "credentialsSecret": {"name": "vsphere-cloud-credentials"},
    "userDataSecret": {"name": "worker-user-data"},
    "template": "rhcos-gpu",
    "network": {"devices": [{"networkName": "machines"}]},
    "numCPUs": 8,
    "memoryMiB": 32768,
    "diskGiB": 120,
    "workspace": {"server": "vcenter.example.com", "datacenter": "dc", "folder": "/dc/vm/demo"},
}
NUTANIX = {
    "apiVersion": "machine.openshift.io/v1",
    "kind": "NutanixMachineProviderConfig",
    "credentialsSecret": {"name": "nutanix-credentials"},
    "userDataSecret": {"name": "worker-user-data"},
    "cluster": {"type": "uuid", "uuid": "0005b0f1"},
    "image": {"type": "name", "name": "rhcos"},
    "subnets": [{"type": "uuid", "uuid": "c7938dc6"}],
    "vcpuSockets": 4,
    "vcpusPerSocket": 1,
    "memorySize": "16Gi",
    "systemDiskSize": "120Gi",
    "bootType": "",
}
SPECS: dict[str, Data] = {**INSTALLED, "VSphere": VSPHERE, "Nutanix": NUTANIX}


def with_(base: t.Any, over: t.Any) -> t.Any:
    """A merge patch."""
    if not isinstance(over, dict) or not isinstance(base, dict):
        return over
    merged = base | {key: with_(base.get(key), value) for key, value in over.items()}
    return {key: value for key, value in merged.items() if value is not None}


def machine_set(value: t.Any, selector: Data | None = None) -> Data:
    template = {"metadata": {"labels": dict(LABELS)}, "spec": {"providerSpec": {"value": value}}}
    spec = {"selector": {"matchLabels": selector or dict(LABELS)}, "template": template}
    return {
        "kind": "MachineSet",
        "metadata": {"name": "gpu", "namespace": "openshift-machine-api"},
        "spec": spec,
    }


def judged(platform: str, over: Data | None = None, context: Context = CONTEXT) -> Verdict:
    return validated(
        PLATFORMS.get(platform), machine_set(with_(copy.deepcopy(SPECS[platform]), over or {})), None, context
    )


@pytest.mark.parametrize("platform", SPECS)
def test_what_the_installer_writes_passes_in_silence(platform: str) -> None:
    assert judged(platform) == Verdict([], [])


@pytest.mark.parametrize("platform", INSTALLED)
def test_what_the_installer_writes_stays_as_it_is(platform: str) -> None:
    value = SPECS[platform]
    made, problems = defaulted(PLATFORMS[platform], machine_set(copy.deepcopy(value)), CONTEXT)
    assert problems == []
    assert made["spec"]["template"]["spec"]["providerSpec"]["value"] == value | {"metadata": {}}


REFUSED: list[tuple[str, Data, str]] = [
    (
        "AWS",
        {"ami": {"id": None}},
        "providerSpec.ami: Required value: expected providerSpec.ami.id to be populated",
    ),
    (
        "AWS",
        {"placement": {"region": None}},
        "providerSpec.placement.region: Required value: expected providerSpec.placement.region to be populated",
    ),
    (
        "AWS",
        {"instanceType": ""},
        "providerSpec.instanceType: Required value: expected providerSpec.instanceType to be populated",
    ),
    (
        "AWS",
        {"userDataSecret": None},
        "providerSpec.userDataSecret: Required value: expected providerSpec.userDataSecret to be populated",
    ),
    (
        "AWS",
        {"credentialsSecret": None},
        "providerSpec.credentialsSecret: Required value: expected providerSpec.credentialsSecret to be populated",
    ),
    (
        "AWS",
        {"capacityReservationId": "cr-1"},
        'providerSpec.capacityReservationId: Invalid value: "cr-1": invalid value for capacityReservationId: "cr-1", it must start with \'cr-\' and be',
    ),
    (
        "AWS",
        {"marketType": "CapacityBlock"},
        'providerSpec.marketType: Invalid value: "CapacityBlock": capacityReservationID is required when CapacityBlock',
    ),
    (
        "AWS",
        {"marketType": "CapacityBlock", "capacityReservationId": RESERVATION, "spotMarketOptions": {}},
        "marketType set to CapacityBlock and spotMarketOptions cannot be used together",
    ),
    (
        "AWS",
        {"marketType": "OnDemand", "spotMarketOptions": {}},
        "setting marketType to OnDemand and spotMarketOptions cannot be used together",
    ),
    (
        "AWS",
        {"marketType": "Spot", "capacityReservationId": RESERVATION},
        "marketType set to Spot and capacityReservationID may not be used together",
    ),
    (
        "AWS",
        {"marketType": "Cheap"},
        "invalid marketType: Cheap valid values are: OnDemand, Spot, CapacityBlock and omitted",
    ),
    (
        "AWS",
        {"spotMarketOptions": {}, "capacityReservationId": RESERVATION},
        "spotMarketOptions and capacityReservationID may not be used together",
    ),
    (
        "AWS",
        {"blockDevices": [{"ebs": {"volumeType": "io2", "throughputMib": 200}}]},
        "blockDevices[0].ebs.throughputMib: Invalid value: 200: only valid for gp3",
    ),
    (
        "AWS",
        {"blockDevices": [{"ebs": {"volumeType": "gp3", "throughputMib": 100}}]},
        "Invalid value: 100: must be a value between 125 and 2000",
    ),
    (
        "AWS",
        {"placement": {"tenancy": "mine"}},
        'providerSpec.tenancy: Invalid value: "mine": Invalid providerSpec.tenancy, the only allowed options are: default',
    ),
    (
        "AWS",
        {"placement": {"host": {"affinity": "AnyAvailable"}}},
        "spec.placement.host: Forbidden: host may only be specified when tenancy is 'host'",
    ),
    (
        "AWS",
        {"placement": {"tenancy": "host", "host": {"affinity": "DedicatedHost"}}},
        "dedicatedHost is required when hostAffinity is DedicatedHost",
    ),
    (
        "AWS",
        {
            "placement": {
                "tenancy": "host",
                "host": {"affinity": "DedicatedHost", "dedicatedHost": {"id": "h-1"}},
            }
        },
        "spec.placement.host.dedicatedHost.id: Invalid value: \"h-1\": id must start with 'h-'",
    ),
    (
        "AWS",
        {"placementGroupPartition": 8, "placementGroupName": "g"},
        "providerSpec.placementGroupPartition must be between 1 and 7",
    ),
    (
        "AWS",
        {"placementGroupPartition": 2},
        "providerSpec.placementGroupPartition is set but providerSpec.placementGroupName is empty",
    ),
    (
        "AWS",
        {"networkInterfaceType": "efa"},
        'providerSpec.networkInterfaceType: Invalid value: "efa": Valid values are: ENA, EFA and omitted',
    ),
    (
        "AWS",
        {"metadataServiceOptions": {"authentication": "No"}},
        "Allowed values are either 'Optional' or 'Required'",
    ),
    (
        "AWS",
        {"deviceIndex": "0"},
        "json: cannot unmarshal string into Go struct field AWSMachineProviderConfig.deviceIndex of type int",
    ),
    (
        "Azure",
        {"vmSize": None},
        "providerSpec.vmSize: Required value: vmSize should be set to one of the supported Azure VM sizes",
    ),
    (
        "Azure",
        {"publicIP": True},
        "providerSpec.publicIP: Forbidden: publicIP is not allowed in Azure disconnected installation with publish strategy as internal",
    ),
    (
        "Azure",
        {"subnet": ""},
        "providerSpec.subnet: Required value: must provide a subnet when a virtual network is specified",
    ),
    (
        "Azure",
        {"vnet": None},
        "providerSpec.vnet: Required value: must provide a virtual network when supplying subnets",
    ),
    (
        "Azure",
        {"image": {"resourceID": ""}},
        "providerSpec.image: Required value: an image reference must be provided",
    ),
    (
        "Azure",
        {"image": {"offer": "aro4"}},
        "providerSpec.image.resourceID: Required value: resourceID is already specified",
    ),
    (
        "Azure",
        {"image": {"resourceID": "", "offer": "aro4"}},
        "providerSpec.image.Publisher: Required value: Publisher must be provided",
    ),
    (
        "Azure",
        {"credentialsSecret": {"namespace": ""}},
        "providerSpec.credentialsSecret.namespace: Required value: namespace must be provided",
    ),
    (
        "Azure",
        {"osDisk": {"diskSizeGB": 0}},
        "providerSpec.osDisk.diskSizeGB: Invalid value: 0: diskSizeGB must be greater than zero and less than 32768",
    ),
    (
        "Azure",
        {"osDisk": {"diskSettings": {"ephemeralStorageLocation": "Local"}}},
        "Instances using an ephemeral OS disk support only Readonly caching",
    ),
    (
        "Azure",
        {"osDisk": {"cachingType": "Some"}},
        "osDisk.cachingType can be only None, ReadOnly, ReadWrite or omitted",
    ),
    (
        "Azure",
        {"capacityReservationGroupID": "group"},
        "invalid resource ID: resource id 'group' must start with '/'",
    ),
    ("Azure", {"ultraSSDCapability": "Yes"}, "ultraSSDCapability can be only Enabled, Disabled or omitted"),
    (
        "Azure",
        {"dataDisks": [{"nameSuffix": "d", "diskSizeGB": 3, "lun": 64}]},
        "deletionPolicy must be provided and must be either Delete or Detach",
    ),
    ("GCP", {"region": ""}, "providerSpec.region: Required value: region is required"),
    (
        "GCP",
        {"zone": "europe-west1-b"},
        'providerSpec.zone: Invalid value: "europe-west1-b": zone not in configured region (us-central1)',
    ),
    (
        "GCP",
        {"machineType": ""},
        "providerSpec.machineType: Required value: machineType should be set to one of the supported GCP machine types",
    ),
    ("GCP", {"onHostMaintenance": "Stop"}, "onHostMaintenance must be either Migrate or Terminate."),
    ("GCP", {"restartPolicy": "Often"}, "restartPolicy must be either Never or Always."),
    (
        "GCP",
        {"provisioningModel": "Cheap"},
        'provisioningModel must be "Spot" or omit for standard provisioning',
    ),
    (
        "GCP",
        {"provisioningModel": "Spot", "preemptible": True},
        'preemptible cannot be used together with "Spot" provisioning model',
    ),
    (
        "GCP",
        {"gpus": [{"type": "nvidia-tesla-t4", "count": 1}], "onHostMaintenance": "Migrate"},
        "onHostMaintenance must be set to Terminate.",
    ),
    (
        "GCP",
        {"machineType": "a2-highgpu-1g", "onHostMaintenance": "Migrate"},
        "onHostMaintenance must be set to Terminate.",
    ),
    (
        "GCP",
        {"gpus": [{"type": "nvidia-tesla-t4"}, {"type": "nvidia-tesla-p4"}]},
        "providerSpec.gpus: Too many: 2: must have at most 1 items",
    ),
    ("GCP", {"gpus": [{"count": 1}]}, "providerSpec.gpus.Type: Required value: Type is required"),
    (
        "GCP",
        {"gpus": [{"type": "nvidia-tesla-a100", "count": 1}]},
        "nvidia-tesla-a100 gpus, are only attached to the A2 machine types",
    ),
    (
        "GCP",
        {"machineType": "a2-highgpu-1g", "gpus": [{"type": "nvidia-tesla-t4"}]},
        "A2 machine types have already attached gpus",
    ),
    (
        "GCP",
        {"networkInterfaces": []},
        "providerSpec.networkInterfaces: Required value: at least 1 network interface is required",
    ),
    (
        "GCP",
        {"disks": [{"type": "pd-extreme", "sizeGb": 8}]},
        'Unsupported value: "pd-extreme": supported values: "hyperdisk-balanced", "pd-balanced", "pd-ssd"',
    ),
    (
        "GCP",
        {"serviceAccounts": [{"email": "a", "scopes": ["s"]}] * 2},
        "exactly 1 service account must be supplied",
    ),
    (
        "GCP",
        {"shieldedInstanceConfig": {"virtualizedTrustedPlatformModule": "Disabled"}},
        "integrityMonitoring requires virtualizedTrustedPlatformModule Enabled.",
    ),
    (
        "GCP",
        {"confidentialCompute": "Enabled"},
        "ConfidentialCompute Enabled requires OnHostMaintenance to be set to Terminate",
    ),
    (
        "GCP",
        {"credentialsSecret": {"name": ""}},
        "providerSpec.credentialsSecret.name: Required value: name must be provided",
    ),
    ("VSphere", {"template": ""}, "providerSpec.template: Required value: template must be provided"),
    ("VSphere", {"workspace": None}, "providerSpec.workspace: Required value: workspace must be provided"),
    ("VSphere", {"workspace": {"folder": "demo"}}, 'folder must be absolute path: expected prefix "/dc/vm/"'),
    (
        "VSphere",
        {"network": {"devices": []}},
        "providerSpec.network.devices: Required value: at least 1 network device must be provided",
    ),
    (
        "VSphere",
        {"tagIDs": ["gpu"]},
        "tag ID must be in the format of urn:vmomi:InventoryServiceTag:<UUID>:GLOBAL",
    ),
    (
        "VSphere",
        {"dataDisks": [{"name": "a b", "sizeGiB": 20}]},
        "data disk name must consist only of alphanumeric characters",
    ),
    (
        "Nutanix",
        {"cluster": {"type": "id"}},
        'providerSpec.cluster.type: Invalid value: "id": cluster type must be one of name or uuid',
    ),
    (
        "Nutanix",
        {"image": {"name": ""}},
        "providerSpec.image.name: Required value: image name must be provided",
    ),
    ("Nutanix", {"subnets": []}, "missing subnets: nodes may fail to start if no subnets are configured"),
    ("Nutanix", {"bootType": "BIOS"}, 'valid bootType values are: "", "Legacy", "UEFI", "SecureBoot".'),
    ("Nutanix", {"gpus": [{"type": "Name"}]}, "providerSpec.gpus.name: Required value: missing gpu name"),
    (
        "Nutanix",
        {"gpus": [{"type": "DeviceID"}]},
        "providerSpec.gpus.deviceID: Required value: missing gpu deviceID",
    ),
    (
        "Nutanix",
        {"gpus": [{"type": "name", "name": "T4"}]},
        'invalid gpu identifier type, the valid types: "DeviceID", "Name".',
    ),
]


@pytest.mark.parametrize(("platform", "over", "text"), REFUSED)
def test_a_rule_refuses(platform: str, over: Data, text: str) -> None:
    assert text in judged(platform, over).text


ACCEPTED: list[tuple[str, Data]] = [
    ("AWS", {"marketType": "CapacityBlock", "capacityReservationId": RESERVATION}),
    ("AWS", {"marketType": "OnDemand", "capacityReservationId": RESERVATION}),
    ("AWS", {"marketType": "Spot", "spotMarketOptions": {"maxPrice": "1.5"}}),
    ("AWS", {"spotMarketOptions": {}}),
    ("AWS", {"blockDevices": [{"ebs": {"volumeType": "gp3", "throughputMib": 125}}]}),
    (
        "AWS",
        {
            "placement": {
                "tenancy": "host",
                "host": {"affinity": "DedicatedHost", "dedicatedHost": {"id": "h-0123456789abcdef0"}},
            }
        },
    ),
    ("AWS", {"placementGroupPartition": 7, "placementGroupName": "g", "networkInterfaceType": "EFA"}),
    (
        "Azure",
        {
            "spotVMOptions": {"maxPrice": -1},
            "capacityReservationGroupID": GROUP,
            "ultraSSDCapability": "Enabled",
        },
    ),
    ("Azure", {"osDisk": {"diskSettings": {"ephemeralStorageLocation": "Local"}, "cachingType": "ReadOnly"}}),
    ("Azure", {"dataDisks": [{"nameSuffix": "d", "diskSizeGB": 4, "lun": 0, "deletionPolicy": "Delete"}]}),
    (
        "GCP",
        {
            "gpus": [{"type": "nvidia-tesla-t4", "count": 1}],
            "onHostMaintenance": "Terminate",
            "provisioningModel": "Spot",
        },
    ),
    ("GCP", {"machineType": "a3-highgpu-8g", "gpus": [{"type": "nvidia-tesla-t4"}]}),
    (
        "GCP",
        {
            "machineType": "g2-standard-4",
            "onHostMaintenance": "Migrate",
            "preemptible": True,
            "restartPolicy": "Always",
        },
    ),
    (
        "VSphere",
        {"tagIDs": [TAG], "dataDisks": [{"name": "data-1", "sizeGiB": 20, "provisioningMode": "Thin"}]},
    ),
    (
        "Nutanix",
        {
            "gpus": [{"type": "Name", "name": "Tesla T4"}, {"type": "DeviceID", "deviceID": 0}],
            "project": {"type": "name", "name": "p"},
        },
    ),
]


@pytest.mark.parametrize(("platform", "over"), ACCEPTED)
def test_what_a_rule_lets_pass(platform: str, over: Data) -> None:
    """Also what the cloud will refuse: GPUs on an A3, an Always that cannot be, Migrate with a G2."""
    assert judged(platform, over).errors == []


@pytest.mark.parametrize(
    ("platform", "over", "text"),
    [
        (
            "AWS",
            {"capacityReservation": RESERVATION},
            'providerSpec.value: Unsupported value: "capacityReservation": Unknown field (capacityReservation) will be ignored',
        ),
        ("AWS", {"placement": {"partition": 1}}, "Unknown field (partition) will be ignored"),
        (
            "AWS",
            {"kind": "AzureMachineProviderSpec"},
            "incorrect GroupVersionKind for AWSMachineProviderConfig object: machine.openshift.io/v1beta1, Kind=Azure",
        ),
        ("AWS", {"subnet": {"filters": None}}, "providerSpec.subnet: No subnet has been provided."),
        (
            "AWS",
            {"iamInstanceProfile": None},
            "providerSpec.iamInstanceProfile: no IAM instance profile provided: nodes may be unable to join the cluster",
        ),
        (
            "AWS",
            {"tags": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]},
            "providerSpec.tags: duplicated tag names (a): only the first value",
        ),
        (
            "GCP",
            {"serviceAccounts": []},
            "providerSpec.serviceAccounts: no service account provided: nodes may be unable to join the cluster",
        ),
        (
            "VSphere",
            {"numCPUs": 1},
            "providerSpec.numCPUs: 1 is missing or less than the minimum value (2): nodes may not boot correctly",
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


def test_a_field_in_another_case_is_that_field() -> None:
    verdict = judged("AWS", {"capacityReservationId": None, "CapacityReservationID": "cr-1"})
    assert verdict.warnings == []
    assert "it must start with 'cr-'" in verdict.text


def test_a_secret_that_is_missing_is_warned_of() -> None:
    verdict = judged("GCP", {}, Context("demo-x7k2p", has_secret=lambda _name, _namespace: False))
    text = 'providerSpec.credentialsSecret: Invalid value: "gcp-cloud-credentials": not found. Expected CredentialsSecret to exist'
    assert verdict == Verdict([], [text])


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
            "spec.lifecycleHooks.preDrain: Forbidden: pre-drain hooks are immutable when machine is marked for deletion:"
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


@pytest.mark.parametrize(
    ("platform", "value", "wanted"),
    [
        (
            "AWS",
            {},
            {
                "instanceType": "m5.large",
                "placement": {"region": "us-east-2"},
                "credentialsSecret": {"name": "aws-cloud-credentials"},
                "deviceIndex": 0,
            },
        ),
        (
            "Azure",
            {},
            {
                "vmSize": "Standard_D4s_V3",
                "vnet": "demo-x7k2p-vnet",
                "subnet": "demo-x7k2p-worker-subnet",
                "userDataSecret": {"name": "worker-user-data"},
            },
        ),
        (
            "Azure",
            {"credentialsSecret": {"name": "x"}},
            {"credentialsSecret": {"name": "x", "namespace": "openshift-machine-api"}},
        ),
        (
            "GCP",
            {"gpus": [{"type": "nvidia-tesla-t4"}]},
            {"gpus": [{"count": 1, "type": "nvidia-tesla-t4"}], "tags": ["demo-x7k2p-worker"]},
        ),
        ("VSphere", {}, {"userDataSecret": {"name": "worker-user-data"}, "snapshot": "", "template": ""}),
        (
            "Nutanix",
            {},
            {"credentialsSecret": {"name": "nutanix-credentials"}, "gpus": None, "failureDomain": None},
        ),
    ],
)
def test_what_is_filled_in(platform: str, value: Data, wanted: Data) -> None:
    made, problems = defaulted(PLATFORMS[platform], machine_set(value), CONTEXT)
    assert problems == []
    assert made["spec"]["template"]["spec"]["providerSpec"]["value"].items() >= wanted.items()


def test_an_unknown_field_of_a_new_set_is_lost_without_a_word() -> None:
    made, problems = defaulted(
        PLATFORMS["AWS"],
        machine_set(SPECS["AWS"] | {"capacityReservation": RESERVATION, "NetworkInterfaceType": "EFA"}),
        CONTEXT,
    )
    value = made["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert problems == []
    assert "capacityReservation" not in value
    assert value["networkInterfaceType"] == "EFA"
    assert validated(PLATFORMS["AWS"], made, None, CONTEXT) == Verdict([], [])


def test_a_set_without_a_provider_specification() -> None:
    assert defaulted(PLATFORMS["GCP"], machine_set(None), CONTEXT)[1] == [
        "providerSpec.value: Required value: a value must be provided"
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (GROUP, False),
        (f"azure://{GROUP}", False),
        ("/subscriptions", True),
        ("/subscriptions/1/resourceGroups", True),
    ],
)
def test_ids_of_azure_s_resources(text: str, wrong: bool) -> None:
    assert bool(resource_id_error(text)) == wrong


def test_the_configurations_ask_for_what_the_real_ones_do() -> None:
    validating, mutating = admission.configurations("https://127.0.0.1:1", b"ca")
    assert [one["name"] for one in validating["webhooks"]] == [
        "validation.machine.machine.openshift.io",
        "validation.machineset.machine.openshift.io",
    ]
    assert {one["failurePolicy"] for one in (*validating["webhooks"], *mutating["webhooks"])} == {"Ignore"}
    assert validating["webhooks"][1]["rules"][0]["operations"] == ["CREATE", "UPDATE"]
    assert mutating["webhooks"][0]["rules"][0]["operations"] == ["CREATE"]
