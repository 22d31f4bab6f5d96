# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the module gpu_workload: which nodes are due, validate the free ones, and remember them."""

from __future__ import annotations

import contextlib
import dataclasses
import time
import typing as t

from .._core.errors import ApiError, NotReadyError, WaitTimeoutError
from .._core.objects import KubeObject, name, number_of
from .._core.ownership import POOL, pool_label, selector, validation_namespace
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._kube.session import Change
from .._nodes import claims as gpu_claims, drain_steps, sentinel_steps
from .._nodes.labels import common_selector
from .._nodes.pool_nodes import check_resources
from . import (
    baselines,
    fingerprints,
    gate_steps,
    idle,
    idle_steps,
    judge,
    namespace,
    obstacles,
    outcomes,
    pods as workload_pods,
    quarantine,
    turns,
)
from .arrivals import Arrivals
from .options import GpuWorkloadParams
from .programs import rdma
from .programs.registry import PROGRAMS
from .run_steps import SLICE, clean, look, read_baselines, read_fingerprints, run
from .turns import Job, Turn

NAMESPACE: t.Final = known("Namespace")
# Part of the names of predicted pods: each run in check mode predicts the same ones.
_NO_RUN: t.Final = "dryrun"
# Check mode shows the pods of more nodes than this as one change.
MANY: t.Final = 20


