"""The variables of operators end the failures of InstallPlans: their way, other operators, new drivers."""

from __future__ import annotations

import functools
import typing as t

from unit.olm.builders import condition, params, seen
from unit.operators.builders import NEW_DRIVER, csv_name
from unit.remedies.case import Case, Cases, Options
from unit.remedies.cases.olm import OPERATOR, of_both, offered
from unit.remedies.clusters.olm_world import (
    BUSY,
    FOREIGN,
    GPU,
    NFD,
    OURS,
    ROLES,
    Object,
    group,
    installed_csv,
    manifest,
    operator,
    plan,
    policy,
    subscription,
    upgrade,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    progress,
    subscription as olm_subscription,
)

UPGRADE: t.Final = {"approve": "upgrade"}


def installed(package: str) -> list[Object]:
    """Return what belongs to an operator of release 1.0.0."""
    return [*offered(package), group(package), subscription(package), installed_csv(package)]


def foreign_csv(package: str, options: Options) -> str | None:
    """Approve a plan that installs another operator too."""
    waiting = plan(package, csv_name("1.1.0", package), FOREIGN)
    return operator(package, [*installed(package), waiting], options, **UPGRADE)


def foreign_csv_of_upgrade(options: Options) -> str | None:
    return upgrade([*installed(NFD), plan(NFD, csv_name("1.1.0", NFD), FOREIGN)], options)


def new_driver(options: Options, theirs: bool = False, **more: t.Any) -> str | None:
    """Approve a plan whose operator has another driver."""
    objects = [*installed(GPU), plan(GPU, csv_name("1.1.0")), policy(**({} if theirs else OURS))]
    return operator(GPU, objects, options, **UPGRADE, **more)


def new_driver_of_upgrade(options: Options) -> str | None:
    """Upgrade to a release whose driver the catalogue shows."""
    found = manifest(GPU)
    for channel in found["status"]["channels"]:
        channel["currentCSVDesc"]["relatedImages"] = [NEW_DRIVER]
    return upgrade([*installed(GPU), found, policy(**OURS)], options)


def busy(options: Options) -> str | None:
    """Let OLM upgrade the GPU operator while a pod uses a GPU."""
    return operator(GPU, [*installed(GPU), *BUSY], options, **UPGRADE, channel="b", driver_change="allow")


def past_target(options: Options) -> str | None:
    """Ask for a release that channel a leads past, and b does not."""
    channel = options.get("channel", "a")
    head = "1.2.0" if channel == "a" else "1.1.0"
    objects = [
        *offered(GPU, a="1.0.0 1.1.0 1.2.0", b="1.0.0 1.1.0"),
        group(GPU),
        subscription(GPU, channel=channel),
        installed_csv(GPU),
        plan(GPU, csv_name(head)),
    ]
    return operator(GPU, objects, options, **{**UPGRADE, "csv": csv_name("1.1.0")})


def no_way_of_upgrade(options: Options) -> str | None:
    """Upgrade in a channel that begins with a release that replaces nothing."""
    found = manifest(NFD, a="1.0.0 1.1.0", b="1.1.0")
    for channel in found["status"]["channels"]:
        channel["currentCSVDesc"]["annotations"] = {}
    return upgrade([*installed(NFD), found], options)


def judged(
    package: str, options: Options, *plans: Object, live: Object | None = None, **more: t.Any
) -> str | None:
    """Judge what OLM did with the Subscription; return the code of a failure."""
    given = params(name=package, namespace=ROLES[package][0], **{**more, **options})
    live = live or subscription(package)
    ask = olm_subscription.ask(given, live, manifest(package, a="1.0.0 1.1.0", b="1.0.0 1.1.0"))
    found = progress.judge(seen(live, plans, [installed_csv(package)]), ask)
    return found.code if found.is_failed else None


def no_way(package: str, options: Options) -> str | None:
    """Wait for a plan of release 1.1.0, which OLM makes in channel b alone."""
    channel, wanted = options.get("channel", "a"), csv_name("1.1.0", package)
    plans = [plan(package, wanted)] if channel == "b" else []
    return judged(
        package, options, *plans, live=subscription(package, channel=channel), csv=wanted, **UPGRADE
    )


def unresolved(package: str, options: Options) -> str | None:
    """Wait for an installation that OLM can resolve in channel b alone."""
    live = subscription(package, "", channel=options.get("channel", "a"))
    if live["spec"]["channel"] == "b":
        return judged(package, options, plan(package, csv_name("1.1.0", package)), live=live)
    live["status"]["conditions"] = [condition("ResolutionFailed", "ConstraintsNotSatisfiable", "no x")]
    return judged(package, options, live=live)


def older(package: str, options: Options) -> str | None:
    """Ask for release 1.1.0, whose plan waits, where 1.0.0 is installed."""
    wanted = csv_name("1.1.0", package)
    return judged(package, options, plan(package, wanted), csv=wanted)


CASES: t.Final[Cases] = {
    **of_both("OLM-FOREIGN-CSV", "allow_csvs", foreign_csv, f"[{FOREIGN}]"),
    **of_both("OLM-NO-UPGRADE", "channel", no_way, "b"),
    **of_both("OLM-RESOLVE", "channel", unresolved, "b"),
    **of_both("OLM-VERSION", "approve", older),
    ("OLM-BUSY", "gpu_on_busy"): Case(OPERATOR, busy),
    ("OLM-DRIVER-CHANGE", "gpu_operator_driver_change"): Case(OPERATOR, new_driver),
    ("OLM-DRIVER-CHANGE", "gpu_upgrade_driver_change"): Case("operator_upgrade", new_driver_of_upgrade),
    ("OLM-DRIVER-PIN", "gpu_operator_adopt"): Case(
        OPERATOR, functools.partial(new_driver, theirs=True, driver_change="pin")
    ),
    ("OLM-FOREIGN-CSV", "gpu_upgrade_allow_csvs"): Case(
        "operator_upgrade", foreign_csv_of_upgrade, f"[{FOREIGN}]"
    ),
    ("OLM-NO-PATH", "gpu_operator_channel"): Case(OPERATOR, past_target, "b"),
    ("OLM-NO-PATH", "gpu_upgrade_operators"): Case(
        "operator_upgrade",
        no_way_of_upgrade,
        "[{name: nfd, channel: a}]",
        "[{name: nfd, channel: b}]",
    ),
    ("OLM-NO-PATH", "gpu_operator_csv"): Case(OPERATOR, past_target, csv_name("1.2.0"), csv_name("1.1.0")),
}
