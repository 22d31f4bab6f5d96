# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows vSphere.

The real webhook is part of the machine-set controller.
"""

from __future__ import annotations

import re
import typing as t

from openshift_sandbox.stand_ins.admission import field_errors as errors
from openshift_sandbox.stand_ins.admission.platform import (
    GROUPS,
    Context,
    Object,
    Platform,
    Verdict,
    default_secrets,
    secret_checks,
)
from openshift_sandbox.stand_ins.admission.provider_specs import VSPHERE

TAG: t.Final = re.compile(
    r"urn:vmomi:InventoryServiceTag:[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}:[^:]+"
)
DISK_NAME: t.Final = re.compile(r"[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?")
PROVISIONING: t.Final = ("Thin", "Thick", "EagerlyZeroed")
MINIMA: t.Final = (
    ("numCPUs", 2, "the minimum value ({}): nodes may not boot correctly"),
    ("memoryMiB", 2048, "the recommended minimum value ({}): nodes may not boot correctly"),
    ("diskGiB", 120, "the recommended minimum ({}): nodes may fail to start if disk size is too low"),
)


class VSphere(Platform):
    kind = "VSphereMachineProviderSpec"
    go = VSPHERE
    groups = ("vsphereprovider.openshift.io", *GROUPS)

    def default(self, value: Object, context: Context) -> None:
        default_secrets(value, "vsphere-cloud-credentials")

    def validate(self, value: Object, machine: Object, context: Context, verdict: Verdict) -> None:
        if not value["template"]:
            verdict.errors.append(errors.required("providerSpec.template", "template must be provided"))
        _workspace(value.get("workspace"), verdict)
        verdict.errors += _devices(value["network"]["devices"] or [])
        for field, least, text in MINIMA:
            if value.get(field, 0) < least:
                verdict.warnings.append(
                    f"providerSpec.{field}: {value.get(field, 0)} is missing or less than "
                    f"{text.format(least)}"
                )
        if value.get("cloneMode") == "linkedClone" and value.get("diskGiB", 0) > 0:
            verdict.warnings.append(
                "linkedClone clone mode is set. DiskGiB parameter will be ignored, disk size from "
                "template will be used."
            )
        tags = value.get("tagIDs") or []
        if len(tags) > 10:
            verdict.errors.append(
                errors.invalid("providerSpec.tagIDs", tags, "a maximum of 10 tags are allowed")
            )
        wrong = [tag for tag in tags if not TAG.fullmatch(tag)]
        text = "tag ID must be in the format of urn:vmomi:InventoryServiceTag:<UUID>:GLOBAL"
        verdict.errors += [errors.required("providerSpec.tagIDs", text)] * len(wrong)
        secret_checks(value, machine, context, verdict)
        _data_disks(value.get("dataDisks") or [], verdict)


def _workspace(workspace: Object | None, verdict: Verdict) -> None:
    path = "providerSpec.workspace"
    if workspace is None:
        verdict.errors.append(errors.required(path, "workspace must be provided"))
        return
    if not workspace.get("server"):
        verdict.errors.append(errors.required(f"{path}.server", "server must be provided"))
    center, folder = workspace.get("datacenter") or "", workspace.get("folder") or ""
    if not center:
        verdict.warnings.append(
            f"{path}.datacenter: datacenter is unset: if more than one datacenter is present, VMs "
            "cannot be created"
        )
    if folder and not folder.startswith(f"/{center}/vm/"):
        verdict.errors.append(
            errors.invalid(
                f"{path}.folder", folder, f'folder must be absolute path: expected prefix "/{center}/vm/"'
            )
        )
    if len(workspace.get("vmGroup") or "") > 80:
        verdict.errors.append(
            errors.invalid(
                f"{path}.vmGroup", workspace["vmGroup"], "vmGroup must be less than 80 characters in length"
            )
        )


def _devices(devices: list[Object]) -> list[str]:
    path = "providerSpec.network.devices"
    if not devices:
        return [errors.required(path, "at least 1 network device must be provided")]
    if len(devices) > 10:
        return [errors.too_many(path, len(devices), 10)]
    return [
        errors.required(f"{path}[{place}].networkName", "networkName must be provided")
        for place, one in enumerate(devices)
        if not one.get("networkName")
    ]


def _data_disks(disks: list[Object], verdict: Verdict) -> None:
    say, top = verdict.errors.append, "providerSpec.disks"
    if len(disks) > 29:
        say(errors.invalid(top, len(disks), "data disk count must not exceed 29"))
    for place, disk in enumerate(disks):
        path, name, size, mode = (
            f"{top}[{place}]",
            disk["name"],
            disk["sizeGiB"],
            disk.get("provisioningMode"),
        )
        if not name:
            say(errors.required(f"{path}.name", "data disk name must be set"))
        elif not DISK_NAME.fullmatch(name):
            text = (
                "data disk name must consist only of alphanumeric characters, hyphens and underscores, and "
                "must start and end with an alphanumeric character."
            )
            say(errors.invalid(f"{path}.name", name, text))
        if not size:
            say(errors.required(f"{path}.sizeGiB", "data disk size must be set"))
        if size > 16384:
            say(errors.invalid(f"{path}.sizeGiB", size, "data disk size (GiB) must not exceed 16384"))
        if mode and mode not in PROVISIONING:
            say(errors.unsupported(path, mode, PROVISIONING))
