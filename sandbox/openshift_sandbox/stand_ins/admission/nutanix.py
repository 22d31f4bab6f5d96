# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows Nutanix.

The real webhook is part of the machine-set controller; of data disks it checks more than the size.
"""

from __future__ import annotations

import json

from openshift_sandbox.stand_ins.admission import field_errors as errors
from openshift_sandbox.stand_ins.admission.platform import (
    Context,
    Object,
    Platform,
    Verdict,
    default_secrets,
    secret_checks,
)
from openshift_sandbox.stand_ins.admission.provider_specs import NUTANIX
from openshift_sandbox.stand_ins.core.quantities import amount

MIB, GIB = 1 << 20, 1 << 30


class Nutanix(Platform):
    kind = "NutanixMachineProviderConfig"
    go = NUTANIX
    checks_kind = False

    def default(self, value: Object, context: Context) -> None:
        default_secrets(value, "nutanix-credentials")

    def validate(self, value: Object, machine: Object, context: Context, verdict: Verdict) -> None:
        for name in ("cluster", "image"):
            verdict.errors += identifier_errors(name, value[name])
        _subnets(value["subnets"] or [], verdict)
        _sizes(value, verdict)
        secret_checks(value, machine, context, verdict)
        if value["bootType"] not in {"", "Legacy", "UEFI", "SecureBoot"}:
            text = 'valid bootType values are: "", "Legacy", "UEFI", "SecureBoot".'
            verdict.errors.append(errors.invalid("providerSpec.bootType", value["bootType"], text))
        if value["project"]["type"]:
            verdict.errors += identifier_errors("project", value["project"])
        for category in value["categories"] or []:
            for field in ("key", "value"):
                if not 1 <= len(category[field]) <= 64:
                    text = f"{field} must be a string with length between 1 and 64."
                    verdict.errors.append(
                        errors.invalid(f"providerSpec.categories.{field}", category[field], text)
                    )
        for gpu in value["gpus"] or []:
            verdict.errors += _gpu(gpu)
        for disk in value["dataDisks"] or []:
            if amount(disk["diskSize"]) < GIB:
                said = f"{int(amount(disk['diskSize']))} bytes"
                verdict.errors.append(
                    errors.invalid(
                        "providerSpec.dataDisks.diskSize", said, "The minimum diskSize is 1Gi bytes."
                    )
                )


def identifier_errors(name: str, identifier: Object) -> list[str]:
    """Return errors about an identifier: its type, and the value that this type needs."""
    path, kind = f"providerSpec.{name}", identifier["type"]
    if kind == "name":
        return (
            []
            if identifier.get("name")
            else [errors.required(f"{path}.name", f"{name} name must be provided")]
        )
    if kind == "uuid":
        return (
            []
            if identifier.get("uuid")
            else [errors.required(f"{path}.uuid", f"{name} UUID must be provided")]
        )
    return [errors.invalid(f"{path}.type", kind, f"{name} type must be one of name or uuid")]


def _subnets(subnets: list[Object], verdict: Verdict) -> None:
    path = "providerSpec.subnets"
    if not subnets:
        verdict.errors.append(
            errors.invalid(
                path, "null", "missing subnets: nodes may fail to start if no subnets are configured"
            )
        )
    if len(subnets) > 32:
        verdict.errors.append(errors.too_many(path, len(subnets), 32))
        return
    for place, subnet in enumerate(subnets):
        wrong = identifier_errors("subnet", subnet)
        verdict.errors += wrong
        if not wrong and subnet in subnets[:place]:
            verdict.errors.append(
                errors.invalid(
                    path,
                    json.dumps(subnet, separators=(",", ":")),
                    "should not configure duplicate subnet value",
                )
            )


def _sizes(value: Object, verdict: Verdict) -> None:
    """Warn about sizes; nothing here refuses."""
    for field in ("vcpuSockets", "vcpusPerSocket"):
        if value[field] < 1:
            verdict.warnings.append(
                f"providerSpec.{field}: {value[field]} is missing or less than the minimum value (1): "
                "nodes may not boot correctly"
            )
    memory, disk = amount(value["memorySize"]), amount(value["systemDiskSize"])
    if memory < 2048 * MIB:
        text = "is missing or less than the recommended minimum value (2048): nodes may not boot correctly"
        verdict.warnings.append(f"providerSpec.memorySize: {int(memory // MIB)} {text}")
    if disk < 20 * GIB:
        text = (
            "is missing or less than the recommended minimum (20): nodes may fail to start if disk size is "
            "too low"
        )
        verdict.warnings.append(f"providerSpec.systemDiskSize: {int(disk // GIB)} {text}")


def _gpu(gpu: Object) -> list[str]:
    path = "providerSpec.gpus"
    if gpu["type"] == "DeviceID":
        return (
            [errors.required(f"{path}.deviceID", "missing gpu deviceID")]
            if gpu.get("deviceID") is None
            else []
        )
    if gpu["type"] == "Name":
        return [] if gpu.get("name") else [errors.required(f"{path}.name", "missing gpu name")]
    return [
        errors.invalid(
            f"{path}.type", gpu["type"], 'invalid gpu identifier type, the valid types: "DeviceID", "Name".'
        )
    ]
