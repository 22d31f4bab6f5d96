# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows Google Cloud.

The real webhook is part of the machine-set controller.
"""

from __future__ import annotations

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
from openshift_sandbox.stand_ins.admission.provider_specs import GCP

IMAGE: t.Final = "projects/rhcos-cloud/global/images/rhcos-414-92-202307070025-0-gcp-x86-64"
DISK_TYPES: t.Final = ("pd-standard", "pd-ssd", "pd-balanced", "hyperdisk-balanced")
SHIELDED: t.Final = ("secureBoot", "integrityMonitoring", "virtualizedTrustedPlatformModule")
CONFIDENTIAL: t.Final = {
    "Enabled": ("n2d", "c2d", "c3d"),
    "AMDEncryptedVirtualization": ("n2d", "c2d", "c3d"),
    "AMDEncryptedVirtualizationNestedPaging": ("n2d",),
    "IntelTrustedDomainExtensions": ("c3",),
}


class Gcp(Platform):
    kind = "GCPMachineProviderSpec"
    go = GCP
    groups = ("gcpprovider.openshift.io", *GROUPS)

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

    def validate(self, value: Object, machine: Object, context: Context, verdict: Verdict) -> None:
        say, region = verdict.errors.append, value["region"]
        if not region:
            say(errors.required("providerSpec.region", "region is required"))
        if not value["zone"].startswith(region):
            say(
                errors.invalid(
                    "providerSpec.zone", value["zone"], f"zone not in configured region ({region})"
                )
            )
        if not value["machineType"]:
            say(
                errors.required(
                    "providerSpec.machineType",
                    "machineType should be set to one of the supported GCP machine types",
                )
            )
        if (maintenance := value.get("onHostMaintenance") or "") not in {"", "Migrate", "Terminate"}:
            say(
                errors.invalid(
                    "providerSpec.onHostMaintenance",
                    maintenance,
                    "onHostMaintenance must be either Migrate or Terminate.",
                )
            )
        _shielded(value["shieldedInstanceConfig"], verdict)
        _confidential(value, verdict)
        _scheduling(value, verdict)
        if (value.get("gpus") or value["machineType"].startswith("a2-")) and maintenance == "Migrate":
            text = (
                "When GPUs are specified or using machineType with pre-attached GPUs(A2 machine family), "
                "onHostMaintenance must be set to Terminate."
            )
            say(errors.forbidden("providerSpec.onHostMaintenance", text))
        _networks(value.get("networkInterfaces") or [], verdict)
        _disks(value.get("disks") or [], verdict)
        verdict.errors += _gpus(value.get("gpus") or [], value["machineType"])
        _accounts(value.get("serviceAccounts") or [], verdict)
        secret_checks(value, machine, context, verdict)


def _scheduling(value: Object, verdict: Verdict) -> None:
    path, say = "providerSpec.provisioningModel", verdict.errors.append
    if (restart := value.get("restartPolicy") or "") not in {"", "Always", "Never"}:
        text = "restartPolicy must be either Never or Always."
        say(errors.invalid("providerSpec.restartPolicy", restart, text))
    model = value.get("provisioningModel")
    if model not in {None, "Spot"}:
        say(errors.invalid(path, model, 'provisioningModel must be "Spot" or omit for standard provisioning'))
    if value.get("preemptible") and model == "Spot":
        say(errors.forbidden(path, 'preemptible cannot be used together with "Spot" provisioning model'))


def _shielded(config: Object, verdict: Verdict) -> None:
    path = "providerSpec.shieldedInstanceConfig"
    for field in SHIELDED:
        if (found := config.get(field) or "") not in {"", "Enabled", "Disabled"}:
            verdict.errors.append(
                errors.invalid(f"{path}.{field}", found, f"{field} must be either Enabled or Disabled.")
            )
    if (
        config.get("virtualizedTrustedPlatformModule") == "Disabled"
        and config.get("integrityMonitoring") != "Disabled"
    ):
        text = "integrityMonitoring requires virtualizedTrustedPlatformModule Enabled."
        verdict.errors.append(errors.invalid(f"{path}.virtualizedTrustedPlatformModule", "Disabled", text))


def _confidential(value: Object, verdict: Verdict) -> None:
    wanted, kind, maintenance = (
        value.get("confidentialCompute") or "",
        value["machineType"],
        value.get("onHostMaintenance") or "",
    )
    if wanted in {"", "Disabled"}:
        return
    if maintenance != "Terminate":
        text = (
            f"ConfidentialCompute {wanted} requires OnHostMaintenance to be set to Terminate, the current "
            f"value is: {maintenance}"
        )
        verdict.errors.append(errors.invalid("providerSpec.onHostMaintenance", maintenance, text))
    if wanted not in CONFIDENTIAL:
        known = ["Enabled", "Disabled", *list(CONFIDENTIAL)[1:]]
        text = f"ConfidentialCompute must be {', '.join(known[:-1])}, or {known[-1]}"
        verdict.errors.append(errors.invalid("providerSpec.confidentialCompute", wanted, text))
    elif kind.partition("-")[0] not in CONFIDENTIAL[wanted]:
        text = (
            f"ConfidentialCompute {wanted} requires a machine type in the following series: "
            f"{','.join(CONFIDENTIAL[wanted])}"
        )
        verdict.errors.append(errors.invalid("providerSpec.machineType", kind, text))


def _networks(interfaces: list[Object], verdict: Verdict) -> None:
    path = "providerSpec.networkInterfaces"
    if not interfaces:
        verdict.errors.append(errors.required(path, "at least 1 network interface is required"))
    for place, interface in enumerate(interfaces):
        for field in ("network", "subnetwork"):
            if not interface.get(field):
                verdict.errors.append(errors.required(f"{path}[{place}].{field}", f"{field} is required"))


def _disks(disks: list[Object], verdict: Verdict) -> None:
    if not disks:
        verdict.errors.append(errors.required("providerSpec.disks", "at least 1 disk is required"))
    for place, disk in enumerate(disks):
        path, size = f"providerSpec.disks[{place}]", disk["sizeGb"]
        if size and size < 16:
            verdict.errors.append(errors.invalid(f"{path}.sizeGb", size, "must be at least 16GB in size"))
        elif size > 65536:
            verdict.errors.append(
                errors.invalid(
                    f"{path}.sizeGb", size, "exceeding maximum GCP disk size limit, must be below 65536"
                )
            )
        if disk["type"] and disk["type"] not in DISK_TYPES:
            verdict.errors.append(errors.unsupported(f"{path}.type", disk["type"], DISK_TYPES))


def _gpus(gpus: list[Object], machine_type: str) -> list[str]:
    path = "providerSpec.gpus"
    if len(gpus) > 1:
        return [errors.too_many(path, len(gpus), 1)]
    found = []
    for kind in [gpu["type"] for gpu in gpus]:
        if not kind:
            found.append(errors.required(f"{path}.Type", "Type is required"))
        if kind == "nvidia-tesla-a100":
            found.append(
                errors.invalid(
                    f"{path}.Type", kind, " nvidia-tesla-a100 gpus, are only attached to the A2 machine types"
                )
            )
        if machine_type.startswith("a2-"):
            found.append(
                errors.invalid(
                    path,
                    kind,
                    "A2 machine types have already attached gpus, additional gpus cannot be specified",
                )
            )
    return found


def _accounts(accounts: list[Object], verdict: Verdict) -> None:
    path = "providerSpec.serviceAccounts"
    if not accounts:
        verdict.warnings.append(
            f"{path}: no service account provided: nodes may be unable to join the cluster"
        )
    elif len(accounts) != 1:
        verdict.errors.append(
            errors.invalid(
                path,
                f"{len(accounts)} service accounts supplied",
                "exactly 1 service account must be supplied",
            )
        )
    else:
        if not accounts[0]["email"]:
            verdict.errors.append(errors.required(f"{path}[0].email", "email is required"))
        if not accounts[0]["scopes"]:
            verdict.errors.append(errors.required(f"{path}[0].scopes", "at least 1 scope is required"))
