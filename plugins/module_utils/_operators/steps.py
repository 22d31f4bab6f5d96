# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of operator_upgrade: find every way and every refusal first, then one InstallPlan after the other."""

from __future__ import annotations

import contextlib
import functools
import typing as t

from .._catalogue.well_known import GPU_PRESENT
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, Snapshot
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes import sentinel_steps
from .._olm import operators as olm_steps, plans
from . import channels, foresight, health, images, jobs, remedies, report
from .crd_changes import refuse_lost
from .jobs import Job
from .params import OperatorUpgradeParams
from .upgrade_path import Stop


def upgrade(api: Api, params: OperatorUpgradeParams) -> dict[str, t.Any]:
    """Upgrade the operators in their order, and return the way of each one.

    Every refusal that can be known comes before the first write.
    """
    found = jobs.find(api, params)
    ends: list[dict[str, t.Any]] = []
    try:
        with remedies.for_playbook():
            for job in found:
                foresight.check_support(api, job)
                ends += foresight.foresee(api, job, params)
            with _opted_out(api, found):
                for job in found:
                    if api.check_mode and job.way.stops:
                        _dry_run(api, job, params)
                    else:
                        _run(api, job, params)
    except AcceleratorError as exc:
        if not api.check_mode and any(job.steps for job in found):
            remedies.say_what_stays(exc)
        exc.facts.update(_result(found))
        raise
    return {**_result(found), "ends": ends}


def _opted_out(api: Api, found: t.Iterable[Job]) -> contextlib.AbstractContextManager[None]:
    """Return the time in which NVSentinel leaves the GPU nodes alone; nothing where nothing is upgraded."""
    if not any(job.way.stops for job in found):
        return contextlib.nullcontext()
    return sentinel_steps.opted_out(api, lambda: api.list(known("Node"), labels=f"{GPU_PRESENT}=true"))


def _result(found: t.Iterable[Job]) -> dict[str, t.Any]:
    """Return the way of each operator: the steps that were done, then those that are ahead."""
    rows = [report.operator(job.way, job.steps) for job in found]
    return {"operators": rows, "table": report.table(rows)}


def _run(api: Api, job: Job, params: OperatorUpgradeParams) -> None:
    """Go the way: one plan after the other, and the truth of the stack before each one and at the end."""
    way = job.way
    if not way.stops:
        if way.channel != job.live["spec"].get("channel"):
            ask = jobs.ask_of(job, Stop(way.channel, way.installed, ()), params)
            channels.keep(api, job.live, ask, way.channel)
        return
    for stop in way.stops:
        _go(api, job, stop, params)
        job.live = api.get(known("Subscription"), job.live["metadata"]["name"], job.namespace) or job.live
        if not api.wait_wanted:
            return
    _judge(api, job, params)


def _go(api: Api, job: Job, stop: Stop, params: OperatorUpgradeParams) -> None:
    """Go to one stop. If that fails before a plan was approved, give the Subscription its channel back."""
    ask, before, done = jobs.ask_of(job, stop, params), job.live, len(job.steps)
    approvals = _approvals(api)
    job.live = channels.keep(api, before, ask, job.way.channel)
    try:
        job.live = channels.without_outdated_plan(api, before, job.live, ask)
        review = functools.partial(_review, api, job, params, stop)
        olm_steps.follow(api, job.live, ask, jobs.olm_params(job, stop, params), review)
    except AcceleratorError as exc:
        if _approvals(api) == approvals:
            # The plan may have been reviewed, and refused after that.
            del job.steps[done:]
            channels.put_back(api, before, job.live, exc)
        raise
    if len(job.steps) == done:
        # An earlier run has approved the plan.
        start = job.steps[-1]["to"] if job.steps else job.way.installed
        job.steps.append(report.step(job.way.package, stop.channel, start, None, (), stop.csv))


def _approvals(api: Api) -> int:
    """Return how many InstallPlans the task has approved."""
    return sum(one.object_name.startswith("InstallPlan ") for one in api.changes)


def _review(
    api: Api, job: Job, params: OperatorUpgradeParams, stop: Stop, plan: KubeObject, seen: Snapshot
) -> None:
    """Look at a plan before its approval: the stack works, and no CRD loses objects. Note the step."""
    job.remember(seen["csvs"])
    if job.steps or not params["repair"]:
        _judge(api, job, params)
    found = foresight.crds(api, plan)
    refuse_lost(found, plan["metadata"]["name"])
    for one in found:
        if one.removed or one.fields:
            api.warn(
                f"InstallPlan {plan['metadata']['name']} changes a CustomResourceDefinition: {one.line}."
            )
    installed = plans.status(seen, "installedCSV")
    job.steps.append(report.step(job.way.package, stop.channel, installed, plan, found))
    api.deadline.grow(api.deadline.elapsed() + params["wait_timeout"])


def _judge(api: Api, job: Job, params: OperatorUpgradeParams) -> None:
    """Wait until the stack of the operator works; note what was judged at the last step."""
    api.deadline.grow(api.deadline.elapsed() + params["wait_timeout"])
    if not job.steps:
        health.wait(api, health.Target(job.way.package, job.namespace))
        return
    last = job.steps[-1]
    job.remember(api.list(known("ClusterServiceVersion"), job.namespace))
    old = images.left_behind(job.csvs.get(last["from"]), job.csvs.get(last["to"]))
    last["truth"] = health.wait(api, health.Target(job.way.package, job.namespace, old))


def _dry_run(api: Api, job: Job, params: OperatorUpgradeParams) -> None:
    """Send the first writes as dry runs, and note the first step if OLM has made its plan."""
    first, plan = job.way.stops[0], foresight.waiting(api, job)
    ask = jobs.ask_of(job, first, params)
    channels.keep(api, job.live, ask, job.way.channel)
    if plan is not None:
        olm_steps.follow(api, job.live, ask, jobs.olm_params(job, first, params))
        found = foresight.crds(api, plan)
        job.steps.append(report.step(job.way.package, first.channel, job.way.installed, plan, found))
