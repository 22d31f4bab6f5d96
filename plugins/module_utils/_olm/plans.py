# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subscriptions and InstallPlans as OLM reports them: conditions, status, CSVs, phase, and approval."""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.objects import KubeObject, Snapshot
from .._core.readiness import Readiness, failed, pending, ready

# States of a catalogue that serves packages. OLM reconnects an idle connection at once and uses the
# catalogue, but the status can say IDLE for minutes.
USABLE: t.Final = ("READY", "IDLE")

WAITING: t.Final = "RequiresApproval"
CATALOG_OPERATOR_LOG: t.Final = (
    "Run `oc logs -n openshift-operator-lifecycle-manager deployment/catalog-operator --tail=50`."
)


def names(plan: KubeObject) -> list[str]:
    """Return the names of the CSVs that the plan installs."""
    return [str(name) for name in (plan.get("spec") or {}).get("clusterServiceVersionNames") or []]


def phase(plan: KubeObject) -> str:
    return str((plan.get("status") or {}).get("phase") or "")


def is_approved(plan: KubeObject) -> bool:
    return bool((plan.get("spec") or {}).get("approved"))


def awaits_approval(plan: KubeObject | None) -> bool:
    """Return True if the plan waits for approval; in another phase it can still change."""
    return plan is not None and phase(plan) == WAITING and not is_approved(plan)


def judge(plan: KubeObject) -> Readiness:
    """Return the state of an approved plan: ready if it is Complete."""
    where, state = f"InstallPlan {plan['metadata']['name']}", phase(plan)
    if state == "Failed":
        conditions = (plan.get("status") or {}).get("conditions") or []
        said = [
            str(one.get("message") or one.get("reason"))
            for one in conditions
            if one.get("status") == "False" or one.get("type") == "Installed"
        ]
        text = "; ".join(said) or "no message"
        return failed(
            "PlanFailed",
            f"{where} failed: {text}.",
            code="OLM-PLAN-FAILED",
            remedy="Correct the cause, delete the InstallPlan and run again.",
        )
    if state == "Complete":
        return ready("PlanComplete", f"{where} is complete")
    doing = "approved, OLM has not begun" if state == WAITING else state or "being planned"
    return pending(
        "PlanRunning",
        f"{where} is {doing}",
        code="OLM-PLAN-PENDING",
        remedy=CATALOG_OPERATOR_LOG,
    )


def condition(subscription: KubeObject | None, kind: str) -> KubeObject | None:
    """Return the condition of this type if it is True, else None; True always means trouble."""
    return conditions.find(subscription, kind) if conditions.is_true(subscription, kind) else None


def current_plan(seen: Snapshot) -> KubeObject | None:
    """Return the InstallPlan to which the Subscription refers, or None."""
    subscription = next(iter(seen["subscription"]), None)
    wanted = (((subscription or {}).get("status") or {}).get("installPlanRef") or {}).get("name")
    return next((plan for plan in seen["plans"] if plan["metadata"]["name"] == wanted), None)


def status(seen: Snapshot, field: str) -> str:
    """Return a field of the Subscription's status, or an empty string."""
    subscription = next(iter(seen["subscription"]), None) or {}
    return str((subscription.get("status") or {}).get(field) or "")
