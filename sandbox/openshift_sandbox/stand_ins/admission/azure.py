# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows Azure.

The real webhook is part of the machine-set controller; it checks more fields.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.admission.field_errors import invalid, required
from openshift_sandbox.stand_ins.admission.platform import (
    NAMESPACE,
    USER_DATA,
    Context,
    Object,
    Platform,
    default_secrets,
    secret_checks,
)
from openshift_sandbox.stand_ins.admission.provider_specs import AZURE

DEFAULT_IMAGE: t.Final = {
    "publisher": "azureopenshift",
    "offer": "aro4",
    "sku": "aro_420",
    "version": "9.6.20251015",
}


class Azure(Platform):
    kind = "AzureMachineProviderSpec"
    go = AZURE

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

    def validate(self, value: Object, errors: list[str]) -> None:
        say = errors.append
        if not value.get("vmSize"):
            say(
                required("providerSpec.vmSize", "vmSize should be set to one of the supported Azure VM sizes")
            )
        secret_checks(value, errors)
        _os_disk(value["osDisk"], errors)
        group = value.get("capacityReservationGroupID") or ""
        if group and (wrong := resource_id_error(group)):
            say(invalid("providerSpec.capacityReservationGroupID", group, wrong))
        if (ultra := value.get("ultraSSDCapability") or "") not in {"", "Enabled", "Disabled"}:
            say(
                invalid(
                    "providerSpec.ultraSSDCapability",
                    ultra,
                    "ultraSSDCapability can be only Enabled, Disabled or omitted",
                )
            )


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


def _os_disk(disk: Object, errors: list[str]) -> None:
    size, where, caching = (
        disk["diskSizeGB"],
        disk["diskSettings"].get("ephemeralStorageLocation") or "",
        disk.get("cachingType") or "",
    )
    if not 0 < size < 32768:
        errors.append(
            invalid(
                "providerSpec.osDisk.diskSizeGB",
                size,
                "diskSizeGB must be greater than zero and less than 32768",
            )
        )
    if where not in {"", "Local"}:
        text = "osDisk.diskSettings.ephemeralStorageLocation can either be omitted or set to Local"
        errors.append(invalid("providerSpec.osDisk.diskSettings.ephemeralStorageLocation", where, text))
    if caching not in {"", "None", "ReadOnly", "ReadWrite"}:
        text = "osDisk.cachingType can be only None, ReadOnly, ReadWrite or omitted"
        errors.append(invalid("providerSpec.osDisk.cachingType", caching, text))
    if where == "Local" and caching != "ReadOnly":
        text = "Instances using an ephemeral OS disk support only Readonly caching"
        errors.append(invalid("providerSpec.osDisk.cachingType", caching, text))
