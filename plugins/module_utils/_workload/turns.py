# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validations of several pools that share their pods' wait: options, batches of nodes, one result."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

from .._core.errors import InputError, NotReadyError
from .._core.input import Problems
from .._core.objects import KubeObject
from .._core.readiness import Readiness
from .._pools.programs import in_order, read_programs
from . import idle, judge
from .options import GpuWorkloadParams
from .programs.registry import PROGRAMS
from .verdicts import Verdict

# Keys of an entry of `pools` that replace the option of the same name.
_KEYS: t.Final = (
    *("node_selector", "tolerations", "expected", "claims", "benchmark", "image", "min_nodes"),
    *("tolerance", "on_failure"),
)
# Keys of an entry that replace no option.
_MORE: t.Final = ("name", "foreseen", "programs", "gate")


@dataclass
class Turn:
    """One program on the nodes of one pool.

    pool: its name, empty without `pools`. found: its nodes. due: those that changed since their validation.
    left: pods of earlier runs on them. By the name of the node: unfit, why the program says nothing about it;
    busy, who holds its devices; ran, the results of its pods; verdicts, on its figures; wrong, what is wrong
    with it. error: why the pool is not validated. foreseen: in check mode, whether earlier tasks of the run
    would bring its nodes or devices. is_gated: whether new nodes stay closed until they have passed. attempt,
    slow, good, groups_wrong: of a program that several nodes run together, with the groups of nodes that
    measured too little, the others, and what is wrong with the nodes of the former.
    """

    pool: str
    params: GpuWorkloadParams
    found: list[KubeObject] = field(default_factory=list)
    due: list[KubeObject] = field(default_factory=list)
    unfit: dict[str, str] = field(default_factory=dict)
    left: list[KubeObject] = field(default_factory=list)
    busy: dict[str, str] = field(default_factory=dict)
    ran: dict[str, list[judge.PodResult]] = field(default_factory=dict)
    verdicts: dict[str, list[Verdict]] = field(default_factory=dict)
    wrong: dict[str, list[Readiness]] = field(default_factory=dict)
    error: NotReadyError | None = None
    foreseen: bool = False
    is_gated: bool = False
    attempt: int = 0
    slow: list[tuple[str, ...]] = field(default_factory=list)
    good: list[tuple[str, ...]] = field(default_factory=list)
    groups_wrong: dict[str, Readiness] = field(default_factory=dict)

    @property
    def free(self) -> list[KubeObject]:
        """Return the nodes to validate now."""
        return [node for node in self.due if node["metadata"]["name"] not in self.busy]

    @property
    def passed(self) -> list[KubeObject]:
        """Return the nodes whose pods ran, and of which nothing is wrong."""
        if self.error is not None:
            return []
        names = self.wrong.keys() | {node for node, pods in self.ran.items() if not pods}
        return [node for node in self.free if node["metadata"]["name"] not in names]


class Job(t.NamedTuple):
    """The nodes of one pool that are validated together with those of other jobs."""

    turn: Turn
    nodes: list[KubeObject]


def begin(params: GpuWorkloadParams) -> list[Turn]:
    """Return a turn for each program of each pool, or of the whole task. Raise InputError for wrong input."""
    if params.pools is None:
        return _of_programs("", params, params.programs, "", False)
    return [
        turn
        for index, entry in enumerate(params.pools)
        for turn in _of_pool(params, entry, f"pools[{index}]")
    ]


def _of_programs(
    pool: str, params: GpuWorkloadParams, programs: list[t.Any] | None, path: str, foreseen: bool
) -> list[Turn]:
    if programs is None:
        return [Turn(pool, params, foreseen=foreseen)]
    problems = Problems()
    entries = read_programs(programs, f"{path}.programs".lstrip("."), problems)
    problems.raise_if_any()
    each = [replace(params, benchmark=entry["program"], programs=[entry]) for entry in in_order(entries)]
    return [Turn(pool, own, foreseen=foreseen) for own in each]


def _of_pool(params: GpuWorkloadParams, entry: t.Mapping[str, t.Any], path: str) -> list[Turn]:
    if not isinstance(entry.get("node_selector"), dict) or not entry["node_selector"]:
        example = "{accelerators.openshift/pool: training}"
        raise InputError("INPUT-REQUIRED", option=f"{path}.node_selector", example=example)
    if wrong := sorted(set(entry) - {*_MORE, *_KEYS}):
        remedy = f"Use {', '.join([*_MORE, *_KEYS])}."
        raise InputError("INPUT-OPTION", f"{path}.{wrong[0]} is no key of a pool.", remedy)
    own = {key: entry[key] for key in _KEYS if entry.get(key) is not None}
    if own.get("benchmark", "vectoradd") not in PROGRAMS:
        remedy = f"Use one of {', '.join(sorted(PROGRAMS))}."
        raise InputError("INPUT-VALUE", f"{path}.benchmark is {own['benchmark']}.", remedy)
    own["image"] = own.get("image") or params.image
    name, options = str(entry.get("name") or path), replace(params, **own)
    each = _of_programs(name, options, entry.get("programs"), path, bool(entry.get("foreseen")))
    for turn in each:
        turn.is_gated = bool(entry.get("gate"))
    return each


def batches(turns: t.Iterable[Turn], limit: int) -> t.Iterator[list[Job]]:
    """Yield jobs of at most so many nodes, 0 for a part of each pool. Two jobs have no node in common."""
    batch: list[Job] = []
    names: set[str] = set()
    for turn in turns:
        most = idle.limit(len(turn.found), limit)
        for node in turn.free:
            name = str(node["metadata"]["name"])
            if len(names) >= most or name in names:
                yield batch
                batch, names = [], set()
            if not batch or batch[-1].turn is not turn:
                batch.append(Job(turn, []))
            batch[-1].nodes.append(node)
            names.add(name)
    if batch:
        yield batch
