# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API, as far as it knows vSphere.

The real webhook is part of the machine-set controller; it checks more fields, and warns.
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
from openshift_sandbox.stand_ins.admission.provider_specs import VSPHERE


class VSphere(Platform):
    kind = "VSphereMachineProviderSpec"
    go = VSPHERE

    def default(self, value: Object, context: Context) -> None:
        default_secrets(value, "vsphere-cloud-credentials")

    def validate(self, value: Object, errors: list[str]) -> None:
        if not value["template"]:
            errors.append(required("providerSpec.template", "template must be provided"))
        _workspace(value.get("workspace"), errors)
        if not value["network"]["devices"]:
            text = "at least 1 network device must be provided"
            errors.append(required("providerSpec.network.devices", text))
        secret_checks(value, errors)


def _workspace(workspace: Object | None, errors: list[str]) -> None:
    path = "providerSpec.workspace"
    if workspace is None:
        errors.append(required(path, "workspace must be provided"))
        return
    if not workspace.get("server"):
        errors.append(required(f"{path}.server", "server must be provided"))
    center, folder = workspace.get("datacenter") or "", workspace.get("folder") or ""
    if folder and not folder.startswith(f"/{center}/vm/"):
        errors.append(
            invalid(
                f"{path}.folder", folder, f'folder must be absolute path: expected prefix "/{center}/vm/"'
            )
        )
