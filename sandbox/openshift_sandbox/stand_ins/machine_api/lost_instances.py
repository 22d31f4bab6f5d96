# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a person who ends instances (instance_lost); the real one gives no notice either.

A trouble takes instances that exist when it begins, `count` of them or all; those that replace them live.
"""

from __future__ import annotations

import json
import typing as t

from openshift_sandbox.stand_ins.clouds.cloud import Cloud, Lost, provider_spec, where
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

ROLE: t.Final = "machine.openshift.io/cluster-api-machine-role"
GONE: t.Final = Lost("can't find created instance")


class LostInstances:
    def __init__(self) -> None:
        self._victims: dict[str, set[str]] = {}

    def look(self, cluster: Cluster, cloud: Cloud) -> None:
        """Choose the victims of new troubles, and forget those of old ones."""
        known, self._victims = self._victims, {}
        for trouble in cluster.troubles("instance_lost"):
            name = json.dumps(trouble, sort_keys=True)
            self._victims[name] = (
                known[name] if name in known else chosen(trouble, cloud, cluster.objects("Machine"))
            )

    def lost(self, machine: Object) -> Lost | None:
        is_lost = any(machine["metadata"]["uid"] in victims for victims in self._victims.values())
        return GONE if is_lost else None


def chosen(trouble: Object, cloud: Cloud, machines: t.Sequence[Object]) -> set[str]:
    """Return the uids of the Machines that a trouble takes, the oldest first.

    Control plane Machines only by name.
    """
    found = [one for one in machines if one["spec"].get("providerID") and _meant(trouble, cloud, one)]
    found.sort(key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"]))
    return {one["metadata"]["uid"] for one in found[: trouble.get("count", len(found))]}


def _meant(trouble: Object, cloud: Cloud, machine: Object) -> bool:
    place = where(cloud.wanted(provider_spec(machine))) | {"machine": machine["metadata"]["name"]}
    if (machine["metadata"].get("labels") or {}).get(ROLE) == "master" and "machine" not in trouble:
        return False
    return all(trouble.get(field, value) == value for field, value in place.items())
