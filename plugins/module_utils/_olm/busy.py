# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What the approval of an InstallPlan ends: the upgraded operator replaces drivers that run."""

from __future__ import annotations

import typing as t

from .._core import diff
from .._core.objects import KubeObject, Snapshot
from .._impact import consent, driver
from .._impact.impact import Question
from .._kube.client import Api
from .._kube.kinds import known
from . import csv as olm_csv, observed, plans, unpack
from .helm_values import PACKAGE
from .subscription import UPGRADE, OlmOperatorParams

CODE: t.Final = "OLM-BUSY"
_UNKNOWN: t.Final = "the plan does not show what changes"


def next_csv(api: Api, plan: KubeObject) -> KubeObject | None:
    """Return the GPU operator's CSV in the plan, or in the ConfigMap that the plan names; None if unknown."""
    name = _name(plan, PACKAGE)
    found = plans.shown(plan, name) or {}
    if found.get("kind") != "ConfigMap":
        return found or None
    return unpack.csv(api.get(known("ConfigMap"), str(found.get("name")), str(found.get("namespace"))), name)


def drivers(api: Api, policies: t.Collection[KubeObject]) -> list[KubeObject]:
    """Return the NVIDIADrivers if these install the drivers: a policy says so, or there is no policy."""
    if policies and not any(map(_is_delegated, policies)):
        return []
    return api.list_if_served(known("NVIDIADriver"))


def about_drivers(
    plan: KubeObject,
    running: KubeObject | None,
    following: KubeObject | None,
    objects: t.Iterable[KubeObject],
) -> list[Question]:
    """Return what to find out before the GPU operator's plan is approved.

    objects: ClusterPolicies and NVIDIADrivers. An operator that replaces no pod by itself (autoUpgrade is
    off) ends nothing. following: the next CSV; None if the plan does not show it.
    """
    name = _name(plan, PACKAGE)
    if running is None or not name:
        return []
    changes = driver.csv_changes(running, following) if following else ()
    return questions(objects, _title(plan, running, name), changes)


def questions(objects: t.Iterable[KubeObject], title: str, changes: t.Sequence[str]) -> list[Question]:
    """Return what to find out before an upgrade of the GPU operator.

    objects: ClusterPolicies and NVIDIADrivers. title: what happens, as a clause. changes: what is known to
    change in the drivers' templates; empty if nothing is known.
    """
    found = []
    for one in objects:
        is_own = "driverType" in (one.get("spec") or {})
        if not is_own and (_is_delegated(one) or not driver.replaces(one)):
            continue
        if is_own and not driver.replaces_own(one):
            continue
        images = driver.reaching(changes, one)
        why = f"{title}: {', '.join(images) or _UNKNOWN}"
        selector = (one["spec"].get("nodeSelector") or {}) if is_own else {}
        found.append(Question(why, driver.UPGRADE, driver.DRIVEN, selector, is_certain=bool(images)))
    return found


def ask_before_subscription(
    api: Api, live: KubeObject, wanted: KubeObject, params: OlmOperatorParams, target: str
) -> None:
    """Raise OLM-BUSY as on_busy says, before a Subscription that leads to an upgrade is changed.

    Its InstallPlan does not exist yet, so nothing about the upgrade is certain. target: the wanted CSV.
    """
    installed = str((live.get("status") or {}).get("installedCSV") or "")
    is_upgrade = installed and params["approve"] == UPGRADE and installed != target
    if not is_upgrade or diff.covers(live["spec"], wanted["spec"]):
        return
    title = f"the Subscription leads from {installed} to {target}"
    asked: list[Question] = []
    if params["name"] == PACKAGE:
        policies = api.list_if_served(known("ClusterPolicy"))
        asked = questions([*policies, *drivers(api, policies)], title, ())
    elif api.list_if_served(known("NicClusterPolicy")):
        asked = [Question(f"{title}: {_UNKNOWN}", driver.NIC_UPGRADE, driver.NIC_NODES, is_certain=False)]
    consent.ask(api, asked, params["on_busy"], CODE)


def ask_about_nics(
    api: Api, plan: KubeObject, seen: Snapshot, params: OlmOperatorParams
) -> list[dict[str, t.Any]]:
    """Return what the approval of the network operator's plan ends. Raise OLM-BUSY as on_busy says."""
    running = olm_csv.named(seen["csvs"], observed.status(seen, "installedCSV"))
    name = _name(plan, params["name"])
    if running is None or not name:
        return []
    policies = api.list_if_served(known("NicClusterPolicy"))
    asked = about_nics(policies, plan, running, name)
    return consent.ask(api, asked, params["on_busy"], CODE)


def about_nics(
    policies: t.Iterable[KubeObject], plan: KubeObject, running: KubeObject, name: str
) -> list[Question]:
    """Return what to find out before the network operator's plan is approved: it may change its templates."""
    if not any((one.get("spec") or {}).get("ofedDriver") for one in policies):
        return []
    why = f"{_title(plan, running, name)}: {_UNKNOWN}"
    return [Question(why, driver.NIC_UPGRADE, driver.NIC_NODES, is_certain=False)]


def _title(plan: KubeObject, running: KubeObject, name: str) -> str:
    return f"InstallPlan {plan['metadata']['name']} replaces {running['metadata']['name']} by {name}"


def _name(plan: KubeObject, package: str) -> str:
    return next((one for one in plans.names(plan) if one.startswith(f"{package}.")), "")


def _is_delegated(policy: KubeObject) -> bool:
    return bool(((policy.get("spec") or {}).get("driver") or {}).get("useNvidiaDriverCRD"))
