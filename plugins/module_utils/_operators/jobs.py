# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators that a run upgrades: their Subscriptions, their packages, and the way of each one."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.adoption import other_manager
from .._core.errors import AcceleratorError, KindNotServedError
from .._core.objects import KubeObject
from .._core.ownership import owned
from .._kube.client import Api
from .._kube.kinds import known
from .._olm import csv as olm_csv, helm_values, operators as olm_steps, subscription as olm_subscription
from .._olm.subscription import OperatorParams
from . import channels, order, upgrade_path
from .order import Wish
from .params import OperatorUpgradeParams
from .upgrade_path import Stop, Way


@dataclass
class Job:
    """The upgrade of one operator.

    live: its Subscription. csvs: by name, every CSV of its namespace that the task has seen.
    steps: what was done, one entry for each InstallPlan.
    """

    way: Way
    live: KubeObject
    offer: KubeObject
    csvs: dict[str, KubeObject] = field(default_factory=dict)
    steps: list[dict[str, t.Any]] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        """Return the namespace of the operator."""
        return str(self.live["metadata"]["namespace"])

    @property
    def running(self) -> KubeObject | None:
        """Return the CSV that is installed when the task begins."""
        return self.csvs.get(self.way.installed)

    def remember(self, csvs: t.Iterable[KubeObject]) -> None:
        """Keep the CSVs: OLM deletes the older one of two once the newer one has succeeded."""
        self.csvs |= {one["metadata"]["name"]: one for one in csvs if not olm_csv.is_copied(one)}


def find(api: Api, params: OperatorUpgradeParams) -> list[Job]:
    """Return the upgrades in their order. Raise if an operator or its way does not exist."""
    return [_job(api, wish, live, params) for wish, live in _chosen(api, params)]


def _chosen(api: Api, params: OperatorUpgradeParams) -> list[tuple[Wish, KubeObject]]:
    """Return each wish with its Subscription, in the order of upgrades."""
    wished = order.wishes(params["operators"] or [])
    if params["operators"] == []:
        api.warn("gpu_upgrade_operators (module option operators) is an empty list: nothing is upgraded.")
    try:
        live = api.list(known("Subscription"))
    except KindNotServedError as exc:
        raise helm_values.without_olm(api, order.GPU, {}) from exc
    of = {
        package: [one for one in live if (one.get("spec") or {}).get("name") == package]
        for package in order.PACKAGES
    }
    if params["operators"] is None:
        wished = [Wish(one, place=one) for one, found in of.items() if any(map(owned, found))]
        if not wished:
            api.warn("This collection has installed no operator here, so there is nothing to upgrade.")
    return [(wish, _subscription(wish, of[wish.package])) for wish in wished]


def _subscription(wish: Wish, found: list[KubeObject]) -> KubeObject:
    """Return the Subscription of the package. Raise if there is none, two, or one of another client."""
    if not found:
        raise AcceleratorError(
            "OLM-NOT-INSTALLED", place=wish.place, package=wish.package, state="does not exist"
        )
    live = olm_subscription.subscribed(found, wish.package, found[0]["metadata"]["namespace"])
    if live is None or len(found) > 1:
        raise olm_subscription.twice(found, wish.package)
    if not owned(live):
        raise AcceleratorError(
            "OLM-FOREIGN",
            subscription=f"{live['metadata']['name']} ({wish.place})",
            creator=other_manager(live) or "another client",
            remedy=f"Upgrade {wish.package} there, and remove {wish.place} from gpu_upgrade_operators.",
        )
    if not (live.get("status") or {}).get("installedCSV"):
        raise AcceleratorError(
            "OLM-NOT-INSTALLED", place=wish.place, package=wish.package, state="has installed nothing yet"
        )
    return live


def _job(api: Api, wish: Wish, live: KubeObject, params: OperatorUpgradeParams) -> Job:
    """Return the upgrade of one operator. Raise if no way leads to what the wish names."""
    spec, installed = live["spec"], str(live["status"]["installedCSV"])
    source, where = spec["source"], spec["sourceNamespace"]
    offer = olm_steps.find_offer(api, wish.package, source, where, False, params["grace"])
    job = Job(upgrade_path.find(offer, installed, channels.held(live), wish), live, offer)
    job.remember(api.list(known("ClusterServiceVersion"), job.namespace))
    return job


def ask_of(job: Job, stop: Stop, params: OperatorUpgradeParams) -> olm_subscription.Ask:
    """Return what is asked of OLM at one stop."""
    return olm_subscription.ask(olm_params(job, stop, params), job.live, job.offer)


def olm_params(job: Job, stop: Stop, params: OperatorUpgradeParams) -> OperatorParams:
    """Return the options of olm_operator for one stop."""
    spec = job.live["spec"]
    return {
        "name": job.way.package,
        "namespace": job.namespace,
        "namespace_labels": {},
        "channel": stop.channel,
        "csv": stop.csv,
        "config": spec.get("config"),
        "source": spec["source"],
        "source_namespace": spec["sourceNamespace"],
        "install_mode": None,
        "approve": "upgrade",
        "approval": "Automatic" if spec.get("installPlanApproval") == "Automatic" else "Manual",
        "until": "installed",
        "allow_csvs": params["allow_csvs"],
        "adopt": "report",
        "driver_change": params["driver_change"],
        "on_busy": params["on_busy"],
        "grace": params["grace"],
        "force": False,
        "remove_crds": False,
        "state": "present",
        "wait": params["wait"],
        "wait_timeout": params["wait_timeout"],
        "lock_timeout": params["lock_timeout"],
    }
