# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_admission: the pools that a task knows, checked before the first request."""

from __future__ import annotations

import typing as t

from .._core import references
from .._core.errors import InputError
from .._core.input import Problems
from .._core.ownership import pool_label
from .._core.syntax import value_fault
from .._frame.argspec import LockParams, StateParams
from .._nodes import taints as node_taints

NONE: t.Final = "none"
EFFECTS: t.Final = ("NoSchedule", "NoExecute")


class PartitionPoolParams(t.TypedDict):
    """One pool of the option pools. resources: what its nodes offer. spare: number of placeholder pods."""

    name: str
    node_selector: dict[str, t.Any] | None
    taints: list[dict[str, t.Any]]
    resources: list[str]
    spare: int


class GpuAdmissionParams(StateParams, LockParams):
    """The options of gpu_admission. admission: what the API server does about a pod that does not fit."""

    pools: list[PartitionPoolParams]
    admission: t.Literal["none", "audit", "warn", "deny"]
    add_tolerations: bool
    exempt_namespaces: list[str]
    spare_namespace: str
    spare_image: str
    prove: bool
    proof_namespace: str


class Partition(t.NamedTuple):
    """A pool. taints: those that keep pods off its nodes. resources: what its nodes offer to pods."""

    name: str
    label: t.Mapping[str, str]
    taints: tuple[t.Mapping[str, str], ...]
    resources: tuple[str, ...]
    spare: int

    @property
    def tolerations(self) -> list[dict[str, t.Any]]:
        """Return the tolerations with which a pod runs on the nodes of the pool."""
        return node_taints.operand_tolerations(self.taints)


def read(params: GpuAdmissionParams) -> list[Partition]:
    """Return the pools. Raises InputError with every problem; sends no request."""
    if params["add_tolerations"] and params["admission"] == NONE:
        message = (
            "add_tolerations needs the policy that tells pods why they do not run, and admission is none."
        )
        remedy = "Set gpu_policy_admission: warn (module option admission)."
        raise InputError("INPUT-VALUE", message, remedy)
    setting = "gpu_policy_spare_image (module option spare_image)"
    references.check(params["spare_image"], "spare_image", setting)
    problems, found = Problems(), []
    for index, pool in enumerate(params["pools"]):
        path = f"pools[{index}]"
        problems.refuse_second(params["pools"], index, path)
        if fault := value_fault(pool["name"]):
            message = f"the name {pool['name']!r} {fault}."
            problems.add("POOL-NAME", f"{path}.name", message, "Give the pool a shorter name.")
        if pool["spare"] < 0:
            message = f"is {pool['spare']}; it must be 0 or more."
            problems.add("POOL-VALUE", f"{path}.spare", message, "Set the number of spare devices.")
        if pool["spare"] and len(pool["resources"]) != 1:
            other, also = f"{len(pool['resources'])} names in resources", ": placeholder pods request one"
            remedy = "Set resources, such as [nvidia.com/gpu]."
            problems.add("POOL-CONFLICT", f"{path}.spare", remedy=remedy, other=other, also=also)
        _check_taints(pool["taints"], f"{path}.taints", problems)
        found.append(_partition(pool))
    problems.raise_if_any()
    return found


def _partition(pool: PartitionPoolParams) -> Partition:
    label = {str(key): str(value) for key, value in (pool["node_selector"] or {}).items()}
    taints = tuple(
        {key: str(taint[key]) for key in ("key", "value", "effect") if taint.get(key)}
        for taint in pool["taints"]
        if taint.get("effect") in EFFECTS
    )
    resources = tuple(sorted(pool["resources"]))
    return Partition(pool["name"], label or pool_label(pool["name"]), taints, resources, pool["spare"])


def _check_taints(taints: t.Iterable[t.Mapping[str, t.Any]], path: str, problems: Problems) -> None:
    for index, taint in enumerate(taints):
        if not taint.get("key") or taint.get("effect") not in (*EFFECTS, "PreferNoSchedule"):
            message = "must have a key, and an effect of Kubernetes."
            example = "For example {key: nvidia.com/gpu, effect: NoSchedule}."
            problems.add("POOL-VALUE", f"{path}[{index}]", message, example)
