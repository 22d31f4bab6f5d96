"""A module's parameters as a type: one key for each of its options, with the option's own type."""

from __future__ import annotations

import dataclasses
import importlib
import types
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._access.grant_steps import (
    AccessGrantParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._access.steps import AccessReviewParams
from ansible_collections.accelerators.openshift.plugins.module_utils._access.token_steps import (
    AccessTokenParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import AUTH
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.manifest_steps import (
    ManifestsParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._gather.steps import GpuMustGatherParams
from ansible_collections.accelerators.openshift.plugins.module_utils._hardware_profiles.steps import (
    GpuHardwareProfileParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.pool_options import (
    GpuMachinesetParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.options import (
    GpuMonitoringParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.params import NfdLabelsParams
from ansible_collections.accelerators.openshift.plugins.module_utils._olm.subscription import (
    OlmOperatorParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.params import (
    OperatorUpgradeParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._policy.options import GpuAdmissionParams
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.steps import GpuPlanParams
from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret.steps import (
    GpuPullSecretParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._queue.options import GpuQueueParams
from ansible_collections.accelerators.openshift.plugins.module_utils._quota.options import GpuQuotaParams
from ansible_collections.accelerators.openshift.plugins.module_utils._removal.steps import GpuRemovalParams
from ansible_collections.accelerators.openshift.plugins.module_utils._repair.replaced_steps import (
    GpuNodeWithValidation,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.options import GpuSharingParams
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.repartition import (
    GpuRepartitionParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackParams
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned.params import (
    NodeTuningParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update.pause_steps import (
    UpdatePoolsParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update.steps import (
    PreflightUpdateParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import (
    GpuDriverUpgradeParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.options import (
    GpuWorkloadParams,
)

MODULES = "ansible_collections.accelerators.openshift.plugins.modules"
PARAMS: dict[str, type] = {
    "access_grant": AccessGrantParams,
    "access_review": AccessReviewParams,
    "access_token": AccessTokenParams,
    "gpu_driver_upgrade": GpuDriverUpgradeParams,
    "gpu_hardware_profile": GpuHardwareProfileParams,
    "gpu_machineset": GpuMachinesetParams,
    "gpu_monitoring": GpuMonitoringParams,
    "gpu_must_gather": GpuMustGatherParams,
    "gpu_node": GpuNodeWithValidation,
    "gpu_admission": GpuAdmissionParams,
    "gpu_plan": GpuPlanParams,
    "gpu_pull_secret": GpuPullSecretParams,
    "gpu_queue": GpuQueueParams,
    "gpu_quota": GpuQuotaParams,
    "gpu_removal": GpuRemovalParams,
    "gpu_repartition": GpuRepartitionParams,
    "gpu_sharing": GpuSharingParams,
    "gpu_workload": GpuWorkloadParams,
    "manifests": ManifestsParams,
    "nfd_labels": NfdLabelsParams,
    "node_tuning": NodeTuningParams,
    "olm_operator": OlmOperatorParams,
    "operator_upgrade": OperatorUpgradeParams,
    "preflight_update": PreflightUpdateParams,
    "special_resource": StackParams,
    "update_pools": UpdatePoolsParams,
}
# The suboptions of these modules stand in tables (option_table.py): no type repeats them.
TABLES = ("special_resource",)
# The frame alone reads the first three; backend.choose fills in the others.
AT_THE_DOOR = {
    "special_resource": {"wait", "wait_timeout", "lock_timeout", "name", "namespace", "grace", "slow_grace"}
}
PLAIN = {"str": str, "path": str, "int": int, "float": float, "bool": bool, "dict": dict, "list": list}


def choices_of(hint: t.Any) -> set[t.Any] | None:
    """Return the values that a type allows: those of its Literal without None, or None without a Literal."""
    if t.get_origin(hint) is t.Literal:
        return {value for value in t.get_args(hint) if value is not None}
    if t.get_origin(hint) is list:
        return choices_of(t.get_args(hint)[0])
    if t.get_origin(hint) in (t.Union, types.UnionType):
        return next((found for one in t.get_args(hint) if (found := choices_of(one)) is not None), None)
    return None


def may_be_none(hint: t.Any) -> bool:
    """Return whether a type allows None."""
    if t.get_origin(hint) is t.Literal:
        return None in t.get_args(hint)
    return hint is type(None) or any(may_be_none(one) for one in union(hint) if one is not hint)


def union(hint: t.Any) -> tuple[t.Any, ...]:
    """Return the members of a union, or the one type that is no union."""
    return t.get_args(hint) if t.get_origin(hint) in (t.Union, types.UnionType) else (hint,)


def is_params(hint: t.Any) -> bool:
    """Return whether a type is one of parameters: a TypedDict, or a dataclass."""
    return t.is_typeddict(hint) or dataclasses.is_dataclass(hint)


def plain(hint: t.Any) -> set[type]:
    """Return the classes that a type allows, without None: `list[str] | None` is {list}."""
    found: set[type] = set()
    for one in union(hint):
        if t.get_origin(one) is t.Literal:
            found |= {type(value) for value in t.get_args(one) if value is not None}
        elif is_params(one):
            found.add(dict)
        elif one is not type(None):
            found.add(t.get_origin(one) or one)
    return found


def nested(hint: t.Any) -> t.Any:
    """Return the parameters inside a type such as `Build | None` or `list[Mapping] | None`, or None."""
    for one in union(hint):
        inner = t.get_args(one)[0] if t.get_origin(one) is list else one
        if is_params(inner):
            return inner
    return None


def differences(options: t.Mapping[str, t.Any], typed: t.Any, path: str = "") -> t.Iterator[str]:
    """Yield a line for each option whose type says something else than its specification."""
    hints = t.get_type_hints(typed)
    for name in sorted(hints.keys() ^ options.keys()):
        yield f"{path}{name}: only in {typed.__name__ if name in hints else 'the options'}"
    for name in sorted(hints.keys() & options.keys()):
        option, hint, here = options[name], hints[name], f"{path}{name}"
        wanted = PLAIN.get(option.get("type", "str"))
        if wanted and plain(hint) != {wanted}:
            yield f"{here}: an option of type {option.get('type', 'str')}, typed {hint}"
        if may_be_none(hint) is not (not option.get("required") and option.get("default") is None):
            yield f"{here}: None is an option's value exactly without a default and `required`, typed {hint}"
        if choices_of(hint) != (set(option["choices"]) if option.get("choices") else None):
            yield f"{here}: its choices are {option.get('choices')}, typed {hint}"
        if option.get("options"):
            inner = nested(hint)
            if inner is None:
                yield f"{here}: has suboptions, typed {hint}"
            else:
                yield from differences(option["options"], inner, f"{here}.")


@pytest.mark.parametrize("name", PARAMS)
def test_parameters_are_typed_as_the_options_say(name: str) -> None:
    options = importlib.import_module(f"{MODULES}.{name}").SPEC.options
    own = {key: value for key, value in options.items() if key not in AUTH.options}
    found = differences(own, PARAMS[name])
    found = (line for line in found if line.partition(":")[0] not in AT_THE_DOOR.get(name, ()))
    assert [line for line in found if name not in TABLES or "has suboptions" not in line] == []


class Inner(t.TypedDict):
    depth: int


class Example(t.TypedDict):
    name: str
    count: int | None
    mode: t.Literal["a", "b"]
    inner: list[Inner] | None


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, ""),
        ({"more": {"type": "str"}}, "more: only in the options"),
        ({"name": {"type": "str"}}, "name: None is"),
        ({"count": {"type": "str"}}, "count: an option of type str"),
        ({"count": {"type": "int", "default": 1}}, "count: None is"),
        ({"mode": {"type": "str", "choices": ["a", "b", "c"], "default": "a"}}, "mode: its choices are"),
        (
            {"inner": {"type": "list", "elements": "dict", "options": {"width": {"type": "int"}}}},
            "inner.depth: only in Inner",
        ),
        ({"count": {"type": "int", "options": {"a": {}}}}, "count: has suboptions"),
    ],
)
def test_what_differs_is_found(change: dict[str, t.Any], found: str) -> None:
    options = {
        "name": {"type": "str", "required": True},
        "count": {"type": "int"},
        "mode": {"type": "str", "choices": ["a", "b"], "default": "a"},
        "inner": {"type": "list", "elements": "dict"},
    }
    lines = list(differences(options | change, Example))
    assert bool(lines) is bool(found)
    assert not found or lines[0].startswith(found)
