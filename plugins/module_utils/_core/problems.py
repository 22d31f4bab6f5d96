# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is wrong with a description of pools: everything, not only the first thing."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError


@dataclass(frozen=True)
class Problem:
    """path: the option as the user wrote it, for example C(gpu_pools[1].sharing.mig)."""

    code: str
    path: str
    message: str
    remedy: str

    @property
    def line(self) -> str:
        return f"{self.code} {self.path}: {self.message}"


@dataclass
class Problems:
    """Collects problems."""

    found: list[Problem] = field(default_factory=list)

    def add(self, code: str, path: str, message: str, remedy: str) -> None:
        """Once, also where several candidates suffer from what the pool says."""
        found = Problem(code, path.lstrip("."), message, remedy)
        if found not in self.found:
            self.found.append(found)

    def at(self, path: str) -> bool:
        """Whether something at or below this path is wrong already."""
        path = path.lstrip(".")
        return any(one.path == path or one.path.startswith((f"{path}.", f"{path}[")) for one in self.found)

    def raise_if_any(self) -> None:
        if not self.found:
            return
        first = self.found[0]
        facts: dict[str, t.Any] = {"problems": [vars(one) for one in self.found]}
        if len(self.found) == 1:
            raise InputError(first.code, f"{first.path}: {first.message}", first.remedy, facts=facts)
        raise InputError(
            "POOL-INVALID",
            f"{len(self.found)} problems. "
            + " ".join(f"({number}) {one.line}" for number, one in enumerate(self.found, 1)),
            " ".join(f"({number}) {one.remedy}" for number, one in enumerate(self.found, 1)),
            evidence=[one.line for one in self.found],
            facts=facts,
        )
