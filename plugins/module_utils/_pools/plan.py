# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of gpu_pools: all pools together, and the inputs that each role gets from them."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._catalogue.device_quota import quota_key
from .._catalogue.instance_types import BUILT_IN, Catalogue
from .._catalogue.well_known import GPU, INSTANCE_TYPE, NVIDIA_PCI
from .._core.input import Problems
from .._frame.nested import near
from .._nodes import taints
from .._policy import schema as policy
from . import conflicts, geometry, rules, tuning
from .draft import Description, Draft
from .geometry import counted_by
from .model import JsonObject, Pool

_EXAMPLE: t.Final = """Write a file such as
{name}:
  - name: training
    candidates:
      - {{instance_type: g4dn.xlarge, zones: [us-east-2a]}}
    replicas: 1
and run the playbook with -e @FILE; examples/ has complete files. If an inventory has {name}, run it with
-e gpu_clusters=GROUP (or all): without it a playbook works on localhost and reads no other host."""
_REQUESTS: t.Final = "requests."
# Keys of a pool that decide about its number of nodes: how, and what to do instead of a resize.
_DECIDE: t.Final = {
    "autoscale": (
        ": the autoscaler decides",
        "Change its min and max, and run enable_gpus.yml.",
    ),
    "existing": (
        ": the pool consists of existing nodes",
        "Add or remove nodes with the tool that made them.",
    ),
}
# A check of one described pool: its description, its path, and where to add problems.
Rule = t.Callable[[Description, str, Problems], None]


@dataclass(frozen=True)
class Plan:
    """A plan. pools: in the user's order. outputs: inputs of the roles. warnings: of all pools."""

    pools: tuple[Pool, ...]
    outputs: JsonObject
    warnings: tuple[str, ...]

    def as_result(self) -> JsonObject:
        """Return the plan as gpu_plan's result."""
        return {"pools": [pool.as_result() for pool in self.pools], **self.outputs}


@dataclass
class ListDraft(Draft):
    """The draft of a list of pools.

    name: the user's name of the list. backend: of the driver stack. rules: further checks of each pool.
    """

    name: str = "gpu_pools"
    backend: str | None = None
    rules: t.Sequence[Rule] = ()

    def _check_together(self, described: dict[str, Description], problems: Problems) -> None:
        for path, pool in described.items():
            conflicts.check_backend(pool, path, self.backend, problems)
        conflicts.check(list(described.values()), self.name, problems)
        for path, pool in described.items():
            for rule in self.rules:
                rule(pool, path, problems)


def draft(
    pools: t.Any,
    name: str = "gpu_pools",
    catalogue: Catalogue = BUILT_IN,
    backend: str | None = None,
    rules: t.Sequence[Rule] = (),
) -> ListDraft:
    """Return the draft of a plan of all pools. Raises InputError if the pools are no list or an empty one.

    name: the user's name of the list, for paths. catalogue: of instance types. backend: of the driver
    stack; None chooses it by the pools' drivers. rules: further checks of each pool.
    """
    problems = Problems()
    if not isinstance(pools, (list, tuple)) and pools:
        example = _EXAMPLE.format(name=name)
        problems.add("POOL-TYPE", name, remedy=example, form="a list of pools", value=_described(pools))
    elif not pools:
        problems.add("POOL-NONE", name, remedy=_EXAMPLE.format(name=name))
    problems.raise_if_any()
    return ListDraft(
        {f"{name}[{index}]": pool for index, pool in enumerate(pools)},
        catalogue,
        name=name,
        backend=backend,
        rules=rules,
    )


def resized(pools: t.Any, name: str, replicas: t.Mapping[str, t.Any]) -> t.Any:
    """Return the pools with these numbers of nodes. Raises InputError for an unknown pool, and for one whose
    number something else decides.

    pools, name: as in `draft`, which refuses what is no list.
    """
    if not isinstance(pools, (list, tuple)) or not pools:
        return pools
    problems = Problems()
    maps = [(index, pool) for index, pool in enumerate(pools) if isinstance(pool, t.Mapping)]
    found = {str(pool.get("name")): index for index, pool in maps}
    for pool in replicas:
        if pool not in found:
            known = ", ".join(found)
            option = "gpu_pool (a key of module option replicas)"
            problems.add("POOL-UNKNOWN", name, pool=near(pool, found), known=known, option=option)
            continue
        for key, (why, remedy) in _DECIDE.items():
            if key in pools[found[pool]]:
                where = f"{name}[{found[pool]}].{key}"
                problems.add("POOL-CONFLICT", where, remedy=remedy, other="another number of nodes", also=why)
    problems.raise_if_any()
    wanted = {found[pool]: {"replicas": number} for pool, number in replicas.items()}
    return [{**pool, **wanted[index]} if index in wanted else pool for index, pool in enumerate(pools)]


