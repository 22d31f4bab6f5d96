# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""InstallPlans: their CSVs, their phase, and whether one may be approved."""

from __future__ import annotations

import contextlib
import fnmatch
import json
import typing as t

from .._core.objects import KubeObject
from .._core.readiness import Readiness, failed, pending, ready

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


def foreign_names(plan: KubeObject, asked: t.Iterable[str], allowed: t.Iterable[str]) -> list[str]:
    """Return the plan's CSVs that nobody asked for. allowed: patterns such as `nfd.*`."""
    known, patterns = set(asked), list(allowed)
    return [
        name
        for name in names(plan)
        if name not in known and not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]


def refuse(plan: KubeObject, asked: t.Iterable[str], allowed: t.Iterable[str]) -> Readiness | None:
    """Return failed with OLM-FOREIGN-CSV if the plan would install other CSVs as well, else None."""
    foreign = foreign_names(plan, asked, allowed)
    if not foreign:
        return None
    name, namespace = plan["metadata"]["name"], plan["metadata"].get("namespace")
    return failed(
        "ForeignCSV",
        f"InstallPlan {name} in namespace {namespace} would also install {', '.join(foreign)}; "
        "it was not approved.",
        code="OLM-FOREIGN-CSV",
        remedy=f"Add what you accept to allow_csvs: [{', '.join(foreign)}] (in a role: ROLE_allow_csvs), "
        "or install the other operator in another namespace.",
        details=tuple(f"{one}: {'not asked for' if one in foreign else 'asked for'}" for one in names(plan)),
    )


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
