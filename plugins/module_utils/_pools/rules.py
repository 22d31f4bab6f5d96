# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find contradictions inside one pool."""

from __future__ import annotations

import typing as t

from .._catalogue import driver_branches, driver_modules
from .._catalogue.device_quota import NOT_ENFORCED, counted_by
from .._core.input import Problems
from .._core.syntax import resource_fault
from .._platforms.registry import BY_KEY
from .._policy import schema as policy
from .._sharing.pool_rules import check_shares
from .._sharing.schema import conflict
from . import names
from .geometry import counted
from .model import Pool

# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]
# Options for machines that the collection creates.
_MACHINES: t.Final = (
    "candidates",
    "replicas",
    "min_replicas",
    "autoscale",
    "market",
    "disk",
    "labels",
    "mixed",
    "accelerator",
    "health",
    "pre_drain_hook",
    "node_role",
    "source_machine_set",
    "provider_spec_patch",
)


def check(pool: Description, path: str, problems: Problems, prefix: str | None) -> None:
    """Add the problems of one pool. prefix: the infrastructure name, or None if not known."""
    _source(pool, path, problems)
    _zones(pool, path, problems)
    names.check_name(pool, path, problems, prefix)
    _taints(pool, path, problems)
    policy.check(pool, path, problems)
    names.check_labels(pool, path, problems)
    _sharing(pool, path, problems)
    _quota(pool, path, problems)
    _driver(pool, path, problems)
    _beside_driver(pool.get("driver") or {}, f"{path}.driver", problems)


def _source(pool: Description, path: str, problems: Problems) -> None:
    """Check where the nodes come from: existing nodes, or candidates with their number of machines."""
    if "existing" in pool:
        _existing(pool, path, problems)
        return
    if not pool.get("candidates") and not problems.at(f"{path}.candidates"):
        problems.add(
            "POOL-REQUIRED",
            f"{path}.candidates",
            "is required (or existing, for nodes that exist already).",
            "Give at least one instance_type with zones.",
        )
    _replicas(pool, path, problems)


def _replicas(pool: Description, path: str, problems: Problems) -> None:
    if "replicas" in pool and "autoscale" in pool:
        problems.add(
            "POOL-CONFLICT",
            f"{path}.autoscale",
            "cannot be combined with replicas: both set the number of nodes.",
            "Keep one of them.",
        )
    elif not {"replicas", "autoscale"} & set(pool) and not problems.at(f"{path}.replicas"):
        problems.add(
            "POOL-REQUIRED",
            f"{path}.replicas",
            "is required (or autoscale).",
            "Set the number of nodes of the pool.",
        )
    replicas, least = pool.get("replicas"), pool.get("min_replicas")
    if replicas is not None and least is not None and least > replicas:
        problems.add(
            "POOL-CONFLICT",
            f"{path}.min_replicas",
            f"{least} is more than the {replicas} replicas.",
            f"Set it to at most {replicas}.",
        )


# The last driver for GPUs before Turing, as a pool names it.
_LAST: t.Final = f"driver: {driver_branches.as_option(driver_modules.LAST_FOR_OLD)}"


def outgrown_remark(pool: Pool) -> str:
    """Return what to know of a pool without a driver of its own that the operator's own does not serve."""
    models = [one.gpu_model for one in pool.candidates]
    newest = driver_modules.default_branch((26, 7))
    wrong = driver_modules.outgrown(newest, models)
    if not wrong or (pool.driver or {}).get("version"):
        return ""
    return (
        f"pool {pool.name} names no driver, and {wrong}. GPU operator 26.7 and later brings branch {newest}: "
        f"give the pool {_LAST}"
    )


def _driver(pool: Description, path: str, problems: Problems) -> None:
    image = {key: (pool.get("driver") or {}).get(key) for key in ("version", "repository", "image")}
    lacking = [key for key, value in image.items() if not value]
    if 0 < len(lacking) < len(image) and not problems.at(f"{path}.driver"):
        problems.add(
            "POOL-REQUIRED",
            f"{path}.driver.{lacking[0]}",
            "is required: version, repository and image of a driver go together.",
            f"Set {' and '.join(lacking)}, or remove the others of the three.",
        )
    models = {one.gpu_model for one in pool.get("resolved", [])}
    wrong = driver_modules.contradiction((pool.get("driver") or {}).get("kernel_module_type"), models)
    if wrong:
        problems.add(
            "POOL-DRIVER",
            f"{path}.driver.kernel_module_type",
            f"does not fit: {wrong}.",
            "Remove it (the default is auto), or set the type that the GPU supports.",
        )
    wrong = driver_modules.outgrown((pool.get("driver") or {}).get("version"), models)
    if wrong:
        problems.add(
            "POOL-DRIVER",
            f"{path}.driver.version",
            f"is {pool['driver']['version']}, and {wrong}.",
            f"Set {_LAST}.",
        )


