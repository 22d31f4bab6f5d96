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
  - Joins the results of the modules of C(enable_gpus.yml) into lines of text, one per node, and the seconds
    per stage.
  - If a result is missing because its role did not run, its column is empty.
positional: nodes, stack, validation, seconds
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
    description: Results by the name of their stage. Each is one result or a list of results.
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
    - seconds - nodes 8.1, labels 7.9, stack 12.3, policy 0.1, validation 4.2
"""

import typing as t
from collections.abc import Iterable, Mapping, Sequence

Data = Mapping[str, t.Any]
Row = tuple[str, str, str, str, str]
HEADING: t.Final[Row] = ("POOL", "NODE", "TYPE", "GPUS (expected/allocatable/validated)", "DRIVER")


def table(
    pools: Sequence[Data],
    nodes: Data | None = None,
    stack: Data | None = None,
    validation: Data | None = None,
    seconds: Data | None = None,
) -> list[str]:
    """Return the lines of the table: the heading, one line per node, and the seconds per stage if given.

    The parameters are the options of the filter; a missing result leaves its column empty.
    """
    machines = {one["name"]: one for result in _parts(nodes) for one in result.get("nodes") or []}
    operands = {one["name"]: one for one in _of(stack, "special_resource")}
    validated = {one["name"]: one for result in _parts(validation) for one in _of(result, "workload")}
    rows = [HEADING]
    for pool in pools:
        found = [one["name"] for one in operands.values() if one.get("pool") == pool["name"]]
        found += [
            one["name"]
            for result in _parts(nodes)
            if _pool_of(result) == pool["name"]
            for one in result.get("nodes") or []
        ]
        rows += [
            _row(pool, name, machines.get(name, {}), operands.get(name, {}), validated.get(name, {}))
            for name in dict.fromkeys(found)
        ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADING))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    spent = [f"{stage} {_seconds(result):.1f}" for stage, result in (seconds or {}).items()]
    return [*lines, f"seconds - {', '.join(spent)}"] if spent else lines


def _row(pool: Data, name: str, machine: Data, stack: Data, validation: Data) -> Row:
    types = [candidate["instance_type"] for candidate in pool.get("candidates") or []]
    kind = machine.get("instance_type") or (types[0] if len(types) == 1 else "-")
    expected = stack.get("expected") or machine.get("expected") or pool.get("expected")
    driver = stack.get("driver_version") or validation.get("driver_version") or "-"
    counts = (
        _count(expected),
        _count(stack.get("allocatable") or stack.get("offered")),
        str(validation.get("validated", "-")),
    )
    return (str(pool["name"]), name, kind, "/".join(counts), driver)


def _count(resources: Data | None) -> str:
    return str(sum(int(number) for number in resources.values())) if resources else "-"


def _of(result: Data | None, noun: str) -> list[Data]:
    nodes: list[Data] = ((result or {}).get(noun) or {}).get("nodes") or []
    return nodes


def _parts(result: Data | None) -> list[Data]:
    """Return the results of a loop's items, or the one result as a list; empty without a result."""
    if not result:
        return []
    return list(result["results"]) if "results" in result else [result]


def _pool_of(result: Data) -> str:
    arguments: Data = (result.get("invocation") or {}).get("module_args") or {}
    item = result.get(result.get("ansible_loop_var", "item"))
    return str(item.get("name", "") if isinstance(item, Mapping) else arguments.get("name", ""))


def _seconds(result: t.Any) -> float:
    results: Iterable[Data | None] = result if isinstance(result, Sequence) else [result]
    return sum(float(part.get("duration") or 0) for one in results for part in _parts(one))


class FilterModule:
    """The filter gpu_table."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return name -> filter."""
        return {"gpu_table": table}
