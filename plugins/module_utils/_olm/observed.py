# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What blocks an operator, by the conditions of its Subscription, and when these are outdated."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, Snapshot
from .._core.readiness import Readiness, failed, pending
from . import plans
from .plans import condition, status

UNPACK: t.Final = (
    "The bundle image could not be read: check mirrors and pull secrets, "
    "then delete the failed Job in the catalogue's namespace."
)
UNPACKING: t.Final = "BundleUnpacking"
FAILED: t.Final = "BundleUnpackFailed"
_CATALOG: t.Final = "oc -n openshift-marketplace get catalogsource,pods"
_FATAL: t.Final = (
    (FAILED, "OLM-UNPACK", UNPACK),
    ("InstallPlanFailed", "OLM-PLAN-FAILED", "Correct the cause, delete the InstallPlan and run again."),
)


def resolver_text(subscription: KubeObject | None) -> str:
    """Return the current text of the resolver; empty if it has no complaint."""
    found = condition(subscription, "ResolutionFailed")
    return str(found.get("message") or "") if found else ""


def trouble(subscription: KubeObject, channel: str) -> Readiness | None:
    """Return what blocks the operator by the Subscription's conditions, or None.

    channel: the option's name in remedies.
    """
    resolve = (
        f"As the text says: set {channel} to another channel, install the missing dependency, or delete the "
        "second OperatorGroup."
    )
    text, where = resolver_text(subscription), f"Subscription {subscription['metadata']['name']}"
    found = condition(subscription, "ResolutionFailed")
    if found and found.get("reason") == "ConstraintsNotSatisfiable":
        return failed("ResolutionFailed", f"{where}: {text}", code="OLM-RESOLVE", remedy=resolve)
    if found:
        return pending("ResolutionFailed", f"{where}: {text}", code="OLM-RESOLVE", remedy=resolve)
    unpacking = condition(subscription, UNPACKING)
    if unpacking and unpacking.get("message"):
        return failed(UNPACKING, f"{where}: {unpacking['message']}", code="OLM-UNPACK", remedy=UNPACK)
    for kind, code, remedy in _FATAL:
        found = condition(subscription, kind)
        if found:
            # With both conditions OLM has begun again, or is a release that never removes one.
            reason = UNPACKING if unpacking and kind == FAILED else kind
            return failed(
                reason,
                f"{where}: {kind}: {found.get('message') or found.get('reason')}",
                code=code,
                remedy=remedy,
            )
    found = condition(subscription, "CatalogSourcesUnhealthy")
    if found and not (subscription.get("status") or {}).get("installedCSV"):
        return pending(
            "CatalogSourcesUnhealthy", f"{where}: {found.get('message')}", code="OLM-CATALOG", remedy=_CATALOG
        )
    return None


def is_outdated(bad: Readiness, plan: KubeObject | None, seen: Snapshot, target: str) -> bool:
    """Return True if the trouble is outdated: an InstallPlan proves that OLM has read the bundle.

    OLM can leave the conditions of unpacking on a Subscription for ever. target: the CSV that the task wants.
    """
    installed = status(seen, "installedCSV")
    return (
        bad.code == "OLM-UNPACK"
        and plan is not None
        and (not installed or plans.phase(plan) != "Complete" or installed == target)
    )
