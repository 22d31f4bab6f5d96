# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows AWS.

The real webhook is part of the machine-set controller.
"""

from __future__ import annotations

import re
import typing as t

from openshift_sandbox.stand_ins.admission.field_errors import invalid, required
from openshift_sandbox.stand_ins.admission.platform import (
    USER_DATA,
    Context,
    Object,
    Platform,
    default_secrets,
    secret_checks,
)
from openshift_sandbox.stand_ins.admission.provider_specs import AWS

RESERVATION: t.Final = re.compile(r"cr-[0-9a-f]{17}")
MARKETS: t.Final = ("OnDemand", "Spot", "CapacityBlock")
RESERVATION_ID: t.Final = (
    "it must start with 'cr-' and be exactly 20 characters long with 17 hexadecimal characters"
)


class Aws(Platform):
    kind = "AWSMachineProviderConfig"
    go = AWS

    def default(self, value: Object, context: Context) -> None:
        value["instanceType"] = value["instanceType"] or "m5.large"
        value["placement"].setdefault("region", context.region)
        default_secrets(value, "aws-cloud-credentials")
        value["userDataSecret"].setdefault("name", USER_DATA)

    def validate(self, value: Object, errors: list[str]) -> None:
        if value["ami"].get("id") is None:
            errors.append(required("providerSpec.ami", "expected providerSpec.ami.id to be populated"))
        secret_checks(value, errors)
        _market(value, errors)
        _disks(value, errors)
        if (tenancy := value["placement"].get("tenancy") or "") not in {"", "default", "dedicated", "host"}:
            text = "Invalid providerSpec.tenancy, the only allowed options are: default, dedicated, host, "
            text += "or omitted"
            errors.append(invalid("providerSpec.tenancy", tenancy, text))
        _placement_group(value, errors)
        if (network := value.get("networkInterfaceType") or "") not in {"", "ENA", "EFA"}:
            text = "Valid values are: ENA, EFA and omitted"
            errors.append(invalid("providerSpec.networkInterfaceType", network, text))


def _market(value: Object, errors: list[str]) -> None:
    reservation, market, spot = (
        value["capacityReservationId"],
        value.get("marketType") or "",
        value.get("spotMarketOptions") is not None,
    )
    path = "providerSpec.capacityReservationId"
    if reservation and not RESERVATION.fullmatch(reservation):
        text = f'invalid value for capacityReservationId: "{reservation}", {RESERVATION_ID}'
        errors.append(invalid(path, reservation, text))
    if market and (text := _market_error(market, reservation, spot)):
        errors.append(invalid("providerSpec.marketType", market, text))
    if not market and spot and reservation:
        errors.append(
            invalid(path, reservation, "spotMarketOptions and capacityReservationID may not be used together")
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


def _disks(value: Object, errors: list[str]) -> None:
    for place, device in enumerate(value.get("blockDevices") or []):
        ebs = device.get("ebs") or {}
        kind, throughput = ebs.get("volumeType"), ebs.get("throughputMib")
        path = f"providerSpec.blockDevices[{place}].ebs.throughputMib"
        if kind is None or throughput is None:
            continue
        if kind != "gp3":
            errors.append(invalid(path, throughput, "only valid for gp3 volumes"))
        elif not 125 <= throughput <= 2000:
            errors.append(invalid(path, throughput, "must be a value between 125 and 2000"))


def _placement_group(value: Object, errors: list[str]) -> None:
    partition, path = value.get("placementGroupPartition"), "providerSpec.placementGroupPartition"
    if partition is None:
        return
    if not 1 <= partition <= 7:
        errors.append(invalid(path, partition, f"{path} must be between 1 and 7"))
    if not value.get("placementGroupName"):
        errors.append(invalid(path, partition, f"{path} is set but providerSpec.placementGroupName is empty"))
