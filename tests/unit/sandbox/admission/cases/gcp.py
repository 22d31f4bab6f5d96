"""Provider specifications of Google Cloud: those that the webhook refuses, and those that it accepts."""

from __future__ import annotations

from unit.sandbox.admission.builders import Data

REFUSED: list[tuple[str, Data, str]] = [
    ("GCP", {"region": ""}, "providerSpec.region: Required value: region is required"),
    (
        "GCP",
        {"zone": "europe-west1-b"},
        'providerSpec.zone: Invalid value: "europe-west1-b": zone not in configured region (us-central1)',
    ),
    (
        "GCP",
        {"machineType": ""},
        (
            "providerSpec.machineType: Required value: machineType should be set to one of the supported "
            "GCP machine types"
        ),
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
        "providerSpec.gpus: Too many: 2: must have at most 1 item",
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
]

ACCEPTED: list[tuple[str, Data]] = [
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
]
