# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a team with a MachineConfigPool (foreign_pool). The real ones make theirs at any time."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.pools import KEYS
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

POOL: t.Final = "another-team"


class ForeignPools(Reconciler):
    kinds = ("MachineConfigPool",)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for trouble in cluster.troubles("foreign_pool"):
            wanted = pool(trouble)
            if cluster.find("MachineConfigPool", wanted["metadata"]["name"]) is None:
                cluster.create(wanted)


def pool(trouble: Object) -> Object:
    """Return a pool for the nodes with a label; by default for all of GPU pools."""
    name = str(trouble.get("name", POOL))
    label, value = trouble.get("label", "accelerators.openshift/pool"), trouble.get("value")
    one = {"key": label, "operator": "In" if value else "Exists"} | ({"values": [value]} if value else {})
    roles = {"key": f"{KEYS}role", "operator": "In", "values": ["worker", name]}
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": name, "labels": {"team": POOL}},
        "spec": {
            "machineConfigSelector": {"matchExpressions": [roles]},
            "nodeSelector": {"matchExpressions": [one]},
            "paused": bool(trouble.get("paused", False)),
        },
    }
