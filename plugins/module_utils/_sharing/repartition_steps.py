# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_repartition: ask, write the templates; then drain, label, follow and uncordon each node."""

from __future__ import annotations

import contextlib
import functools
import typing as t

from .._catalogue.well_known import MIG_CONFIG, MIG_STATE
from .._core.errors import (
    AcceleratorError,
    ForbiddenError,
    KindNotServedError,
    NotReadyError,
    WaitTimeoutError,
)
from .._core.objects import KubeObject, name, number_of
from .._core.ownership import owned, pool_label, selector
from .._impact import impact
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes import cordons, drain, drain_steps, node as node_facts
from .._nodes.drain_judge import Rules, refusal
from . import config_map, judge, mig_config, mig_judge, mig_name, mig_steps, options, repartition, steps
from .options import Shared
from .repartition import GpuRepartitionParams, Turn

BUSY: t.Final = "GPU-MIG-BUSY"
_NODE: t.Final = known("Node")
_POD: t.Final = known("Pod")
_MACHINE_SET: t.Final = known("MachineSet")
Result = dict[str, t.Any]
# Given the name of a pool and the namespace of its machines.
Paused = t.Callable[[Api, str, str], contextlib.AbstractContextManager[None]]


class _Work(t.NamedTuple):
    """What all turns share. written: when the ConfigMap was written, as the API server's time."""

    api: Api
    params: GpuRepartitionParams
    found: mig_steps.Found
    written: str


def ensure(api: Api, params: GpuRepartitionParams, paused: Paused) -> Result:
    """Give every node of the pools its geometry, one after another. Return the module's result.

    paused: keeps the health check of a pool from replacing a machine that reboots.

    Raises AcceleratorError before the first write if pods may not be evicted or the ClusterPolicy is not
    ready for it, and NotReadyError with the log's line if a node could not be partitioned: the node has its
    old geometry again then, and the nodes after it were not touched.
    """
    asked = options.read(params["pools"])
    pools = [Shared(pool.name, pool.label) for pool in asked] if params["state"] == "absent" else asked
    found = mig_steps.look(api, steps.policy(api), {}, params["namespace"])
    if found.live is None and not any(pool.is_cut for pool in pools):
        return _result([], [], [])
    nodes = api.list(_NODE, keep=functools.partial(_of, pools))
    turns = repartition.turns(nodes, pools)
    disruption = _ask(api, params, turns)
    if turns and not api.check_mode:
        _refuse_policy(found, pools)
    _write_templates(api, params, pools)
    work = _Work(api, params, found, config_map.written(found.live) if found.live else "")
    done: list[str] = []
    for turn in turns:
        try:
            with paused(api, turn.pool.name, params["machine_namespace"]):
                _take(work, turn)
        except AcceleratorError as exc:
            exc.facts.setdefault("done", list(done))
            raise
        done.append(turn.name)
    return _result(turns, done, disruption)


def _of(pools: t.Sequence[Shared], node: KubeObject) -> KubeObject | None:
    return node if judge.pool_of(node, pools) else None


def _result(turns: t.Sequence[Turn], done: t.Sequence[str], disruption: list[Result]) -> Result:
    changes = [
        {"node": turn.name, "pool": turn.pool.name, "before": turn.before, "after": turn.geometry}
        for turn in turns
    ]
    return {"turns": changes, "done": list(done), "ends": disruption}


def _ask(api: Api, params: GpuRepartitionParams, turns: t.Sequence[Turn]) -> list[Result]:
    """Return what the turns end. Raise AcceleratorError if a pod may not be evicted; change nothing."""
    names = {turn.name: turn.node for turn in turns}
    if not names:
        return []
    pods = drain_steps.pods_on(api, names)
    here = (question.answer(names.values(), pods) for question in repartition.questions(turns))
    found = [answer for answer in here if answer is not None]
    if found and params["on_busy"] == impact.FAIL:
        raise impact.refusal(found, BUSY)
    _refuse_lasting([pod for pod in drain.busy(pods, drain.uses_gpus) if drain.is_passed_over(pod)])
    for answer in found:
        api.warn(f"{answer.line} (on_busy: {params['on_busy']}).")
    problem = refusal(pods, Rules.of(params), _why(f"{number_of(len(names), 'node')}", "anew"))
    if problem:
        raise problem
    return impact.as_result(found)


