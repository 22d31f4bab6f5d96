# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of nodes that run one program together, and which node of a slow group is the slow one."""

from __future__ import annotations

import typing as t

T = t.TypeVar("T")


def grouped(nodes: t.Sequence[T], size: int, attempt: int) -> list[list[T]]:
    """Return groups of so many nodes; nodes that fill no group are left out.

    attempt: 0 for neighbours, 1 for other partners, the nodes that were left out first, 2 for others again.
    """
    if size < 2:
        return [[node] for node in nodes]
    left = len(nodes) % size
    first = (len(nodes) - left if left and attempt == 1 else 1) if attempt else 0
    turned = [*nodes[first:], *nodes[:first]]
    return [list(turned[start : start + size]) for start in range(0, len(turned) - size + 1, size)]


def is_clear(slow: t.Sequence[t.Collection[str]], good: t.Sequence[t.Collection[str]]) -> bool:
    """Return whether each slow group has one node that no good group had: it is the slow one."""
    cleared = {node for group in good for node in group}
    return all(len([node for node in group if node not in cleared]) == 1 for group in slow)


def suspects(slow: t.Sequence[t.Collection[str]], good: t.Sequence[t.Collection[str]]) -> list[str]:
    """Return the nodes that only ran in slow groups, if each slow group has one; else all of the slow groups.

    A node that was in a good group is not slow.
    """
    cleared = {node for group in good for node in group}
    left = [[node for node in group if node not in cleared] for group in slow]
    if not all(left):
        # A group of nodes that are each good with others: the way between them is slow.
        return sorted({node for group in slow for node in group})
    return sorted({node for group in left for node in group})
