# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters that Red Hat operates: the command that makes a pool's nodes, and how the pool names them then."""

from __future__ import annotations

import typing as t

from .model import Pool, Taint

# The label by which the pool finds its nodes; the tools put it on each node of a machine pool.
_LABEL: t.Final = "gpu-pool"
# managed of the Infrastructure -> the command, with the pool's name where the tool wants it.
_TOOLS: t.Final = {
    "rosa": "rosa create machinepool --cluster NAME --name {name} {options}",
    "osd": "ocm create machinepool --cluster NAME {options} {name}",
}


def instead(pool: Pool, managed: str) -> str:
    """Return the remedy: one command, and what the pool says in place of its candidates."""
    first = pool.candidates[0]
    options = [
        f"--instance-type {first.instance_type}",
        *([f"--availability-zone {first.zones[0]}"] if len(first.zones) == 1 else []),
        _size(pool),
        f"--labels {_LABEL}={pool.name}",
        *([f"--taints {','.join(map(_taint, pool.taints))}"] if pool.taints else []),
    ]
    command = _TOOLS[managed].format(name=pool.name, options=" ".join(options))
    expected = ", ".join(f"{key}: {number}" for key, number in pool.expected.items())
    existing = f"{{node_selector: {{{_LABEL}: {pool.name}}}, expected: {{{expected}}}}}"
    return f"Run `{command}`, then give pool {pool.name} `existing: {existing}` in place of its candidates."


def _size(pool: Pool) -> str:
    if pool.autoscale is None:
        return f"--replicas {pool.replicas}"
    return f"--enable-autoscaling --min-replicas {pool.autoscale.min} --max-replicas {pool.autoscale.max}"


def _taint(taint: Taint) -> str:
    return f"{taint.key}={taint.value or ''}:{taint.effect}"
