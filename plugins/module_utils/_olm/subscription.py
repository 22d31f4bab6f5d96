# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subscriptions: what the task asks for, the manifest, and which InstallPlan to approve."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, replace

from .._core.adoption import other_manager
from .._core.errors import AcceleratorError, InputError
from .._core.objects import KubeObject, Snapshot
from .._frame.argspec import BusyParams, LockParams, StateParams
from . import catalogue, csv as olm_csv, plans
from .settings import assignment, variable

INSTALL: t.Final = "install"
UPGRADE: t.Final = "upgrade"
NEVER: t.Final = "never"
# Values of installPlanApproval: who approves InstallPlans.
AUTOMATIC, MANUAL = "Automatic", "Manual"


class _Options(BusyParams):
    """What an operator has as an entry of operators, and the module without it."""

    namespace_labels: dict[str, t.Any]
    channel: str | None
    csv: str | None
    config: dict[str, t.Any] | None
    source: str | None
    source_namespace: str
    install_mode: t.Literal["OwnNamespace", "AllNamespaces"] | None
    approve: t.Literal["install", "upgrade", "never"]
    approval: t.Literal["Automatic", "Manual"]
    allow_csvs: list[str]
    adopt: t.Literal["report", "take"]
    driver_change: t.Literal["ask", "pin", "allow"]
    gpu_models: t.NotRequired[list[str]]


class _TaskOptions(LockParams):
    """The options of the whole task. grace: seconds for which a catalogue may be away."""

    until: t.Literal["foreseen", "requested", "approved", "installed"]
    grace: float
    force: bool
    remove_crds: bool


class OperatorParams(_Options, _TaskOptions, StateParams):
    """The options of one operator."""

    name: str
    namespace: str


class OperatorEntry(_Options):
    """An entry of operators."""

    name: str
    namespace: str
    wait_timeout: int | None


class OlmOperatorParams(_Options, _TaskOptions, StateParams):
    """The options of olm_operator. operators: instead of name and namespace."""

    operators: list[OperatorEntry] | None
    name: str | None
    namespace: str | None


@dataclass(frozen=True)
class Ask:
    """What the task asks for.

    catalog: name and namespace. csv: exactly this CSV. path: CSVs that an upgrade may pass. head: newest CSV
    of the channel. modes: supported install modes. allowed: patterns of other CSVs. held: all CSVs of the
    channel. leading: other channels that have the wanted CSV. approval: Automatic if OLM approves all plans
    itself.
    """

    package: str
    approve: str = INSTALL
    channel: str = ""
    catalog: tuple[str, str] = ("", "")
    csv: str | None = None
    path: frozenset[str] = frozenset()
    head: str = ""
    modes: frozenset[str] = frozenset()
    allowed: tuple[str, ...] = ()
    held: frozenset[str] = frozenset()
    leading: tuple[str, ...] = ()
    approval: str = MANUAL

    @property
    def target(self) -> str:
        """Return the CSV that should be installed in the end; empty if any will do."""
        return self.csv or (self.head if self.approve == UPGRADE else "")


def ask(params: OperatorParams, live: KubeObject | None, offer: KubeObject | None) -> Ask:
    """Return what the task asks for, from its parameters, the existing Subscription and the package.

    Without an offer (the package) nothing needs an approval.
    """
    held = (live or {}).get("spec") or {}
    basis = Ask(
        params["name"],
        params["approve"],
        csv=params["csv"],
        allowed=tuple(params["allow_csvs"]),
        approval=params["approval"],
    )
    wanted = params["channel"] or held.get("channel") or ""
    if offer is None:
        return replace(
            basis,
            channel=wanted,
            catalog=(held["source"], held["sourceNamespace"]),
            path=frozenset({params["csv"]} if params["csv"] else ()),
        )
    entry = catalogue.channel(offer, wanted)
    return replace(
        basis,
        channel=entry["name"],
        catalog=catalogue.catalog(offer),
        path=catalogue.path_to(entry, params["csv"], params["name"]),
        head=str(entry.get("currentCSV") or ""),
        modes=catalogue.install_modes(entry),
        held=catalogue.path_to(entry, None),
        leading=tuple(
            name for name in catalogue.leading_to(offer, params["csv"] or "") if name != entry["name"]
        ),
    )


