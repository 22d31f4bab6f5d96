# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_machineset: a pool as one option, or described by several options."""

from __future__ import annotations

import typing as t

from .._core import adoption
from .._core.errors import InputError
from .._core.syntax import name_fault
from .._frame.argspec import ArgumentSpec, LockParams, StateParams
from .._platforms.registry import BY_KEY
from .._pools.draft import Draft, single
from .._pools.model import PATCH
from .options import JOINING, ChangeParams, JoiningParams
from .scaling import KEEP, TAKE

MACHINES: t.Final = ArgumentSpec(
    options={
        "name": {"type": "str"},
        "pool": {"type": "dict"},
        "candidates": {"type": "list", "elements": "dict"},
        "instance_type": {"type": "str"},
        "zones": {"type": "list", "elements": "str"},
        "replicas": {"type": "int", "default": 1},
        "min_replicas": {"type": "int"},
        "mixed": {"type": "bool", "default": False},
        "reselect": {"type": "bool", "default": False},
        "on_scaled": {"type": "str", "choices": [KEEP, TAKE], "default": KEEP},
        **adoption.OPTION,
        "labels": {"type": "dict", "default": {}},
        "taints": {"type": "list", "elements": "dict", "default": []},
        "node_role": {"type": "bool", "default": True},
        "accelerator": {"type": "str"},
        "disk": {"type": "dict", "default": {}},
        "market": {"type": "raw", "default": "on_demand"},
        **{key: {"type": "dict"} for key in (*BY_KEY, PATCH)},
        "image": {"type": "str"},
        "health": {"type": "raw"},
        "other_pools": {"type": "list", "elements": "dict", "default": []},
        "source_machine_set": {"type": "list", "elements": "str", "default": []},
        "namespace": {"type": "str", "default": "openshift-machine-api"},
    },
    required_one_of=[["name", "pool"]],
    mutually_exclusive=[["candidates", "instance_type", "pool"], ["name", "pool"]],
    required_by={"zones": "instance_type"},
    required_if=[["state", "present", ["candidates", "instance_type", "pool"], True]],
).merge(JOINING)
# Options that a pool sets inside itself; beside pool they would have no effect.
_OF_A_POOL: t.Final = (
    "replicas",
    "min_replicas",
    "mixed",
    "labels",
    "taints",
    "node_role",
    "accelerator",
    "disk",
    "market",
    "health",
    *BY_KEY,
    PATCH,
)
# Keys that planning adds to a candidate.
_DERIVED: t.Final = {"gpus_per_node", "mig_capable", "accelerator", "expected", "mig_config"}
_LEAST: t.Final = {"capacity_timeout": 0, "max_surge": 1}


class GpuMachinesetParams(JoiningParams, ChangeParams, LockParams, StateParams):
    """The options of gpu_machineset."""

    name: str | None
    pool: dict[str, t.Any] | None
    candidates: list[dict[str, t.Any]] | None
    instance_type: str | None
    zones: list[str] | None
    replicas: int
    min_replicas: int | None
    mixed: bool
    reselect: bool
    on_scaled: t.Literal["keep", "take"]
    adopt: t.Literal["report", "take"]
    labels: dict[str, str]
    taints: list[dict[str, str]]
    node_role: bool
    accelerator: str | None
    disk: dict[str, t.Any]
    market: str | dict[str, str]
    aws: dict[str, t.Any] | None
    azure: dict[str, t.Any] | None
    gcp: dict[str, t.Any] | None
    ibm: dict[str, t.Any] | None
    baremetal: dict[str, t.Any] | None
    vsphere: dict[str, t.Any] | None
    openstack: dict[str, t.Any] | None
    nutanix: dict[str, t.Any] | None
    provider_spec_patch: dict[str, t.Any] | None
    image: str | None
    health: bool | dict[str, t.Any] | None
    other_pools: list[dict[str, t.Any]]
    source_machine_set: list[str]
    namespace: str


def draft(params: GpuMachinesetParams) -> Draft:
    """Return the draft of the pool that the option pool gives, or that the other options describe."""
    if params.get("pool"):
        return single(params["pool"])
    pool = {key: value for key in ("name", *_OF_A_POOL) if (value := params.get(key)) not in (None, "")}
    candidates = params.get("candidates") or []
    if params.get("instance_type"):
        candidates = [{"instance_type": params["instance_type"], "zones": params.get("zones") or []}]
    return single({**pool, "candidates": list(map(_described, candidates))})


def _described(candidate: t.Any) -> t.Any:
    """Return a planned candidate as the user would describe it; return any other value unchanged."""
    if not isinstance(candidate, dict):
        return candidate
    own = {key: value for key, value in candidate.items() if key not in _DERIVED and value is not None}
    return {**own, "gpus": candidate["gpus_per_node"]} if "gpus_per_node" in candidate else own


def check(params: GpuMachinesetParams, name: str) -> None:
    """Raise InputError for values that neither the argument spec nor the check of a pool refuses.

    name: the pool's name.
    """
    if params["state"] == "absent":
        if fault := name_fault(name):
            raise InputError(
                "POOL-VALUE", f"The pool's name {name!r} {fault}.", "Set name to the name of a pool."
            )
        return
    numbers = {"capacity_timeout": params["capacity_timeout"], "max_surge": params["max_surge"]}
    for key, least in _LEAST.items():
        if numbers[key] < least:
            raise InputError(
                "INPUT-VALUE",
                f"{key} is {numbers[key]}, and its minimum is {least}.",
                f"Set {key} to {least} or more, or remove it.",
            )
    pool = params.get("pool")
    if not pool:
        return
    if lost := [key for key in _OF_A_POOL if params.get(key) != MACHINES.options[key].get("default")]:
        raise InputError("POOL-CONFLICT", remedy="Set it inside pool.", path=", ".join(lost), other="pool")
    if pool.get("existing"):
        raise InputError(
            "POOL-CONFLICT",
            remedy="Remove the pool from this task, or set candidates instead of existing in it.",
            path="pool.existing",
            other="machine sets",
            also=f": pool {pool.get('name')} consists of existing nodes",
        )
