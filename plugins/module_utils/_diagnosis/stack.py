# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of the driver stack: the judges of the stacks that are there, as troubles of this walk."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._catalogue.well_known import MIG_STATE
from .._core.objects import KubeObject, Snapshot, at, name, oldest
from .._core.ownership import pool_of, written
from .._machines.machine import seconds_since
from .._nodes.labels import labels
from .._stack import operands, stages, upgrade
from .._stack.clusterpolicy import judge as policy_judge
from .._stack.clusterpolicy.status import judge_policy
from .._stack.dra import judge as dra_judge
from .._stack.judge import StackJudge
from .._stack.kmm import judge as kmm_judge
from .._stack.nicclusterpolicy import judge as nic_judge, steps as nic_steps
from .._stack.nicclusterpolicy.node import PRESENT
from .._stack.nvidiadriver import judge as driver_judge
from .._stack.params import LookParams
from .._stack.pods import BROKEN
from .._stack.stages import Finding, is_consequence
from .._stack.upgrade import RUNNING
from . import model, seen as reads
from .model import Seen, Trouble

# Stage of a stack -> layer. What is left belongs to the operator.
_LAYERS: t.Final = {
    stages.LABELS: model.NFD,
    stages.DRIVER: model.DRIVER,
    stages.TOOLKIT: model.TOOLKIT,
    stages.PLUGIN: model.PLUGIN,
    stages.ALLOCATABLE: model.PLUGIN,
    stages.VALIDATOR: model.VALIDATION,
    stages.METRICS: model.METRICS,
    stages.DRA: model.DRA,
}
# Beginning of a code -> layer, where the code says more than the stage.
_BY_CODE: t.Final = {
    "GPU-MIG-": model.SHARING,
    "GPU-MPS-": model.SHARING,
    "GPU-SLICE-": model.SHARING,
    "GPU-NODE-": model.NODE,
    "NODE-": model.NODE,
    "NIC-": model.NIC,
}
# The status of an object of which every other finding is a cause.
_STATUS: t.Final = (
    "GPU-CP-NOT-READY",
    "GPU-CP-OPERAND",
    "GPU-DRA-NOT-READY",
    "GPU-NVD-NOT-READY",
    "NIC-STATE",
)
# What the layers of machines and nodes say with more.
_SAID: t.Final = ("GPU-NODES", "GPU-NODE-NOT-READY")
# Seconds that a driver pod and another operand's pod take to start.
_BUILDS, _STARTS = 900.0, 60.0
# Seconds within which an upgrade that goes on moves some node: one takes ten minutes, and two waits for pods.
_MOVES: t.Final = 3600.0
# The MIG manager waits five minutes for the clients of the GPUs, and cuts them in seconds.
CUTTING: t.Final = "GPU-MIG-RUNNING"
_CUTS: t.Final = 900.0
# Labels that a new node gets of Node Feature Discovery, and the seconds for which it is new.
_COMING: t.Final = ("GPU-NFD-EMPTY", "GPU-NFD-OSTREE")
_NEW: t.Final = 600.0
# What ends by itself.
_PASSING: t.Final = (RUNNING, CUTTING, "GPU-NODE-UPDATING")
# Without these lists the judges would call every operand missing; the others may be empty.
NEEDED: t.Final = ("daemonsets", "pods")
_LISTS: t.Final = (*NEEDED, "nodes", "policies", "clusters", "drivers", "revisions", "slices")


class Stack(t.NamedTuple):
    """A stack that is there. pods: stage -> prefixes of the pods whose logs say why it is not ready."""

    judge: StackJudge
    pods: t.Mapping[str, t.Sequence[str]]
    namespace: str

    @property
    def found(self) -> frozenset[tuple[str, str, str]]:
        """Return code, node and message of each finding."""
        return frozenset((one.code, one.node, one.message) for one in self.judge.findings)


def stacks(seen: Seen, gpu: str, nics: Snapshot, clock: t.Callable[[], float]) -> list[Stack]:
    """Return the stacks of the cluster, judged.

    gpu: namespace of the GPU operator. nics: what was read of the NIC operator. A stack whose pods or
    DaemonSets could not be read is left out.
    """
    found = []
    left_out = {name(one) for one in reads.left_out(seen)}
    nodes = [one for one in seen.of("nodes") if name(one) not in left_out]
    snapshot: Snapshot = {**{one: seen.of(one) for one in (*_LISTS, *seen.objects)}, "nodes": nodes}
    if any(one in seen.unread for one in NEEDED):
        pass
    elif seen.of("clusters"):
        params = _params(name(oldest(seen.of("clusters"))), gpu, seen)
        judge = dra_judge.judging(t.cast(t.Any, params), seen.of("drivers"), clock)
        found.append(Stack(judge, dra_judge.PODS, gpu))
    elif seen.of("policies"):
        params = _params(name(oldest(seen.of("policies"))), gpu, seen)
        found.append(Stack(_Policy(params, seen, clock), policy_judge.PODS, gpu))
    for stack in found:
        stack.judge(snapshot)
        if "slices" in seen.unread:
            own = stack.judge.findings
            stack.judge.findings = [one for one in own if one.code != "GPU-DRA-SLICES"]
    if nics:
        params = _params(nic_steps.NAME, reads.NIC, seen)
        stack = Stack(nic_judge.judging(params, [], clock), nic_judge.PODS, reads.NIC)
        stack.judge({**nics, "nodes": with_nics(seen.of("nodes")), "policies": seen.of("nics")})
        found.append(stack)
    return found