def refuse_unreachable(asked: Ask, live: KubeObject | None, offer: KubeObject) -> None:
    """Raise OLM-NO-PATH if the channel has no way from the installed CSV: OLM would make no plan."""
    installed = str(((live or {}).get("status") or {}).get("installedCSV") or "")
    entry, target = catalogue.channel(offer, asked.channel), asked.target
    if asked.approve != UPGRADE or installed in ("", target) or catalogue.reaches(entry, installed):
        return
    if catalogue.order(catalogue.version_of(installed)) > catalogue.order(catalogue.version_of(target)):
        return
    channels = {str(channel["name"]): channel for channel in offer["status"]["channels"]}
    leading = catalogue.leading_to(offer, target)
    others = [channel for channel in leading if catalogue.reaches(channels[channel], installed)]
    other = f"{' or '.join(others)}, which has both" if others else "one that has both"
    raise AcceleratorError(
        "OLM-NO-PATH",
        channel=asked.channel,
        package=asked.package,
        target=target,
        why=f"{catalogue.no_way(installed)}. Nothing was changed",
        remedy=f"Set {variable(asked.package, 'channel')} to {other}.",
    )


def becomes_automatic(live: KubeObject | None, params: OperatorParams) -> bool:
    """Return True if the task lets OLM approve what it may not approve yet."""
    now = ((live or {}).get("spec") or {}).get("installPlanApproval")
    return params["approval"] == AUTOMATIC and live is not None and now != AUTOMATIC


def leads_on(live: KubeObject | None, params: OperatorParams) -> bool:
    """Return True if a change of the Subscription can lead to an upgrade: the task or OLM approves it."""
    return params["approve"] == UPGRADE or becomes_automatic(live, params)


def refuse_contradiction(params: OperatorParams) -> None:
    """Raise InputError for options that need InstallPlans to wait for the task."""
    if params["approval"] != AUTOMATIC:
        return
    for option in ("csv", "approve"):
        value = params[option]
        if value and (option == "csv" or value == NEVER):
            raise InputError(
                "INPUT-VALUE",
                f"{variable(params['name'], 'approval')} is Automatic: OLM approves every InstallPlan "
                f"itself, and {option}: {value} could not be kept.",
                f"Set {assignment(params['name'], 'approval', MANUAL)}, or remove "
                f"{variable(params['name'], option)}.",
            )


def is_installed(live: KubeObject | None, params: OperatorParams) -> bool:
    """Return True if the wanted Subscription and CSV are installed: the catalogue is not needed then."""
    spec, installed = (live or {}).get("spec") or {}, ((live or {}).get("status") or {}).get("installedCSV")
    same = (
        all(params[option] in (None, spec.get(option)) for option in ("channel", "source"))
        and spec.get("sourceNamespace") == params["source_namespace"]
    )
    same = same and not becomes_automatic(live, params)
    return bool(installed) and same and params["approve"] != UPGRADE and params["csv"] in (None, installed)


def build(
    asked: Ask, namespace: str, live: KubeObject | None, config: t.Mapping[str, t.Any] | None = None
) -> KubeObject:
    """Return the Subscription to apply. startingCSV works only at its creation; an existing one stays.

    config: of the operator's own pods (nodeSelector, tolerations, env).
    """
    source, source_namespace = asked.catalog
    spec: dict[str, t.Any] = {
        "name": asked.package,
        "channel": asked.channel,
        "source": source,
        "sourceNamespace": source_namespace,
        "installPlanApproval": asked.approval,
    }
    start = ((live or {}).get("spec") or {}).get("startingCSV") if live else asked.csv
    spec |= {"startingCSV": start} if start else {}
    spec |= {"config": dict(config)} if config else {}
    metadata = {"name": live["metadata"]["name"] if live else asked.package, "namespace": namespace}
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": metadata,
        "spec": spec,
    }


def subscribed(subscriptions: t.Sequence[KubeObject], package: str, namespace: str) -> KubeObject | None:
    """Return the package's Subscription in the namespace, or None.

    Raise OLM-TWICE for two, or one in another namespace: both would write the same CRDs.
    """
    found = [live for live in subscriptions if (live.get("spec") or {}).get("name") == package]
    here = [live for live in found if live["metadata"]["namespace"] == namespace]
    if len(here) > 1:
        raise twice(here, package)
    if found and not here:
        place = assignment(package, "namespace", found[0]["metadata"]["namespace"])
        raise twice(found[:1], package, f"Set {place}, or run")
    return here[0] if here else None


