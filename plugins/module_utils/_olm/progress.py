# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of an operator's installation, from its Subscription, InstallPlan and CSV together."""

from __future__ import annotations

import fnmatch
import re
import typing as t
from dataclasses import replace

from .._core.errors import NotReadyError, text_of
from .._core.objects import KubeObject, Snapshot
from .._core.ownership import owned
from .._core.readiness import PENDING, Readiness, failed, pending, ready
from . import catalogue, csv as olm_csv, observed, plans, subscription as olm_subscription
from .settings import assignment, variable

# What ends with an operator that goes.
_GOES: t.Final = "Pods that need its operands end."


class Judge:
    """Judge that reports a complaint of OLM as a failure only after it has lasted for a while.

    During an upgrade the resolver complains about the CSV that is being replaced, and after a change of the
    Subscription about its former state. The only sign that no upgrade leads to a CSV is that no InstallPlan
    comes.
    OLM also reports a failed unpacking for a while after its Job was deleted.
    """

    def __init__(
        self,
        ask: olm_subscription.Ask,
        clock: t.Callable[[], float],
        patience: float = 10.0,
        grace: float = 60.0,
        stale: float = 10.0,
        is_approval_enough: bool = False,
    ) -> None:
        """stale: seconds for which OLM may still report a failed unpacking after a new attempt has begun.

        is_approval_enough: ready as soon as the InstallPlan is approved.
        """
        self._ask, self._clock, self._is_approval_enough = ask, clock, is_approval_enough
        self._patience = {
            "ResolutionFailed": patience,
            "NoWay": 6 * patience,
            observed.FAILED: stale,
            observed.UNPACKING: grace,
        }
        self._complaint, self._since = "", 0.0

    def __call__(self, seen: Snapshot) -> Readiness:
        verdict, now = judge(seen, self._ask), self._clock()
        if self._is_approval_enough and verdict.verdict == PENDING and _is_approved(seen):
            return ready("Approved", "the InstallPlan is approved")
        if verdict.reason not in self._patience:
            self._complaint = ""
        elif verdict.message != self._complaint:
            self._complaint, self._since = verdict.message, now
        if verdict.reason in self._patience and now - self._since < self._patience[verdict.reason]:
            return replace(verdict, verdict=PENDING)
        return verdict


def judge(seen: Snapshot, ask: olm_subscription.Ask) -> Readiness:
    """Return ready if nothing more happens without another approval."""
    if not seen["subscription"]:
        text = text_of("OLM-PENDING", state=f"Subscription {ask.package} is not there yet")
        return pending("NoSubscription", **text._asdict())
    plan = olm_subscription.plan_to_approve(seen, ask)
    if plan is not None:
        return _refuse(seen, plan, ask) or ready(
            "Approve", f"InstallPlan {plan['metadata']['name']} can be approved"
        )
    plan = plans.current_plan(seen)
    bad = observed.trouble(seen["subscription"][0], ask.package)
    is_passing = bad is not None and (
        (bad.code == "OLM-RESOLVE" and _is_about_what_goes(bad.message, seen))
        or observed.is_outdated(bad, plan, seen, ask.target)
    )
    if (
        bad is not None
        and not is_passing
        and (ask.approve == olm_subscription.UPGRADE or not plans.status(seen, "installedCSV"))
    ):
        return bad
    if plan is not None and not plans.awaits_approval(plan):
        state = plans.judge(plan)
        if not state.is_ready and not (state.is_failed and _is_installed_now(seen)):
            return state
    elif (
        plan is not None and ask.approve == olm_subscription.NEVER and not plans.status(seen, "installedCSV")
    ):
        return ready("RequiresApproval", f"InstallPlan {plan['metadata']['name']} waits for approval")
    return _installed(seen, ask, plan)


def _is_approved(seen: Snapshot) -> bool:
    plan = plans.current_plan(seen)
    return plan is not None and plans.is_approved(plan)


def check(seen: Snapshot, plan: KubeObject, ask: olm_subscription.Ask) -> None:
    """Raise NotReadyError if the plan must not be approved; the last check before an approval."""
    verdict = _refuse(seen, plan, ask)
    if verdict is not None:
        raise NotReadyError(verdict.code, verdict.message, verdict.remedy, verdict.details)