def _beside_driver(driver: Description, path: str, problems: Problems) -> None:
    """Add a problem for what runs beside the driver, if the operator refuses it."""
    if problems.at(path):
        return
    for part in ("gds", "gdrcopy"):
        asked = driver.get(part) or {}
        lacking = [key for key in ("version", "repository", "image") if not asked.get(key)]
        if 0 < len(lacking) < 3:
            text = "is required: version, repository and image go together."
            remedy = f"Set {' and '.join(lacking)}, or remove the others of the three."
            problems.add("POOL-REQUIRED", f"{path}.{part}.{lacking[0]}", text, remedy)
        if asked.get("enabled") and driver.get("use_precompiled"):
            text = f"does not go with {part}: the operator has no precompiled modules for it."
            problems.add("POOL-DRIVER", f"{path}.use_precompiled", text, f"Remove use_precompiled or {part}.")
    if wrong := driver_modules.storage(driver.get("gds") or {}, driver.get("kernel_module_type") or "open"):
        problems.add(
            "POOL-DRIVER", f"{path}.gds", f"does not fit: {wrong}.", "Set kernel_module_type to open."
        )
    names = [one.get("name") for one in driver.get("env") or []]
    for index, one in enumerate(names):
        if one in names[:index]:
            text = f"has {one} a second time."
            problems.add("POOL-DUPLICATE", f"{path}.env[{index}]", text, "Keep one of the two.")


def _existing(pool: Description, path: str, problems: Problems) -> None:
    """Add a problem for an empty selector, which matches every node, no devices, and options of machines."""
    for key, example in (
        ("node_selector", "{node-role.kubernetes.io/gpu: ''}"),
        ("expected", "{nvidia.com/gpu: 1}"),
    ):
        where = f"{path}.existing.{key}"
        if pool["existing"].get(key) == {} and not problems.at(where):
            problems.add("POOL-VALUE", where, "is empty.", f"For example {example}.")
    names.check_roles(pool["existing"].get("node_selector") or {}, f"{path}.existing.node_selector", problems)
    for key in (*_MACHINES, *BY_KEY):
        if key in pool:
            problems.add(
                "POOL-CONFLICT",
                f"{path}.{key}",
                "is for machines that the collection creates, but the pool consists of existing nodes.",
                f"Remove {key}, or existing.",
            )


def _zones(pool: Description, path: str, problems: Problems) -> None:
    candidates = pool.get("candidates") or []
    for index, candidate in enumerate(candidates):
        if candidate and candidate in candidates[:index]:
            problems.add(
                "POOL-DUPLICATE",
                f"{path}.candidates[{index}]",
                "is in the list twice.",
                "Remove it: the candidates are tried one after the other.",
            )
        zones = candidate.get("zones") or []
        where = f"{path}.candidates[{index}].zones"
        if len(set(zones)) < len(zones):
            problems.add(
                "POOL-DUPLICATE",
                where,
                "contains a zone twice.",
                "List each zone once; replicas are spread over the zones.",
            )


def _taints(pool: Description, path: str, problems: Problems) -> None:
    seen = set()
    for index, taint in enumerate(pool.get("taints") or []):
        where = f"{path}.taints[{index}]"
        mark = (taint.get("key"), taint.get("effect"))
        if None not in mark and mark in seen:
            problems.add(
                "POOL-DUPLICATE",
                where,
                f"{mark[0]}:{mark[1]} is listed twice.",
                "Remove one: a node has one taint for each key and effect.",
            )
        seen.add(mark)
        if taint.get("effect") == "NoExecute":
            problems.add("POOL-TAINT", f"{where}.effect")


def _sharing(pool: Description, path: str, problems: Problems) -> None:
    sharing, where = pool.get("sharing"), f"{path}.sharing"
    if sharing is None or problems.at(where):
        return
    if message := conflict(sharing):
        problems.add("POOL-CONFLICT", where, message, "Keep one.")
    check_shares(pool, where, problems)


def _quota(pool: Description, path: str, problems: Problems) -> None:
    offers = [one.expected for one in pool.get("resolved", [])]
    is_sound = not problems.at(f"{path}.sharing")
    has_names = is_sound and not counted(pool.get("sharing") or {}, offers)
    for index, quota in enumerate(pool.get("quota") or []):
        where = f"{path}.quota[{index}]"
        is_read = not problems.at(f"{where}.gpus") and not problems.at(f"{where}.hard")
        if is_read and ("gpus" in quota) == ("hard" in quota):
            problems.add(
                "POOL-CONFLICT",
                where,
                "must have either gpus or hard.",
                "gpus counts what the pool offers to pods; hard names resources itself.",
            )
        for key in quota.get("hard") or {}:
            bare = key.removeprefix("requests.").removeprefix("limits.")
            fault = resource_fault(bare) if "/" in key and not key.startswith("count/") else ""
            if fault:
                why, known = f"{bare!r} {fault}", "requests.nvidia.com/gpu"
                problems.add("QUOTA-KEY", f"{where}.hard.{key}", name=key, why=why, known=known)
            elif "/" in key and not key.startswith(("requests.", "count/")) and not counted_by(key):
                known = f"requests.{key.removeprefix('limits.')}"
                problems.add("QUOTA-KEY", f"{where}.hard.{key}", name=key, why=NOT_ENFORCED, known=known)
        for key in sorted({*(quota.get("limit_range") or {})} - {"cpu", "memory"}):
            problems.add("QUOTA-LIMIT-RANGE", f"{where}.limit_range.{key}", why="this is neither")
        if has_names and "gpus" in quota:
            problems.add("POOL-QUOTA-RENAMED", f"{where}.gpus")
