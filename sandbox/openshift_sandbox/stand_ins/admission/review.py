# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the admission webhook of the Machine API: rewrite or refuse one Machine or MachineSet.

Like the real one it first rewrites a new object: the provider specification goes through a Go type, which
loses unknown fields without a message. Only an update of an object with unknown fields gets a warning.
"""

from __future__ import annotations

import copy
import typing as t

from openshift_sandbox.stand_ins.admission import field_errors as errors
from openshift_sandbox.stand_ins.admission.aws import Aws
from openshift_sandbox.stand_ins.admission.azure import Azure
from openshift_sandbox.stand_ins.admission.gcp import Gcp
from openshift_sandbox.stand_ins.admission.go_types import GoTypeError, rewritten
from openshift_sandbox.stand_ins.admission.nutanix import Nutanix
from openshift_sandbox.stand_ins.admission.platform import Context, Object, Platform, Verdict
from openshift_sandbox.stand_ins.admission.vsphere import VSphere

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
    value, problem = _read(platform, spec, [])
    if problem:
        return made, [problem]
    platform.default(value, context)
    spec["providerSpec"] = {"value": rewritten(platform.go, value, [])}
    return made, []


def validated(platform: Platform | None, obj: Object, old: Object | None, context: Context) -> Verdict:
    """Return errors and warnings about an object."""
    verdict = Verdict([], [])
    if obj["kind"] == "MachineSet":
        verdict.errors += _selector_errors(obj, old)
        machine: Object = {
            "metadata": {"namespace": obj["metadata"].get("namespace", "")},
            "spec": obj["spec"]["template"].get("spec") or {},
        }
    else:
        if _only_finalizers_go(obj, old):
            return verdict
        machine = obj
        verdict.errors += _hook_errors(obj, old)
    if platform is not None:
        _check(platform, machine, context, verdict)
    return verdict


def _check(platform: Platform, machine: Object, context: Context, verdict: Verdict) -> None:
    unknown: list[str] = []
    value, problem = _read(platform, machine["spec"], unknown)
    if problem:
        verdict.errors.append(problem)
        return
    if unknown:
        verdict.warnings.append(
            f'{VALUE}: Unsupported value: "{unknown[0]}": Unknown field ({unknown[0]}) will be ignored'
        )
    if warning := platform.kind_warning(value):
        verdict.warnings.append(warning)
    platform.validate(value, machine, context, verdict)


def _read(platform: Platform, spec: Object, unknown: list[str]) -> tuple[Object, str]:
    raw = (spec.get("providerSpec") or {}).get("value")
    if raw is None:
        return {}, errors.required(VALUE, "a value must be provided")
    try:
        return rewritten(platform.go, raw, unknown, platform.kind), ""
    except GoTypeError as error:
        return {}, errors.invalid(VALUE, raw, str(error))


def _selector_errors(obj: Object, old: Object | None) -> list[str]:
    found = []
    selector = obj["spec"].get("selector") or {}
    if old is not None and selector != (old["spec"].get("selector") or {}):
        found.append(errors.forbidden("spec.selector", "selector is immutable"))
    labels = (obj["spec"]["template"].get("metadata") or {}).get("labels") or {}
    if not _selects(selector, labels):
        found.append(
            errors.invalid(
                "spec.template.metadata.labels", labels, "`selector` does not match template `labels`"
            )
        )
    return found


def _selects(selector: Object, labels: dict[str, str]) -> bool:
    if not (selector.get("matchLabels") or {}).items() <= labels.items():
        return False
    for one in selector.get("matchExpressions") or []:
        key, operator, values = one["key"], one["operator"], one.get("values") or []
        if operator in {"Exists", "DoesNotExist"}:
            if (key in labels) != (operator == "Exists"):
                return False
        elif (labels.get(key) in values) != (operator == "In"):
            return False
    return True


def _hook_errors(obj: Object, old: Object | None) -> list[str]:
    """Return errors about hooks: those of a Machine that is being deleted may only be removed."""
    if not obj["metadata"].get("deletionTimestamp") or old is None:
        return []
    found = []
    for stage, word in (("preDrain", "pre-drain"), ("preTerminate", "pre-terminate")):
        before = (old["spec"].get("lifecycleHooks") or {}).get(stage) or []
        changed = [
            hook for hook in (obj["spec"].get("lifecycleHooks") or {}).get(stage) or [] if hook not in before
        ]
        if changed:
            hooks = " ".join(f"{{Name:{hook['name']} Owner:{hook['owner']}}}" for hook in changed)
            text = (
                f"{word} hooks are immutable when machine is marked for deletion: the following hooks are "
                f"new or changed: [{hooks}]"
            )
            found.append(errors.forbidden(f"spec.lifecycleHooks.{stage}", text))
    return found


def _only_finalizers_go(obj: Object, old: Object | None) -> bool:
    if not obj["metadata"].get("deletionTimestamp") or old is None or obj["metadata"].get("finalizers"):
        return False
    return all(_bare(obj).get(key) == _bare(old).get(key) for key in {*obj, *old})


def _bare(obj: Object) -> Object:
    left_out = {"finalizers", "managedFields", "resourceVersion", "generation"}
    return obj | {"metadata": {key: value for key, value in obj["metadata"].items() if key not in left_out}}
