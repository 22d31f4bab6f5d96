# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The channel of a Subscription: set it for a stop, wait for OLM's new plan, put it back after a refusal."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject, Snapshot
from .._core.readiness import Readiness, pending, ready
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._olm import plans, subscription as olm_subscription

# Annotation of a Subscription at a stop on its way: the channel that it goes back to.
UPGRADES_TO: t.Final = "accelerators.openshift/upgrades-to-channel"
# Seconds in which OLM replaces a plan of the channel before.
_REACTION: t.Final = 60.0


def held(live: KubeObject) -> str:
    """Return the channel that the Subscription follows; an interrupted upgrade has left it in a note."""
    noted = (live["metadata"].get("annotations") or {}).get(UPGRADES_TO)
    return str(noted or live["spec"].get("channel") or "")


def keep(api: Api, live: KubeObject, ask: olm_subscription.Ask, last: str) -> KubeObject:
    """Apply the Subscription with the channel of the stop, if it has another one, and return it.

    last: the channel of the last stop. A note keeps it for the next run until the Subscription has it.
    """
    wanted = olm_subscription.build(ask, live["metadata"]["namespace"], live, live["spec"].get("config"))
    if ask.channel != last:
        wanted["metadata"]["annotations"] = {UPGRADES_TO: last}
    return api.apply(wanted, live=live)


def without_outdated_plan(
    api: Api, before: KubeObject, live: KubeObject, ask: olm_subscription.Ask
) -> KubeObject:
    """Return the Subscription once OLM no longer offers a plan of the former channel.

    before: the Subscription with the former channel.
    """
    if before["spec"].get("channel") == live["spec"].get("channel"):
        return live
    name, namespace = live["metadata"]["name"], live["metadata"]["namespace"]
    queries = {
        "subscription": Query(known("Subscription"), namespace, name),
        "plans": Query(known("InstallPlan"), namespace),
        "csvs": Query(known("ClusterServiceVersion"), namespace),
    }
    ends = api.clock() + _REACTION

    def judge(seen: Snapshot) -> Readiness:
        plan = plans.current_plan(seen)
        names = plans.names(plan) if plan is not None and plans.awaits_approval(plan) else []
        outdated = [one for one in names if one.startswith(f"{ask.package}.") and one not in ask.path]
        if not outdated or api.clock() >= ends:
            return ready("Resolved", "OLM has looked at the new channel")
        state = f"it still offers {', '.join(outdated)}, which channel {ask.channel} does not lead to"
        return pending("Outdated", **text_of("OLM-PENDING", state=state)._asdict())

    seen = api.wait(queries, judge, f"channel {ask.channel}", on_timeout_code="OLM-PENDING")
    return next(iter(seen["subscription"]), live)


def put_back(api: Api, before: KubeObject, live: KubeObject, exc: AcceleratorError) -> None:
    """Give the Subscription its former channel, and say so in the error: nothing was approved."""
    channel = before["spec"].get("channel")
    if channel == live["spec"].get("channel"):
        return
    metadata: KubeObject = {key: before["metadata"][key] for key in ("name", "namespace")}
    if noted := (before["metadata"].get("annotations") or {}).get(UPGRADES_TO):
        metadata["annotations"] = {UPGRADES_TO: noted}
    keys = ("apiVersion", "kind", "spec")
    api.apply({**{key: before[key] for key in keys}, "metadata": metadata}, live=None)
    exc.message = f"{exc.message} The Subscription has channel {channel} again."
