# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer of machines: the Machines and machine sets of GPU nodes. Other machines are not judged."""

from __future__ import annotations

import functools
import typing as t
from collections import Counter

from .._catalogue.instance_types import BUILT_IN, CLOUDS
from .._catalogue.well_known import INSTANCE_TYPE
from .._core import conditions
from .._core.errors import text_of
from .._core.objects import KubeObject, at, name, number_of
from .._core.ownership import pool_of
from .._core.readiness import Readiness, pending
from .._kube.kinds import known
from .._kube.session import Query
from .._machines import csr, machine as facts, machine_set, trouble as reasons
from .._machines.machine import node_name, phase, seconds_since
from .._machines.steps import joining
from .._nodes.labels import labels
from .._nodes.pool_nodes import judge_size
from .._platforms.registry import BY_KEY
from .._pools.model import ACCELERATOR
from . import seen as reads
from .model import MACHINE, NODE, Layer, Seen, Trouble, of_verdict

# Queries of `more`. Strays: nodes of GPU machines without a label by which the walk finds nodes.
REQUESTS, HOSTS, SETS, STRAYS = "certificate requests", "hosts", "machine sets", "nodes without labels"
# Seconds for which a provider may refuse an instance, as the default of capacity_timeout.
_PATIENCE: t.Final = 120.0
# Seconds until a machine is a node, until one is deleted, and until a changed set has all its machines.
_STARTS, _METAL_STARTS, _LEAVES, _SETTLES = 1200.0, 1800.0, 1800.0, 120.0
# Reasons of a machine that runs: the layer of nodes says more.
_OF_NODES: t.Final = ("NodeNotLabelled", "NodeNotReady")
_MOST: t.Final = 5
_PLATFORMS: t.Final = tuple(BY_KEY[cloud] for cloud in CLOUDS if cloud in BY_KEY)


def of_gpus(seen: Seen) -> list[KubeObject]:
    """Return the Machines of GPU pools, those with a GPU node, and those whose type has GPUs."""
    nodes, every = {name(node) for node in seen.of("nodes")}, seen.of("machines")
    return [one for one in every if pool_of(one) or node_name(one) in nodes or _has_gpus(one["spec"])]


def _has_gpus(spec: KubeObject) -> bool:
    """Return whether such a machine has GPUs, also where only a list or the autoscaler's label says so."""
    return bool(at(spec, "providerSpec.value.gpus") or _gpu_type(spec)) or ACCELERATOR in (
        at(spec, "metadata.labels") or {}
    )


def _gpu_type(spec: KubeObject) -> str:
    """Return the instance type if the catalogue has it, else an empty text."""
    types = (one.instance_type(at(spec, "providerSpec.value") or {}) for one in _PLATFORMS)
    return next((one for one in types if one and _is_known(one)), "")


@functools.cache
def _is_known(instance_type: str) -> bool:
    return bool(BUILT_IN.clouds_with(instance_type))


def more(seen: Seen) -> dict[str, Query]:
    """Return what to read because a machine is late, a pool lacks nodes, or a node has no label."""
    machines, nodes = of_gpus(seen), {name(node) for node in seen.of("nodes")}
    found: dict[str, Query] = {}
    late = [one for one in machines if facts.awaits_node(one)]
    if any(seconds_since(reasons.phase_since(one), seen.now) >= joining.NOTICE for one in late):
        found[REQUESTS] = Query(known("CertificateSigningRequest"))
    if any(reasons.host_name(one) and phase(one) != "Running" for one in machines):
        found[HOSTS] = Query(known("BareMetalHost"), reads.MACHINES)
    if seen.served.get("machines") and (not nodes or short(seen)):
        found[SETS] = Query(known("MachineSet"), reads.MACHINES)
    lost = [one for one in machines if phase(one) == "Running" and node_name(one) not in nodes]
    if types := sorted(set(filter(None, (_gpu_type(one["spec"]) for one in lost)))):
        found[STRAYS] = Query(known("Node"), labels=f"{INSTANCE_TYPE} in ({','.join(types[:20])})")
    return found


def short(seen: Seen) -> list[tuple[str, Readiness]]:
    """Return the pools that lack nodes, each with the verdict on its size; none if nodes are not readable."""
    if "nodes" in seen.unread:
        return []
    found = [(pool["name"], judge_size(seen.of("nodes"), pool)) for pool in seen.pools]
    return [(pool, size) for pool, size in found if not size.is_ready]


def judge(seen: Seen) -> t.Iterator[Trouble]:
    """Yield the troubles of machines and sets, and the pools that lack nodes, mostly because of them."""
    found = [*_machines(seen), *_sets(seen)]
    yield from found
    late = {one.pool for one in found}
    for pool, size in short(seen):
        more = {"evidence": (*size.details, *_lines(pool, seen)), "cause": MACHINE if pool in late else ""}
        yield of_verdict(NODE, f"Pool {pool}", size, pool=pool, is_alone=True, **more)


