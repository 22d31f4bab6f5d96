# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows Azure.

The real webhook is part of the machine-set controller; of security profiles it checks more than their kind.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.admission import field_errors as errors
from openshift_sandbox.stand_ins.admission.platform import (
    GROUPS,
    NAMESPACE,
    USER_DATA,
    Context,
    Object,
    Platform,
    Verdict,
    credentials_warning,
    default_secrets,
)
from openshift_sandbox.stand_ins.admission.provider_specs import AZURE

DEFAULT_IMAGE: t.Final = {
    "publisher": "azureopenshift",
    "offer": "aro4",
    "sku": "aro_420",
    "version": "9.6.20251015",
}
IMAGE_FIELDS: t.Final = (
    ("offer", "Offer"),
    ("publisher", "Publisher"),
    ("sku", "SKU"),
    ("version", "Version"),
)


class Azure(Platform):
    kind = "AzureMachineProviderSpec"
    go = AZURE
    groups = ("azureproviderconfig.openshift.io", *GROUPS)

    def default(self, value: Object, context: Context) -> None:
        value.setdefault("vmSize", "Standard_D4s_V3")
        if not value.get("vnet") and not value["subnet"]:
            value |= {"vnet": f"{context.cluster_id}-vnet", "subnet": f"{context.cluster_id}-worker-subnet"}
        if not any(value["image"].values()):
            value["image"] |= DEFAULT_IMAGE
        default_secrets(value, "azure-cloud-credentials")
        value["userDataSecret"].setdefault("name", USER_DATA)
        value["credentialsSecret"].setdefault("name", "azure-cloud-credentials")
        value["credentialsSecret"].setdefault("namespace", NAMESPACE)

    def validate(self, value: Object, machine: Object, context: Context, verdict: Verdict) -> None:
        say = verdict.errors.append
        if not value.get("vmSize"):
            say(
                errors.required(
                    "providerSpec.vmSize", "vmSize should be set to one of the supported Azure VM sizes"
                )
            )
        if value["publicIP"]:  # the sandbox's DNS names no public zone
            text = "publicIP is not allowed in Azure disconnected installation "
            text += "with publish strategy as internal"
            say(errors.forbidden("providerSpec.publicIP", text))
        if value.get("vnet") and not value["subnet"]:
            say(
                errors.required(
                    "providerSpec.subnet", "must provide a subnet when a virtual network is specified"
                )
            )
        if value["subnet"] and not value.get("vnet"):
            say(errors.required("providerSpec.vnet", "must provide a virtual network when supplying subnets"))
        verdict.errors += _image(value["image"])
        _secrets(value, context, verdict)
        _os_disk(value["osDisk"], verdict)
        group = value.get("capacityReservationGroupID") or ""
        if group and (wrong := resource_id_error(group)):
            say(errors.invalid("providerSpec.capacityReservationGroupID", group, wrong))
        if (ultra := value.get("ultraSSDCapability") or "") not in {"", "Enabled", "Disabled"}:
            say(
                errors.invalid(
                    "providerSpec.ultraSSDCapability",
                    ultra,
                    "ultraSSDCapability can be only Enabled, Disabled or omitted",
                )
            )
        _data_disks(value.get("dataDisks") or [], machine["metadata"].get("name") or "", verdict)


def resource_id_error(text: str) -> str:
    """Return what is wrong with a resource id.

    It begins with a subscription or a provider, and goes on in pairs of kind and name.
    """
    name = text.removeprefix("azure://")
    if not name:
        return "invalid resource ID: id cannot be empty"
    if not name.startswith("/"):
        return f"invalid resource ID: resource id '{name}' must start with '/'"
    parts = [part for part in name.split("/") if part]
    wrong = f"invalid resource ID: {name}"
    if len(parts) < 2 or parts[0].lower() not in {"subscriptions", "providers"}:
        return wrong
    while parts:
        head = parts[0].lower()
        if len(parts) == 1:
            return wrong if head in {"subscriptions", "resourcegroups"} else ""
        if head == "providers" and not (len(parts) == 2 or parts[2].lower() == "providers"):
            if len(parts) <= 3:
                return wrong
            parts = parts[4:]
        else:
            parts = parts[2:]
    return ""


