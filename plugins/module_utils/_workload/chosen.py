# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validation of chosen nodes, each by itself: what other modules ask of the steps of gpu_workload."""

from __future__ import annotations

import contextlib
import re
import typing as t

from .._core.errors import AcceleratorError, InputError
from .._core.objects import KubeObject, name
from . import obstacles
from .options import GpuWorkloadParams
from .pods import HOSTNAME, host_of

# What a remedy of gpu_workload says to set.
_SETTING: t.Final = re.compile(
    r"(?:gpu_validation_|validate\.)(image|namespace)(?: of the pool in gpu_pools)?"
    r"(?: \((?:module )?option \w+\))?"
)
_KEYS: t.Final = ("namespace", "image", "benchmark", "claims", "hold", "grace")
_ITS_OWN: t.Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
_CORDON: t.Final = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}


def check(given: t.Mapping[str, t.Any], variable: str) -> None:
    """Raise InputError for keys that a validation does not have. variable: of the playbook."""
    if wrong := sorted(set(given) - set(_KEYS)):
        raise InputError(
            "INPUT-OPTION",
            f"validation.{wrong[0]}: is no option of a validation here.",
            f"Set {variable} (module option validation) with {', '.join(_KEYS)}.",
        )
    obstacles.check_given(given, "validation", f"{variable} (module option validation)")


@contextlib.contextmanager
def remedies(variable: str) -> t.Iterator[None]:
    """Let a failure of a validation name this variable of the playbook, not those of gpu_validation."""
    try:
        yield
    except AcceleratorError as exc:
        exc.remedy = _SETTING.sub(rf"`\1` in {variable} (module option validation)", exc.remedy)
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
            "pool": name(node),
            "node_selector": {HOSTNAME: host_of(node)},
            "tolerations": [*tolerations_of(node), *more],
            "expected": expected[name(node)],
        }
        for node in nodes
    ]
    return GpuWorkloadParams.of({"wait_timeout": max(1, int(seconds)), "pools": entries, **given})
