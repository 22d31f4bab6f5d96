# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What blocks an operator, by the conditions of its Subscription, and when these are outdated."""

from __future__ import annotations

import typing as t

from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, at
from .._core.readiness import Readiness, failed, pending
from . import plans
from .plans import condition, status
from .settings import another_catalogue, variable

UNPACKING: t.Final = "BundleUnpacking"
FAILED: t.Final = "BundleUnpackFailed"


def resolver_text(subscription: KubeObject | None) -> str:
    """Return the current text of the resolver; empty if it has no complaint."""
    found = condition(subscription, "ResolutionFailed")
    return str(found.get("message") or "") if found else ""


def trouble(subscription: KubeObject, package: str) -> Readiness | None:
    """Return what blocks the operator by the Subscription's conditions, or None."""
    name = subscription["metadata"]["name"]
    if found := condition(subscription, "ResolutionFailed"):
        channel = variable(package, "channel")
        text = text_of("OLM-RESOLVE", subscription=name, answer=resolver_text(subscription), setting=channel)
        lasts = found.get("reason") == "ConstraintsNotSatisfiable"
        return (failed if lasts else pending)("ResolutionFailed", **text._asdict())
    unpacking = condition(subscription, UNPACKING)
    if unpacking and unpacking.get("message"):
        return failed(UNPACKING, **unpack_text(name, unpacking["message"]))
    if found := condition(subscription, FAILED):
        # With both conditions OLM has begun again, or is a release that never removes one.
        why = f"{FAILED}: {found.get('message') or found.get('reason')}"
        return failed(UNPACKING if unpacking else FAILED, **unpack_text(name, why))
    if found := condition(subscription, "InstallPlanFailed"):
        plan = at(subscription, "status.installPlanRef.name") or "NAME"
        return failed("InstallPlanFailed", **plans.failed_text(subscription, plan, found))
    found = condition(subscription, "CatalogSourcesUnhealthy")
    if found and not at(subscription, "status.installedCSV"):
        why, catalogue = f"Subscription {name}: {found.get('message')}", another_catalogue(package)
        text = text_of("OLM-CATALOG", package=package, why=why, catalogue=catalogue)
        return pending("CatalogSourcesUnhealthy", **text._asdict())
    return None


def unpack_text(subscription: str, why: str) -> dict[str, str]:
    """Return the text of a bundle that is not unpacked, before its Jobs are read."""
    job = "delete the failed Job in the catalogue's namespace"
    text = text_of("OLM-UNPACK", subscription=subscription, why=why, images="the bundle image", command=job)
    return text._asdict()


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
