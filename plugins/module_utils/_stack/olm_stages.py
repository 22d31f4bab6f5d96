# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the stages before the custom resource: catalogue, install plan and CSV of OLM."""

from __future__ import annotations

import typing as t

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
        return [
            Stage(name, evidence=(f"not known: {unread[0]['message']}",))
            for name in (stages.CATALOGUE, stages.PLAN, stages.CSV)
        ]
    live = subscription(found["subscriptions"], package)
    csvs = [one for one in found["csvs"] if not olm_csv.is_copied(one)]
    if live is None:
        csv = next((one for one in csvs if package in str(one["metadata"]["name"])), None)
        said = f"no Subscription for {package} in the operator's namespace"
        if csv is None:
            return [
                Stage(stages.CATALOGUE, PENDING, evidence=(said,)),
                Stage(stages.PLAN, stages.WAITING),
                Stage(stages.CSV, stages.WAITING),
            ]
        return [
            Stage(stages.CATALOGUE, evidence=(said,)),
            Stage(stages.PLAN, evidence=(said,)),
            _csv(csv, str(csv["metadata"]["name"])),
        ]
    seen = {"subscription": [live], "plans": found["plans"], "csvs": csvs}
    name = plans.status(seen, "currentCSV") or plans.status(seen, "installedCSV")
    csv = olm_csv.named(csvs, plans.status(seen, "installedCSV") or name)
    return [
        _catalogue(live, next(iter(found["catalogs"]), None)),
        _plan(
            live,
            plans.current_plan(seen),
            is_installed=bool(plans.status(seen, "installedCSV")),
        ),
        _csv(csv, name)
        if name
        else Stage(stages.CSV, stages.WAITING, evidence=("OLM has not chosen a CSV yet",)),
    ]


def _catalogue(live: Data, catalog: Data | None) -> Stage:
    where = f"Subscription {live['metadata']['name']}"
    for kind, verdict in (("ResolutionFailed", FAILED), ("CatalogSourcesUnhealthy", PENDING)):
        if bad := plans.condition(live, kind):
            return Stage(
                stages.CATALOGUE,
                verdict,
                str(bad.get("lastTransitionTime") or ""),
                (f"{where}: {kind}: {bad.get('message') or bad.get('reason')}",),
            )
    spec = live.get("spec") or {}
    name = f"CatalogSource {spec.get('source')} in namespace {spec.get('sourceNamespace')}"
    if catalog is None:
        return Stage(stages.CATALOGUE, PENDING, evidence=(f"{name} is not there",))
    state = (catalog.get("status") or {}).get("connectionState") or {}
    told = str(state.get("lastObservedState") or "not connected")
    return Stage(
        stages.CATALOGUE,
        READY if told in USABLE else PENDING,
        str(state.get("lastConnect") or ""),
        (f"{name} is {told}",),
    )


def _plan(live: Data, plan: Data | None, is_installed: bool) -> Stage:
    # A planned or installed bundle is unpacked; OLM keeps the condition of an earlier failure.
    kinds = ("InstallPlanFailed",) if plan or is_installed else ("BundleUnpackFailed", "InstallPlanFailed")
    for kind in kinds:
        if bad := plans.condition(live, kind):
            return Stage(
                stages.PLAN,
                FAILED,
                str(bad.get("lastTransitionTime") or ""),
                (f"{kind}: {bad.get('message') or bad.get('reason')}",),
            )
    if plan is None:
        return Stage(
            stages.PLAN, READY if is_installed else stages.WAITING, evidence=("there is no InstallPlan",)
        )
    since, name = str(plan["metadata"].get("creationTimestamp") or ""), plan["metadata"]["name"]
    if plans.awaits_approval(plan):
        if is_installed:
            return Stage(
                stages.PLAN,
                READY,
                since,
                (f"InstallPlan {name} would upgrade the operator and waits for an approval",),
            )
        return Stage(stages.PLAN, PENDING, since, (f"InstallPlan {name} waits for an approval",))
    return _read(stages.PLAN, plans.judge(plan), since)


def _csv(csv: Data | None, name: str) -> Stage:
    since = str(((csv or {}).get("status") or {}).get("lastTransitionTime") or "")
    found = _read(stages.CSV, olm_csv.judge(csv, name), since)
    # Without a CSV the stage waits for the InstallPlan that brings it.
    return found if csv is not None else found._replace(verdict=stages.WAITING)


def _read(stage: str, found: Readiness, since: str) -> Stage:
    return Stage(stage, found.verdict, since, (found.message,) if found.message else ())
