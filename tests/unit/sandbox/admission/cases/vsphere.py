"""Provider specifications of vSphere: those that the webhook refuses, and those that it accepts."""

from __future__ import annotations

from unit.sandbox.admission.builders import TAG, Data

REFUSED: list[tuple[str, Data, str]] = [
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
]

ACCEPTED: list[tuple[str, Data]] = [
    (
        "VSphere",
        {"tagIDs": [TAG], "dataDisks": [{"name": "data-1", "sizeGiB": 20, "provisioningMode": "Thin"}]},
    ),
]
