"""Provider specifications of Nutanix: those that the webhook refuses, and those that it accepts."""

from __future__ import annotations

from unit.sandbox.admission.builders import Data

REFUSED: list[tuple[str, Data, str]] = [
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

ACCEPTED: list[tuple[str, Data]] = [
    (
        "Nutanix",
        {
            "gpus": [{"type": "Name", "name": "Tesla T4"}, {"type": "DeviceID", "deviceID": 0}],
            "project": {"type": "name", "name": "p"},
        },
    ),
]
