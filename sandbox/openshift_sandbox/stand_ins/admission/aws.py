# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows AWS.

The real webhook is part of the machine-set controller.
"""

from __future__ import annotations

import collections
import re
import typing as t

from openshift_sandbox.stand_ins.admission import field_errors as errors
from openshift_sandbox.stand_ins.admission.platform import (
    GROUPS,
    USER_DATA,
    Context,
    Object,
    Platform,
    Verdict,
    credentials_warning,
    default_secrets,
)
from openshift_sandbox.stand_ins.admission.provider_specs import AWS

RESERVATION: t.Final = re.compile(r"cr-[0-9a-f]{17}")
HOST: t.Final = re.compile(r"h-([0-9a-f]{8}|[0-9a-f]{17})")
MARKETS: t.Final = ("OnDemand", "Spot", "CapacityBlock")
RESERVATION_ID: t.Final = (
    "it must start with 'cr-' and be exactly 20 characters long with 17 hexadecimal characters"
)
HOST_ID: t.Final = "must start with 'h-' followed by 8 or 17 lowercase hexadecimal characters (0-9 and a-f)"


class Aws(Platform):
    kind = "AWSMachineProviderConfig"
    go = AWS
    groups = ("awsproviderconfig.openshift.io", *GROUPS)

    def default(self, value: Object, context: Context) -> None:
        value["instanceType"] = value["instanceType"] or "m5.large"
        value["placement"].setdefault("region", context.region)
        default_secrets(value, "aws-cloud-credentials")
        value["userDataSecret"].setdefault("name", USER_DATA)

    def validate(self, value: Object, machine: Object, context: Context, verdict: Verdict) -> None:
        _required(value, machine, context, verdict)
        _references(value, verdict)
        _market(value, verdict)
        _disks(value, verdict)
        verdict.errors += _tenancy(value["placement"], machine)
        _placement_group(value, verdict)
        repeated = [
            name
            for name, count in collections.Counter(tag["name"] for tag in value.get("tags") or []).items()
            if count > 1
        ]
        if repeated:
            verdict.warnings.append(
                f"providerSpec.tags: duplicated tag names ({','.join(repeated)}): only the first value "
                "will be used."
            )
        _choices(value, verdict)


def _required(value: Object, machine: Object, context: Context, verdict: Verdict) -> None:
    if value["ami"].get("id") is None:
        verdict.errors.append(_missing("ami", "ami.id"))
    for field in ("arn", "filters"):
        if value["ami"].get(field) is not None:
            verdict.warnings.append(
                f"can't use providerSpec.ami.{field}, only providerSpec.ami.id can be used to reference AMI"
            )
    if not value["placement"].get("region"):
        verdict.errors.append(_missing("placement.region"))
    if not value["instanceType"]:
        verdict.errors.append(_missing("instanceType"))
    user_data, credentials = value.get("userDataSecret"), value.get("credentialsSecret")
    if user_data is None:
        verdict.errors.append(_missing("userDataSecret"))
    elif not user_data.get("name"):
        verdict.errors.append(_missing("userDataSecret.name", verb="provided"))
    if credentials is None:
        verdict.errors.append(_missing("credentialsSecret"))
    else:
        credentials_warning(
            credentials.get("name") or "", machine["metadata"].get("namespace") or "", context, verdict
        )


def _missing(field: str, expected: str = "", verb: str = "populated") -> str:
    return errors.required(f"providerSpec.{field}", f"expected providerSpec.{expected or field} to be {verb}")


def _references(value: Object, verdict: Verdict) -> None:
    """Warn about references; nothing here refuses."""
    subnet, profile = value["subnet"], value.get("iamInstanceProfile")
    if all(subnet.get(field) is None for field in ("arn", "id", "filters")):
        verdict.warnings.append(
            "providerSpec.subnet: No subnet has been provided. Instances may be created in an "
            "unexpected subnet and may not join the cluster."
        )
    if subnet.get("arn") is not None:
        verdict.warnings.append(
            "can't use providerSpec.subnet.arn, only providerSpec.subnet.id or "
            "providerSpec.subnet.filters can be used to reference Subnet"
        )
    if profile is None:
        verdict.warnings.append(
            "providerSpec.iamInstanceProfile: no IAM instance profile provided: nodes may be unable to "
            "join the cluster"
        )
        return
    for field in ("arn", "filters"):
        if profile.get(field) is not None:
            verdict.warnings.append(
                f"can't use providerSpec.iamInstanceProfile.{field}, only "
                "providerSpec.iamInstanceProfile.id can be used to reference IAMInstanceProfile"
            )


def _market(value: Object, verdict: Verdict) -> None:
    reservation, market, spot = (
        value["capacityReservationId"],
        value.get("marketType") or "",
        value.get("spotMarketOptions") is not None,
    )
    path = "providerSpec.capacityReservationId"
    if reservation and not RESERVATION.fullmatch(reservation):
        text = f'invalid value for capacityReservationId: "{reservation}", {RESERVATION_ID}'
        verdict.errors.append(errors.invalid(path, reservation, text))
    if market and (text := _market_error(market, reservation, spot)):
        verdict.errors.append(errors.invalid("providerSpec.marketType", market, text))
    if not market and spot and reservation:
        verdict.errors.append(
            errors.invalid(
                path, reservation, "spotMarketOptions and capacityReservationID may not be used together"
            )
        )


def _market_error(market: str, reservation: str, spot: bool) -> str:
    """Return the first error about market and reservation, or None."""
    if market == "CapacityBlock" and spot:
        return (
            "invalid marketType: marketType set to CapacityBlock and spotMarketOptions cannot be used "
            "together"
        )
    if market == "OnDemand" and spot:
        return (
            "invalid marketType: setting marketType to OnDemand and spotMarketOptions cannot be used together"
        )
    if market == "CapacityBlock" and not reservation:
        return "capacityReservationID is required when CapacityBlock is provided"
    if market == "Spot" and reservation:
        return "invalid marketType: marketType set to Spot and capacityReservationID may not be used together"
    return (
        ""
        if market in MARKETS
        else f"invalid marketType: {market} valid values are: {', '.join(MARKETS)} and omitted"
    )


def _disks(value: Object, verdict: Verdict) -> None:
    for place, device in enumerate(value.get("blockDevices") or []):
        ebs = device.get("ebs") or {}
        kind, throughput = ebs.get("volumeType"), ebs.get("throughputMib")
        path = f"providerSpec.blockDevices[{place}].ebs.throughputMib"
        if kind is None or throughput is None:
            continue
        if kind != "gp3":
            verdict.errors.append(errors.invalid(path, throughput, "only valid for gp3 volumes"))
        elif not 125 <= throughput <= 2000:
            verdict.errors.append(errors.invalid(path, throughput, "must be a value between 125 and 2000"))


def _tenancy(placement: Object, machine: Object) -> list[str]:
    tenancy, host = placement.get("tenancy") or "", placement.get("host")
    if tenancy in {"", "default", "dedicated"}:
        return (
            [errors.forbidden("spec.placement.host", "host may only be specified when tenancy is 'host'")]
            if host is not None
            else []
        )
    if tenancy != "host":
        text = (
            "Invalid providerSpec.tenancy, the only allowed options are: default, dedicated, host, or omitted"
        )
        return [errors.invalid("providerSpec.tenancy", tenancy, text)]
    labels = machine["metadata"].get("labels") or {}
    if "master" in {
        labels.get(f"machine.openshift.io/cluster-api-machine-{key}") for key in ("role", "type")
    }:
        return [
            errors.forbidden(
                "spec.placement.tenancy", "dedicated host tenancy is not supported for control plane machines"
            )
        ]
    return _host(host) if host is not None else []


def _host(host: Object) -> list[str]:
    affinity, dedicated = host.get("affinity"), host.get("dedicatedHost")
    if affinity is None:
        return [
            errors.required(
                "spec.placement.host.affinity",
                "affinity is required and must be set to either AnyAvailable or DedicatedHost",
            )
        ]
    if affinity not in {"AnyAvailable", "DedicatedHost"}:
        return [
            errors.invalid(
                "spec.placement.host.affinity",
                affinity,
                "hostAffinity must be either AnyAvailable or DedicatedHost",
            )
        ]
    path = "spec.placement.host.dedicatedHost"
    if dedicated is None:
        text = "dedicatedHost is required when hostAffinity is DedicatedHost, and optional otherwise"
        return [errors.required(path, text)] if affinity == "DedicatedHost" else []
    if (dedicated.get("allocationStrategy") or "UserProvided") != "UserProvided":
        return []
    if not dedicated.get("id"):
        return [
            errors.required(
                f"{path}.id", f"id is required when allocationStrategy is UserProvided and {HOST_ID}"
            )
        ]
    return (
        []
        if HOST.fullmatch(dedicated["id"])
        else [errors.invalid(f"{path}.id", dedicated["id"], f"id {HOST_ID}")]
    )


def _placement_group(value: Object, verdict: Verdict) -> None:
    partition, path = value.get("placementGroupPartition"), "providerSpec.placementGroupPartition"
    if partition is None:
        return
    if not 1 <= partition <= 7:
        verdict.errors.append(errors.invalid(path, partition, f"{path} must be between 1 and 7"))
    if not value.get("placementGroupName"):
        verdict.errors.append(
            errors.invalid(path, partition, f"{path} is set but providerSpec.placementGroupName is empty")
        )


def _choices(value: Object, verdict: Verdict) -> None:
    network, service = (
        value.get("networkInterfaceType") or "",
        value["metadataServiceOptions"].get("authentication") or "",
    )
    if network not in {"", "ENA", "EFA"}:
        verdict.errors.append(
            errors.invalid(
                "providerSpec.networkInterfaceType", network, "Valid values are: ENA, EFA and omitted"
            )
        )
    if service not in {"", "Optional", "Required"}:
        text = "Allowed values are either 'Optional' or 'Required'"
        verdict.errors.append(
            errors.invalid("providerSpec.metadataServiceOptions.authentication", service, text)
        )
