"""Provider specifications of Azure: those that the webhook refuses, and those that it accepts."""

from __future__ import annotations

from unit.sandbox.admission.builders import GROUP, Data

REFUSED: list[tuple[str, Data, str]] = [
    (
        "Azure",
        {"vmSize": None},
        "providerSpec.vmSize: Required value: vmSize should be set to one of the supported Azure VM sizes",
    ),
    (
        "Azure",
        {"publicIP": True},
        (
            "providerSpec.publicIP: Forbidden: publicIP is not allowed in Azure disconnected installation "
            "with publish strategy as internal"
        ),
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
        (
            "providerSpec.osDisk.diskSizeGB: Invalid value: 0: diskSizeGB must be greater than zero and "
            "less than 32768"
        ),
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
]

ACCEPTED: list[tuple[str, Data]] = [
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
]
