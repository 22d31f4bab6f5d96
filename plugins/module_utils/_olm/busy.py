# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the approval of an InstallPlan ends: the upgraded operator replaces drivers that run."""

from __future__ import annotations

import contextlib
import json
import typing as t

from .._core import diff
from .._core.objects import KubeObject, Snapshot
from .._impact import consent, driver, policy_fields
from .._impact.impact import Question
from .._kube.client import Api
from .._kube.kinds import known
from . import csv as olm_csv, plans, unpack
from .helm_values import PACKAGE
from .subscription import OperatorParams, leads_on

# Image in the operator's env -> the part of a ClusterPolicy that can name another image.
_IMAGES: t.Final[dict[str, tuple[str, ...]]] = {
    "DRIVER_IMAGE": ("driver",),
    "DRIVER_MANAGER_IMAGE": ("driver", "manager"),
    "GDS_IMAGE": ("gds",),
    "GDRCOPY_IMAGE": ("gdrcopy",),
}
_SIDECARS: t.Final = ("GDS_IMAGE", "GDRCOPY_IMAGE")

CODE: t.Final = "OLM-BUSY"
_UNKNOWN: t.Final = "the plan does not show what changes"


def next_csv(api: Api, plan: KubeObject) -> KubeObject | None:
    """Return the GPU operator's CSV in the plan, or in the ConfigMap that the plan names; None if unknown."""
    name = _name(plan, PACKAGE)
    found = shown(plan, name) or {}
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
    changes = csv_changes(running, following) if following else ()
    return questions(objects, _upgrade(plan, running, name), changes)


def questions(objects: t.Iterable[KubeObject], event: str, changes: t.Sequence[str]) -> list[Question]:
    """Return what to find out before an upgrade of the GPU operator.

    objects: ClusterPolicies and NVIDIADrivers. event: what happens, as a clause. changes: what is known to
    change in the drivers' templates; empty if nothing is known.
    """
    found = []
    for obj in objects:
        is_own = "driverType" in (obj.get("spec") or {})
        if not is_own and (_is_delegated(obj) or not driver.replaces(obj)):
            continue
        if is_own and not driver.replaces_own(obj):
            continue
        images = reaching(changes, obj)
        why = f"{event}: {', '.join(images) or _UNKNOWN}"
        selector = (obj["spec"].get("nodeSelector") or {}) if is_own else {}
        rules = driver.upgrade_policy(obj)
        found.append(
            Question(why, driver.UPGRADE, driver.DRIVEN, selector, is_certain=bool(images), rules=rules)
        )
    return found


def ask_before_subscription(
    api: Api, live: KubeObject, wanted: KubeObject, params: OperatorParams, target: str
) -> None:
    """Raise OLM-BUSY as on_busy says, before a Subscription that leads to an upgrade is changed.

    Its InstallPlan does not exist yet, so nothing about the upgrade is certain. target: the wanted CSV.
    """
    installed = str((live.get("status") or {}).get("installedCSV") or "")
    if installed in ("", target) or not leads_on(live, params) or diff.covers(live["spec"], wanted["spec"]):
        return
    object_name = f"the Subscription leads from {installed} to {target}"
    asked: list[Question] = []
    if params["name"] == PACKAGE:
        policies = api.list_if_served(known("ClusterPolicy"))
        asked = questions([*policies, *drivers(api, policies)], object_name, ())
    elif policies := consent.nic_policies(api):
        asked = [policy_fields.nic_upgrade(f"{object_name}: {_UNKNOWN}", policies)]
    consent.ask(api, asked, params["on_busy"], CODE)


def ask_about_nics(
    api: Api, plan: KubeObject, seen: Snapshot, params: OperatorParams
) -> list[dict[str, t.Any]]:
    """Return what the approval of the network operator's plan ends. Raise OLM-BUSY as on_busy says."""
    running = olm_csv.named(seen["csvs"], plans.status(seen, "installedCSV"))
    name = _name(plan, params["name"])
    if running is None or not name:
        return []
    asked = about_nics(consent.nic_policies(api), plan, running, name)
    return consent.ask(api, asked, params["on_busy"], CODE)