def _refuse(seen: Snapshot, plan: KubeObject, ask: olm_subscription.Ask) -> Readiness | None:
    return _beyond(seen, plan, ask) or refuse(plan, ask)


def _beyond(seen: Snapshot, plan: KubeObject, ask: olm_subscription.Ask) -> Readiness | None:
    """Return failed with OLM-NO-PATH if the plan goes past the wanted CSV, because OLM does not go back."""
    past = [name for name in plans.names(plan) if name in ask.held and name not in ask.path]
    if not ask.csv or not past:
        return None
    installed = plans.status(seen, "installedCSV")
    way = " -> ".join([*([installed] if installed else []), *past])
    why = f"the way that exists is {way}, and OLM takes the furthest step"
    why += f". InstallPlan {plan['metadata']['name']} was not approved"
    text = text_of("OLM-NO-PATH", channel=ask.channel, package=ask.package, target=ask.csv, why=why)
    channel = variable(ask.package, "channel")
    other = f"set {channel} to {' or '.join(ask.leading)}" if ask.leading else f"set another {channel}"
    remedy = (
        f"Set {assignment(ask.package, 'csv', past[-1])}, or {other}, or remove the operator "
        f"(state: absent) and install {ask.csv}. {_GOES}"
    )
    return failed("PastTarget", **text._replace(remedy=remedy)._asdict(), details=tuple(plans.names(plan)))


def _is_about_what_goes(text: str, seen: Snapshot) -> bool:
    """Return True if the resolver's text is about a CSV that is being replaced.

    It sees two CSVs of one package then, and complains until its next attempt.
    """
    phases = {
        csv["metadata"]["name"]: olm_csv.phase(csv) for csv in seen["csvs"] if not olm_csv.is_copied(csv)
    }
    return any(phases.get(name, "Deleting") in ("Replacing", "Deleting") for name in _EXISTING.findall(text))


def is_forgotten(seen: Snapshot, ask: olm_subscription.Ask) -> bool:
    """Return True if OLM waits with a complaint about a CSV that is gone.

    Without a change of the Subscription its next attempt comes only after a quarter of an hour.
    """
    subscription, installed = (
        next(iter(seen["subscription"]), None),
        plans.status(seen, "installedCSV"),
    )
    gone = set(_EXISTING.findall(observed.resolver_text(subscription))) - {
        csv["metadata"]["name"] for csv in seen["csvs"]
    }
    if (
        subscription is None
        or not owned(subscription)
        or not gone
        or ask.approve != olm_subscription.UPGRADE
        or not _is_newer(ask.target, installed)
    ):
        return False
    return (subscription["metadata"].get("annotations") or {}).get(ASKED_AGAIN) != installed


def _is_installed_now(seen: Snapshot) -> bool:
    """Return True if the current CSV is installed; an old failed plan does not matter then."""
    current = plans.status(seen, "currentCSV")
    return bool(current) and current == plans.status(seen, "installedCSV")


def _installed(seen: Snapshot, ask: olm_subscription.Ask, plan: KubeObject | None) -> Readiness:
    installed, current = (
        plans.status(seen, "installedCSV"),
        plans.status(seen, "currentCSV"),
    )
    if not installed:
        return _not_installed(seen, ask, plan, current)
    if current and current != installed and plan is not None and plans.is_approved(plan):
        state = olm_csv.judge(olm_csv.named(seen["csvs"], current), current)
        return (
            state
            if not state.is_ready
            else pending("InstalledCSV", f"CSV {current} succeeded; the Subscription still says {installed}")
        )
    live = olm_csv.named(seen["csvs"], installed)
    if live is None:
        text = text_of("OLM-CSV-GONE", subscription=ask.package, csv=installed)
        return failed("CSVGone", **text._asdict())
    state = olm_csv.judge(live, installed)
    if state.is_ready and is_forgotten(seen, ask):
        return ready("AskAgain", f"CSV {installed} succeeded; OLM has to look for what comes after it")
    if state.is_ready and ask.target and installed != ask.target:
        # While the resolver complains about a former state, it has not tried again.
        has_looked = plans.condition(seen["subscription"][0], "ResolutionFailed") is None
        return _off_target(installed, ask, has_looked and plans.status(seen, "state") == "AtLatestKnown")
    return state


