# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows Google Cloud.

The real webhook is part of the machine-set controller; it checks more fields.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.admission.field_errors import (
    forbidden,
    invalid,
    required,
    too_many,
    unsupported,
)
from openshift_sandbox.stand_ins.admission.platform import (
    Context,
    Object,
    Platform,
    default_secrets,
    secret_checks,
)
from openshift_sandbox.stand_ins.admission.provider_specs import GCP

IMAGE: t.Final = "projects/rhcos-cloud/global/images/rhcos-414-92-202307070025-0-gcp-x86-64"
DISK_TYPES: t.Final = ("pd-standard", "pd-ssd", "pd-balanced", "hyperdisk-balanced")


class Gcp(Platform):
    kind = "GCPMachineProviderSpec"
    go = GCP

    def default(self, value: Object, context: Context) -> None:
        value["machineType"] = value["machineType"] or "n1-standard-4"
        if not value.get("networkInterfaces"):
            value["networkInterfaces"] = [
                {
                    "network": f"{context.cluster_id}-network",
                    "subnetwork": f"{context.cluster_id}-worker-subnet",
                }
            ]
        if not value.get("disks"):
            value["disks"] = [
                {
                    "autoDelete": True,
                    "boot": True,
                    "sizeGb": 128,
                    "type": "pd-standard",
                    "image": IMAGE,
                    "labels": None,
                }
            ]
        for disk in value["disks"]:
            disk["type"] = disk["type"] or "pd-standard"
            disk["image"] = disk["image"] or (IMAGE if disk["boot"] else "")
        if value.get("gpus") and not value["gpus"][0]["count"]:
            value["gpus"][0]["count"] = 1
        if not value.get("tags"):
            value["tags"] = [f"{context.cluster_id}-worker"]
        default_secrets(value, "gcp-cloud-credentials")

    def validate(self, value: Object, errors: list[str]) -> None:
        say, region = errors.append, value["region"]
        if not region:
            say(required("providerSpec.region", "region is required"))
        if not value["zone"].startswith(region):
            say(invalid("providerSpec.zone", value["zone"], f"zone not in configured region ({region})"))
        if not value["machineType"]:
            say(
                required(
                    "providerSpec.machineType",
                    "machineType should be set to one of the supported GCP machine types",
                )
            )
        if (maintenance := value.get("onHostMaintenance") or "") not in {"", "Migrate", "Terminate"}:
            say(
                invalid(
                    "providerSpec.onHostMaintenance",
                    maintenance,
                    "onHostMaintenance must be either Migrate or Terminate.",
                )
            )
        _scheduling(value, errors)
        if (value.get("gpus") or value["machineType"].startswith("a2-")) and maintenance == "Migrate":
            text = (
                "When GPUs are specified or using machineType with pre-attached GPUs(A2 machine family), "
                "onHostMaintenance must be set to Terminate."
            )
            say(forbidden("providerSpec.onHostMaintenance", text))
        _disks(value.get("disks") or [], errors)
        errors += _gpus(value.get("gpus") or [], value["machineType"])
        secret_checks(value, errors)


def _scheduling(value: Object, errors: list[str]) -> None:
    path, say = "providerSpec.provisioningModel", errors.append
    if (restart := value.get("restartPolicy") or "") not in {"", "Always", "Never"}:
        text = "restartPolicy must be either Never or Always."
        say(invalid("providerSpec.restartPolicy", restart, text))
    model = value.get("provisioningModel")
    if model not in {None, "Spot"}:
        say(invalid(path, model, 'provisioningModel must be "Spot" or omit for standard provisioning'))
    if value.get("preemptible") and model == "Spot":
        say(forbidden(path, 'preemptible cannot be used together with "Spot" provisioning model'))


def _disks(disks: list[Object], errors: list[str]) -> None:
    if not disks:
        errors.append(required("providerSpec.disks", "at least 1 disk is required"))
    for place, disk in enumerate(disks):
        path, size = f"providerSpec.disks[{place}]", disk["sizeGb"]
        if size and size < 16:
            errors.append(invalid(f"{path}.sizeGb", size, "must be at least 16GB in size"))
        elif size > 65536:
            errors.append(
                invalid(f"{path}.sizeGb", size, "exceeding maximum GCP disk size limit, must be below 65536")
            )
        if disk["type"] and disk["type"] not in DISK_TYPES:
            errors.append(unsupported(f"{path}.type", disk["type"], DISK_TYPES))


def _gpus(gpus: list[Object], machine_type: str) -> list[str]:
    path = "providerSpec.gpus"
    if len(gpus) > 1:
        return [too_many(path, len(gpus), 1)]
    found = []
    for kind in [gpu["type"] for gpu in gpus]:
        if not kind:
            found.append(required(f"{path}.Type", "Type is required"))
        if kind == "nvidia-tesla-a100":
            found.append(
                invalid(
                    f"{path}.Type", kind, " nvidia-tesla-a100 gpus, are only attached to the A2 machine types"
                )
            )
        if machine_type.startswith("a2-"):
            found.append(
                invalid(
                    path,
                    kind,
                    "A2 machine types have already attached gpus, additional gpus cannot be specified",
                )
            )
    return found
