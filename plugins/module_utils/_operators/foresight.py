# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade does, before its first write: what it ends, which CRDs it changes, what refuses it."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, at
from .._core.ownership import owned
from .._impact import consent, driver
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes.labels import labels
from .._nodes.system import image_suffixes
from .._olm import busy, catalogue, driver_change, plans, progress, support, unpack
from .._stack.drivers import image
from .._stack.drivers.steps import look_up
from . import disruption, order
from .crd_changes import CrdChange, between, refuse_lost
from .jobs import Job, ask_of
from .params import OperatorUpgradeParams

_CRD: t.Final = known("CustomResourceDefinition")
_DRIVER: t.Final = "DRIVER_IMAGE"
_SETTING: t.Final = "`to` or `channel` in gpu_upgrade_operators"


def check_support(api: Api, job: Job) -> None:
    """Warn about what the user should know of the way. Raise OLM-SUPPORT for a stop that cannot run here."""
    way = job.way
    for line in way.remarks:
        api.warn(line)
    if not way.stops:
        return
    cluster = api.get(known("ClusterVersion"), "version") if way.package in support.SUPPORT else None
    for stop in way.stops:
        if text := support.check(way.package, stop.csv, cluster, _SETTING):
            api.warn(text)
    last = way.stops[-1]
    for line in catalogue.deprecations(job.offer, catalogue.channel(job.offer, last.channel), last.csv):
        api.warn(line)


def foresee(api: Api, job: Job, params: OperatorUpgradeParams) -> list[dict[str, t.Any]]:
    """Return what the whole way ends. Raise what can be known before the first write."""
    way = job.way
    if not way.stops:
        return []
    if (plan := waiting(api, job)) is not None:
        seen = {"subscription": [job.live], "plans": [plan], "csvs": list(job.csvs.values())}
        progress.check(seen, plan, ask_of(job, way.stops[0], params))
        refuse_lost(crds(api, plan), plan["metadata"]["name"])
    policies = _policies(api, way.package)
    stops = [stop.csv for stop in way.stops]
    _refuse_missing_tags(api, job, policies)
    changes = [disruption.new_driver(job.running, job.offer, csv, policies) for csv in stops]
    change = next((one for one in changes if one is not None), None)
    if change is not None and params["driver_change"] == driver_change.ASK:
        nodes = api.list(known("Node"), labels=driver.DRIVEN)
        raise driver_change.refuse(change, nodes, api.list(known("Pod"), keep=driver_change.at_work))
    if change is not None and params["driver_change"] == driver_change.PIN:
        driver_change.check_pin(change, owned, take=False)
    kept = (_DRIVER,) if params["driver_change"] == driver_change.PIN else ()
    asked = [
        one for csv in stops for one in disruption.questions(job.running, job.offer, csv, policies, kept)
    ]
    return consent.ask(api, asked, params["on_busy"], busy.CODE)


def _refuse_missing_tags(api: Api, job: Job, policies: t.Iterable[KubeObject]) -> None:
    """Raise if a driver by tag has no image with the tag of the new release; warn if that is not known."""
    end = job.way.stops[-1].csv
    before, after = (support.release_of(catalogue.version_of(csv)) for csv in (job.way.installed, end))
    if job.way.package != order.GPU or not before or not after or not before < image.MAJOR_ONLY <= after:
        return
    drivers = [one["spec"] if one["kind"] == "NVIDIADriver" else at(one, "spec.driver") for one in policies]
    names = [name for one in drivers if (name := image.tagged(one or {}))]
    nodes = api.list(known("Node"), labels=driver.DRIVEN) if names else []
    ends = {tuple(found) for node in nodes if len(found := image_suffixes(labels(node))) > 1}
    forms = {f"{name}-{found[-1]}": f"{name}-{found[0]}" for name in names for found in ends}
    for told in look_up(api, forms, job.namespace).values():
        if told.verdict == image.MISSING:
            raise AcceleratorError(
                "MIRROR-OS-TAG",
                user=end,
                image=told.image,
                words=told.words,
                other=forms[told.image],
                mirror=image.mirror_of(told),
            )
        if told.verdict != image.THERE:
            api.warn(f"{end} takes the driver image {told.image}, and it is not known whether that exists.")


def _policies(api: Api, package: str) -> list[KubeObject]:
    """Return the custom resources that say which drivers the operator runs."""
    if package == order.NETWORK:
        return consent.nic_policies(api)
    if package != order.GPU:
        return []
    policies = api.list_if_served(known("ClusterPolicy"))
    return [*policies, *busy.drivers(api, policies)]


def waiting(api: Api, job: Job) -> KubeObject | None:
    """Return the plan that waits for approval and leads along the way, or None."""
    name = (job.live["status"].get("installPlanRef") or {}).get("name")
    first = job.way.stops[0]
    if not name or job.live["spec"].get("channel") != first.channel:
        return None
    plan = api.get(known("InstallPlan"), name, job.namespace)
    return plan if plans.awaits_approval(plan) else None


def crds(api: Api, plan: KubeObject) -> list[CrdChange]:
    """Return what the plan changes in CRDs; a bundle that OLM has unpacked is in a ConfigMap."""
    planned: dict[str, KubeObject] = {}
    references: dict[tuple[str, str], None] = {}
    for one in busy.resources(plan, "CustomResourceDefinition"):
        if one.get("kind") == "ConfigMap":
            references[str(one.get("name")), str(one.get("namespace"))] = None
        elif one.get("kind") == "CustomResourceDefinition":
            planned[one["metadata"]["name"]] = one
    for name, namespace in references:
        content = api.get(known("ConfigMap"), name, namespace)
        for one in unpack.objects(content, "CustomResourceDefinition"):
            planned[one["metadata"]["name"]] = one
    found = (between(api.get(_CRD, name), one) for name, one in sorted(planned.items()))
    return [one for one in found if one is not None]
