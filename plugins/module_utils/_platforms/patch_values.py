# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of the Machine API's webhook about single fields of a provider specification.

They check a patch, whose maps are merged into the pool's specification and whose lists replace its lists.
"""

from __future__ import annotations

import re
import typing as t

Data = t.Mapping[str, t.Any]
Holds = t.Callable[[t.Any], bool]


class Rule(t.NamedTuple):
    """A rule about one field. path: `[]` means each entry of a list. words: the allowed values."""

    path: str
    holds: Holds
    words: str


class Broken(t.NamedTuple):
    """A broken rule. path: the field in the patch."""

    path: str
    message: str
    remedy: str


def _given(*paths: str) -> list[Rule]:
    return [
        Rule(path, lambda value: value not in (None, "", [], {}), "a value that is not empty")
        for path in paths
    ]


def _one_of(path: str, *choices: str) -> Rule:
    return Rule(path, lambda value: value in (None, "", *choices), f"{', '.join(choices)}, or none")


def _within(path: str, low: int, high: int) -> Rule:
    def holds(value: t.Any) -> bool:
        return value is None or (
            isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        )

    return Rule(path, holds, f"a number from {low} to {high}")


def _many(path: str, low: int, high: int) -> Rule:
    return Rule(
        path,
        lambda value: value is None or (isinstance(value, list) and low <= len(value) <= high),
        f"{low} to {high} entries",
    )


def _matching(path: str, pattern: str, words: str) -> Rule:
    return Rule(
        path, lambda value: value in (None, "") or re.fullmatch(pattern, str(value)) is not None, words
    )


def _pools_own(path: str, option: str) -> Rule:
    """Return a rule that refuses a field which an option of the pool sets."""
    return Rule(path, lambda _value: False, f"only {option} of the pool, which later steps read too")


_SECRETS: t.Final = ("userDataSecret.name", "credentialsSecret.name")
_TAG: t.Final = r"urn:vmomi:InventoryServiceTag:[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}:[^:]+"
_HOST: t.Final = r"h-([0-9a-f]{8}|[0-9a-f]{17})"
_IDENTIFIER: t.Final = "an identifier: type name or uuid, and that field"
_TURNED: t.Final = ("Enabled", "Disabled")
_LARGEST: t.Final = 1 << 31


def _identifier(value: t.Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type", "name") in ("name", "uuid")
        and bool(value.get(value.get("type") or "name", value.get("uuid", "")))
    )


def _gpu(value: t.Any) -> bool:
    kind = value.get("type") if isinstance(value, dict) else ""
    return (kind == "Name" and bool(value.get("name"))) or (
        kind == "DeviceID" and value.get("deviceID") is not None
    )


RULES: t.Final[dict[str, list[Rule]]] = {
    "aws": [
        *_given("ami.id", "placement.region", *_SECRETS),
        _pools_own("instanceType", "instance_type"),
        _pools_own("placement.availabilityZone", "zones"),
        _one_of("placement.tenancy", "default", "dedicated", "host"),
        _one_of("placement.host.affinity", "AnyAvailable", "DedicatedHost"),
        _matching("placement.host.dedicatedHost.id", _HOST, "h- and 8 or 17 hexadecimal digits"),
        _within("placementGroupPartition", 1, 7),
        _one_of("networkInterfaceType", "ENA", "EFA"),
        _one_of("metadataServiceOptions.authentication", "Optional", "Required"),
        _within("deviceIndex", 0, _LARGEST),
        _within("blockDevices[].ebs.throughputMib", 125, 2000),
    ],
    "azure": [
        _pools_own("vmSize", "instance_type"),
        _pools_own("zone", "zones"),
        *_given(*_SECRETS, "credentialsSecret.namespace"),
        _within("osDisk.diskSizeGB", 1, 32767),
        _one_of("osDisk.cachingType", "None", "ReadOnly", "ReadWrite"),
        _one_of("osDisk.diskSettings.ephemeralStorageLocation", "Local"),
        _one_of("ultraSSDCapability", *_TURNED),
        *_given("dataDisks[].deletionPolicy", "dataDisks[].diskSizeGB"),
        _one_of("dataDisks[].deletionPolicy", "Delete", "Detach"),
        _within("dataDisks[].diskSizeGB", 4, 32767),
        _within("dataDisks[].lun", 0, 63),
    ],
    "gcp": [
        *_given("region", "networkInterfaces", "disks", *_SECRETS),
        _pools_own("zone", "zones"),
        _one_of("restartPolicy", "Always", "Never"),
        *_given("networkInterfaces[].network", "networkInterfaces[].subnetwork"),
        _one_of("disks[].type", "pd-standard", "pd-ssd", "pd-balanced", "hyperdisk-balanced"),
        _within("disks[].sizeGb", 16, 65536),
        _many("serviceAccounts", 0, 1),
        *_given("serviceAccounts[].email", "serviceAccounts[].scopes"),
        *(
            _one_of(f"shieldedInstanceConfig.{key}", *_TURNED)
            for key in ("secureBoot", "integrityMonitoring", "virtualizedTrustedPlatformModule")
        ),
    ],
    "vsphere": [
        *_given(
            "template", "workspace.server", "network.devices", "network.devices[].networkName", *_SECRETS
        ),
        _many("network.devices", 1, 10),
        _many("tagIDs", 0, 10),
        _matching("tagIDs[]", _TAG, "urn:vmomi:InventoryServiceTag:UUID:GLOBAL"),
        _matching("workspace.vmGroup", ".{0,80}", "at most 80 characters"),
        _many("dataDisks", 0, 29),
        *_given("dataDisks[].name", "dataDisks[].sizeGiB"),
        _matching(
            "dataDisks[].name",
            "[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?",
            "letters and digits, with - and _ only between them",
        ),
        _within("dataDisks[].sizeGiB", 1, 16384),
        _one_of("dataDisks[].provisioningMode", "Thin", "Thick", "EagerlyZeroed"),
    ],
    "nutanix": [
        *_given("subnets", *_SECRETS),
        _many("subnets", 1, 32),
        Rule("cluster", _identifier, _IDENTIFIER),
        Rule("image", _identifier, _IDENTIFIER),
        Rule("subnets[]", _identifier, _IDENTIFIER),
        Rule("project", lambda value: not value or not value.get("type") or _identifier(value), _IDENTIFIER),
        _one_of("bootType", "Legacy", "UEFI", "SecureBoot"),
        *(_matching(f"categories[].{key}", ".{1,64}", "1 to 64 characters") for key in ("key", "value")),
        *_given("categories[].key", "categories[].value"),
        Rule("gpus[]", _gpu, "type Name with name, or type DeviceID with deviceID"),
        _matching("dataDisks[].diskSize", r"[1-9]\d*([GTP]i?|[0-9]{9}\d*)", "at least 1Gi"),
    ],
}


def broken(cloud: str, patch: Data) -> list[Broken]:
    """Return one broken rule for each wrong field of the patch."""
    found: dict[str, Broken] = {}
    for rule in RULES.get(cloud, ()):
        for path, value in _at(patch, rule.path.split("."), "", False):
            if not rule.holds(value):
                found.setdefault(
                    path,
                    Broken(path, f"is {value!r}, which the Machine API refuses.", f"Allowed: {rule.words}."),
                )
    return list(found.values())


def _at(value: t.Any, path: t.Sequence[str], done: str, is_whole: bool) -> t.Iterator[tuple[str, t.Any]]:
    """Yield each path and value that a rule's path matches in the patch.

    is_whole: the value is in a list, which is not merged, so a missing field has no value.
    """
    if not path or value is None:
        yield done, value
        return
    key, is_list = path[0].removesuffix("[]"), path[0].endswith("[]")
    if not isinstance(value, dict) or (key not in value and not is_whole):
        return
    where = f"{done}.{key}" if done else key
    if not is_list:
        yield from _at(value.get(key), path[1:], where, is_whole)
        return
    for index, one in enumerate(value.get(key) or []):
        yield from _at(one, path[1:], f"{where}[{index}]", True)