def twice(found: t.Sequence[KubeObject], package: str, choice: str = "Run") -> AcceleratorError:
    """Return the failure of a package that has these Subscriptions. choice: the remedy before the command."""
    names = [(live["metadata"]["name"], live["metadata"]["namespace"]) for live in found]
    return AcceleratorError(
        "OLM-TWICE",
        package=package,
        subscriptions=", ".join(f"Subscription {name} in namespace {namespace}" for name, namespace in names),
        commands=" or ".join(f"`oc delete subscription {name} -n {namespace}`" for name, namespace in names),
        choice=choice,
    )


def source(live: KubeObject | None) -> str | None:
    """Return the catalogue of the existing Subscription, or None."""
    return ((live or {}).get("spec") or {}).get("source")


def check_foreign(live: KubeObject, wanted: KubeObject) -> str:
    """Return the warning about a foreign Subscription. Raise OLM-FOREIGN if it is not as wanted."""
    held, name, keeper = live.get("spec") or {}, live["metadata"]["name"], other_manager(live)
    fields = ("channel", "source", "sourceNamespace")
    wrong = [
        f"{field}: {held.get(field)} (asked: {wanted['spec'][field]})"
        for field in fields
        if held.get(field) != wanted["spec"][field]
    ]
    if wrong:
        remedy = (
            f"Change it in {keeper}, or set these options to the live values."
            if keeper
            else f"Set {assignment(str(held.get('name')), 'adopt', 'take')} to change these fields, or set "
            "these options to the live values."
        )
        raise AcceleratorError(
            "OLM-FOREIGN",
            subscription=name,
            creator=keeper or "another client",
            also=f" and differs from the options of this task: {', '.join(wrong)}",
            remedy=remedy,
            evidence=wrong,
        )
    by = f" {keeper} manages it." if keeper else ""
    return f"Subscription {name} was not created by this collection and was not changed (adopt: report).{by}"


def warnings(subscription: KubeObject | None) -> list[str]:
    """Return the deprecations in the Subscription's conditions, one line each."""
    kinds = {"PackageDeprecated": "Package", "ChannelDeprecated": "Channel", "BundleDeprecated": "CSV"}
    found = {kind: condition for kind in kinds if (condition := plans.condition(subscription, kind))}
    spec, csv = (
        (subscription or {}).get("spec") or {},
        ((subscription or {}).get("status") or {}).get("installedCSV"),
    )
    names = {
        "PackageDeprecated": spec.get("name"),
        "ChannelDeprecated": spec.get("channel"),
        "BundleDeprecated": csv,
    }
    return [
        f"{word} {names[kind]} is deprecated: {found[kind].get('message')}"
        for kind, word in kinds.items()
        if kind in found
    ]


def plan_to_approve(seen: Snapshot, asked: Ask) -> KubeObject | None:
    """Return the InstallPlan to approve now, or None."""
    plan = plans.current_plan(seen)
    if asked.approve == NEVER or asked.approval == AUTOMATIC:
        return None
    if plan is None or not plans.awaits_approval(plan):
        return None
    installed = plans.status(seen, "installedCSV")
    if installed and (asked.approve != UPGRADE or installed == asked.target):
        return None
    return plan


def summarize(seen: Snapshot) -> KubeObject:
    """Return the facts about the operator for the task's result."""
    subscription = next(iter(seen["subscription"]), None) or {}
    spec, plan = subscription.get("spec") or {}, plans.current_plan(seen)
    installed, current = plans.status(seen, "installedCSV"), plans.status(seen, "currentCSV")
    live = olm_csv.named(seen["csvs"], installed or current)
    return {
        "package": spec.get("name"),
        "namespace": (subscription.get("metadata") or {}).get("namespace"),
        "subscription": (subscription.get("metadata") or {}).get("name"),
        "channel": spec.get("channel"),
        "catalog": spec.get("source"),
        "csv": installed or None,
        "version": olm_csv.version(live) or None,
        "phase": olm_csv.phase(live) or None,
        "state": plans.status(seen, "state") or None,
        "install_plan": plan["metadata"]["name"] if plan else None,
        "awaits_approval": plans.awaits_approval(plan),
        "upgrade_available": current if installed and current and current != installed else None,
    }
