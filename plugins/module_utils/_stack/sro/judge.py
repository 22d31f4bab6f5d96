# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Judge of backend sro: the conditions of a SpecialResource, then what the nodes of the pools offer."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import conditions
from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject, Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
    worst,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import (
    judge_devices,
    judge_size,
)

_CONDITIONS: t.Final = {"Errored": "GPU-SRO-ERRORED", "Progressing": "GPU-SRO-NOTREADY"}


def judge(live: KubeObject) -> Readiness:
    """Return what the conditions say; Errored and Progressing count before Ready."""
    name, status = live["metadata"]["name"], live.get("status") or {}
    for kind, code in _CONDITIONS.items():
        if conditions.is_true(live, kind):
            found = conditions.find(live, kind)
            said = found.get("message") or found.get("reason") or ""
            line = f"{kind}: {said}" if said else kind
            remedy = "Look at the log of the Special Resource Operator, or migrate: sro.migrate_to."
            message = f"SpecialResource {name} is {line}."
            return pending(kind, message, code=code, remedy=remedy, details=(line,))
    if conditions.is_true(live, "Ready"):
        return ready("Ready", "The Special Resource Operator says so.")
    line, code = f"state {status.get('state') or 'unknown'}", "GPU-SRO-NOTREADY"
    message, remedy = f"SpecialResource {name}: {line}.", "Check that its operator runs."
    return pending("NotReady", message, code=code, remedy=remedy, details=(line,))


class Judge:
    """Judge the SpecialResource, then the nodes of the pools. seen: the last snapshot."""

    def __init__(self, params: dict[str, t.Any], clock: t.Callable[[], float]) -> None:
        self._pools = params["pools"]
        self._grace = Grace(clock, params["grace"], ("GPU-SRO-ERRORED", "GPU-ALLOC"))
        self.seen: Snapshot = {}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        if not snapshot["specials"]:
            message, remedy = "The SpecialResource does not exist.", "Find out who deletes it."
            return pending("Missing", message, code="GPU-SRO-NOTREADY", remedy=remedy)
        own, nodes = judge(snapshot["specials"][0]), snapshot.get("nodes", ())
        others = [judge_size(nodes, pool) for pool in self._pools]
        others += [one for pool in self._pools for one in judge_devices(nodes, pool)]
        if own.is_ready:
            return worst(self._grace.harden([own, *others]))
        return worst([*self._grace.harden([own]), *others])