def _refuse_lasting(pods: t.Sequence[KubeObject]) -> None:
    """Raise AcceleratorError for pods that use a GPU and that no drain ends."""
    if not pods:
        return
    named = [f"{drain.name(pod)} on {drain.node_of(pod)} ({impact.lasting(pod)})" for pod in pods]
    raise AcceleratorError(
        BUSY,
        f"The MIG manager partitions no GPU that a pod uses, and a drain ends neither static pods nor those "
        f"of DaemonSets: {', '.join(named[:10])}. Nothing was changed.",
        impact.end_of_lasting(pods[0]),
        named,
    )


def _why(what: str, geometry: str) -> str:
    return f"The GPUs of {what} are to be partitioned ({geometry})"


def _refuse_policy(found: mig_steps.Found, pools: t.Sequence[Shared]) -> None:
    """Raise AcceleratorError if the MIG manager does not read the pools' configurations."""
    asked = mig_steps.strategy(pools)
    lacking = [
        partition.config
        for pool in pools
        for partition in pool.partitions
        if mig_name.name(pool.name, partition.config) not in mig_config.ours(found.text)
    ]
    if found.is_named and not lacking and asked in ("", found.strategy):
        return
    what = f"does not name ConfigMap {found.object_name} for the MIG manager"
    if found.is_named:
        what = f"has mig.strategy {found.strategy or 'none'}, not {asked}"
    if lacking:
        what = f"is not prepared: ConfigMap {found.object_name} lacks a configuration of the pools"
    raise AcceleratorError("GPU-MIG-POLICY", problem=what)


def _write_templates(api: Api, params: GpuRepartitionParams, pools: t.Sequence[Shared]) -> None:
    """Have new machines of the pools get the new geometry."""
    for pool in pools:
        try:
            label = selector(pool_label(pool.name))
            sets = api.list(_MACHINE_SET, params["machine_namespace"], labels=label)
        except KindNotServedError:
            return
        for machine_set in filter(owned, sets):
            if body := repartition.template(machine_set, pool):
                api.merge_patch(_MACHINE_SET, name(machine_set), params["machine_namespace"], body)


def _take(work: _Work, turn: Turn) -> None:
    """Give one node its geometry. Roll back and raise NotReadyError if the MIG manager fails."""
    api, params = work.api, work.params
    api.deadline.grow(api.deadline.elapsed() + params["wait_timeout"] + params["node_timeout"])
    mark = cordons.FOR_MIG
    drain_steps.drain(api, {turn.name}, Rules.of(params), _why(f"node {turn.name}", turn.geometry), mark)
    if not turn.is_begun:
        _choose(work, turn, turn.target)
    if not api.check_mode:
        try:
            _follow(work, turn, turn.target)
        except WaitTimeoutError as exc:
            exc.message += f" Node {turn.name} stays cordoned, and the next run resumes here."
            raise
        except NotReadyError as exc:
            raise _rolled_back(work, turn, exc) from exc
    _end(api, turn, turn.marks)


def _choose(work: _Work, turn: Turn, target: str) -> None:
    """Have the MIG manager of the node read the file, then give the node the label.

    A manager whose file is older would say that it does not know the configuration, and not look again. The
    state is set back too: until the manager has seen the label, the old state would count as the new one.
    """
    api = work.api
    if not api.check_mode:
        _restart(work, turn)
    body = {"metadata": {"annotations": {repartition.BEFORE: turn.before}}}
    if repartition.noted(turn.node) != turn.before:
        api.merge_patch(_NODE, turn.name, None, body)
    mig_steps.give(api, turn.node, {MIG_CONFIG: target, MIG_STATE: "pending"})