def _described(pools: t.Any) -> str:
    if isinstance(pools, str):
        return "text (-e NAME=VALUE always gives text)"
    if isinstance(pools, t.Mapping):
        return "a mapping: each pool begins with a dash"
    return f"the value {pools!r}"


def assemble(
    pools: tuple[Pool, ...],
    name: str = "gpu_pools",
    backend: str | None = None,
    incomplete: t.Collection[str] = (),
    given: t.Collection[str] = (),
) -> Plan:
    """Return the plan of planned pools. name: the list's, for warnings. backend: as in `draft`.

    given: names of pools that queues give away. incomplete: names of pools that did not get their machines.
    Operands tolerate their taints and cover the nodes that are there, but nothing waits for a number of
    nodes.
    """
    claims = backend == conflicts.DRA
    limits = quotas(pools)
    driven = [pool for pool in pools if are_nvidias(pool)]
    contained = [pool for pool in driven if not pool.runs_machines]
    warnings = [
        *driver_warnings(pools),
        *quota_warnings([pool for pool in contained if pool.name not in given], limits),
    ]
    checks = validations(contained, claims, incomplete)
    found = {
        "groups": groups(driven, incomplete),
        "stack": stack(contained, backend),
        "tolerations": tolerations(driven),
        "quotas": counted_as_claims(limits) if claims else limits,
        "priorities": policy.priorities([pool.as_result() for pool in pools]),
        "validations": checks,
        "expected_labels": expected_labels(driven, incomplete),
        "sharings": [] if claims else geometry.inputs(driven),
        "claims": geometry.claims(driven) if claims else [],
        "tunings": tuning.inputs(pools),
        "proofs": {
            "sharing": geometry.proofs(contained, checks),
            "preemption": [] if claims else policy.preemptions(pool.as_result() for pool in contained),
        },
        "partitions": [] if claims else policy.inputs(pool.as_result() for pool in contained),
    }
    return Plan(pools, found, tuple(f"{name}: {warning}" for warning in warnings))