def _image(image: Object) -> list[str]:
    path, named = "providerSpec.image", {field: image.get(field) for field, _word in IMAGE_FIELDS}
    if not any(image.values()):
        return [errors.required(path, "an image reference must be provided")]
    if image["resourceID"]:
        text = (
            "resourceID is already specified, other fields such as [Offer, Publisher, SKU, Version] should "
            "not be set"
        )
        return (
            [errors.required(f"{path}.resourceID", text)] if any(named.values()) or image.get("type") else []
        )
    return [
        errors.required(f"{path}.{word}", f"{word} must be provided")
        for field, word in IMAGE_FIELDS
        if not named[field]
    ]


def _secrets(value: Object, context: Context, verdict: Verdict) -> None:
    user_data, credentials = value.get("userDataSecret"), value.get("credentialsSecret")
    if user_data is None:
        verdict.errors.append(
            errors.required("providerSpec.userDataSecret", "userDataSecret must be provided")
        )
    elif not user_data.get("name"):
        verdict.errors.append(errors.required("providerSpec.userDataSecret.name", "name must be provided"))
    if credentials is None:
        verdict.errors.append(
            errors.required("providerSpec.credentialsSecret", "credentialsSecret must be provided")
        )
        return
    missing = [field for field in ("namespace", "name") if not credentials.get(field)]
    verdict.errors += [
        errors.required(f"providerSpec.credentialsSecret.{field}", f"{field} must be provided")
        for field in missing
    ]
    if not missing:
        credentials_warning(credentials["name"], credentials["namespace"], context, verdict)


def _os_disk(disk: Object, verdict: Verdict) -> None:
    size, where, caching = (
        disk["diskSizeGB"],
        disk["diskSettings"].get("ephemeralStorageLocation") or "",
        disk.get("cachingType") or "",
    )
    if not 0 < size < 32768:
        verdict.errors.append(
            errors.invalid(
                "providerSpec.osDisk.diskSizeGB",
                size,
                "diskSizeGB must be greater than zero and less than 32768",
            )
        )
    if where not in {"", "Local"}:
        text = "osDisk.diskSettings.ephemeralStorageLocation can either be omitted or set to Local"
        verdict.errors.append(
            errors.invalid("providerSpec.osDisk.diskSettings.ephemeralStorageLocation", where, text)
        )
    if caching not in {"", "None", "ReadOnly", "ReadWrite"}:
        text = "osDisk.cachingType can be only None, ReadOnly, ReadWrite or omitted"
        verdict.errors.append(errors.invalid("providerSpec.osDisk.cachingType", caching, text))
    if where == "Local" and caching != "ReadOnly":
        text = "Instances using an ephemeral OS disk support only Readonly caching"
        verdict.errors.append(errors.invalid("providerSpec.osDisk.cachingType", caching, text))


def _data_disks(disks: list[Object], machine: str, verdict: Verdict) -> None:
    numbers: set[int] = set()
    for place, disk in enumerate(disks):
        path = f"providerSpec.dataDisks[{place}]"
        if len(f"{machine}_{disk['nameSuffix']}") > 80:
            text = "too long, the overall disk name must not exceed 80 chars"
            verdict.errors.append(errors.invalid(f"{path}.nameSuffix", disk["nameSuffix"], text))
        if disk["diskSizeGB"] < 4:
            text = "diskSizeGB must be provided and at least 4GB in size"
            verdict.errors.append(errors.invalid(f"{path}.diskSizeGB", disk["diskSizeGB"], text))
        if not 0 <= disk["lun"] <= 63:
            text = "must be greater than or equal to 0 and less than 64"
            verdict.errors.append(errors.invalid(f"{path}.lun", disk["lun"], text))
        if disk["lun"] in numbers:
            text = "each Data Disk must have a unique lun"
            verdict.errors.append(errors.invalid(f"{path}.lun", disk["lun"], text))
        verdict.errors += _disk_choices(disk, path)
        numbers.add(disk["lun"])


def _disk_choices(disk: Object, path: str) -> list[str]:
    found = []
    policy, caching = disk["deletionPolicy"], disk.get("cachingType") or "None"
    if not policy:
        text = "deletionPolicy must be provided and must be either Delete or Detach"
        found.append(errors.required(f"{path}.deletionPolicy", text))
    elif policy not in {"Delete", "Detach"}:
        found.append(errors.invalid(f"{path}.deletionPolicy", policy, "must be either Delete or Detach"))
    if disk["managedDisk"]["storageAccountType"] == "UltraSSD_LRS" and caching != "None":
        text = 'must be "None" or omitted when storageAccountType is "UltraSSD_LRS"'
        found.append(errors.invalid(f"{path}.cachingType", caching, text))
    return found
