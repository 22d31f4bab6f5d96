# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find contradictions between pools, and between a pool and the backend dra."""

from __future__ import annotations

import typing as t

from .._catalogue.device_quota import quota_key
from .._catalogue.well_known import GPU, GPU_PRESENT, INSTANCE_TYPE, NVIDIA, NVIDIA_PCI
from .._core import namespaces
from .._core.input import Problems
from .._core.ownership import pool_label
from .._policy.priority_class import RESERVED
from .._sharing.partitions import strategy
from .._sharing.pool_rules import refuse_backend
from .._sharing.schema import CLAIMS
from .._virtualization import schema as virtualization
from .model import ACCELERATOR, Candidate

# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]
# The backend with which pods claim GPUs as devices.
DRA: t.Final = "dra"
_REQUESTS: t.Final = "requests."


def check(pools: t.Sequence[Description], name: str, problems: Problems) -> None:
    """Add the contradictions between pools. name: the user's name of the list, for paths."""
    _names(pools, name, problems)
    _nodes(pools, name, problems)
    _strategies(pools, name, problems)
    _priorities(pools, name, problems)
    _quotas(pools, name, problems)
    _claims(pools, name, problems)
    virtualization.check_together(pools, name, problems)


def _names(pools: t.Sequence[Description], name: str, problems: Problems) -> None:
    seen: dict[str, int] = {}
    for index, pool in enumerate(pools):
        own = pool.get("name")
        if own in seen:
            also, remedy = f", first at {name}[{seen[own]}]", "Give each pool its own name."
            problems.add("POOL-DUPLICATE", f"{name}[{index}].name", remedy=remedy, name=own, also=also)
        elif own:
            seen[own] = index


def _nodes(pools: t.Sequence[Description], name: str, problems: Problems) -> None:
    """Add a problem for a selector that matches the nodes of another pool."""
    for index, pool in enumerate(pools):
        if "existing" not in pool:
            continue
        selector = pool["existing"].get("node_selector") or {}
        for other_index, other in enumerate(pools):
            if other_index == index or not selector or ("existing" in other and other_index > index):
                continue
            theirs = _node_labels(other)
            narrow, wide = (
                sorted((selector, theirs), key=len, reverse=True)
                if "existing" in other
                else (theirs, selector)
            )
            if wide and wide.items() <= narrow.items():
                problems.add(
                    "POOL-OVERLAP",
                    f"{name}[{index}].existing.node_selector",
                    pool=f"{other.get('name')} ({name}[{other_index}])",
                )


def _node_labels(pool: Description) -> dict[str, str]:
    if "existing" in pool:
        return dict(pool["existing"].get("node_selector") or {})
    first: Candidate | None = next(iter(pool.get("resolved", [])), None)
    labels = {"node-role.kubernetes.io/worker": "", **pool_label(pool.get("name", ""))}
    if first:
        labels |= {
            ACCELERATOR: pool.get("accelerator") or first.accelerator,
            "kubernetes.io/arch": first.arch,
            INSTANCE_TYPE: first.instance_type,
        }
    return {
        **labels,
        **(pool.get("labels") or {}),
        NVIDIA_PCI: "true",
        GPU_PRESENT: "true",
    }


def _strategies(pools: t.Sequence[Description], name: str, problems: Problems) -> None:
    """Add a problem for each MIG strategy that differs from the first: a ClusterPolicy has one."""
    migs = [(pool.get("sharing") or {}).get("mig") for pool in pools]
    found = {
        f"{name}[{index}].sharing.mig.strategy": strategy(mig)
        for index, mig in enumerate(migs)
        if mig is not None
    }
    first = next(iter(found), "")
    for path, wanted in found.items():
        if wanted != found[first]:
            other = f"{found[first]!r} of {first}"
            problems.add("POOL-DIFFERS", path, value=repr(wanted), other=other, once="the ClusterPolicy")


def _priorities(pools: t.Sequence[Description], name: str, problems: Problems) -> None:
    seen: dict[str, tuple[str, Description]] = {}
    for index, pool in enumerate(pools):
        for position, priority in enumerate(pool.get("priority") or []):
            path, own = f"{name}[{index}].priority[{position}]", priority.get("name")
            if str(own).startswith(RESERVED):
                why = f"Kubernetes keeps {RESERVED} for its own priority classes"
                problems.add("POOL-CLASS", f"{path}.name", name=own, why=why)
            if own in seen and priority != seen[own][1]:
                other, once = f"that at {seen[own][0]}", f"priority class {own}"
                problems.add("POOL-DIFFERS", path, value="the description", other=other, once=once)
            elif own:
                seen[own] = (path, priority)


