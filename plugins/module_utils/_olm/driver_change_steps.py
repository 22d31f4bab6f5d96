# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Check before the approval of an upgrade of the GPU operator: does it change the driver, and may it?"""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject, Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    csv,
    driver_change,
    helm_values,
    observed,
    plans,
    unpack,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._olm.params import OlmOperatorParams

_POLICY: t.Final = known("ClusterPolicy")


def decide(api: Api, plan: KubeObject, seen: Snapshot, params: OlmOperatorParams) -> list[KubeObject]:
    """Do what driver_change says and return the facts about the change; nothing if the driver stays.

    Raise OLM-DRIVER-CHANGE if driver_change is ask.
    """
    try:
        policies = api.list(_POLICY)
    except KindNotServedError:
        return []
    if not any(map(driver_change.follows, policies)):
        return []
    running = csv.named(seen["csvs"], observed.status(seen, "installedCSV"))
    change = driver_change.find(plan, running, _following(api, plan), policies)
    if change is None:
        return []
    if params["driver_change"] == driver_change.PIN:
        return [_pin(api, change, params["adopt"] == "take")]
    nodes = api.list(known("Node"), labels=driver_change.DRIVEN)
    pods = api.list(known("Pod"), keep=_at_work) if nodes else []
    if params["driver_change"] == driver_change.ASK:
        raise driver_change.refuse(change, nodes, pods)
    api.warn(f"{change.text} (driver_change: allow).")
    return [{**driver_change.summarize(change, nodes, pods), "action": driver_change.ALLOW}]


def _following(api: Api, plan: KubeObject) -> KubeObject | None:
    """Return the CSV that the plan installs; for a bundle image it is in a ConfigMap that the plan names."""
    name = next((one for one in plans.names(plan) if one.startswith(f"{helm_values.PACKAGE}.")), "")
    found = plans.shown(plan, name) or {}
    if found.get("kind") != "ConfigMap":
        return found or None
    return unpack.csv(api.get(known("ConfigMap"), str(found.get("name")), str(found.get("namespace"))), name)


def _pin(api: Api, change: driver_change.Change, take: bool) -> KubeObject:
    driver_change.check_pin(change, owned, take)
    driver = driver_change.triple(change.image)
    for policy in change.policies:
        api.merge_patch(_POLICY, policy["metadata"]["name"], None, {"spec": {"driver": driver}})
    return {**driver_change.summarize(change, [], []), "action": driver_change.PIN, "to": change.image}


def _at_work(pod: KubeObject) -> KubeObject | None:
    return pod if drain.busy([pod]) else None
