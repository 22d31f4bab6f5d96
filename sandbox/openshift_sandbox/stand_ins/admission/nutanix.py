# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows Nutanix.

The real webhook is part of the machine-set controller; it checks more than the GPUs.
"""

from __future__ import annotations

from openshift_sandbox.stand_ins.admission.field_errors import invalid, required
from openshift_sandbox.stand_ins.admission.platform import (
    Context,
    Object,
    Platform,
    default_secrets,
    secret_checks,
)
from openshift_sandbox.stand_ins.admission.provider_specs import NUTANIX


class Nutanix(Platform):
    kind = "NutanixMachineProviderConfig"
    go = NUTANIX

    def default(self, value: Object, context: Context) -> None:
        default_secrets(value, "nutanix-credentials")

    def validate(self, value: Object, errors: list[str]) -> None:
        secret_checks(value, errors)
        for gpu in value["gpus"] or []:
            errors += _gpu(gpu)


def _gpu(gpu: Object) -> list[str]:
    path = "providerSpec.gpus"
    if gpu["type"] == "DeviceID":
        return [required(f"{path}.deviceID", "missing gpu deviceID")] if gpu.get("deviceID") is None else []
    if gpu["type"] == "Name":
        return [] if gpu.get("name") else [required(f"{path}.name", "missing gpu name")]
    return [
        invalid(
            f"{path}.type", gpu["type"], 'invalid gpu identifier type, the valid types: "DeviceID", "Name".'
        )
    ]
