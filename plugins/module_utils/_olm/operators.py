# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of olm_operator: find every conflict before the first write, and check each InstallPlan."""

from __future__ import annotations

import contextlib
import functools
import typing as t

from .._core.errors import (
    AcceleratorError,
    ForbiddenError,
    KindNotServedError,
    NotReadyError,
    WaitTimeoutError,
)
from .._core.objects import KubeObject, Snapshot
from .._core.ownership import owned
from .._core.readiness import Readiness, pending, ready
from .._kube.client import Api, Query
from .._kube.kinds import known
from . import (
    catalogue,
    elsewhere,
    group as olm_group,
    helm_values,
    plans,
    progress,
    subscription as olm_subscription,
    support,
)
from .helm_values import PACKAGE as GPU_OPERATOR
from .settings import variable
from .subscription import OperatorParams

_NETWORK_OPERATOR: t.Final = "nvidia-network-operator"
# Looks at a plan before its approval; raises if the plan must not be approved now.
Review = t.Callable[[KubeObject, Snapshot], None]
# Facts about a change of the driver, and the result's key `ends`.
_Outcome = tuple[list[KubeObject], list[dict[str, t.Any]]]


def present(api: Api, params: OperatorParams) -> KubeObject:
    """Bring the operator to the stage params["until"], and return the facts (operator, driver_change, ends).

    Rare cases (a bundle that OLM cannot unpack, a change of the driver) are imported when they occur.
    """
    olm_subscription.refuse_contradiction(params)
    if elsewhere.cluster_operator_of(params["name"]):
        return {"operator": elsewhere.of_the_cluster(api, params["name"])}
    return follow(api, *request(api, params), params)


def request(
    api: Api, params: OperatorParams, listed: t.Callable[[], list[KubeObject]] | None = None
) -> tuple[KubeObject, olm_subscription.Ask]:
    """Write Namespace, OperatorGroup and Subscription. Return the Subscription and what is asked of OLM.

    listed: returns the Subscriptions of the cluster, if the task has listed them.
    """
    name, namespace, take = params["name"], params["namespace"], params["adopt"] == "take"
    try:
        live = olm_subscription.subscribed((listed or listed_by(api))(), name, namespace)
    except KindNotServedError as exc:
        raise helm_values.without_olm(api, name, {}) from exc
    group = olm_group.suitable(
        api.list(known("OperatorGroup"), namespace), namespace, params["install_mode"], name
    )
    ask = _ask(api, params, live, group)
    mode = "" if group else olm_group.mode(params["install_mode"], ask.modes, ask.package)
    metadata = {"name": namespace, "labels": params["namespace_labels"]}
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    if mode:
        api.apply(olm_group.build(namespace, mode))
    wanted = olm_subscription.build(ask, namespace, live, params["config"])
    if live is not None and not owned(live) and not take:
        api.warn(olm_subscription.check_foreign(live, wanted))
        return live, ask
    has_drivers = name in (GPU_OPERATOR, _NETWORK_OPERATOR)
    if live is not None and has_drivers and olm_subscription.leads_on(live, params):
        from . import busy

        busy.ask_before_subscription(api, live, wanted, params, ask.target or ask.head)
    return api.apply(wanted, force_conflicts=take, live=live), ask


def listed_by(api: Api) -> t.Callable[[], list[KubeObject]]:
    """Return what lists the Subscriptions of the cluster once."""
    return functools.cache(lambda: api.list(known("Subscription")))


def _ask(
    api: Api, params: OperatorParams, live: KubeObject | None, group: KubeObject | None
) -> olm_subscription.Ask:
    """Return what may be installed. Read the catalogue only if OLM has something to resolve."""
    if group and olm_subscription.is_installed(live, params):
        return olm_subscription.ask(params, live, None)
    if live is None:
        elsewhere.refuse_second_owner(api, params["name"])
    source, where = params["source"] or olm_subscription.source(live), params["source_namespace"]
    offer = find_offer(api, params["name"], source, where, live is None, params["grace"])
    ask = olm_subscription.ask(params, live, offer)
    olm_subscription.refuse_unreachable(ask, live, offer)
    _warn(api, offer, ask)
    _check_support(api, ask)
    if live is None and ask.package == GPU_OPERATOR:
        support.refuse_driver(ask.csv or ask.head, params.get("gpu_models") or [])
    if group:
        olm_group.check_supported(group, ask.modes, ask.package)
    return ask