def _restart(work: _Work, turn: Turn) -> None:
    """Wait until a MIG manager that has read the file runs on the node; delete one that has not.

    A manager that failed at the same value of the label before tries again only when it starts.
    """
    api, namespace = work.api, work.params["namespace"]
    on_node = drain.on(turn.name)
    pods = mig_judge.managers(api.list(_POD, namespace, fields=on_node), work.found.object_name)
    is_again = mig_judge.label_of(turn.node) == turn.target
    pod, gone = pods.get(turn.name), ""
    if pod is not None and (is_again or judge.stale([pod], work.written)):
        api.delete(_POD, name(pod), namespace, owned_only=False)
        gone = pod["metadata"]["uid"]
    queries = {repartition.PODS: Query(_POD, namespace, fields=on_node)}
    judged = functools.partial(
        repartition.judge_manager, node=turn.name, config_map=work.found.object_name, gone=gone
    )
    api.wait(
        queries,
        judged,
        f"MIG manager of {node_facts.short(turn.name)}",
        on_timeout_code=repartition.MANAGER_CODE,
    )


def _follow(work: _Work, turn: Turn, target: str) -> None:
    """Wait until the node has the configuration and offers its devices."""
    queries = {repartition.NODES: Query(_NODE, name=turn.name)}
    stage = f"partitions of {node_facts.short(turn.name)}"
    work.api.wait(queries, repartition.Done(turn, target), stage, on_timeout_code=mig_judge.RUNNING)


def _end(api: Api, turn: Turn, marks: t.Mapping[str, str | None]) -> None:
    """Take the note away, with labels that are no longer needed, and uncordon what a turn cordoned."""
    live = api.get(_NODE, turn.name) or turn.node
    if marks:
        mig_steps.give(api, live, marks)
    notes: dict[str, None] = {repartition.BEFORE: None}
    body: KubeObject = {"metadata": {"annotations": notes}}
    if repartition.is_ours(live):
        notes |= cordons.REMOVED
        body["spec"] = {"unschedulable": None}
    elif not repartition.noted(live):
        return
    api.merge_patch(_NODE, turn.name, None, body)


def _rolled_back(work: _Work, turn: Turn, exc: NotReadyError) -> NotReadyError:
    """Give the node its old geometry again; return the failure, with what the log of the manager says."""
    log = _log(work, turn)
    line = repartition.why(log) or exc.message
    code = repartition.REBOOT if repartition.waits_for_reboot(log) else "GPU-MIG-FAILED"
    remedy = (
        "Set gpu_mig_reboot: true, and run again: the MIG manager then reboots such a node, which is empty."
        if code == repartition.REBOOT
        else f"Run `oc logs -n {work.params['namespace']} -l app={mig_judge.MANAGER} --prefix`; correct "
        "sharing.mig of the pool, and run again."
    )
    after = _roll_back(work, turn)
    message = f"Node {turn.name} did not get {turn.geometry}: {line}. {after}"
    return NotReadyError(code, message, remedy, [*exc.evidence, *log.splitlines()[-20:]], exc.facts)


def _roll_back(work: _Work, turn: Turn) -> str:
    """Choose the old configuration, and uncordon the node if it has that. Return a sentence about it."""
    api = work.api
    if turn.before == turn.target:
        return "It had no other geometry before, and stays cordoned."
    old = turn.before
    try:
        mig_steps.give(api, turn.node, {MIG_CONFIG: old, MIG_STATE: "pending"})
        api.deadline.grow(api.deadline.elapsed() + work.params["node_timeout"])
        _follow(work, turn, old)
    except AcceleratorError as exc:
        return f"Its old geometry {old} did not come back either ({exc.message}), so it stays cordoned."
    had_label = mig_judge.label_of(turn.node) or repartition.noted(turn.node)
    _end(api, turn, {} if had_label else {MIG_CONFIG: None, MIG_STATE: None})
    return f"It has its old geometry {old} again, and is schedulable. Nodes after it were not changed."


def _log(work: _Work, turn: Turn) -> str:
    """Return the end of the log of the node's MIG manager; "" if it cannot be read."""
    namespace = work.params["namespace"]
    pods = work.api.list(_POD, namespace, fields=drain.on(turn.name))
    pod = mig_judge.managers(pods, work.found.object_name).get(turn.name)
    try:
        return work.api.log(namespace, name(pod), mig_judge.MANAGER, tail_lines=50) if pod else ""
    except ForbiddenError:
        return ""
