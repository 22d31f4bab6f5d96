# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validations of several pools that share their pods' wait: options, batches of nodes, one result."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

from .._core.errors import InputError, NotReadyError
from .._core.objects import KubeObject
from . import judge
from .benchmarks.registry import BENCHMARKS
from .options import GpuWorkloadParams

# Key of an entry of `pools` -> option of the module that it replaces.
_KEYS: t.Final = {
    "node_selector": "node_selector",
    "tolerations": "tolerations",
    "expected": "resources",
    "claims": "claims",
    "benchmark": "benchmark",
    "image": "image",
    "min_nodes": "min_nodes",
}
# Keys of an entry that replace no option.
_MORE: t.Final = ("pool", "foreseen")


@dataclass
class Turn:
    """The validation of one pool.

    pool: its name, empty without `pools`. found: its nodes. due: those that changed since their validation.
    left: pods of earlier runs on them. busy: who holds devices, by the name of the node. ran: the results of
    the pods, by the name of the node. error: why the pool is not validated. foreseen: in check mode, whether
    earlier tasks of the run would bring its nodes or devices.
    """

    pool: str
    params: GpuWorkloadParams
    found: list[KubeObject] = field(default_factory=list)
    due: list[KubeObject] = field(default_factory=list)
    left: list[KubeObject] = field(default_factory=list)
    busy: dict[str, str] = field(default_factory=dict)
    ran: dict[str, list[judge.PodResult]] = field(default_factory=dict)
    error: NotReadyError | None = None
    foreseen: bool = False

    @property
    def free(self) -> list[KubeObject]:
        """Return the nodes to validate now."""
        return [node for node in self.due if node["metadata"]["name"] not in self.busy]

    def facts(self) -> dict[str, t.Any]:
        """Return the result of this pool."""
        return judge.summarize(self.found, self.free, self.ran, self.params, self.busy)


class Job(t.NamedTuple):
    """The nodes of one pool that are validated together with those of other jobs."""

    turn: Turn
    nodes: list[KubeObject]


def begin(params: GpuWorkloadParams) -> list[Turn]:
    """Return a turn for each pool, or one for the whole task. Raise InputError for a wrong pool."""
    if params.pools is None:
        return [Turn("", params)]
    return [_of_pool(params, entry, f"pools[{index}]") for index, entry in enumerate(params.pools)]


def _of_pool(params: GpuWorkloadParams, entry: t.Mapping[str, t.Any], path: str) -> Turn:
    if not isinstance(entry.get("node_selector"), dict) or not entry["node_selector"]:
        remedy = f"Set {path}.node_selector, such as {{accelerators.openshift/pool: training}}."
        raise InputError("INPUT-REQUIRED", f"{path}.node_selector is missing.", remedy)
    if wrong := sorted(set(entry) - {*_MORE, *_KEYS}):
        remedy = f"Use {', '.join([*_MORE, *_KEYS])}."
        raise InputError("INPUT-OPTION", f"{path}.{wrong[0]} is no key of a pool.", remedy)
    own = {option: entry[key] for key, option in _KEYS.items() if entry.get(key) is not None}
    if own.get("benchmark", "vectoradd") not in BENCHMARKS:
        remedy = f"Use one of {', '.join(sorted(BENCHMARKS))}."
        raise InputError("INPUT-VALUE", f"{path}.benchmark is {own['benchmark']}.", remedy)
    own["image"] = own.get("image") or params.image
    name, options = str(entry.get("pool") or path), replace(params, **own)
    return Turn(name, options, foreseen=bool(entry.get("foreseen")))


def batches(turns: t.Iterable[Turn], limit: int) -> t.Iterator[list[Job]]:
    """Yield jobs of at most so many nodes. Two jobs of a batch have no node in common."""
    batch: list[Job] = []
    names: set[str] = set()
    for turn in turns:
        for node in turn.free:
            name = str(node["metadata"]["name"])
            if len(names) >= limit or name in names:
                yield batch
                batch, names = [], set()
            if not batch or batch[-1].turn is not turn:
                batch.append(Job(turn, []))
            batch[-1].nodes.append(node)
            names.add(name)
    if batch:
        yield batch


def result(turns: t.Sequence[Turn], params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Return the module's result. Raise the first pool's error, with those of the others as evidence."""
    whole = _merged(turns, params) if params.pools is not None else turns[0].facts()
    failures = [(turn.pool, turn.error) for turn in turns if turn.error]
    if not failures:
        return {"workload": whole}
    (pool, error), *more = failures
    if len(turns) > 1:
        error.message = f"Pool {pool}: {error.message}"
        error.evidence += [f"pool {other}: {one.code}: {one.message}" for other, one in more]
        error.facts |= {"workload": whole, "failed_pools": [pool for pool, _error in failures]}
    raise error


def _merged(turns: t.Sequence[Turn], params: GpuWorkloadParams) -> dict[str, t.Any]:
    found = [(turn, turn.facts()) for turn in turns]
    return {
        "namespace": params.namespace,
        "benchmark": ", ".join(sorted({turn.params.benchmark for turn in turns})),
        "due": [name for _turn, facts in found for name in facts["due"]],
        "nodes": [{**node, "pool": turn.pool} for turn, facts in found for node in facts["nodes"]],
    }
