# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of one validation: find who holds devices, run the pods, read their results, delete them always."""

from __future__ import annotations

import contextlib
import datetime
import secrets
import typing as t

from .._core.errors import AcceleratorError, ApiError, ForbiddenError, WaitTimeoutError
from .._core.objects import KubeObject, name, number_of
from .._frame import lease, process
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known
from . import baselines, fingerprints, idle, judge, obstacles, pods as workload_pods, runs
from .options import GpuWorkloadParams
from .programs.registry import PROGRAMS
from .turns import Job

MAP: t.Final = known("ConfigMap")
POD: t.Final = known("Pod")
CLAIM: t.Final = known("ResourceClaim")
SLICE: t.Final = known("ResourceSlice")
JOB: t.Final = known("Job")
# Of a log: the first lines say which devices a pod has, and readings and NCCL print hundreds after them.
LINES: t.Final = 2000


def read_fingerprints(api: Api, place: str) -> fingerprints.Memory:
    """Return the fingerprints that the namespace holds."""
    return fingerprints.read(lambda object_name: api.get(MAP, object_name, place))


def read_baselines(api: Api, place: str) -> baselines.Baselines:
    """Return the baselines that the namespace holds."""
    memory = fingerprints.read(lambda object_name: api.get(MAP, object_name, place), baselines.NAME)
    return baselines.Baselines(memory)


def look(
    api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject]
) -> tuple[list[KubeObject], dict[str, str]]:
    """Return the pods that earlier runs left on these nodes, and who holds devices, by the name of the node.

    A pod of a run that lives is not left over: it holds its device.
    """
    ours = obstacles.on_nodes(api.list(POD, params.namespace), params, due)
    known_now = known_runs(api, ours)
    living = [pod for pod in ours if not known_now.is_over(pod)]
    held = _claimed(api, params, living) if params.claims else _requested(api, params, due, living)
    return [pod for pod in ours if pod not in living], obstacles.busy(due, held, params)


def known_runs(api: Api, pods: t.Sequence[KubeObject]) -> runs.Runs:
    """Return what is known about runs. The lease is read only if a pod is of another run."""
    found = None
    if any(runs.id_of(pod) not in ("", api.run.id) for pod in pods):
        with contextlib.suppress(ForbiddenError):
            found = api.get(known("Lease"), lease.NAME, lease.NAMESPACE)
    return runs.Runs(api.run, process.is_gone, found, datetime.datetime.now(datetime.UTC), api.guard.is_over)


def _claimed(
    api: Api, params: GpuWorkloadParams, living: t.Iterable[KubeObject]
) -> dict[str, dict[str, dict[str, int]]]:
    marks = {pod["metadata"]["labels"][workload_pods.RUN_LABEL] for pod in living}
    others = [
        claim
        for claim in api.list(CLAIM)
        if not obstacles.is_ours(claim, params)
        or claim["metadata"]["labels"][workload_pods.RUN_LABEL] in marks
    ]
    return obstacles.held_by_pods(others, api.list(SLICE))


def _requested(
    api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject], living: t.Sequence[KubeObject]
) -> dict[str, dict[str, dict[str, int]]]:
    return {
        name: obstacles.held_by_others(
            node, api.list(POD, fields=f"spec.nodeName={name}"), params, living=living
        )
        for name, node in ((node["metadata"]["name"], node) for node in due)
    }


def run(api: Api, jobs: t.Sequence[Job]) -> None:
    """Run the pods of all jobs together until they have ended, delete them, and note their results.

    The turn of a job gets the results by the name of the node, or its error if there are several jobs. Raises
    NotReadyError or WaitTimeoutError otherwise.
    """
    first = jobs[0].turn.params
    params = next((job.turn.params for job in jobs if job.turn.params.claims), first)
    namespace = params.namespace
    api.wait_wanted = True
    accounts = {"accounts": Query(known("ServiceAccount"), namespace, "default")}
    api.wait(accounts, judge.judge_account, "validation namespace")
    # A long program gets its own time, beside what the task has for its pods to start and end.
    longest = max(PROGRAMS[job.turn.params.program.program].seconds(job.turn.params.program) for job in jobs)
    api.deadline.grow(api.deadline.seconds + longest)
    mark = workload_pods.Mark(secrets.token_hex(3), api.run.id, max(1, int(api.deadline.remaining())))
    each = [workload_pods.pods(job.turn.params, job.nodes, mark, job.turn.attempt) for job in jobs]
    pods = [pod for made in each for pod in made]
    what = f"{number_of(len(pods), 'pod')} on {number_of(sum(len(job.nodes) for job in jobs), 'node')}"
    api.progress(f"validation: {what}; they end by themselves after {mark.seconds} s if this run is killed")
    with _cleaned(api, params, pods, mark):
        for job in jobs:
            for probe in workload_pods.probes(job.turn.params, job.nodes, mark):
                api.dry_run_create(probe)
        create(api, mark.name, pods, workload_pods.needs(params, pods, mark))
        queries = {"pods": Query(POD, namespace, labels=f"{workload_pods.RUN_LABEL}={mark.name}")}
        names = [[str(pod["metadata"]["name"]) for pod in made] for made in each]
        judges = judge.Judges(names, params.grace, api.clock, params.idle)
        try:
            api.wait(queries, judges, "validation")
        except WaitTimeoutError as exc:
            if len(jobs) == 1:
                raise
            judges.give_up(exc)
        for index, job in enumerate(jobs):
            job.turn.error = judges.errors[index]
            if job.turn.error is None:
                _read(api, job, each[index], judges.ended[index], judges.away[index])


