# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the gate after a wave: validate its nodes, and run the user's probe on them."""

from __future__ import annotations

import contextlib
import functools
import typing as t

from .._core.errors import AcceleratorError, NotReadyError, WaitTimeoutError
from .._core.objects import KubeObject, name
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._workload import chosen, steps as validation_steps
from .._workload.options import GpuWorkloadParams
from .jobs import probe
from .options import GpuDriverUpgradeParams

_JOB: t.Final = known("Job")
_TAIL: t.Final = 20


def check(
    api: Api,
    params: GpuDriverUpgradeParams,
    nodes: t.Sequence[KubeObject],
    pools: t.Mapping[str, t.Mapping[str, t.Any]],
) -> None:
    """Validate the nodes of a wave and run the probe there. Raise NotReadyError if either fails.

    The error's fact `late` names the nodes that did not pass. A node whose devices are held by pods that came
    back already is not validated: the task warns of it.
    """
    if params.validate:
        try:
            with chosen.remedies("gpu_upgrade_validation"):
                validation_steps.present(api, wishes(params, nodes, pools))
        except AcceleratorError as exc:
            wrong = exc.facts.pop("failed_pools", [])
            # Without its probe a node has not passed, whatever its validation says.
            exc.facts["late"] = wrong if not params.probe else []
            raise
    if params.probe:
        _probe(api, params.probe, nodes)


def rehearse(api: Api, manifest: KubeObject, node: KubeObject) -> None:
    """Send the Job of the probe as a dry run: a Job that the server refuses would stop the upgrade half way.

    Raise ApiError. A killed run may have left a Job of that name.
    """
    one = probe.job(manifest, node)
    if api.get(_JOB, name(one), probe.place(manifest)) is None:
        api.dry_run_create(one)


def wishes(
    params: GpuDriverUpgradeParams,
    nodes: t.Sequence[KubeObject],
    pools: t.Mapping[str, t.Mapping[str, t.Any]],
) -> GpuWorkloadParams:
    """Return the parameters of a validation of these nodes. pools: node -> its pool."""
    expected = {name(node): pools[name(node)].get("expected") for node in nodes}
    return chosen.validation(nodes, expected, params.wait_timeout, params.validation or {})


def _probe(api: Api, manifest: KubeObject, nodes: t.Sequence[KubeObject]) -> None:
    jobs = {name(one): one for one in (probe.job(manifest, node) for node in nodes)}
    where = dict(zip(jobs, map(name, nodes), strict=True))
    place = probe.place(manifest)
    _clean(api, place, jobs)
    try:
        for one in jobs.values():
            api.create(one)
        queries = {"jobs": Query(_JOB, place)}
        api.wait(queries, functools.partial(probe.judge, where), "probe", on_timeout_code=probe.CODE)
    except (NotReadyError, WaitTimeoutError) as exc:
        # A Job that does not end has failed as well.
        late = probe.not_passed(where, api.list(_JOB, place))
        more = _logs(api, place, late.values())
        facts = {"late": list(late)}
        raise NotReadyError(exc.code, exc.message, exc.remedy, [*exc.evidence, *more], facts) from exc
    finally:
        _clean(api, place, jobs)


def _clean(api: Api, place: str, jobs: t.Iterable[str]) -> None:
    """Delete the Jobs with their pods; those of a killed run too."""
    for object_name in jobs:
        if api.get(_JOB, object_name, place) is not None:
            api.delete(_JOB, object_name, place)


def _logs(api: Api, place: str, jobs: t.Iterable[str]) -> list[str]:
    found: list[str] = []
    for object_name in jobs:
        with contextlib.suppress(AcceleratorError):
            for pod in api.list(known("Pod"), place, labels=f"job-name={object_name}"):
                lines = api.log(place, name(pod), tail_lines=_TAIL).splitlines()
                found += [f"{name(pod)}: {line}" for line in lines[-_TAIL:]]
    return found