def tolerations(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return the tolerations with which an operand or a validation runs on every pool."""
    pools = list(pools)
    found = taints.operand_tolerations(taint.as_result() for pool in pools for taint in pool.taints)
    if any(pool.is_gated for pool in pools):
        found.append(dict(taints.STARTUP_TOLERATION))
    if any(pool.validate.on_failure == "taint" for pool in pools):
        found.append(dict(taints.FAILED_TOLERATION))
    return found


def quotas(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return one quota for each namespace and name. Add up the numbers that pools give one resource."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    more: dict[tuple[str, str], JsonObject] = {}
    for resource, quota in ((counted_by(pool), one) for pool in pools for one in pool.quota):
        key = (quota.namespace, quota.name or "gpu-quota")
        hard, more[key] = found.setdefault(key, {}), quota.which_pods()
        for limit, quantity in (quota.hard or {f"requests.{resource}": str(quota.gpus)}).items():
            hard[limit] = str(int(hard.get(limit, "0")) + int(quantity)) if quantity.isdigit() else quantity
    return [
        {
            "namespace": key[0],
            "name": key[1],
            "hard": dict(sorted(hard.items())),
            **more[key],
        }
        for key, hard in found.items()
    ]


def groups(pools: t.Iterable[Pool], incomplete: t.Collection[str] = ()) -> list[JsonObject]:
    """Return groups of equal nodes: a pool, or each instance type of a pool if their devices differ."""
    found = []
    for pool in pools:
        offers = {candidate.instance_type: candidate.expected for candidate in pool.candidates}
        least = 0 if pool.name in incomplete else 1 if pool.existing else pool.min_replicas
        models = sorted({candidate.gpu_model for candidate in pool.candidates})
        more = {
            **({"driver": pool.driver} if pool.driver else {}),
            **({"gpu_models": models} if models else {}),
        }
        if len({tuple(sorted(one.items())) for one in offers.values()}) < 2:
            found.append(
                {
                    "name": pool.name,
                    "node_selector": pool.node_selector,
                    **_offered(pool, pool.expected),
                    "min_nodes": least,
                    **more,
                }
            )
            continue
        found += [
            {
                "name": pool.name,
                "node_selector": {**pool.node_selector, INSTANCE_TYPE: kind.partition("+")[0]},
                **_offered(pool, expected),
                "min_nodes": 0,
                **more,
            }
            for kind, expected in offers.items()
        ]
    return found


def _offered(pool: Pool, expected: t.Mapping[str, int]) -> JsonObject:
    """Return what each node offers; the nodes themselves name the devices of virtual machines."""
    if pool.runs_machines:
        options = {**pool.virtual_machines, "gpus": expected.get(GPU, 0)}
        return {"expected": {}, "workload": pool.workload, "virtual_machines": options}
    return {"expected": expected, **({"workload": pool.workload} if pool.workload else {})}


def stack(pools: t.Sequence[Pool], backend: str | None = None) -> JsonObject:
    """Return the backend, and the driver if all pools have the same. backend: the user's choice.

    Pools with different drivers need the backend nvidiadriver, which has a driver for each, and so do drivers
    with GPUDirect Storage or GDRCopy: these are no options of a ClusterPolicy's driver.
    """
    wanted = [pool.driver or {} for pool in pools]
    if all(one == wanted[0] and one.keys().isdisjoint(("gds", "gdrcopy")) for one in wanted):
        return {"backend": backend or "clusterpolicy", "driver": wanted[0] if wanted else {}}
    return {"backend": backend or "nvidiadriver", "driver": {}}


def validations(pools: t.Iterable[Pool], claims: bool, incomplete: t.Collection[str]) -> list[JsonObject]:
    """Return the input of each validation. claims: pods claim the devices."""
    return [
        {
            "name": pool.name,
            "node_selector": group["node_selector"],
            "tolerations": tolerations([pool]),
            "expected": group["expected"],
            "min_nodes": group["min_nodes"],
            "benchmark": pool.validate.benchmark,
            "image": pool.validate.image or "",
            "claims": claims,
            **pool.validate.judged(),
        }
        for pool in pools
        for group in groups([pool], incomplete)
    ]


def expected_labels(pools: t.Iterable[Pool], incomplete: t.Collection[str] = ()) -> list[JsonObject]:
    """Return the labels that Node Feature Discovery must set on every node of a pool."""
    return [
        {
            "node_selector": pool.node_selector,
            "labels": {NVIDIA_PCI: "true"},
            **({} if pool.existing else {"min_nodes": 0 if pool.name in incomplete else pool.min_replicas}),
        }
        for pool in pools
    ]


def are_nvidias(pool: Pool) -> bool:
    """Return True if all devices of the pool are from NVIDIA."""
    return all(candidate.vendor == "nvidia" for candidate in pool.candidates)


def driver_warnings(pools: t.Iterable[Pool]) -> list[str]:
    """Return warnings on devices that the GPU Operator's usual driver does not support."""
    warnings = []
    for pool in pools:
        if warning := rules.outgrown_warning(pool):
            warnings.append(warning)
        for candidate in pool.candidates:
            of_pool = f"{candidate.instance_type} of pool {pool.name}"
            if candidate.driver == "grid":
                share = f"{candidate.gpu_share} of " if candidate.gpu_share != "1" else ""
                warnings.append(
                    f"{of_pool} has {share}its {candidate.gpu_model} as a vGPU: it needs NVIDIA's GRID "
                    "guest driver and a licence"
                )
            elif candidate.vendor != "nvidia":
                warnings.append(
                    f"{of_pool} has {candidate.gpu_model} devices ({candidate.vendor}): the "
                    "collection creates its nodes, but installs no driver and no operator for them"
                )
    return warnings


def quota_warnings(pools: t.Sequence[Pool], quota: t.Iterable[JsonObject]) -> list[str]:
    """Return warnings on devices that no namespace with a quota may use."""
    limits: dict[str, int] = {}
    for hard in (one["hard"] for one in quota):
        for resource, number in (
            (key.removeprefix("requests."), number) for key, number in hard.items() if "/" in key
        ):
            limits[resource] = limits.get(resource, 0) + int(number)
    warnings = []
    for resource, limit in limits.items():
        supply = sum(pool.expected.get(resource, 0) * pool.most_nodes for pool in pools)
        if supply > limit:
            warnings.append(
                f"the pools offer {supply} {resource}, but the quotas allow only {limit} in total: only "
                f"namespaces without a quota can use the other {supply - limit}"
            )
    return warnings


def given_away(queues: t.Any) -> set[str]:
    """Return the names of the pools in these queues, which gpu_queue has not checked yet."""
    found = [one.get("pools") for one in _maps(queues)]
    return {str(share.get("name")) for shares in found for share in _maps(shares)}


def _maps(entries: t.Any) -> list[t.Mapping[str, t.Any]]:
    return [entry for entry in entries if isinstance(entry, t.Mapping)] if isinstance(entries, list) else []


def counted_as_claims(quotas: t.Iterable[JsonObject]) -> list[JsonObject]:
    """Return the quotas with claims instead of GPUs, added to those of the same DeviceClass."""
    return [quota | {"hard": _counted(quota["hard"])} for quota in quotas]


def _counted(hard: t.Mapping[str, str]) -> dict[str, str]:
    asked, found = _REQUESTS + GPU, {key: number for key, number in hard.items() if key != _REQUESTS + GPU}
    if asked in hard:
        found[quota_key()] = str(int(found.get(quota_key(), "0")) + int(hard[asked]))
    return dict(sorted(found.items()))