def _not_installed(
    seen: Snapshot, ask: olm_subscription.Ask, plan: KubeObject | None, current: str
) -> Readiness:
    if current and plan is not None:
        state = olm_csv.judge(olm_csv.named(seen["csvs"], current), current)
        if not state.is_ready:
            return state
        return pending("InstalledCSV", f"CSV {current} succeeded; the Subscription does not say so yet")
    if plans.condition(seen["subscription"][0], observed.UNPACKING):
        return pending("Unpacks", **observed.unpack_text(ask.package, "the bundle is being unpacked"))
    text = text_of("OLM-PENDING", state=f"Subscription {ask.package} has no InstallPlan yet")
    return pending("NoInstallPlan", **text._asdict())


def _is_newer(csv: str, than: str) -> bool:
    return bool(csv and than) and catalogue.order(catalogue.version_of(csv)) > catalogue.order(
        catalogue.version_of(than)
    )


def _off_target(installed: str, ask: olm_subscription.Ask, at_latest: bool) -> Readiness:
    """Return the state of an operator that works, but in another version than the wanted one."""
    newer = _is_newer(installed, ask.target)
    if newer and ask.csv:
        text = text_of("OLM-VERSION", installed=installed, target=ask.csv, also=catalogue.NO_DOWNGRADE)
        setting = assignment(ask.package, "csv", installed)
        remedy = f"Set {setting}, or remove the operator (state: absent) and install {ask.csv}. {_GOES}"
        return failed("Newer", **text._replace(remedy=remedy)._asdict())
    if newer:
        return ready("Newer", f"CSV {installed} is newer than the channel's head")
    if ask.approve != olm_subscription.UPGRADE:
        remedy = f"Set {assignment(ask.package, 'approve', 'upgrade')} to let the operator be upgraded."
        text = text_of("OLM-VERSION", installed=installed, target=ask.csv)
        return failed("Older", **text._replace(remedy=remedy)._asdict())
    lasts = at_latest and ask.csv
    text = text_of(
        "OLM-NO-UPGRADE",
        installed=installed,
        target=ask.target,
        also=f": OLM says that it is the latest that channel {ask.channel} leads to" if lasts else " yet",
        setting=variable(ask.package, "channel"),
    )
    if lasts:
        return failed("NoWay", **text._asdict(), details=tuple(sorted(ask.held)))
    return pending("UpgradePending", **text._asdict())


# On own Subscriptions: the installed CSV after which OLM was made to resolve again.
ASKED_AGAIN: t.Final = "accelerators.openshift/asked-again-after"
# The resolver's name of an installed CSV: @existing/NAMESPACE//CSV.
_EXISTING: t.Final = re.compile(r"@existing/[^/\s]*//([^\s,]+)")


def foreign_names(plan: KubeObject, asked: t.Iterable[str], allowed: t.Iterable[str]) -> list[str]:
    """Return the plan's CSVs that nobody asked for. allowed: patterns such as `nfd.*`."""
    known, patterns = set(asked), list(allowed)
    return [
        name
        for name in plans.names(plan)
        if name not in known and not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]


def refuse(plan: KubeObject, ask: olm_subscription.Ask) -> Readiness | None:
    """Return failed with OLM-FOREIGN-CSV if the plan would install other CSVs as well, else None."""
    foreign = foreign_names(plan, ask.path, ask.allowed)
    if not foreign:
        return None
    name, namespace = plan["metadata"]["name"], plan["metadata"].get("namespace")
    accepted = f"[{', '.join((*ask.allowed, *foreign))}]"
    text = text_of(
        "OLM-FOREIGN-CSV",
        plan=name,
        namespace=namespace,
        csvs=", ".join(foreign),
        setting=assignment(ask.package, "allow_csvs", accepted),
    )
    lines = (f"{csv}: {'not asked for' if csv in foreign else 'asked for'}" for csv in plans.names(plan))
    return failed("ForeignCSV", **text._asdict(), details=tuple(lines))
