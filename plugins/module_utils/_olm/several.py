# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of olm_operator for several operators: it asks OLM for all of them before it waits for the first."""

from __future__ import annotations

import functools
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .._kube.client import Api
from . import elsewhere, operators, removal_steps, subscription
from .subscription import Ask, OlmOperatorParams, OperatorEntry, OperatorParams

# An operator has these seconds to show its state if the others took all of its time.
_LAST_LOOK: t.Final = 10.0


class _Job:
    """One operator of the task: its options, what OLM was asked for, and its result or its failure."""

    def __init__(self, params: OperatorParams, listed: t.Callable[[], list[KubeObject]]) -> None:
        self.params, self.listed = params, listed
        self.asked: tuple[KubeObject, Ask] | None = None
        self.result: KubeObject = {"operator": {"package": params["name"], "namespace": params["namespace"]}}
        self.failure: AcceleratorError | None = None

    def request(self, api: Api, until: str = "") -> None:
        """Ask OLM for the operator. until: follow it at once until this stage."""
        if elsewhere.cluster_operator_of(self.params["name"]):
            self.result = operators.present(api, self.params)
        else:
            self.asked = operators.request(api, self.params, self.listed)
        if until:
            self.follow(api, until)

    def follow(self, api: Api, until: str) -> None:
        if self.asked is None:
            return
        found = operators.follow(api, *self.asked, t.cast(OperatorParams, {**self.params, "until": until}))
        found["driver_change"] = self.result.get("driver_change") or found["driver_change"]
        found["ends"] = [*self.result.get("ends", ()), *found["ends"]]
        self.result = found

    def remove(self, api: Api) -> None:
        self.result = removal_steps.absent(api, self.params)


def ensure(api: Api, params: OlmOperatorParams) -> KubeObject:
    """Bring every operator to the stage params["until"], or remove all. Return the facts of each (operators).

    A failure of one operator hides no other: the error has the failures of all and the results of the others.
    """
    listed = operators.listed_by(api)
    jobs = [_Job(_params_of(params, given), listed) for given in params["operators"] or ()]
    if params["state"] == "present":
        for job in jobs:
            subscription.refuse_contradiction(job.params)
    for step in _steps(api, params):
        for job in jobs:
            _attempt(api, job, step)
    return _result(jobs)


def _steps(api: Api, params: OlmOperatorParams) -> list[t.Callable[[_Job], None]]:
    """Return what happens to each operator before the next step begins for the first one."""
    if params["state"] == "absent":
        return [lambda job: job.remove(api)]
    if api.check_mode or not api.wait_wanted or len(params["operators"] or ()) == 1:
        return [lambda job: job.request(api, params["until"])]
    stages = ("requested", "approved", "installed")
    follows = [
        functools.partial(_Job.follow, api=api, until=stage)
        for stage in stages[1 : stages.index(params["until"]) + 1]
    ]
    return [lambda job: job.request(api), *follows]


def _params_of(params: OlmOperatorParams, given: OperatorEntry) -> OperatorParams:
    seconds = given["wait_timeout"] or params["wait_timeout"]
    return t.cast(OperatorParams, {**params, **given, "wait_timeout": seconds})


def _attempt(api: Api, job: _Job, step: t.Callable[[_Job], None]) -> None:
    if job.failure is not None:
        return
    seconds, elapsed = float(job.params["wait_timeout"]), api.deadline.elapsed()
    api.deadline.seconds = seconds if elapsed < seconds else elapsed + _LAST_LOOK
    try:
        step(job)
    except AcceleratorError as exc:
        job.failure = exc
        job.result |= {key: value for key, value in exc.to_result().items() if key != "msg"}


def _result(jobs: t.Sequence[_Job]) -> KubeObject:
    """Return the result of each operator. Raise the failure; several become one with the first one's code."""
    results = {"operators": [job.result for job in jobs]}
    failures = [job.failure for job in jobs if job.failure is not None]
    if not failures:
        return results
    first, *others = {(failure.code, failure.message): failure for failure in failures}.values()
    facts = {key: value for failure in reversed(failures) for key, value in failure.facts.items()}
    raise AcceleratorError(
        first.code,
        " ".join([first.message, *(f"{other.code}: {other.message}" for other in others)]),
        " ".join(dict.fromkeys(failure.remedy for failure in failures)),
        [line for failure in failures for line in failure.evidence],
        facts | results,
    )