def _quotas(pools: t.Sequence[Description], name: str, problems: Problems) -> None:
    """Add a problem for different quantities with units in one quota; plain numbers are added up.

    One pool names each quota once, and none in a namespace of the platform.
    """
    seen: dict[tuple[str, str, str], tuple[str, str]] = {}
    options: dict[tuple[str, ...], tuple[str, t.Any]] = {}
    for index, pool in enumerate(pools):
        _quotas_of_one(pool, f"{name}[{index}].quota", problems)
        for position, quota in enumerate(pool.get("quota") or []):
            _other_options(quota, f"{name}[{index}].quota[{position}]", options, problems)
            for key, quantity in (quota.get("hard") or {}).items():
                path = f"{name}[{index}].quota[{position}].hard.{key}"
                mark = (str(quota.get("namespace")), quota.get("name") or "gpu-quota", key)
                other = seen.setdefault(mark, (path, quantity))
                if quantity != other[1] and not (quantity.isdigit() and other[1].isdigit()):
                    first = f"{other[1]} of {other[0]}"
                    problems.add("POOL-DIFFERS", path, value=quantity, other=first, once="the quota")


def _other_options(
    quota: Description, path: str, seen: dict[tuple[str, ...], tuple[str, t.Any]], problems: Problems
) -> None:
    """Add a problem if two pools give one quota different priority classes or default requests."""
    for key in ("priority_classes", "limit_range"):
        value = quota.get(key) or "an empty value"
        value = sorted(value) if isinstance(value, list) else value
        mark = (str(quota.get("namespace")), quota.get("name") or "gpu-quota", key)
        other = seen.setdefault(mark, (f"{path}.{key}", value))
        if value != other[1]:
            also = " Or give one of the quotas a name of its own."
            first = f"{other[1]} of {other[0]}"
            problems.add(
                "POOL-DIFFERS", f"{path}.{key}", value=value, other=first, once="the quota", also=also
            )


def _quotas_of_one(pool: Description, path: str, problems: Problems) -> None:
    seen: dict[tuple[str, str], int] = {}
    for position, quota in enumerate(pool.get("quota") or []):
        namespace = str(quota.get("namespace"))
        first = seen.setdefault((namespace, quota.get("name") or "gpu-quota"), position)
        if first != position:
            problems.add(
                "POOL-DUPLICATE",
                f"{path}[{position}].namespace",
                remedy="Keep one entry with the sum; give a second quota of the namespace a name of its own.",
                name=f"namespace {namespace}",
                also=f", first at quota[{first}]",
            )
        if namespaces.is_of_platform(namespace):
            problems.add(
                "QUOTA-NAMESPACE",
                f"{path}[{position}].namespace",
                namespace=namespace,
            )


def _claims(pools: t.Sequence[Description], name: str, problems: Problems) -> None:
    """Add a problem for a shared claim that two pools have."""
    seen: dict[tuple[str, str], int] = {}
    for index, pool in enumerate(pools):
        for position, one in enumerate((pool.get("sharing") or {}).get(CLAIMS) or []):
            first = seen.setdefault((str(one.get("namespace")), str(one.get("name"))), index)
            if first != index:
                problems.add(
                    "POOL-DUPLICATE",
                    f"{name}[{index}].sharing.{CLAIMS}[{position}].name",
                    remedy="Give each claim of a namespace its own name.",
                    name=f"claim {one.get('namespace')}/{one.get('name')}",
                    also=f", first in {name}[{first}]",
                )


def check_backend(pool: Description, path: str, backend: str | None, problems: Problems) -> None:
    """Add a problem for each option that does not work with the backend."""
    refuse_backend(pool.get("sharing") or {}, backend == DRA, f"{path}.sharing", problems)
    if backend == DRA:
        _check_claims(pool, path, problems)
        if virtualization.runs_machines(pool.get("workload")):
            why = "virtual machines get GPUs from a device plugin"
            _refuse_claims(f"{path}.workload", why, "Remove it", problems)


def _check_claims(pool: Description, path: str, problems: Problems) -> None:
    lacks = f"{GPU}, which no node offers"
    if pool.get("spare"):
        _refuse_claims(f"{path}.spare", f"placeholder pods request {lacks}", "Remove it", problems)
    if (pool.get("validate") or {}).get("gate"):
        _refuse_claims(f"{path}.validate.gate", f"the gate waits for {lacks}", "Remove it", problems)
    if pool.get("autoscale"):
        why = f"the autoscaler counts {lacks}"
        _refuse_claims(f"{path}.autoscale", why, "Set replicas instead", problems)
    for name in (pool.get("existing") or {}).get("expected") or {}:
        if name.startswith(NVIDIA) and name != GPU:
            where, instead = (
                f"{path}.existing.expected.{name}",
                f"Expect {GPU}, which counts the GPUs of a node",
            )
            _refuse_claims(where, "pods claim whole GPUs", instead, problems)
    for index, quota in enumerate(pool.get("quota") or []):
        where = f"{path}.quota[{index}]"
        if quota.get("priority_classes"):
            why = "pods claim GPUs, and claims have no priority class"
            _refuse_claims(f"{where}.priority_classes", why, "Remove it", problems)
        for key in quota.get("hard") or {}:
            if key.startswith(f"{_REQUESTS}nvidia.com/"):
                why, instead = "it counts requests, but pods claim GPUs", f"Write {quota_key()}, or give gpus"
                _refuse_claims(f"{where}.hard.{key}", why, instead, problems)


def _refuse_claims(path: str, why: str, instead: str, problems: Problems) -> None:
    problems.add("POOL-DRA", path, why=why, instead=instead)
