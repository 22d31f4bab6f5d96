# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The verdict on all that a backend looks at while it waits, with a memory of how long a trouble lasts and of what was seen last."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness, worst
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import (
    Part,
    hardened,
    is_consequence,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.lines import one_line_each
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Chain

Snapshot = dict[str, list[dict[str, t.Any]]]


class Judge:
    """judge: causes before consequences. What only waits for something else is as patient as that."""

    def __init__(
        self, judge: t.Callable[[Snapshot], t.Sequence[Part]], chain: Chain, patience: Grace
    ) -> None:
        self._judge = judge
        self._patience = patience
        self.chain = chain
        self.seen: Snapshot = {}
        self.parts: list[Part] = []

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        parts = self._judge(snapshot)
        parts = self.parts = hardened(
            self._patience, parts, [not is_consequence(one, parts, self.chain) for one in parts]
        )
        return replace(worst(parts), details=one_line_each(one for one in parts if not one.is_ready))