def _lines(pool: str, seen: Seen) -> t.Iterator[str]:
    """Yield a line for each machine set and for the first machines of the pool."""
    for one in filter(lambda each: pool_of(each) == pool, seen.of(SETS)):
        yield f"machine set {name(one)} wants {number_of(machine_set.replicas_of(one), 'machine')}"
    for one in [each for each in seen.of("machines") if pool_of(each) == pool][:_MOST]:
        yield f"machine {name(one)}: {phase(one)}, node {node_name(one) or 'none'}"


def _machines(seen: Seen) -> t.Iterator[Trouble]:
    machines, nodes = of_gpus(seen), {name(node): node for node in seen.of("nodes")}
    hosts = {f"{one['metadata']['namespace']}/{name(one)}": one for one in seen.of(HOSTS)}
    waiting = csr.newest(seen.of(REQUESTS), machines)
    for machine in machines:
        if phase(machine) == "Deleting":
            yield _leaving(machine, seen.now)
            continue
        host, node = hosts.get(reasons.host_name(machine)), nodes.get(node_name(machine))
        kind = labels(machine).get("machine.openshift.io/instance-type") or _gpu_type(machine["spec"])
        kind = kind or f"set {facts.set_name(machine)}"
        verdict = facts.judge(machine, node, seen.now, _PATIENCE, kind, host)
        if verdict.is_ready or verdict.reason in _OF_NODES:
            continue
        if facts.awaits_node(machine):
            own = [one for one in waiting if one[0].machine == facts.name(machine)]
            strangers = [one for one in waiting if not one[0].machine]
            verdict = joining.explained(verdict, own or strangers[:3])
        yield _late(machine, verdict, bool(reasons.host_fault(host or {})), seen.now)


def _late(machine: KubeObject, verdict: Readiness, is_broken: bool, now: float) -> Trouble:
    """Return the trouble of a machine that does not run; busy for as long as such a start may take."""
    since = reasons.phase_since(machine)
    limit = _METAL_STARTS if reasons.host_name(machine) else _STARTS
    is_over = verdict.is_failed or is_broken or verdict.code == joining.CODE
    return _of(machine, "Machine", verdict, not is_over and seconds_since(since, now) < limit, since)


def _leaving(machine: KubeObject, now: float) -> Trouble:
    """Return what keeps a Machine that is being deleted; for half an hour it only takes its time."""
    since, drained = str(machine["metadata"]["deletionTimestamp"]), conditions.find(machine, "Drained")
    why = f" ({drained.get('message')})" if drained.get("status") == "False" else ""
    text = text_of("MACH-DELETE-TIMEOUT", left=f"machine {name(machine)}, in deletion since {since}{why}")
    verdict = pending("Deleting", **text._asdict())
    return _of(machine, "Machine", verdict, seconds_since(since, now) < _LEAVES, since)


def _sets(seen: Seen) -> t.Iterator[Trouble]:
    """Yield the machine sets of GPU nodes that are broken, or have fewer machines than they want."""
    living = Counter(facts.set_name(one) for one in seen.of("machines") if phase(one) != "Deleting")
    for live in seen.of(SETS):
        if not pool_of(live) and not _has_gpus(live["spec"]["template"]["spec"]):
            continue
        verdict, have, wanted = machine_set.judge(live), living[name(live)], machine_set.replicas_of(live)
        if verdict.is_ready and have < wanted:
            text = f"machine set {name(live)} has {have} of {wanted} machines"
            verdict = pending("Scaling", text, code="MACH-TIMEOUT", remedy=machine_set.LOG)
        if not verdict.is_ready:
            stamps = [str(one.get("time") or "") for one in live["metadata"].get("managedFields") or []]
            is_new = 0 < seconds_since(max(stamps, default=""), seen.now) < _SETTLES
            yield _of(live, "MachineSet", verdict, not verdict.is_failed and is_new)


def _of(live: KubeObject, kind: str, verdict: Readiness, is_busy: bool, since: str = "") -> Trouble:
    """Return a trouble. What has no node has its own name in its place, and explains nothing of nodes."""
    title = f"{kind} {live['metadata'].get('namespace', '')}/{name(live)}"
    more = {"node": node_name(live) or name(live), "pool": pool_of(live), "since": since, "is_busy": is_busy}
    more["is_alone"] = not node_name(live)
    message = f"{verdict.message.removesuffix('.')}."
    lines = tuple(line for line in verdict.details if line.rpartition(": ")[2] not in message)
    return of_verdict(MACHINE, title, verdict, message=message, evidence=lines, **more)


LAYER: t.Final = Layer(MACHINE, ("machines",), judge, more=more)
