# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""gpu_pools: the one description of everything. Checks all of it, then says what each role needs."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.instance_types import (
    BUILT_IN,
    Catalogue,
    InstanceType,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems, read_map
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import pool_label
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import operand_tolerations
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import (
    autoscale as pool_autoscale,
    claims as pool_claims,
    conflicts,
    health,
    outputs,
    platform_options,
    rules,
    unsupported,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.attached import conflict
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.candidates import (
    describe,
    resolve,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.description import described
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.schema import POOL

Data = dict[str, t.Any]
_EXAMPLE: t.Final = """Write a file such as
{name}:
  - name: training
    candidates:
      - {{instance_type: g4dn.xlarge, zones: [us-east-2a]}}
    replicas: 1
and give it with -e @FILE; examples/ has complete ones."""


def plan(
    pools: t.Any,
    name: str = "gpu_pools",
    cloud: str | None = None,
    prefix: str | None = None,
    accelerator_limits: t.Collection[str] | None = None,
    catalogue: Catalogue = BUILT_IN,
    backend: str | None = None,
) -> Data:
    """The normalised pools and what follows from them; raises InputError with every problem that was found.

    name: how the user calls the list, for paths. cloud: as the catalogue of instance types spells it; None: any. prefix: the infrastructure name.
    catalogue: of instance types. What it says of a candidate's stays with the candidate, so the steps after this one need it no more.
    backend: of the driver stack; None: what the pools' drivers need.
    """
    problems = Problems()
    if not isinstance(pools, (list, tuple)):
        problems.add(
            "POOL-TYPE",
            name,
            "must be a list of pools.",
            f"Write {name} as a list; each entry has a name, candidates and replicas.",
        )
    elif not pools:
        problems.add(
            "POOL-NONE", name, "names no pools, so there is nothing to do.", _EXAMPLE.format(name=name)
        )
    problems.raise_if_any()
    read_in = [
        _read(described(pool), f"{name}[{index}]", cloud, catalogue, problems)
        for index, pool in enumerate(pools)
    ]
    for index, pool in enumerate(read_in):
        path = f"{name}[{index}]"
        rules.check(pool, path, problems, prefix)
        pool_autoscale.check(pool, path, problems, accelerator_limits, cloud)
        _alike(pool, path, problems)
        if backend == pool_claims.BACKEND:
            pool_claims.check(pool, path, problems)
    conflicts.check(read_in, name, problems)
    for index, pool in enumerate(read_in):
        if not problems.at(f"{name}[{index}]"):
            unsupported.refuse(pool, f"{name}[{index}]", problems)
    problems.raise_if_any()
    return _assemble([_normalise(pool) for pool in read_in], name, backend)


def single(entry: Data, cloud: str | None = None, prefix: str | None = None) -> Data:
    """One pool that is described by a task's own options; the paths are those options."""
    problems = Problems()
    pool = _read(entry, "", cloud, BUILT_IN, problems)
    rules.check(pool, "", problems, prefix)
    pool_autoscale.check(pool, "", problems, None, cloud)
    _alike(pool, "", problems)
    if not problems.found:
        unsupported.refuse(pool, "", problems)
    problems.raise_if_any()
    return _normalise(pool)


def _read(raw: t.Any, path: str, cloud: str | None, catalogue: Catalogue, problems: Problems) -> Data:
    pool = read_map(raw, POOL, path, problems)
    # What was noted as wrong is None here; the checks across fields look at the rest.
    pool = {key: value for key, value in pool.items() if value is not None}
    if "candidates" in pool:
        pool["candidates"] = [
            {key: value for key, value in one.items() if value is not None} for one in pool["candidates"]
        ]
    platform_options.read_markets(pool, path, problems)
    platform_options.settle(pool, path, cloud, problems)
    health.read(pool, path, problems)
    kinds = [
        _kind(pool, candidate, cloud, f"{path}.candidates[{index}]", catalogue, problems)
        for index, candidate in enumerate(pool.get("candidates") or [])
    ]
    platform_options.check(pool, kinds, path, cloud, problems)
    sharing = pool.get("sharing") or {}
    sound = len(sharing) <= 1 and not problems.at(f"{path}.sharing") and _one_way(sharing)
    described_by = zip(pool.get("candidates") or [], kinds, strict=True)
    resolved = [
        describe(candidate, kind, sharing if sound else {}, path, problems)
        for candidate, kind in described_by
        if kind is not None
    ]
    return {**pool, "resolved": resolved}


def _kind(
    pool: Data, candidate: Data, cloud: str | None, path: str, catalogue: Catalogue, problems: Problems
) -> InstanceType | None:
    """What the candidate's instance type is made of; it is called from here on as the catalogue calls it."""
    conflict(candidate, path, problems)
    kind = resolve(candidate, cloud, path, problems, pool.get("accelerator") or "", catalogue)
    if kind is not None:
        candidate["instance_type"] = kind.name
    return kind


def _one_way(sharing: Data) -> bool:
    mig = sharing.get("mig")
    return mig is None or (
        len({"slices", "profile", "layout"} & set(mig)) == 1
        and isinstance(mig.get("profile", ""), (str, dict))
    )


def _alike(pool: Data, path: str, problems: Problems) -> None:
    """What all of a pool's candidates must have in common."""
    vendors = {one["vendor"] for one in pool["resolved"]}
    if len(vendors) > 1:
        problems.add(
            "POOL-VENDOR",
            f"{path}.candidates",
            f"mixes devices of {' and '.join(sorted(vendors))} in one pool.",
            "Make one pool a vendor.",
        )
    offers: Data = {}
    for one in pool["resolved"]:
        machine = one["instance_type"].partition("+")[0]
        if offers.setdefault(machine, one["expected"]) != one["expected"]:
            message = f"has {machine} with different devices, and nothing on a node says which it has."
            problems.add("POOL-CONFLICT", f"{path}.candidates", message, "Make two pools of them.")
    archs = {one["arch"] for one in pool["resolved"]}
    if len(archs) > 1:
        problems.add(
            "POOL-ARCH",
            f"{path}.candidates",
            f"mixes {' and '.join(sorted(archs))} instance types in one pool.",
            "Make one pool an architecture.",
        )
    allowed: list[str] = (pool.get("validate") or {}).get("image_archs") or []
    for arch in sorted(archs - set(allowed)) if allowed else ():
        problems.add(
            "POOL-ARCH",
            f"{path}.validate.image",
            f"the image is for {', '.join(allowed)}, but {pool['resolved'][0]['instance_type']} is {arch}.",
            f"Use an image that has {arch}, or another instance type.",
        )


def _normalise(pool: Data) -> Data:
    resolved = pool["resolved"]
    first = resolved[0] if resolved else {}
    existing = pool.get("existing")
    autoscale = pool.get("autoscale") or {}
    replicas = pool.get("replicas", autoscale.get("min", 0))
    return {
        "name": pool["name"],
        "candidates": resolved,
        "existing": existing is not None,
        "replicas": replicas,
        "min_replicas": pool.get("min_replicas", replicas),
        "autoscale": autoscale,
        "mixed": bool(pool.get("mixed")),
        "market": pool.get("market") or {"type": "on_demand"},
        "taints": [
            {key: value for key, value in taint.items() if value is not None}
            for taint in pool.get("taints") or []
        ],
        "labels": pool.get("labels") or {},
        "accelerator": pool.get("accelerator") or first.get("accelerator", ""),
        "disk": pool.get("disk") or {},
        "tuning": pool.get("tuning") or "",
        "sharing": pool.get("sharing") or {},
        "expected": existing["expected"] if existing else first["expected"],
        "node_selector": existing["node_selector"] if existing else pool_label(pool["name"]),
        "quota": pool.get("quota") or [],
        "priority": pool.get("priority") or [],
        "validate": {"benchmark": "vectoradd", **(pool.get("validate") or {})},
        **(
            {"driver": {key: value for key, value in pool["driver"].items() if value is not None}}
            if pool.get("driver")
            else {}
        ),
        **({"health": pool["health"]} if "health" in pool else {}),
        **({"pre_drain_hook": True} if pool.get("pre_drain_hook") else {}),
    }


def _assemble(pools: list[Data], name: str, backend: str | None) -> Data:
    claims = backend == pool_claims.BACKEND
    quotas = outputs.quotas(pools)
    driven = [pool for pool in pools if outputs.are_nvidias(pool)]
    remarks = [*outputs.drivers(pools), *outputs.short_quotas(driven, quotas)]
    return {
        "pools": pools,
        "groups": outputs.groups(driven),
        "stack": outputs.stack(driven, backend),
        "tolerations": operand_tolerations(taint for pool in driven for taint in pool["taints"]),
        "quotas": pool_claims.counted(quotas) if claims else quotas,
        "priorities": outputs.priorities(pools),
        "validations": outputs.validations(driven, claims),
        "expected_labels": outputs.expected_labels(driven),
        "remarks": [f"{name}: {remark}" for remark in remarks],
    }