def with_nics(nodes: list[KubeObject]) -> list[KubeObject]:
    """Return the nodes with adapters of the NIC stack, and those of their pools; all if none has one."""
    has = {name(one): pool_of(one) for one in nodes if labels(one).get(PRESENT) == "true"}
    pools = set(has.values()) - {""}
    return [one for one in nodes if name(one) in has or pool_of(one) in pools] or nodes


class _Policy(policy_judge.Judge):
    """The judge of a ClusterPolicy, with the NVIDIADrivers that bring its drivers, and policies beside it."""

    def __init__(self, params: LookParams, seen: Seen, clock: t.Callable[[], float]) -> None:
        super().__init__(params, clock)
        self._drivers, self._pools = seen.of("drivers"), params.pools

    def __call__(self, snapshot: Snapshot) -> t.Any:
        verdict = super().__call__(snapshot)
        if self._drivers:
            self.findings = [*driver_judge.judge(snapshot, self._drivers, self._pools), *self.findings]
        others = [one for one in snapshot["policies"] if name(one) != self._params.name]
        self.findings = [*(_ignored(one, snapshot) for one in others), *self.findings]
        return verdict


def _ignored(policy: KubeObject, snapshot: Snapshot) -> Finding:
    """Return the finding about a ClusterPolicy beside the oldest one, which works and stays."""
    remedy = f"Run `oc delete clusterpolicy {name(policy)}`. No pod ends: the operator ignores it."
    return replace(
        judge_policy(policy, snapshot), remedy=remedy, since=at(policy, "metadata.creationTimestamp") or ""
    )


def troubles(stack: Stack, now: float = 0.0) -> list[Trouble]:
    """Return what the judge of a stack found, consequences with the layer of their cause."""
    late = [one for one in stack.judge.findings if not one.is_ready]
    others = [one for one in late if one.code not in _STATUS]
    first = next((layer_of(one) for one in sorted(others, key=lambda one: one.waits)), "")
    places: dict[tuple[str, str], str] = {}
    for one in others or late:
        places.setdefault((one.node, one.stage), layer_of(one))
    waits = stages.late(others or late)
    found = []
    for one in late:
        cause = first if one.code in _STATUS else ""
        if is_consequence(one, waits, stack.judge.chain):
            needed = (
                (node, stage) for stage in stack.judge.chain.needs[one.stage] for node in (one.node, "")
            )
            cause = next(places[place] for place in needed if place in places)
        found += [_trouble(one, cause, now)] if one.code not in _SAID else []
    return list(_standing(found, stack.judge.seen["nodes"], now))


def _standing(found: t.Iterable[Trouble], nodes: t.Sequence[KubeObject], now: float) -> t.Iterator[Trouble]:
    """Yield the troubles; an upgrade or a partitioning that stood still for long does not end by itself."""
    last = "" if upgrade.waits_for_jobs(nodes) else upgrade.last_move(nodes)
    cut = {name(node): written(node, MIG_STATE) for node in nodes}
    made = {name(node): str(node["metadata"].get("creationTimestamp") or "") for node in nodes}
    for one in found:
        if one.code == "GPU-ALLOC" and 0 < seconds_since(cut.get(one.node, ""), now) < _STARTS:
            yield replace(one, is_busy=True)  # the GPUs are cut, and the device plugin starts again
            continue
        if one.code in _COMING and 0 < seconds_since(made.get(one.node, ""), now) < _NEW:
            yield replace(one, is_busy=True)
            continue
        is_driver = one.code == RUNNING
        since, limit = (last, _MOVES) if is_driver else (cut.get(one.node, ""), _CUTS)
        if one.code not in (RUNNING, CUTTING) or not since or seconds_since(since, now) < limit:
            yield one
            continue
        why = f"{operands.OPERATOR_LOG} It says why no node's upgrade has moved since {since}. "
        yield replace(one, is_busy=False, since=since, remedy=f"{why if is_driver else ''}{one.remedy}")


def _trouble(one: Finding, cause: str, now: float) -> Trouble:
    return Trouble(
        layer=layer_of(one),
        code=one.code,
        about=f"Node {one.node}" if one.node else f"Pool {one.pool}" if one.pool else "the GPU stack",
        message=one.message,
        remedy=one.remedy,
        node=one.node,
        pool=one.pool,
        since=one.since,
        evidence=one.details,
        cause=cause,
        is_alone=one.code == "GPU-CP-IGNORED",
        is_busy=_is_busy(one, now),
        is_broken=one.reason.startswith(BROKEN),
    )


def modules(seen: Seen) -> list[Trouble]:
    """Return the Modules of KMM that are not loaded on every node that they want."""
    found = []
    for module in seen.of("modules"):
        verdict = kmm_judge.judge_numbers(module)
        if not verdict.is_ready:
            about = f"Module {module['metadata']['namespace']}/{name(module)}"
            found.append(model.of_verdict(model.DRIVER, about, verdict))
    return found


def _is_busy(one: Finding, now: float) -> bool:
    """Return whether the finding ends by itself: an upgrade, or a pod that has begun to start."""
    if one.code in _PASSING:
        return not one.is_failed
    limit = _BUILDS if one.stage == stages.DRIVER else _STARTS
    return one.code == "GPU-OPERAND" and one.waits and 0 < seconds_since(one.since, now) < limit


def layer_of(one: Finding) -> str:
    """Return the layer of a finding: by its code, else by its stage."""
    by_code = next((layer for start, layer in _BY_CODE.items() if one.code.startswith(start)), "")
    return by_code or _LAYERS.get(one.stage, model.OPERATORS)


def _params(object_name: str, namespace: str, seen: Seen) -> LookParams:
    return LookParams(
        name=object_name, namespace=namespace, pools=seen.pools, grace=0.0, slow_grace=0.0, node_timeout=0
    )