def present(api: Api, params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Validate the nodes that changed since their last validation, and return the results of all nodes.

    A pool that fails keeps no other from being validated. Raises NotReadyError if nodes or devices are
    missing, or if a validation failed; of several pools the first error, with the others as evidence. With
    the option joining, a pool that fails is only a warning.
    """
    params = idle.chosen(params)
    check_resources(params.expected or {}, "expected")
    for index, pool in enumerate(params.pools or []):
        check_resources(pool.get("expected") or {}, f"pools[{index}].expected")
    each = turns.begin(params)
    if params.joining is not None:
        # Networks come after the machines.
        each = [turn for turn in each if not turn.params.program.network]
    for turn in each:
        obstacles.check(turn.params)
    if params.idle:
        idle_steps.bring_class(api, params)
    else:
        gate_steps.install(api, params, each)
    if params.joining is None:
        _validate_each(api, params, each)
        return outcomes.result(each, params)
    if not api.check_mode:
        _validate_arrivals(api, params, each)
    for turn in each:
        turn.error = None
    return outcomes.result(each, params)


def _validate_arrivals(api: Api, params: GpuWorkloadParams, each: t.Sequence[Turn]) -> None:
    """Validate the pools that have their devices, again and again while machines are on their way.

    Return when every machine is a Ready node, when one needs another task, or at the deadline. An error of a
    pool is only a warning: a later task validates the pool again.
    """
    joining = params.joining or []
    arrivals = Arrivals(each, joining, time.time, lambda: time.strftime("%H:%M:%S UTC", time.gmtime()))
    queries = _queries(params, each, joining)
    api.wait_wanted = True
    while not arrivals.is_over:
        try:
            api.wait(queries, arrivals, "pools on their way")
        except WaitTimeoutError as exc:
            api.warn(f"The next task goes on with the wait: {exc.message}")
            return
        if arrivals.arrived:
            _validate_arrived(api, params, arrivals.arrived)
            arrivals.leave(arrivals.arrived)


def _queries(params: GpuWorkloadParams, each: t.Sequence[Turn], joining: t.Sequence[str]) -> dict[str, Query]:
    selectors = [turn.params.node_selector or {} for turn in each]
    nodes = common_selector([*selectors, *map(pool_label, joining)])
    queries = {
        "nodes": Query(known("Node"), labels=nodes),
        "machines": Query(known("Machine"), params.machine_namespace, labels=POOL),
    }
    if any(turn.params.claims for turn in each):
        queries["slices"] = Query(SLICE)
    return queries


def _validate_arrived(api: Api, params: GpuWorkloadParams, arrived: t.Sequence[Turn]) -> None:
    names = ", ".join(dict.fromkeys(turn.pool for turn in arrived))
    api.progress(f"pool {names}: has its devices, and is validated while others wait for theirs")
    try:
        _validate_each(api, params, arrived)
    except (ApiError, NotReadyError, WaitTimeoutError) as exc:
        api.warn(f"Pool {names} was not validated yet: {exc.code}: {exc.message}")
    for turn in arrived:
        if turn.error:
            api.warn(f"Pool {turn.pool} was not validated yet: {turn.error.code}: {turn.error.message}")


def _validate_each(api: Api, params: GpuWorkloadParams, each: t.Sequence[Turn]) -> None:
    """Validate the pools together. Each of them gets its results or its error."""
    remembered = read_fingerprints(api, params.namespace) if each else fingerprints.Memory({}, {})
    for group in _by_pool(each):
        with _noted(group[0]):
            _look(api, group, remembered)
    free = [turn for turn in each if turn.error is None and turn.free]
    if free:
        _validate(api, params, free)
        if again := [turn for turn in free if _is_overtaken(api, turn) or _may_lock_memory(api, turn)]:
            _validate(api, params, again)
        _judge_and_remember(api, params, [turn for turn in free if turn.error is None])
    if not api.check_mode:
        wrong = {node for turn in each for node in turn.wrong}
        found = {name(node): node for turn in each for node in turn.found if name(node) not in wrong}
        sentinel_steps.take_back(api, found.values())


def _by_pool(each: t.Sequence[Turn]) -> list[list[Turn]]:
    """Return the turns that have the same nodes together: the programs of one pool."""
    groups: list[list[Turn]] = []
    for turn in each:
        before = groups[-1][-1] if groups else None
        if before and before.pool == turn.pool and before.params.node_selector == turn.params.node_selector:
            groups[-1].append(turn)
        else:
            groups.append([turn])
    return groups


def _is_overtaken(api: Api, turn: Turn) -> bool:
    """Return whether pods took devices of the turn's nodes before its own pods did; other nodes are left.

    The turn then knows these nodes as busy: a pod that comes back to its node is no trouble of the node.
    """
    if turn.error is None or turn.error.code != "WORK-UNSCHEDULABLE":
        return False
    left, busy = look(api, turn.params, turn.due)
    if not busy.keys() - turn.busy.keys():
        return False
    turn.left, turn.busy, turn.error = left, busy, None
    with _noted(turn):
        _refuse_busy(api, turn)
    return turn.error is None and bool(turn.free)


def _may_lock_memory(api: Api, turn: Turn) -> bool:
    """Give the pods of the turn capability IPC_LOCK if they need it, and return whether they got it now.

    Without unlimited memlock an ordinary user locks too little memory for RDMA.
    """
    found = [one for pods in turn.ran.values() for pod in pods for one in pod["result"]["findings"]]
    lacks = any(one["code"] == rdma.RIGHTS for one in found)
    if not lacks or turn.error is not None or turn.params.program.lock_memory:
        return False
    api.progress(
        f"{turn.params.program.label}: pods may not lock memory; they try it with capability IPC_LOCK"
    )
    entry = dataclasses.asdict(turn.params.program) | {"lock_memory": True}
    turn.params = dataclasses.replace(turn.params, programs=[entry])
    return True


@contextlib.contextmanager
def _noted(turn: Turn) -> t.Iterator[None]:
    """Keep the error of a pool until the other pools have had their turn."""
    try:
        yield
    except NotReadyError as exc:
        turn.error = exc


def _look(api: Api, group: t.Sequence[Turn], remembered: fingerprints.Memory) -> None:
    """Find the nodes of a pool, which of them are due for which program, and who holds their devices."""
    first = group[0]
    params, found = first.params, nodes(api, first.params)
    if problem := obstacles.problem(found, params):
        if not api.check_mode:
            raise problem
        # Nobody makes the nodes of a pool that has a selector of its own.
        is_made = problem.code != "WORK-NODES" or POOL in (params.node_selector or {})
        if not (first.foreseen and is_made):
            api.warn(f"{problem.message} In check mode the earlier stages are only predicted.")
        found = []
    for turn in group:
        turn.found = found
        reasons = {name(node): workload_pods.unfit(node, turn.params) for node in found}
        turn.unfit = {node: reason for node, reason in reasons.items() if reason}
        fit = [node for node in found if name(node) not in turn.unfit]
        turn.due = fingerprints.changed(fit, turn.params.program.label, remembered, params.repeat)
        _add_partners(turn, fit)
        with _noted(turn):
            _check_domains(api, turn)
    due = {name(node): node for turn in group for node in turn.due}
    if not due:
        return
    left, busy = look(api, params, list(due.values()))
    for turn in group:
        names = {name(node) for node in turn.due}
        turn.left, turn.busy = left, {node: who for node, who in busy.items() if node in names}
        if len(turn.free) < turn.params.program.nodes:
            turn.busy |= {name(node): "the nodes that would run it together are busy" for node in turn.free}
    if warning := obstacles.check_busy(busy, len(due), params.strict):
        api.warn(warning)


def _check_domains(api: Api, turn: Turn) -> None:
    """Raise NotReadyError if the cluster lacks ComputeDomains, which the program needs. Check mode warns."""
    wants = PROGRAMS[turn.params.program.program].claims_channel
    if not (wants and turn.due) or api.served(known("ComputeDomain")):
        return
    error = NotReadyError("WORK-IMEX-KIND", node=name(turn.due[0]))
    if not api.check_mode:
        raise error
    api.warn(f"{error.message} In check mode the earlier stages are only predicted.")


def _add_partners(turn: Turn, fit: t.Sequence[KubeObject]) -> None:
    """Make nodes due that fill the group of the due ones. Without enough of them the due ones are unfit."""
    size, names = turn.params.program.nodes, {name(node) for node in turn.due}
    if size > len(fit) and names:
        reason = f"it runs on {number_of(size, 'node')} together, and {len(fit)} can run it"
        turn.unfit |= dict.fromkeys(names, reason)
        turn.due = []
    elif 0 < len(names) < size:
        others = [node for node in fit if name(node) not in names]
        turn.due = [*turn.due, *others[: size - len(names)]]


def _refuse_busy(api: Api, turn: Turn) -> None:
    """Warn of nodes that are left out because of pods. Raises NotReadyError if that is not allowed."""
    if warning := obstacles.check_busy(turn.busy, len(turn.due), turn.params.strict):
        api.warn(warning)


def _validate(api: Api, params: GpuWorkloadParams, free: t.Sequence[Turn]) -> None:
    place = api.get(NAMESPACE, params.namespace)
    if place is None or namespace.is_made_for_validation(place):
        api.apply(validation_namespace(params.namespace, place))
    if api.check_mode:
        for turn in free:
            predict(api, turn.params, turn.free)
        return
    for turn in free:
        clean(api, turn.params, turn.left)
    for batch in turns.batches(free, params.max_nodes):
        jobs = [job for job in batch if job.turn.error is None]
        _run(api, idle_steps.still_idle(api, jobs) if params.idle else jobs)


def _run(api: Api, jobs: t.Sequence[Job]) -> None:
    """Validate the nodes of the jobs together; one after the other if a quota does not take them all."""
    # Of a large pool too few nodes for a group may be left, which run nothing now.
    few = [job for job in jobs if len(job.nodes) < job.turn.params.program.nodes]
    for job in few:
        job.turn.ran |= {name(node): job.turn.ran.get(name(node), []) for node in job.nodes}
    jobs = [job for job in jobs if job not in few]
    try:
        if jobs:
            run(api, jobs)
    except NotReadyError as exc:
        if len(jobs) < 2 or exc.code != "QUOTA-TOO-SMALL":
            for job in jobs:
                job.turn.error = exc
            return
        for job in jobs:
            with _noted(job.turn):
                run(api, [job])


def _judge_and_remember(api: Api, params: GpuWorkloadParams, each: t.Sequence[Turn]) -> None:
    """Judge what was measured, store the nodes that passed, and note what is wrong with the others."""
    stored = baselines.Baselines(fingerprints.Memory({}, {}))
    if any(outcomes.figures_of(turn, node) for turn in each for node in turn.ran):
        stored = read_baselines(api, params.namespace)
    for turn in each:
        outcomes.settle(turn, stored)
        if turn.params.program.nodes > 1:
            _find_slow_nodes(api, params, turn, stored)
    _remember(api, params, [turn for turn in each if turn.error is None], stored)


def _find_slow_nodes(api: Api, params: GpuWorkloadParams, turn: Turn, stored: baselines.Baselines) -> None:
    """Run a program of several nodes again with other partners where that tells which one is slow."""
    outcomes.settle_groups(turn)
    while outcomes.needs_others(turn):
        turn.attempt += 1
        _validate(api, params, [turn])
        if turn.error is not None:
            return
        outcomes.settle(turn, stored)
        outcomes.settle_groups(turn)
    outcomes.blame(turn)


def _remember(
    api: Api, params: GpuWorkloadParams, each: t.Sequence[Turn], stored: baselines.Baselines
) -> None:
    """Store the nodes that passed and their first figures, and note what is wrong with the others."""
    good = [(turn.params, turn.passed) for turn in each if turn.passed]
    if good:
        existing = api.list(known("Node"), metadata_only=True)
        # Another run may have validated other nodes meanwhile.
        now = read_fingerprints(api, params.namespace)
        for turn in each:
            for node in turn.passed:
                stored.add(node, turn.params.program, outcomes.figures_of(turn, name(node)))
        for one in fingerprints.build(params.namespace, now, good, existing):
            api.apply(one, live=now.maps.get(name(one)))
        for one in stored.build(params.namespace, {name(node) for node in existing}):
            api.apply(one, live=stored.memory.maps.get(name(one)))
    _mark_nodes(api, each)
    for turn in each:
        if parts := [part for found in turn.wrong.values() for part in found]:
            turn.error = judge.failure(parts, {"workload": outcomes.facts_of(turn)})


def _mark_nodes(api: Api, each: t.Sequence[Turn]) -> None:
    """Close the nodes that failed, if their pool wants it, and open those again that have passed since."""
    bad = {node: turn for turn in each for node in turn.wrong}
    done = set(bad)
    for turn in each:
        passed = {name(node) for node in turn.passed}
        for node in turn.found:
            if bad.get(name(node)) is turn:
                how, label = turn.params.on_failure, turn.params.program.label
                if body := quarantine.close(node, how, label, api.run.id):
                    api.merge_patch(known("Node"), name(node), None, body)
            elif name(node) in passed and name(node) not in done and quarantine.open_again(node):
                gate_steps.open_node(api, node)
                drain_steps.stays_held(api, node)
                done.add(name(node))


def nodes(api: Api, params: GpuWorkloadParams) -> list[KubeObject]:
    """Return the selected nodes, sorted by name.

    With claims, allocatable is what their ResourceSlices offer.
    """
    wanted = params.node_selector or {}
    found = workload_pods.selected(api.list(known("Node"), labels=selector(wanted)), wanted)
    if not params.claims or (api.check_mode and not api.served(SLICE)):
        return found
    slices = api.list(SLICE)
    return [gpu_claims.offering(node, slices) for node in found]


def predict(api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject]) -> None:
    """Create the pods as a dry run of check mode; without the namespace the API server cannot judge them."""
    there = api.get(NAMESPACE, params.namespace)
    mark = workload_pods.Mark(_NO_RUN, _NO_RUN, int(params.wait_timeout))
    try:
        made = workload_pods.pods(params, due, mark) if there else []
        if len(due) > MANY:
            _predict_sum(api, params, due, mark, len(made))
            return
        for pod in made:
            api.create(pod)
    except ApiError as exc:
        raise obstacles.refused(exc, params.namespace) from exc


def _predict_sum(
    api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject], mark: workload_pods.Mark, pods: int
) -> None:
    """Predict the pods of many nodes as one change. The dry run of one node stands for the others."""
    for pod in [*workload_pods.probes(params, due, mark), *workload_pods.pods(params, due[:1], mark)]:
        api.dry_run_create(pod)
    selected = selector(params.node_selector or {})
    after: KubeObject = {"pods": pods, "nodes": len(due), "selector": selected}
    object_name = (
        f"Pod {params.namespace}: {number_of(pods, 'pod')} on {number_of(len(due), 'node')} of {selected}"
    )
    api.changes.append(Change(object_name, {}, after))
