# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a colleague who scales a GPU MachineSet by hand (scaled_by_hand).

`oc scale` writes through the subresource `scale`, as manager kubectl; the console writes the MachineSet, as
manager Mozilla. The real person may do it at any time; this one waits until the set is ready, and does it
once for each set and trouble.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import MERGE, resource_path
from openshift_sandbox.stand_ins.core.kinds import TABLE
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

GPUS: t.Final = "machine.openshift.io/GPU"
KUBECTL: t.Final = "kubectl"


class ForeignScales(Reconciler):
    kinds = ("MachineSet",)

    def __init__(self) -> None:
        self._done: dict[str, Object] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for machine_set in cluster.objects("MachineSet"):
            metadata = machine_set["metadata"]
            trouble = cluster.trouble("scaled_by_hand", machine_set=metadata["name"])
            if trouble is None:
                self._done.pop(metadata["uid"], None)
            elif self._done.get(metadata["uid"]) != trouble and _concerned(trouble, machine_set):
                if cluster.due(metadata["uid"], "scale_by_hand", 3.0):
                    scale(cluster, machine_set, str(trouble.get("manager", KUBECTL)), trouble["replicas"])
                    self._done[metadata["uid"]] = trouble
            else:
                cluster.restart(metadata["uid"], "scale_by_hand")


def scale(cluster: Cluster, machine_set: Object, manager: str, replicas: int) -> None:
    """Set the replicas of a set, as this manager does it. Raises ApiError."""
    api_version, plural = TABLE["MachineSet"]
    metadata = machine_set["metadata"]
    path = resource_path(api_version, plural, metadata["name"], metadata["namespace"])
    cluster.client.checked(
        "PATCH",
        f"{path}/scale" if manager == KUBECTL else path,
        {"spec": {"replicas": replicas}},
        MERGE,
        {"fieldManager": manager},
    )


def _concerned(trouble: Object, machine_set: Object) -> bool:
    """Return whether a set is ready, and either named by the trouble or one of GPUs."""
    status, replicas = machine_set.get("status") or {}, machine_set["spec"].get("replicas", 1)
    gpus = (machine_set["metadata"].get("annotations") or {}).get(GPUS, "0")
    return (
        not machine_set["metadata"].get("deletionTimestamp")
        and ("machine_set" in trouble or gpus != "0")
        and replicas > 0
        and status.get("readyReplicas", 0) == replicas
    )
