# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""InstallPlan: may this one be approved?"""

from __future__ import annotations

import fnmatch
import json
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    failed,
    pending,
    ready,
)

Object = dict[str, t.Any]

WAITING: t.Final = "RequiresApproval"


def names(plan: Object) -> list[str]:
    return [str(name) for name in (plan.get("spec") or {}).get("clusterServiceVersionNames") or []]


def phase(plan: Object) -> str:
    return str((plan.get("status") or {}).get("phase") or "")


def is_approved(plan: Object) -> bool:
    return bool((plan.get("spec") or {}).get("approved"))


def awaits_approval(plan: Object | None) -> bool:
    """Only in this phase is an approval an answer to what the plan shows now."""
    return plan is not None and phase(plan) == WAITING and not is_approved(plan)


def shown(plan: Object, csv: str) -> Object | None:
    """What the plan holds of a CSV: the CSV itself, or a reference to the ConfigMap that its bundle was unpacked into."""
    for step in (plan.get("status") or {}).get("plan") or []:
        resource = step.get("resource") or {}
        if resource.get("kind") == "ClusterServiceVersion" and resource.get("name") == csv:
            try:
                found = json.loads(resource.get("manifest") or "")
            except ValueError:
                return None
            return found if isinstance(found, dict) else None
    return None


def foreign(plan: Object, asked: t.Iterable[str], allowed: t.Iterable[str]) -> list[str]:
    """CSVs of the plan that nobody asked for; allowed entries may be patterns such as `nfd.*`."""
    known, patterns = set(asked), list(allowed)
    return [
        name
        for name in names(plan)
        if name not in known and not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]


def refuse(plan: Object, asked: t.Iterable[str], allowed: t.Iterable[str]) -> Readiness | None:
    """The verdict on a plan that would install more than was asked for."""
    strangers = foreign(plan, asked, allowed)
    if not strangers:
        return None
    name, namespace = plan["metadata"]["name"], plan["metadata"].get("namespace")
    return failed(
        "ForeignCSV",
        f"InstallPlan {name} in namespace {namespace} would also install {', '.join(strangers)}; it was not approved.",
        code="OLM-FOREIGN-CSV",
        remedy=f"Add what you accept to allow_csvs: [{', '.join(strangers)}], or give the other operator a namespace of its own.",
        details=tuple(
            f"{one}: {'not asked for' if one in strangers else 'asked for'}" for one in names(plan)
        ),
    )


def judge(plan: Object) -> Readiness:
    """An approved plan: ready once its steps are done."""
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
        remedy="Look at the catalog-operator's log.",
    )
