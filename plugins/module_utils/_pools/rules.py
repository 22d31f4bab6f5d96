# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find contradictions inside one pool."""

from __future__ import annotations

import typing as t

from .._catalogue import driver_branches, driver_modules
from .._catalogue.device_quota import key_fault
from .._core import quantity
from .._core.input import Problems
from .._platforms.registry import BY_KEY
from .._policy import schema as policy
from .._sharing.pool_rules import check_shares
from .._sharing.schema import WAYS_TOGETHER, conflict
from . import names
from .geometry import counted
from .model import Pool

# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]
#: Options for machines that the collection creates.
MACHINES: t.Final = (
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
        also = " (or existing, for nodes that exist already)"
        remedy = "Give at least one instance_type with zones."
        problems.add("POOL-REQUIRED", f"{path}.candidates", remedy=remedy, also=also)
    _replicas(pool, path, problems)


def _replicas(pool: Description, path: str, problems: Problems) -> None:
    if "replicas" in pool and "autoscale" in pool:
        also = ": both set the number of nodes"
        problems.add("POOL-CONFLICT", f"{path}.autoscale", other="replicas", also=also)
    elif not {"replicas", "autoscale"} & set(pool) and not problems.at(f"{path}.replicas"):
        remedy = "Set the number of nodes of the pool."
        problems.add("POOL-REQUIRED", f"{path}.replicas", remedy=remedy, also=" (or autoscale)")
    replicas, least = pool.get("replicas"), pool.get("min_replicas")
    if replicas is not None and least is not None and least > replicas:
        limit = f"the {replicas} replicas"
        problems.add("POOL-TOO-MANY", f"{path}.min_replicas", value=least, limit=limit, most=replicas)


# The last driver for GPUs before Turing, as a pool names it.
_LAST: t.Final = f"driver: {driver_branches.as_option(driver_modules.LAST_FOR_OLD)}"


def outgrown_warning(pool: Pool) -> str:
    """Return what to know of a pool without a driver of its own that the operator's own does not serve."""
    models = [candidate.gpu_model for candidate in pool.candidates]
    newest = driver_modules.default_branch(driver_branches.OPERATOR)
    wrong = driver_modules.outgrown(newest, models)
    if not wrong or (pool.driver or {}).get("version"):
        return ""
    return (
        f"pool {pool.name} names no driver, and {wrong}. GPU operator 26.7 and later brings branch {newest}: "
        f"give the pool {_LAST}"
    )


def _image(parts: Description, path: str, problems: Problems) -> None:
    """Add a problem if some of the three parts of an image are there and others are not."""
    lacking = [key for key in ("version", "repository", "image") if not parts.get(key)]
    if 0 < len(lacking) < 3:
        also = ": version, repository and image go together"
        remedy = f"Set {' and '.join(lacking)}, or remove the others of the three."
        problems.add("POOL-REQUIRED", f"{path}.{lacking[0]}", remedy=remedy, also=also)


def _driver(pool: Description, path: str, problems: Problems) -> None:
    if not problems.at(f"{path}.driver"):
        _image(pool.get("driver") or {}, f"{path}.driver", problems)
    models = {candidate.gpu_model for candidate in pool.get("resolved", [])}
    wrong = driver_modules.contradiction((pool.get("driver") or {}).get("kernel_module_type"), models)
    if wrong:
        problems.add(
            "POOL-DRIVER",
            f"{path}.driver.kernel_module_type",
            remedy="Remove it (the default is auto), or set the type that the GPU supports.",
            why=wrong,
        )
    wrong = driver_modules.outgrown((pool.get("driver") or {}).get("version"), models)
    if wrong:
        why = f"it is {pool['driver']['version']}, and {wrong}"
        problems.add("POOL-DRIVER", f"{path}.driver.version", remedy=f"Set {_LAST}.", why=why)


def _beside_driver(driver: Description, path: str, problems: Problems) -> None:
    """Add a problem for what runs beside the driver, if the operator refuses it."""
    if problems.at(path):
        return
    for part in ("gds", "gdrcopy"):
        asked = driver.get(part) or {}
        _image(asked, f"{path}.{part}", problems)
        if asked.get("enabled") and driver.get("use_precompiled"):
            also = ": the operator has no precompiled modules for it"
            problems.add("POOL-CONFLICT", f"{path}.use_precompiled", other=part, also=also)
    if wrong := driver_modules.storage(driver.get("gds") or {}, driver.get("kernel_module_type") or "open"):
        problems.add("POOL-DRIVER", f"{path}.gds", remedy="Set kernel_module_type to open.", why=wrong)
    names = [variable.get("name") for variable in driver.get("env") or []]
    for index, name in enumerate(names):
        if name in names[:index]:
            problems.add("POOL-DUPLICATE", f"{path}.env[{index}]", name=name)


def _existing(pool: Description, path: str, problems: Problems) -> None:
    """Add a problem for an empty selector, which matches every node, no devices, and options of machines."""
    for key, example in (
        ("node_selector", "{node-role.kubernetes.io/gpu: ''}"),
        ("expected", "{nvidia.com/gpu: 1}"),
    ):
        where = f"{path}.existing.{key}"
        if pool["existing"].get(key) == {} and not problems.at(where):
            problems.add("POOL-EMPTY", where, example=example)
    names.check_roles(pool["existing"].get("node_selector") or {}, f"{path}.existing.node_selector", problems)
    for key in (*MACHINES, *BY_KEY):
        if key in pool:
            also = ": it is for machines that the collection creates"
            problems.add("POOL-CONFLICT", f"{path}.{key}", other="existing nodes", also=also)


def _zones(pool: Description, path: str, problems: Problems) -> None:
    candidates = pool.get("candidates") or []
    for index, candidate in enumerate(candidates):
        if candidate and candidate in candidates[:index]:
            remedy = "Remove it: the candidates are tried one after the other."
            problems.add("POOL-DUPLICATE", f"{path}.candidates[{index}]", remedy=remedy, name="the candidate")
        zones = candidate.get("zones") or []
        where = f"{path}.candidates[{index}].zones"
        if len(set(zones)) < len(zones):
            remedy = "List each zone once; replicas are spread over the zones."
            problems.add("POOL-DUPLICATE", where, remedy=remedy, name="a zone")


def _taints(pool: Description, path: str, problems: Problems) -> None:
    seen = set()
    for index, taint in enumerate(pool.get("taints") or []):
        where = f"{path}.taints[{index}]"
        mark = (taint.get("key"), taint.get("effect"))
        if None not in mark and mark in seen:
            remedy = "Remove one: a node has one taint for each key and effect."
            problems.add("POOL-DUPLICATE", where, remedy=remedy, name=f"{mark[0]}:{mark[1]}")
        seen.add(mark)
        if taint.get("effect") == "NoExecute":
            problems.add("POOL-TAINT", f"{where}.effect")


def _sharing(pool: Description, path: str, problems: Problems) -> None:
    sharing, where = pool.get("sharing"), f"{path}.sharing"
    if sharing is None or problems.at(where):
        return
    if given := conflict(sharing):
        problems.add("POOL-EITHER", where, options=WAYS_TOGETHER, given=given)
    check_shares(pool, where, problems)


def _quota(pool: Description, path: str, problems: Problems) -> None:
    offers = [candidate.expected for candidate in pool.get("resolved", [])]
    is_sound = not problems.at(f"{path}.sharing")
    has_names = is_sound and not counted(pool.get("sharing") or {}, offers)
    for index, quota in enumerate(pool.get("quota") or []):
        where = f"{path}.quota[{index}]"
        is_read = not problems.at(f"{where}.gpus") and not problems.at(f"{where}.hard")
        if is_read and ("gpus" in quota) == bool(quota.get("hard")):
            given = "both" if "gpus" in quota else "none"
            options = "gpus (counts what the pool offers to pods) and hard (names resources itself)"
            problems.add("POOL-EITHER", where, options=options, given=given)
        for key in quota.get("hard") or {}:
            if fault := key_fault(key):
                why, known = fault
                problems.add("QUOTA-KEY", f"{where}.hard.{key}", name=key, why=why, known=known)
        for key, amount in sorted((quota.get("limit_range") or {}).items()):
            why = "this is neither" if key not in ("cpu", "memory") else f"{amount!r} is none"
            if key not in ("cpu", "memory") or not quantity.parse(amount):
                problems.add("QUOTA-LIMIT-RANGE", f"{where}.limit_range.{key}", why=why)
        if has_names and "gpus" in quota:
            problems.add("POOL-QUOTA-RENAMED", f"{where}.gpus")
