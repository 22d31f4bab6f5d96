# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The progress of nodes whose kernel changes during a wait."""

from __future__ import annotations

import typing as t

from ..._core.objects import Snapshot
from ..._nodes.node import short
from ..._nodes.system import system
from .kernel import LINKS, Data, match


class KernelChain:
    """The first kernel seen on each node; a node that now runs another goes through the steps in LINKS."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def tell(
        self, lines: t.Sequence[str], nodes: t.Iterable[Data], policy: Data, snapshot: Snapshot
    ) -> tuple[str, ...]:
        """Return the lines; a line of a node whose kernel changed also shows the node's step in LINKS."""
        places = {
            short(node["metadata"]["name"]): place
            for node in nodes
            if (place := self._place(node, policy, snapshot))
        }
        told = [
            f"{name}: {places.pop(name)}: {phrase}" if name in places else line
            for line in lines
            for name, _colon, phrase in [line.partition(": ")]
        ]
        return (*told, *(f"{name}: {place}" for name, place in sorted(places.items())))

    def _place(self, node: Data, policy: Data, snapshot: Snapshot) -> str:
        kernel = system(node).kernel
        first = self._first.setdefault(node["metadata"]["name"], kernel)
        if kernel == first:
            return ""
        link = match(node, policy, snapshot).link
        where = f"step {LINKS.index(link) + 1} of {len(LINKS)} ({link})" if link else "done"
        return f"kernel {brief(first)} -> {brief(kernel)}, {where}"


def brief(kernel: str) -> str:
    """Return the kernel without distribution and architecture: 5.14.0-570.12.1 of …1.el9_6.x86_64."""
    return kernel.partition(".el")[0]