def _read(
    api: Api, job: Job, made: t.Sequence[KubeObject], ended: t.Sequence[KubeObject], away: t.Collection[str]
) -> None:
    """Give the turn the results of the nodes whose pods have all ended by themselves; the others are busy."""
    taken = {pod["spec"]["nodeSelector"][workload_pods.HOSTNAME] for pod in made if name(pod) in away}
    gave_way = {name(node): idle.GAVE_WAY for node in job.nodes if workload_pods.host_of(node) in taken}
    if gave_way:
        job.turn.busy |= gave_way
        api.warn(f"Not validated: {', '.join(sorted(gave_way))}: {idle.GAVE_WAY}.")
    nodes = [node for node in job.nodes if name(node) not in job.turn.busy]
    pods = [pod for pod in ended if pod["spec"]["nodeSelector"][workload_pods.HOSTNAME] not in taken]
    logs = [
        api.log(pod["metadata"]["namespace"], name(pod), tail_lines=LINES) if judge.has_log(pod) else ""
        for pod in pods
    ]
    found = judge.by_node(nodes, pods, logs, job.turn.params.program)
    # A node without a pod now may have had one with other partners.
    job.turn.ran |= {key: results for key, results in found.items() if results or key not in job.turn.ran}


def create(
    api: Api, mark: str, pods: t.Sequence[KubeObject], before: t.Sequence[KubeObject] = ()
) -> KubeObject:
    """Create what the pods need, then the pods, all owned by a Job that goes at their deadline; return it."""
    metadata, spec = pods[0]["metadata"], pods[0]["spec"]
    template = {"metadata": {"labels": dict(metadata["labels"])}, "spec": spec}
    job = api.create(
        workload_pods.owner(metadata["namespace"], mark, spec["activeDeadlineSeconds"], template)
    )
    for one in [*before, *pods]:
        api.create(workload_pods.owned_by(one, job))
    return job


@contextlib.contextmanager
def _cleaned(
    api: Api, params: GpuWorkloadParams, pods: t.Sequence[KubeObject], mark: workload_pods.Mark
) -> t.Iterator[None]:
    """Delete the pods at the end, in any case. A failure says what could not be deleted, and when it ends."""
    failure: AcceleratorError | None = None
    try:
        try:
            yield
        except ApiError as exc:
            raise obstacles.refused(exc, params.namespace) from exc
    except AcceleratorError as exc:
        failure = exc
        raise
    finally:
        if (left := clean(api, params, pods)) and failure is not None:
            failure.message += (
                f" {number_of(left, 'pod')} could not be deleted; no pod runs longer than {mark.seconds} s."
            )


def clean(api: Api, params: GpuWorkloadParams, pods: t.Sequence[KubeObject]) -> int:
    """Delete the pods, and the Jobs that own what else their runs made. Return how many pods were left.

    A failed deletion is only a warning.
    """
    left = sum(not is_deleted(api, POD, pod["metadata"]["name"], pod, grace=1) for pod in pods)
    marks = {pod["metadata"]["labels"][workload_pods.RUN_LABEL]: pod for pod in pods}
    for mark, pod in sorted(marks.items()):
        # Kubernetes deletes what the Job owns.
        is_deleted(api, JOB, workload_pods.owner_name(mark), pod)
    return left


def is_deleted(api: Api, kind: Kind, name: str, pod: KubeObject, grace: int | None = None) -> bool:
    """Delete the object in the namespace of the pod. Return False, with a warning, if that failed."""
    namespace = pod["metadata"]["namespace"]
    try:
        api.delete(kind, name, namespace, wait=False, grace=grace)
    except AcceleratorError as exc:
        seconds = pod["spec"].get("activeDeadlineSeconds")
        ends = f" It ends by itself after {seconds} s." if kind == POD and seconds else ""
        api.warn(f"{kind.kind} {namespace}/{name} could not be deleted: {exc.message}{ends}")
        return False
    return True
