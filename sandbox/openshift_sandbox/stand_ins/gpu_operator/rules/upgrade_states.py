# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels of a driver upgrade, and which one follows which."""

from __future__ import annotations

import math
import typing as t

from openshift_sandbox.stand_ins.gpu_operator.operands import Object

DONE, REQUIRED, FAILED = "upgrade-done", "upgrade-required", "upgrade-failed"
CORDON, JOBS, PODS, DRAIN, RESTART, VALIDATION, UNCORDON = (
    "cordon-required",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "drain-required",
    "pod-restart-required",
    "validation-required",
    "uncordon-required",
)
NOT_BEGUN: t.Final = ("", DONE, REQUIRED)


def slots(policy: Object, states: t.Sequence[str], unavailable: int) -> int:
    """Return how many more nodes may begin.

    maxParallelUpgrades limits it (0: no limit), and so does maxUnavailable. `unavailable` is how many nodes
    are cordoned or not Ready. A node whose upgrade failed keeps its place.
    """
    total, running = len(states), sum(state not in NOT_BEGUN for state in states)
    parallel = int(policy.get("maxParallelUpgrades", 1))
    most = str(policy.get("maxUnavailable") or "25%")
    allowed = math.ceil(total * int(most[:-1]) / 100) if most.endswith("%") else int(most)
    gone = unavailable + sum(state == CORDON for state in states)
    free = min(parallel - running if parallel else sum(state == REQUIRED for state in states), allowed)
    if gone >= allowed:
        return 0
    return max(0, min(free, allowed - gone) if allowed < total else free)


def after(state: str, stale: bool, ready: bool, due: bool | None = None, validates: bool = False) -> str:
    """Return the next label of a node, or the same one while it has to wait.

    `due`: whether to begin, if a stale pod alone is not a reason. `validates`: whether validation-required
    comes after the restart; the caller decides when it ends.
    """
    if state in ("", DONE) and (stale if due is None else due):
        return REQUIRED
    if state == "" and ready:
        return DONE
    if state == RESTART:
        return (VALIDATION if validates else UNCORDON) if ready and not stale else RESTART
    return {CORDON: JOBS, JOBS: PODS, UNCORDON: DONE}.get(state, state)
