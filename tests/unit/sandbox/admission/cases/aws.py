"""Provider specifications of AWS: those that the webhook refuses, and those that it accepts."""

from __future__ import annotations

from unit.sandbox.admission.builders import RESERVATION, Data

REFUSED: list[tuple[str, Data, str]] = [
    (
        "AWS",
        {"ami": {"id": None}},
        "providerSpec.ami: Required value: expected providerSpec.ami.id to be populated",
    ),
    (
        "AWS",
        {"placement": {"region": None}},
        (
            "providerSpec.placement.region: Required value: expected providerSpec.placement.region to be "
            "populated"
        ),
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
        (
            "providerSpec.credentialsSecret: Required value: expected providerSpec.credentialsSecret to be "
            "populated"
        ),
    ),
    (
        "AWS",
        {"capacityReservationId": "cr-1"},
        (
            'providerSpec.capacityReservationId: Invalid value: "cr-1": invalid value for '
            "capacityReservationId: \"cr-1\", it must start with 'cr-' and be"
        ),
    ),
    (
        "AWS",
        {"marketType": "CapacityBlock"},
        (
            'providerSpec.marketType: Invalid value: "CapacityBlock": capacityReservationID is required '
            "when CapacityBlock"
        ),
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
        (
            'providerSpec.tenancy: Invalid value: "mine": Invalid providerSpec.tenancy, the only allowed '
            "options are: default"
        ),
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
]

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
]
