# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subscriptions and InstallPlans as OLM reports them: conditions, status, CSVs, phase, and approval."""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, at
from .._core.readiness import Readiness, failed, pending, ready

# States of a catalogue that serves packages. OLM reconnects an idle connection at once and uses the
# catalogue, but the status can say IDLE for minutes.
USABLE: t.Final = ("READY", "IDLE")

WAITING: t.Final = "RequiresApproval"


def names(plan: KubeObject) -> list[str]:
    """Return the names of the CSVs that the plan installs."""
    return list(map(str, at(plan, "spec.clusterServiceVersionNames") or []))


def phase(plan: KubeObject) -> str:
    return str(at(plan, "status.phase") or "")


def is_approved(plan: KubeObject) -> bool:
    return bool(at(plan, "spec.approved"))


def awaits_approval(plan: KubeObject | None) -> bool:
    """Return True if the plan waits for approval; in another phase it can still change."""
    return plan is not None and phase(plan) == WAITING and not is_approved(plan)


def judge(plan: KubeObject) -> Readiness:
    """Return the state of an approved plan: ready if it is Complete."""
    where, state = f"InstallPlan {plan['metadata']['name']}", phase(plan)
    if state == "Failed":
        causes = [
            condition
            for condition in at(plan, "status.conditions") or []
            if condition.get("status") == "False" or condition.get("type") == "Installed"
        ]
        return failed("PlanFailed", **failed_text(plan, plan["metadata"]["name"], *causes))
    if state == "Complete":
        return ready("PlanComplete", f"{where} is complete")
    doing = "approved, OLM has not begun" if state == WAITING else state or "being planned"
    return pending("PlanRunning", **text_of("OLM-PENDING", state=f"{where} is {doing}")._asdict())


def failed_text(obj: KubeObject, plan: str, *causes: KubeObject) -> dict[str, str]:
    """Return the text of a failed plan. obj: in its namespace. causes: conditions that say why."""
    why = "; ".join(str(cause.get("message") or cause.get("reason")) for cause in causes) or "no message"
    text = text_of("OLM-PLAN-FAILED", plan=plan, namespace=obj["metadata"].get("namespace"), why=why)
    return text._asdict()


def condition(subscription: KubeObject | None, kind: str) -> KubeObject | None:
    """Return the condition of this type if it is True, else None; True always means trouble."""
    return conditions.find(subscription, kind) if conditions.is_true(subscription, kind) else None


def current_plan(seen: Snapshot) -> KubeObject | None:
    """Return the InstallPlan to which the Subscription refers, or None."""
    subscription = next(iter(seen["subscription"]), None)
    wanted = at(subscription, "status.installPlanRef.name")
    return next((plan for plan in seen["plans"] if plan["metadata"]["name"] == wanted), None)


def status(seen: Snapshot, field: str) -> str:
    """Return a field of the Subscription's status, or an empty string."""
    return str(at(next(iter(seen["subscription"]), None), f"status.{field}") or "")
