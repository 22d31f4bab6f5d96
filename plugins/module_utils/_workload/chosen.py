# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validation of chosen nodes, each by itself: what other modules ask of the steps of gpu_workload."""

from __future__ import annotations

import contextlib
import re
import typing as t

from .._core import references
from .._core.errors import AcceleratorError, InputError
from .._core.input import Problems
from .._core.objects import KubeObject, name
from .._pools.programs import read_programs, tolerance
from . import expectations
from .options import GpuWorkloadParams
from .pods import HOSTNAME, host_of
from .programs.registry import PROGRAMS

# What a remedy of gpu_workload says to set.
_SETTING: t.Final = re.compile(
    r"`?(?:gpu_validation_|validate\.)(image|namespace|expectations|tolerance|programs)(\[\]\.\w+)?`?"
    r"(?: of the pool in `?gpu_pools`?)?(?: \(module option \w+\))?"
)
# Option of a validation -> its type in Python, and in words.
_TYPES: t.Final[dict[str, tuple[t.Any, str]]] = {
    **dict.fromkeys(("namespace", "image", "benchmark"), (str, "text")),
    "claims": (bool, "true or false"),
    "programs": (list, "a list of programs"),
    "expectations": (dict, "a mapping of GPU models"),
    "tolerance": ((int, float), "a number"),
    "hold": (int, "a whole number"),
    "grace": ((int, float), "a number"),
}
_ITS_OWN: t.Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
_CORDON: t.Final = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}


def check(given: t.Mapping[str, t.Any], variable: str) -> None:
    """Raise InputError for an unknown option of a validation, a wrong type, or an unknown benchmark.

    Ansible does not check them where a task has them as one mapping. variable: of the playbook.
    """
    name_of_variable, variable = variable, f"{variable} (module option validation)"
    if wrong := sorted(set(given) - set(_TYPES)):
        raise InputError(
            "INPUT-OPTION",
            f"validation.{wrong[0]}: is no option of a validation here.",
            f"Set {variable} with {', '.join(_TYPES)}.",
        )
    for key, value in given.items():
        kinds, what = _TYPES[key]
        if not isinstance(value, kinds) or (kinds is not bool and isinstance(value, bool)):
            message = f"validation.{key} is {value!r}, and has to be {what}."
            raise InputError("INPUT-TYPE", message, f"Set {key} in {variable} to {what}.")
    references.check(given.get("image"), "validation.image", f"image in {variable}")
    if given.get("benchmark", "vectoradd") not in PROGRAMS:
        message = f"validation.benchmark is {given['benchmark']}, which is no benchmark."
        known = ", ".join(sorted(PROGRAMS))
        raise InputError("INPUT-VALUE", message, f"Set benchmark in {variable} to one of {known}.")
    _check_programs(given, name_of_variable)


def _check_programs(given: t.Mapping[str, t.Any], variable: str) -> None:
    """Raise InputError for a program that cannot run, with its path in the variable."""
    problems = Problems()
    if "tolerance" in given:
        tolerance(given["tolerance"], f"{variable}.tolerance", problems)
    if "programs" in given:
        for key in sorted({"benchmark", "image"} & set(given)):
            remedy = f"Move it into an entry of `{variable}.programs`."
            problems.add("POOL-CONFLICT", f"{variable}.{key}", remedy=remedy, other="programs")
        for index, entry in enumerate(read_programs(given["programs"], f"{variable}.programs", problems)):
            if entry.get("nodes", 1) > 1:
                path, remedy = f"{variable}.programs[{index}].nodes", "Leave nodes out of the program."
                other = "a validation of each node by itself"
                problems.add("POOL-CONFLICT", path, remedy=remedy, other=other)
    problems.raise_if_any()
    expectations.check(given.get("expectations") or {})


@contextlib.contextmanager
def remedies(variable: str) -> t.Iterator[None]:
    """Let a failure of a validation name this variable of the playbook, not those of gpu_validation."""
    try:
        yield
    except AcceleratorError as exc:
        exc.remedy = _SETTING.sub(rf"`\1\2` in {variable} (module option validation)", exc.remedy)
        raise


def tolerations_of(node: KubeObject) -> list[KubeObject]:
    """Return tolerations of the node's taints, except those that Kubernetes itself sets."""
    return [
        {"key": one["key"], "operator": "Exists", "effect": one["effect"]}
        for one in node["spec"].get("taints") or []
        if not one["key"].startswith(_ITS_OWN)
    ]


def validation(
    nodes: t.Sequence[KubeObject],
    expected: t.Mapping[str, t.Mapping[str, t.Any] | None],
    seconds: float,
    given: t.Mapping[str, t.Any],
    cordoned: bool = False,
) -> GpuWorkloadParams:
    """Return the parameters of a validation of these nodes.

    expected: node -> its devices. seconds: for all of it. given: options that replace the defaults.
    cordoned: the pods tolerate the cordon.
    """
    more = [_CORDON] if cordoned else []
    entries = [
        {
            "name": name(node),
            "node_selector": {HOSTNAME: host_of(node)},
            "tolerations": [*tolerations_of(node), *more],
            "expected": expected[name(node)],
            **({"programs": given["programs"]} if given.get("programs") else {}),
        }
        for node in nodes
    ]
    return GpuWorkloadParams.of({"wait_timeout": max(1, int(seconds)), "pools": entries, **given})
