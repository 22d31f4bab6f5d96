# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ClusterPolicy the GPU operator looks at, and when it looks again at one that it passed over."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import OSTREE
from openshift_sandbox.stand_ins.gpu_operator.driver_owners import OWNER, SKIP, UPGRADE
from openshift_sandbox.stand_ins.gpu_operator.labels import OPTED_OUT, PRESENT, has_gpu
from openshift_sandbox.stand_ins.gpu_operator.operands import Object

WORKLOAD: t.Final = "nvidia.com/gpu.workload.config"
WATCHED: t.Final = (PRESENT, OPTED_OUT, WORKLOAD, OSTREE, OWNER, UPGRADE, SKIP)
News = tuple[frozenset[tuple[str | None, ...]], frozenset[tuple[str, int]]]


def active(policies: t.Sequence[Object]) -> Object | None:
    """Return the ClusterPolicy that counts: the oldest, then the first by name."""
    return min(
        policies,
        key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"]),
        default=None,
    )


def news(nodes: t.Iterable[Object], gpu_clusters: t.Iterable[Object]) -> News:
    """Return what makes the operator look at every ClusterPolicy when it changes."""
    marks = [(node["metadata"]["name"], node["metadata"].get("labels") or {}) for node in nodes]
    return (
        frozenset(
            (name, *(labels.get(key) for key in WATCHED))
            for name, labels in marks
            if has_gpu(labels) or OWNER in labels
        ),
        frozenset((one["metadata"]["uid"], one["metadata"]["generation"]) for one in gpu_clusters),
    )


class Turns:
    """The ClusterPolicies that the operator has passed over, and what it knew when it did."""

    def __init__(self) -> None:
        self._passed: dict[str, tuple[int, News]] = {}
        self._process: t.Hashable = None

    def begin(self, process: t.Hashable) -> None:
        """Forget everything when the operator is another process than before."""
        if process != self._process:
            self._passed.clear()
            self._process = process

    def take(self, policies: t.Sequence[Object], found: News) -> Object | None:
        """Return the ClusterPolicy to work on, or None.

        A younger one is passed over. It stays so, also when it becomes the oldest, until its spec or the
        news change.
        """
        oldest = active(policies)
        for policy in policies:
            if policy is not oldest:
                self._passed[policy["metadata"]["uid"]] = (policy["metadata"]["generation"], found)
        if oldest is None or oldest["metadata"].get("deletionTimestamp"):
            return None
        uid, now = oldest["metadata"]["uid"], (oldest["metadata"]["generation"], found)
        if self._passed.get(uid) == now:
            return None
        self._passed.pop(uid, None)
        return oldest