def find_offer(
    api: Api, name: str, source: str | None, source_namespace: str, is_new: bool, grace: float
) -> KubeObject:
    """Return the package. Raise why there is none, or more than one.

    grace: seconds to wait for a catalogue that does not answer, because its pod may just be replaced.
    """
    look = functools.partial(_search, api, name, source, source_namespace, is_new)
    try:
        return look()
    except catalogue.AwayError as exc:
        judge = CatalogueReturns(look, exc, api.clock, grace)
    api.wait(
        {"catalogs": Query(known("CatalogSource"), source_namespace)},
        judge,
        f"package {name}",
        on_timeout_code=judge.trouble.code,
    )
    if judge.found is None:
        raise judge.trouble
    return judge.found


class CatalogueReturns:
    """Judge of the wait for a catalogue: ready if it is back, and also when the grace period is over."""

    def __init__(
        self,
        look: t.Callable[[], KubeObject],
        trouble: AcceleratorError,
        clock: t.Callable[[], float],
        grace: float,
    ) -> None:
        self._look, self.trouble, self._clock, self._ends = look, trouble, clock, clock() + grace
        self.found: KubeObject | None = None
        self._usable: dict[str, bool] = {}

    def __call__(self, seen: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
        usable = {
            catalog["metadata"]["name"]: catalogue.catalog_state(catalog) in plans.USABLE
            for catalog in seen["catalogs"]
        }
        # Read the packages again only if a catalogue came or went, or one that is back is not listed yet.
        if (usable != self._usable and any(usable.values())) or all(usable.values()):
            self._usable = usable
            try:
                self.found = self._look()
            except AcceleratorError as exc:
                self.trouble = exc
        if self.found is not None or self._clock() >= self._ends:
            return ready("Over", "the wait for the catalogue is over")
        return pending("Away", self.trouble.message, code=self.trouble.code, remedy=self.trouble.remedy)


def _search(api: Api, name: str, source: str | None, source_namespace: str, is_new: bool) -> KubeObject:
    """Return the package by a get if that is enough.

    A list of all packages has tens of megabytes on a real cluster; with a source only its part is read.
    """
    kind = known("PackageManifest")
    first = api.get(kind, name, source_namespace)
    found = catalogue.choose([first] if first else [], name, source)
    offered: list[KubeObject] = []
    if found is None or (source is None and is_new):
        # If several catalogues have the package, a get returns that of any one.
        offered = api.list(kind, source_namespace, labels=f"catalog={source}" if source and first else None)
        found = found or catalogue.choose(offered, name, source)
    catalogs = api.list(known("CatalogSource"), source_namespace) if found is None or is_new else []
    if found is None:
        seen = [*([first] if first else []), *offered]
        raise catalogue.missing(name, source, seen, catalogs, _hub(api))
    if is_new:
        if source is None:
            catalogue.check_one_source(name, catalogue.sources(offered, name), catalogs)
        catalogue.check_catalog(found, catalogs)
    return found


def _warn(api: Api, offer: KubeObject, ask: olm_subscription.Ask) -> None:
    """Warn about deprecations before anything is installed."""
    for line in catalogue.deprecations(offer, catalogue.channel(offer, ask.channel), ask.csv or ask.head):
        api.warn(line)


def _check_support(api: Api, ask: olm_subscription.Ask) -> None:
    """Warn about a CSV that perhaps does not support the cluster's release, or refuse it (OLM-SUPPORT)."""
    csv = ask.csv or ask.head
    if not support.span(ask.package, csv.partition(".")[2]):
        return
    with contextlib.suppress(ForbiddenError, KindNotServedError):
        cluster = api.get(known("ClusterVersion"), "version")
        setting = f"{variable(ask.package, 'channel')} or {variable(ask.package, 'csv')}"
        if text := support.check(ask.package, csv, cluster, setting):
            api.warn(text)


def _hub(api: Api) -> KubeObject | None:
    try:
        return api.get(known("OperatorHub"), "cluster")
    except KindNotServedError:
        return None


def follow(
    api: Api,
    subscription: KubeObject,
    ask: olm_subscription.Ask,
    params: OperatorParams,
    review: Review | None = None,
) -> KubeObject:
    """Wait, approve the InstallPlan if allowed, and wait again until nothing is left to approve."""
    name, namespace = subscription["metadata"]["name"], subscription["metadata"]["namespace"]
    queries = {"subscription": Query(known("Subscription"), namespace, name)}
    queries |= {
        "plans": Query(known("InstallPlan"), namespace),
        "csvs": Query(known("ClusterServiceVersion"), namespace),
    }
    changes: list[KubeObject] = []
    disruption: list[dict[str, t.Any]] = []
    is_enough = params["until"] == "approved"
    while True:
        seen = _wait(api, queries, ask, params["grace"], subscription, is_enough)
        plan = olm_subscription.plan_to_approve(seen, ask)
        if plan is not None:
            progress.check(seen, plan, ask)
            if review:
                review(plan, seen)
            changed, ended = _before_approval(api, plan, seen, params)
            changes, disruption = [*changes, *changed], [*disruption, *ended]
            approved = api.merge_patch(
                known("InstallPlan"), plan["metadata"]["name"], namespace, {"spec": {"approved": True}}
            )
            if not api.check_mode:
                seen = {**seen, "plans": [approved if other is plan else other for other in seen["plans"]]}
        if plan is None and _ask_again(api, seen, ask):
            continue
        if plan is None or is_enough or api.check_mode or not api.wait_wanted:
            seen = {**seen, "subscription": seen["subscription"] or [subscription]}
            return _result(api, seen, changes, disruption)


def _wait(
    api: Api,
    queries: dict[str, Query],
    ask: olm_subscription.Ask,
    grace: float,
    subscription: KubeObject | None,
    is_approval_enough: bool,
) -> Snapshot:
    """Wait for the operator. subscription: None if OLM was made to unpack the bundle again."""
    judge = progress.Judge(
        ask,
        api.clock,
        grace=grace,
        stale=2.0 if subscription else 15.0,
        is_approval_enough=is_approval_enough,
    )
    try:
        return api.wait(queries, judge, f"operator {ask.package}", on_timeout_code="OLM-PENDING")
    except (NotReadyError, WaitTimeoutError) as exc:
        if exc.code != "OLM-UNPACK":
            raise
        from . import unpack

        if (
            not isinstance(exc, WaitTimeoutError)
            and subscription is not None
            and unpack.begin_again(api, subscription, ask.catalog[1])
        ):
            return _wait(api, queries, ask, grace, None, is_approval_enough)
        raise unpack.explained(api, exc, ask.catalog[1]) from exc


def _ask_again(api: Api, seen: Snapshot, ask: olm_subscription.Ask) -> bool:
    """Change the Subscription if OLM needs that to continue an upgrade; return True if changed."""
    if api.check_mode or not api.wait_wanted or not progress.is_forgotten(seen, ask):
        return False
    metadata = seen["subscription"][0]["metadata"]
    note = {"metadata": {"annotations": {progress.ASKED_AGAIN: plans.status(seen, "installedCSV")}}}
    api.merge_patch(known("Subscription"), metadata["name"], metadata["namespace"], note)
    return True


def _before_approval(api: Api, plan: KubeObject, seen: Snapshot, params: OperatorParams) -> _Outcome:
    """Return what the approval changes and ends; only an upgrade of an operator with drivers does either."""
    is_upgrade = bool(plans.status(seen, "installedCSV"))
    if is_upgrade and params["name"] == GPU_OPERATOR:
        from . import driver_change

        return driver_change.decide(api, plan, seen, params)
    if is_upgrade and params["name"] == _NETWORK_OPERATOR:
        from . import busy

        return [], busy.ask_about_nics(api, plan, seen, params)
    return [], []


def _result(
    api: Api, seen: Snapshot, changes: list[KubeObject], disruption: list[dict[str, t.Any]]
) -> KubeObject:
    for line in olm_subscription.warnings(seen["subscription"][0]):
        api.warn(line)
    found = olm_subscription.summarize(seen)
    if found["awaits_approval"] and not found["csv"]:
        names = ", ".join(plans.names(plans.current_plan(seen) or {}))
        api.warn(f"InstallPlan {found['install_plan']} waits for approval: {names}.")
    return {"operator": found, "driver_change": changes[0] if changes else None, "ends": disruption}
