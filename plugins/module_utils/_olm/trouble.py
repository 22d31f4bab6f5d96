# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Trouble in a Subscription's conditions: what blocks the operator, and what is outdated."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject, Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    failed,
    pending,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    observed,
    plans,
    subscription as olm_subscription,
)

UNPACK: t.Final = (
    "The bundle image could not be read: check mirrors and pull secrets, "
    "then delete the failed Job in the catalogue's namespace."
)
UNPACKING: t.Final = "BundleUnpacking"
FAILED: t.Final = "BundleUnpackFailed"


def of(subscription: KubeObject) -> Readiness | None:
    """Return what blocks the operator by the Subscription's conditions, or None."""
    text, where = olm_subscription.trouble(subscription), f"Subscription {subscription['metadata']['name']}"
    found = observed.condition(subscription, "ResolutionFailed")
    if found and found.get("reason") == "ConstraintsNotSatisfiable":
        return failed("ResolutionFailed", f"{where}: {text}", code="OLM-RESOLVE", remedy=_RESOLVE)
    if found:
        return pending("ResolutionFailed", f"{where}: {text}", code="OLM-RESOLVE", remedy=_RESOLVE)
    unpacking = observed.condition(subscription, UNPACKING)
    if unpacking and unpacking.get("message"):
        return failed(UNPACKING, f"{where}: {unpacking['message']}", code="OLM-UNPACK", remedy=UNPACK)
    for kind, code, remedy in _FATAL:
        found = observed.condition(subscription, kind)
        if found:
            # With both conditions OLM has begun again, or is a release that never removes one.
            reason = UNPACKING if unpacking and kind == FAILED else kind
            return failed(
                reason,
                f"{where}: {kind}: {found.get('message') or found.get('reason')}",
                code=code,
                remedy=remedy,
            )
    found = observed.condition(subscription, "CatalogSourcesUnhealthy")
    if found and not (subscription.get("status") or {}).get("installedCSV"):
        return pending(
            "CatalogSourcesUnhealthy", f"{where}: {found.get('message')}", code="OLM-CATALOG", remedy=_CATALOG
        )
    return None


def is_over(
    bad: Readiness,
    plan: KubeObject | None,
    seen: Snapshot,
    ask: olm_subscription.Ask,
) -> bool:
    """Return True if the trouble is outdated: an InstallPlan proves that OLM has read the bundle.

    OLM can leave the conditions of unpacking on a Subscription for ever.
    """
    installed = observed.status(seen, "installedCSV")
    return (
        bad.code == "OLM-UNPACK"
        and plan is not None
        and (not installed or plans.phase(plan) != "Complete" or installed == ask.target)
    )


_RESOLVE: t.Final = (
    "The text names what excludes what: another channel, a missing dependency, or a second OperatorGroup."
)
_CATALOG: t.Final = "oc -n openshift-marketplace get catalogsource,pods"
_FATAL: t.Final = (
    (FAILED, "OLM-UNPACK", UNPACK),
    ("InstallPlanFailed", "OLM-PLAN-FAILED", "Correct the cause, delete the InstallPlan and run again."),
)
