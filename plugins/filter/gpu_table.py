# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format the table at the end of enable_gpus.yml."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_table
short_description: Format one table of GPU nodes, with expected, found and validated GPUs
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Joins the results of the modules of C(enable_gpus.yml) into lines of text, one per node, the usage of each
    quota, and the seconds per stage.
  - For more than 20 nodes there is one line per pool with the sums, and one for each node that lacks
    something.
  - Programs that measured have a line for each figure of a node, the worst of its devices; for more than 20
    such lines there is one for each figure of a pool, and one for each that is too low.
  - If a result is missing because its role did not run, its column is empty.
  - If a result has only some of the nodes (C(left_out)), its sums count the others too.
positional: nodes, stack, validation, seconds, policy, early
options:
  _input:
    description: The pools, RV(accelerators.openshift.gpu_plan#module:plan.pools).
    type: list
    elements: dict
    required: true
  nodes:
    description: Result of M(accelerators.openshift.gpu_machineset), or of a loop over it.
    type: dict
    default: {}
  stack:
    description: Result of M(accelerators.openshift.special_resource).
    type: dict
    default: {}
  validation:
    description: Result of M(accelerators.openshift.gpu_workload), or of a loop over it.
    type: dict
    default: {}
  seconds:
    description:
      - Results by the name of their stage. Each is one result or a list of results.
      - The last lines have the seconds for which each stage waited for the cluster, and their sum beside
        those of everything else that the tasks did.
    type: dict
    default: {}
  policy:
    description: Result of M(accelerators.openshift.gpu_quota), or of a loop over it.
    type: dict
    default: {}
  early:
    description: Result of M(accelerators.openshift.gpu_workload) of an earlier task, whose figures count too.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Show the pools
  ansible.builtin.debug:
    msg: "{{ gpu_plan_result.plan.pools | accelerators.openshift.gpu_table(nodes, stack, validation) }}"
  vars:
    nodes: "{{ gpu_node_pool_result }}"
    stack: "{{ gpu_operator_result }}"
    validation: "{{ gpu_validation_result }}"
"""

RETURN = r"""
_value:
  description: The lines of the table, beginning with the heading.
  type: list
  elements: str
  sample:
    - POOL  NODE                      TYPE         GPUS (expected/allocatable/validated)  DRIVER
    - demo  ip-10-0-1-9.ec2.internal  g4dn.xlarge  1/1/1                                  580.105.08
    - figure - ip-10-0-1-9.ec2.internal matmul fp16 42.0 TFLOPS (peers 41.8, before 42.3)
    - quota - team-a/gpu-quota requests.nvidia.com/gpu 2 of 8 used
    - use - team-a/Job train 2 nvidia.com/gpu in 1 pod
    - seconds - machines 41.2, operators 28.0, drivers 36.1, validation 8.3
    - seconds - waited 113.6 for the cluster, own work 9.4
    - result - 1 of 1 node of 1 pool offers and validated 1 GPU
"""

import typing as t
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress

from ansible_collections.accelerators.openshift.plugins.plugin_utils import _table_figures as figures
from ansible_collections.accelerators.openshift.plugins.plugin_utils._filters import checked
from ansible_collections.accelerators.openshift.plugins.plugin_utils._table_nodes import (
    NOTHING,
    Counts,
    Found,
    More,
    count,
    entries_of,
    parts,
    total,
)

Data = Mapping[str, t.Any]
Row = tuple[str, str, str, str, str]
# More nodes than this, or more limits of quotas, are summed up.
MANY: t.Final = 20
# Owners of pods that a quota's lines name.
_OWNERS: t.Final = 3
# Seconds below which a wait has no place in the table.
_SHORT: t.Final = 0.5
# Why a pool has no validated GPUs.
_NO_CONTAINER: t.Final = "is not validated: its GPUs are for virtual machines, and programs run in containers"
HEADING: t.Final[Row] = ("POOL", "NODE", "TYPE", "GPUS (expected/allocatable/validated)", "DRIVER")


@checked("gpu_table", "the pools of a plan, a list (gpu_plan_result.plan.pools), and results of modules")
def table(
    pools: Sequence[Data],
    nodes: Data | None = None,
    stack: Data | None = None,
    validation: Data | None = None,
    seconds: Data | None = None,
    policy: Data | None = None,
    early: Data | None = None,
) -> list[str]:
    """Return the lines: the heading, one line per node, the quotas, and the seconds per stage if given.

    The parameters are the options of the filter; a missing result leaves its column empty.
    """
    machines = {machine["name"]: machine for result in parts(nodes) for machine in result.get("nodes") or []}
    operands = {row["name"]: row for row in entries_of(stack, "special_resource")}
    validated = {row["name"]: row for result in parts(validation) for row in entries_of(result, "workload")}
    by_pool: list[Nodes] = []
    for pool in pools:
        found = Found.of(str(pool["name"]), nodes, stack, validation)
        seen = [
            _node(pool, name, machines.get(name, {}), operands.get(name, {}), validated.get(name, {}))
            for name in dict.fromkeys(str(row["name"]) for row in (*found.operands, *found.machines))
        ]
        by_pool.append(Nodes(seen, found.more([node.counts for node in seen])))
    rows = [HEADING, *_rows(by_pool)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADING))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    lines += [f"skip - {pool['name']} {_NO_CONTAINER}" for pool in pools if _runs_machines(pool)]
    lines += figures.lines([*parts(early), *parts(validation)], MANY)
    lines += _quota_lines(policy)
    lines += _time_lines(seconds) if seconds else []
    of_containers = [not _runs_machines(pool) for pool in pools]
    own = list(compress(pools, of_containers)), list(compress(by_pool, of_containers))
    return [*lines, *_result_lines(*own)]


def _runs_machines(pool: Data) -> bool:
    return str(pool.get("workload") or "").startswith("vm_")


class Node(t.NamedTuple):
    """One node of the table. counts: expected, allocatable and validated GPUs; None if nothing says it."""

    pool: str
    name: str
    type: str
    counts: Counts
    driver: str
    busy: bool

    @property
    def row(self) -> Row:
        """Return the columns of a line for this node."""
        expected, allocatable, validated = map(_shown, self.counts)
        last = "busy" if self.busy else validated
        return (self.pool, self.name, self.type, f"{expected}/{allocatable}/{last}", self.driver)

    @property
    def is_lacking(self) -> bool:
        """Return whether the node has fewer GPUs than expected, or was not validated."""
        expected, *others = self.counts
        return self.busy or any(number is not None and number < (expected or 0) for number in others)


class Nodes(t.NamedTuple):
    """The nodes of a pool: those that the results have, and the sums of the others."""

    seen: list[Node]
    more: More


def _node(pool: Data, name: str, machine: Data, stack: Data, validation: Data) -> Node:
    types = [candidate["instance_type"] for candidate in pool.get("candidates") or []]
    kind = machine.get("instance_type") or (types[0] if len(types) == 1 else "-")
    expected = stack.get("expected") or machine.get("expected") or pool.get("expected")
    driver = stack.get("driver_version") or validation.get("driver_version") or "-"
    counts = (
        count(expected),
        count(stack.get("allocatable") or stack.get("offered")),
        validation.get("validated"),
    )
    return Node(str(pool["name"]), name, kind, counts, driver, bool(validation.get("busy")))


def _rows(pools: Sequence[Nodes]) -> list[Row]:
    """Return a row for each node; for many nodes one for each pool and for each node that lacks something."""
    if sum(len(nodes.seen) + nodes.more.number for nodes in pools) <= MANY:
        return [node.row for nodes in pools for node in nodes.seen]
    return [row for nodes in pools if nodes.seen for row in _short_rows(*nodes)]


def _short_rows(nodes: Sequence[Node], more: More) -> list[Row]:
    every = [*(node.counts for node in nodes), more.counts]
    sums = "/".join(_shown(total(counts[column] for counts in every)) for column in range(3))
    types, drivers = ({str(getattr(node, key)) for node in nodes} for key in ("type", "driver"))
    if more != NOTHING:
        # The result with the driver of a node may have left the node out.
        drivers = drivers - {"-"} or {"-"}
    lacking = [node for node in nodes if node.is_lacking]
    what = _number(len(nodes) + more.number, "node") + (f", {len(lacking)} to look at" if lacking else "")
    whole = (nodes[0].pool, what, ", ".join(sorted(types)), sums, ", ".join(sorted(drivers)))
    return [whole, *(node.row for node in lacking)]


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _shown(count: int | None) -> str:
    return "-" if count is None else str(count)


def _quota_lines(policy: Data | None) -> list[str]:
    """Return a line for each limit of each quota; for many quotas only those that are used up."""
    quotas = [quota for part in parts(policy) for quota in part.get("quotas") or [part.get("quota")] if quota]
    across = [quota for result in parts(policy) for quota in result.get("cluster_quotas") or []]
    limits = [
        (f"{_place(quota)}/{quota['name']} {key}", str(usage["used"] or 0), str(usage["hard"]))
        for quota in [*quotas, *across]
        for key, usage in (quota.get("resources") or {}).items()
    ]
    lines = [f"quota - {what} {used} of {hard} used" for what, used, hard in limits]
    if len(lines) <= MANY:
        return [*lines, *dict.fromkeys(line for quota in quotas for line in _use_lines(quota))]
    full = [line for line, (_what, used, hard) in zip(lines, limits, strict=True) if used == hard != "0"]
    return [f"quota - {_number(len(quotas), 'quota')}, {_number(len(full), 'limit')} used up", *full]


def _place(quota: Data) -> str:
    """Return the namespace of a quota, or how many namespaces it limits together."""
    return str(quota.get("namespace") or _number(len(quota.get("namespaces") or []), "namespace"))


def _use_lines(quota: Data) -> list[str]:
    """Return a line for each owner that holds most of what the quota limits."""
    return [
        f"use - {quota['namespace']}/{owner['kind']} {owner['name']} "
        + ", ".join(f"{amount} {resource}" for resource, amount in owner["requests"].items())
        + f" in {_number(owner['pods'], 'pod')}"
        for owner in ((quota.get("use") or {}).get("owners") or [])[:_OWNERS]
    ]


def _time_lines(stages: Data) -> list[str]:
    """Return where the time went: waits for the cluster by stage, then these and all other work together."""
    waited = {stage: _seconds(result, "waited") for stage, result in stages.items()}
    whole = sum(waited.values())
    own = sum(_seconds(result, "duration") for result in stages.values()) - whole
    # Ansible folds a line of more than 80 columns, so a stage that took no time is left out.
    parts = [f"{stage} {seconds:.1f}" for stage, seconds in waited.items() if seconds >= _SHORT]
    lines = [f"seconds - {', '.join(parts)}"] if parts else []
    return [*lines, f"seconds - waited {whole:.1f} for the cluster, own work {own:.1f}"]


def _seconds(result: t.Any, key: str) -> float:
    results: Iterable[Data | None] = result if isinstance(result, Sequence) else [result]
    return sum(float(part.get(key) or 0) for part_result in results for part in parts(part_result))


def _result_lines(pools: Sequence[Data], by_pool: Sequence[Nodes]) -> list[str]:
    """Return one sentence, if anything was validated: how many nodes offer and passed all they should."""
    seen = [node for nodes in by_pool for node in nodes.seen]
    every = [*(node.counts for node in seen), *(nodes.more.counts for nodes in by_pool)]
    expected, _allocatable, validated = (total(counts[column] for counts in every) for column in range(3))
    if validated is None:
        return []
    number = len(seen) + sum(nodes.more.number for nodes in by_pool)
    done = number - sum(node.is_lacking or node.counts[2] is None for node in seen)
    device = "device" if any(pool.get("sharing") for pool in pools) else "GPU"
    devices = (
        _number(validated, device) if validated == expected else f"{validated} of {expected or 0} {device}s"
    )
    where = f"{done} of {_number(number, 'node')} of {_number(len(pools), 'pool')}"
    return [f"result - {where} {'offers' if number == 1 else 'offer'} and validated {devices}"]


class FilterModule:
    """The filter gpu_table."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return name -> filter."""
        return {"gpu_table": table}
