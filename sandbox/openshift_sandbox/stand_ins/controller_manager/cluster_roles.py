# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the controller that fills the ClusterRoles with an aggregationRule: admin, edit and view.

The real one writes the hundreds of rules of such a role again for each role that comes. OLM makes fifty roles
within seconds, and each write takes an API server 30 ms. This one waits until no more roles come.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches

SETTLED: t.Final = 1.0


class AggregatedRoles(Reconciler):
    kinds = ("ClusterRole",)

    def __init__(self) -> None:
        self._changes: list[int] = []
        self._is_filled = False

    def reconcile(self, cluster: Cluster, now: float) -> None:
        changes = cluster.changes(self.kinds)
        if changes != self._changes:
            self._changes, self._is_filled = changes, False
            cluster.restart(self.kinds, "role_aggregation")
        if self._is_filled or not cluster.due(self.kinds, "role_aggregation", SETTLED):
            return
        roles = cluster.objects("ClusterRole")
        for role in roles:
            wanted = _rules(role, roles)
            if wanted is not None and wanted != (role.get("rules") or []):
                version = role["metadata"]["resourceVersion"]
                body = {"metadata": {"resourceVersion": version}, "rules": wanted}
                cluster.patch("ClusterRole", role["metadata"]["name"], None, body)
        self._is_filled = True


def _rules(role: Object, roles: list[Object]) -> list[Object] | None:
    """Return the rules of the roles that a role's aggregationRule selects; None where it has no such rule."""
    rule = role.get("aggregationRule")
    if not rule:
        return None
    found: list[Object] = []
    for one in roles:
        labels = one["metadata"].get("labels") or {}
        is_selected = any(matches(selector, labels) for selector in rule.get("clusterRoleSelectors") or [])
        if is_selected and one["metadata"]["name"] != role["metadata"]["name"]:
            found += [each for each in one.get("rules") or [] if each not in found]
    return found