def about_nics(
    policies: t.Sequence[KubeObject], plan: KubeObject, running: KubeObject, name: str
) -> list[Question]:
    """Return what to find out before the network operator's plan is approved: it may change its templates."""
    if not driver.has_nic_driver(policies):
        return []
    return [policy_fields.nic_upgrade(f"{_upgrade(plan, running, name)}: {_UNKNOWN}", policies)]


def _upgrade(plan: KubeObject, running: KubeObject, name: str) -> str:
    return f"InstallPlan {plan['metadata']['name']} replaces {running['metadata']['name']} by {name}"


def _name(plan: KubeObject, package: str) -> str:
    return next((name for name in plans.names(plan) if name.startswith(f"{package}.")), "")


def _is_delegated(policy: KubeObject) -> bool:
    return bool(((policy.get("spec") or {}).get("driver") or {}).get("useNvidiaDriverCRD"))


def shown(plan: KubeObject, csv: str) -> KubeObject | None:
    """Return the CSV in the plan, or the reference to the ConfigMap of its bundle, or None."""
    return next(iter(resources(plan, "ClusterServiceVersion", csv)), None)


def resources(plan: KubeObject, kind: str, name: str = "") -> list[KubeObject]:
    """Return the plan's objects of this kind, or references to ConfigMaps of bundles; name: only this one."""
    found = []
    for step in (plan.get("status") or {}).get("plan") or []:
        resource = step.get("resource") or {}
        if resource.get("kind") == kind and name in ("", resource.get("name")):
            with contextlib.suppress(ValueError):
                content = json.loads(resource.get("manifest") or "")
                found += [content] if isinstance(content, dict) else []
    return found


def csv_changes(running: KubeObject | None, following: KubeObject | None) -> tuple[str, ...]:
    """Return what differs between two CSVs of the GPU operator in what a driver's template is made from.

    Names of the env are first, then paths of the example of a ClusterPolicy. An empty tuple says only that
    the CSVs do not show a difference: the operator's image has templates of its own.
    """
    before, after = env(running), env(following)
    names = [name for name in _IMAGES if before.get(name, "") != after.get(name, "")]
    examples = [{"spec": _example(csv)} for csv in (running, following)]
    return (*names, *(f"alm-examples {path}" for path in driver.template_changes(examples[0], examples[1])))


def images(csv: KubeObject | None) -> dict[str, str]:
    """Return name -> image of the env from which the operator makes a driver's template."""
    found = env(csv)
    return {name: found[name] for name in _IMAGES if found.get(name)}


def reaching(changes: t.Iterable[str], policy: KubeObject) -> list[str]:
    """Return those changed images that the ClusterPolicy, or the NVIDIADriver, leaves to the operator."""
    spec = policy.get("spec") or {}
    own = spec if "driverType" in spec else spec.get("driver") or {}
    found = []
    for name in (image for image in changes if image in _IMAGES):
        *_driver, last = _IMAGES[name]
        part = own if last == "driver" else (spec.get(last) or own.get(last) or {})
        is_used = name not in _SIDECARS or bool(part.get("enabled"))
        if is_used and not (part.get("version") and part.get("image")):
            found.append(name)
    return found


def env(csv: KubeObject | None) -> dict[str, str]:
    """Return the env of the operator's Deployments; the image list of the CSV is not complete."""
    install = (((csv or {}).get("spec") or {}).get("install") or {}).get("spec") or {}
    return {
        entry["name"]: str(entry.get("value") or "")
        for deployment in install.get("deployments") or []
        for container in deployment["spec"]["template"]["spec"].get("containers") or []
        for entry in container.get("env") or []
    }


def _example(csv: KubeObject | None) -> dict[str, t.Any]:
    text = (((csv or {}).get("metadata") or {}).get("annotations") or {}).get("alm-examples") or "[]"
    try:
        entries = json.loads(text)
    except ValueError:
        return {}
    found = (entry for entry in entries if isinstance(entry, dict) and entry.get("kind") == "ClusterPolicy")
    return next((policy.get("spec") or {} for policy in found), {})
