# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the stages before the custom resource: catalogue, install plan and CSV of OLM."""

from __future__ import annotations

import typing as t

from .._core.objects import name
from .._core.readiness import FAILED, PENDING, READY, Readiness
from .._olm import csv as olm_csv, plans
from .._olm.plans import USABLE
from . import stages
from .stages import Stage

Data = dict[str, t.Any]


def subscription(subscriptions: t.Sequence[Data], package: str) -> Data | None:
    """Return the Subscription whose package name contains package, else the only one in the namespace."""
    named = [one for one in subscriptions if package in str((one.get("spec") or {}).get("name"))]
    return next(iter(named), subscriptions[0] if len(subscriptions) == 1 else None)


def judge(found: t.Mapping[str, t.Sequence[Data]], package: str) -> list[Stage]:
    """Return the three stages. found: lists of subscriptions, plans, csvs and catalogs; unread: the error."""
    if unread := found.get("unread"):
        return [Stage(one, evidence=(f"not known: {unread[0]['message']}",)) for one in stages.OF_OLM]
    live = subscription(found["subscriptions"], package)
    csvs = [one for one in found["csvs"] if not olm_csv.is_copied(one)]
    if live is None:
        csv = next((one for one in csvs if package in name(one)), None)
        said = (f"no Subscription for {package} in the operator's namespace",)
        if csv is None:
            waiting = [Stage(one, stages.WAITING) for one in stages.OF_OLM[1:]]
            return [Stage(stages.CATALOGUE, PENDING, evidence=said), *waiting]
        fine = [Stage(one, evidence=said) for one in stages.OF_OLM[:2]]
        return [*fine, _csv(csv, name(csv))]
    seen = {"subscription": [live], "plans": found["plans"], "csvs": csvs}
    installed = plans.status(seen, "installedCSV")
    object_name = plans.status(seen, "currentCSV") or installed
    csv = olm_csv.named(csvs, installed or object_name)
    of_csv = Stage(stages.CSV, stages.WAITING, evidence=("OLM has not chosen a CSV yet",))
    return [
        _catalogue(live, next(iter(found["catalogs"]), None)),
        _plan(live, plans.current_plan(seen), is_installed=bool(installed)),
        _csv(csv, object_name) if object_name else of_csv,
    ]


def _catalogue(live: Data, catalog: Data | None) -> Stage:
    where = f"Subscription {live['metadata']['name']}"
    for kind, verdict in (("ResolutionFailed", FAILED), ("CatalogSourcesUnhealthy", PENDING)):
        if bad := plans.condition(live, kind):
            return _bad(stages.CATALOGUE, verdict, bad, f"{where}: ")
    spec = live.get("spec") or {}
    object_name = f"CatalogSource {spec.get('source')} in namespace {spec.get('sourceNamespace')}"
    if catalog is None:
        return Stage(stages.CATALOGUE, PENDING, evidence=(f"{object_name} is not there",))
    state = (catalog.get("status") or {}).get("connectionState") or {}
    told, since = str(state.get("lastObservedState") or "not connected"), str(state.get("lastConnect") or "")
    return Stage(stages.CATALOGUE, READY if told in USABLE else PENDING, since, (f"{object_name} is {told}",))


def _bad(stage: str, verdict: str, bad: Data, where: str = "") -> Stage:
    said = f"{where}{bad['type']}: {bad.get('message') or bad.get('reason')}"
    return Stage(stage, verdict, str(bad.get("lastTransitionTime") or ""), (said,))


def _plan(live: Data, plan: Data | None, is_installed: bool) -> Stage:
    # A planned or installed bundle is unpacked; OLM keeps the condition of an earlier failure.
    kinds = ("InstallPlanFailed",) if plan or is_installed else ("BundleUnpackFailed", "InstallPlanFailed")
    for kind in kinds:
        if bad := plans.condition(live, kind):
            return _bad(stages.PLAN, FAILED, bad)
    if plan is None:
        verdict = READY if is_installed else stages.WAITING
        return Stage(stages.PLAN, verdict, evidence=("there is no InstallPlan",))
    since, object_name = str(plan["metadata"].get("creationTimestamp") or ""), f"InstallPlan {name(plan)}"
    if plans.awaits_approval(plan):
        doing = "would upgrade the operator and waits" if is_installed else "waits"
        verdict = READY if is_installed else PENDING
        return Stage(stages.PLAN, verdict, since, (f"{object_name} {doing} for an approval",))
    return _read(stages.PLAN, plans.judge(plan), since)


def _csv(csv: Data | None, object_name: str) -> Stage:
    since = str(((csv or {}).get("status") or {}).get("lastTransitionTime") or "")
    found = _read(stages.CSV, olm_csv.judge(csv, object_name), since)
    # Without a CSV the stage waits for the InstallPlan that brings it.
    return found if csv is not None else found._replace(verdict=stages.WAITING)


def _read(stage: str, found: Readiness, since: str) -> Stage:
    return Stage(stage, found.verdict, since, (found.message,) if found.message else ())
