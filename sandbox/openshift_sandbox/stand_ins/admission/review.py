# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API: rewrite or refuse one Machine or MachineSet.

Like the real one it first rewrites a new object: the provider specification goes through a Go type, which
loses unknown fields without a message. Unlike the real one it warns of nothing, and checks no hooks.
"""

from __future__ import annotations

import copy
import typing as t

from openshift_sandbox.stand_ins.admission.aws import Aws
from openshift_sandbox.stand_ins.admission.azure import Azure
from openshift_sandbox.stand_ins.admission.field_errors import forbidden, invalid, required
from openshift_sandbox.stand_ins.admission.gcp import Gcp
from openshift_sandbox.stand_ins.admission.go_types import GoTypeError, rewritten
from openshift_sandbox.stand_ins.admission.nutanix import Nutanix
from openshift_sandbox.stand_ins.admission.platform import Context, Object, Platform
from openshift_sandbox.stand_ins.admission.vsphere import VSphere
from openshift_sandbox.stand_ins.core.selectors import matches

PLATFORMS: t.Final[dict[str, Platform]] = {
    "AWS": Aws(),
    "Azure": Azure(),
    "GCP": Gcp(),
    "VSphere": VSphere(),
    "Nutanix": Nutanix(),
}
"""The webhook checks no provider specification of other platforms, such as bare metal and OpenStack."""
CLUSTER: t.Final = "machine.openshift.io/cluster-api-cluster"
VALUE: t.Final = "providerSpec.value"


def defaulted(platform: Platform | None, obj: Object, context: Context) -> tuple[Object, list[str]]:
    """Return the object with defaults, and errors."""
    made = copy.deepcopy(obj)
    spec = made["spec"]["template"]["spec"] if made["kind"] == "MachineSet" else made["spec"]
    if made["kind"] == "Machine":
        made["metadata"].setdefault("labels", {}).setdefault(CLUSTER, context.cluster_id)
    for field in ("metadata", "lifecycleHooks"):
        spec.setdefault(field, {})
    if platform is None:
        return made, []
    value, problem = _read(platform, spec)
    if problem:
        return made, [problem]
    platform.default(value, context)
    spec["providerSpec"] = {"value": rewritten(platform.go, value)}
    return made, []


def validated(platform: Platform | None, obj: Object, old: Object | None) -> str:
    """Return why the webhook refuses an object, as the API server tells it; "" if it does not."""
    if obj["metadata"].get("deletionTimestamp"):
        return ""
    found: list[str] = []
    machine = obj
    if obj["kind"] == "MachineSet":
        found += _selector_errors(obj, old)
        machine = {"spec": obj["spec"]["template"].get("spec") or {}}
    if platform is not None:
        value, problem = _read(platform, machine["spec"])
        if problem:
            found.append(problem)
        else:
            platform.validate(value, found)
    return f"[{', '.join(found)}]" if len(found) > 1 else "".join(found)


def _read(platform: Platform, spec: Object) -> tuple[Object, str]:
    raw = (spec.get("providerSpec") or {}).get("value")
    if raw is None:
        return {}, required(VALUE, "a value must be provided")
    try:
        return rewritten(platform.go, raw, platform.kind), ""
    except GoTypeError as error:
        return {}, invalid(VALUE, raw, str(error))


def _selector_errors(obj: Object, old: Object | None) -> list[str]:
    found = []
    selector = obj["spec"].get("selector") or {}
    if old is not None and selector != (old["spec"].get("selector") or {}):
        found.append(forbidden("spec.selector", "selector is immutable"))
    labels = (obj["spec"]["template"].get("metadata") or {}).get("labels") or {}
    if not matches(selector, labels):
        text = "`selector` does not match template `labels`"
        found.append(invalid("spec.template.metadata.labels", labels, text))
    return found
