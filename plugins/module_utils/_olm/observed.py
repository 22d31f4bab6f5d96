# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What OLM's objects say of one Subscription: its conditions, its status and its InstallPlan."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import conditions
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject, Snapshot

# States of a catalogue that serves packages. OLM reconnects an idle connection at once and uses the
# catalogue, but the status can say IDLE for minutes.
USABLE: t.Final = ("READY", "IDLE")


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
