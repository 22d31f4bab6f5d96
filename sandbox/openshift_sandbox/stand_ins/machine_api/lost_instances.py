# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for those who end instances: a person (instance_lost) and the spot market (spot_reclaimed).

The spot market gives notice through the termination handler; the real notice is two minutes. A trouble takes
instances that exist when it begins, `count` of them or all; those that replace them live.
"""

from __future__ import annotations

import json
import typing as t

from openshift_sandbox.stand_ins.clouds.cloud import Cloud, Lost, provider_spec, where
from openshift_sandbox.stand_ins.core.conditions import condition, holds, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

ROLE: t.Final = "machine.openshift.io/cluster-api-machine-role"
GONE: t.Final = Lost("can't find created instance")
NOTICE: t.Final = condition(
    "Terminating", True, "TerminationRequested", "The cloud provider has marked this instance for termination"
)


class LostInstances:
    def __init__(self) -> None:
        self._victims: dict[str, set[str]] = {}

    def look(self, cluster: Cluster, cloud: Cloud) -> None:
        """Choose the victims of new troubles, forget those of old troubles, give notice to spot instances."""
        troubles = [*cluster.troubles("instance_lost"), *cluster.troubles("spot_reclaimed")]
        known, self._victims = self._victims, {}
        for trouble in troubles:
            name = json.dumps(trouble, sort_keys=True)
            self._victims[name] = (
                known[name] if name in known else chosen(trouble, cloud, cluster.objects("Machine"))
            )
            if trouble["type"] == "spot_reclaimed":
                self._give_notice(cluster, self._victims[name])

    def lost(self, cluster: Cluster, machine: Object) -> Lost | None:
        uid = machine["metadata"]["uid"]
        for name, victims in self._victims.items():
            if uid in victims and (
                json.loads(name)["type"] == "instance_lost" or cluster.due(uid, "spot_notice", 5.0)
            ):
                return GONE
        return None

    def _give_notice(self, cluster: Cluster, victims: set[str]) -> None:
        for machine in cluster.objects("Machine"):
            node = cluster.find(
                "Node", ((machine.get("status") or {}).get("nodeRef") or {}).get("name") or ""
            )
            if machine["metadata"]["uid"] in victims and node is not None and not holds(node, "Terminating"):
                conditions = merged(node["status"].get("conditions") or [], [NOTICE])
                version = {"resourceVersion": node["metadata"]["resourceVersion"]}
                cluster.patch(
                    "Node",
                    node["metadata"]["name"],
                    None,
                    {"metadata": version, "status": {"conditions": conditions}},
                    "status",
                )


def chosen(trouble: Object, cloud: Cloud, machines: t.Sequence[Object]) -> set[str]:
    """Return the uids of the Machines that a trouble takes, the oldest first.

    Control plane Machines only by name.
    """
    found = [one for one in machines if one["spec"].get("providerID") and _meant(trouble, cloud, one)]
    found.sort(key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"]))
    return {one["metadata"]["uid"] for one in found[: trouble.get("count", len(found))]}


def _meant(trouble: Object, cloud: Cloud, machine: Object) -> bool:
    wanted = cloud.wanted(provider_spec(machine))
    place = where(wanted) | {"machine": machine["metadata"]["name"]}
    if (machine["metadata"].get("labels") or {}).get(ROLE) == "master" and "machine" not in trouble:
        return False
    taken = trouble["type"] == "instance_lost" or wanted.interruptible
    return taken and all(trouble.get(field, value) == value for field, value in place.items())
