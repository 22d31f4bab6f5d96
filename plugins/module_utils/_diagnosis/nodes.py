# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer of nodes: conditions of the kubelet, cordons, and what keeps Node Feature Discovery away."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._catalogue.well_known import FEATURE
from .._core import conditions, run as runs
from .._core.errors import text_of
from .._core.objects import KubeObject, at, name, number_of
from .._core.ownership import setter
from .._frame import lease
from .._kube.kinds import known
from .._kube.session import Query
from .._machines import trouble as reasons
from .._machines.machine import node_name, seconds_since
from .._nodes import cordons, sentinel
from .._nodes.formatting import why_not_ready
from .._nodes.labels import has_nvidia_pci, labels
from .._nodes.node import is_cordoned, is_ready, update
from .._nodes.pool_nodes import nodes_of
from .._nodes.taints import taints, untolerated
from .._stack import operands, upgrade
from . import machines, seen as reads
from .model import NFD, NODE, Layer, Seen, Trouble, trouble

# The Lease that the runs of this collection hold.
LEASE: t.Final = "lease"
LEASE_QUERY: t.Final = Query(known("Lease"), lease.NAMESPACE, lease.NAME)
# A holder of the lease that is silent for longer has ended; its clock may differ from ours.
_SILENT: t.Final = 4 * lease.DURATION
# Seconds that a new node takes to be Ready, and to get the labels of NFD.
_STARTS: t.Final = 600.0
_PRESSURES: t.Final = ("DiskPressure", "MemoryPressure", "PIDPressure", "NetworkUnavailable")
_GOING: t.Final = ("ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler")
# States of the driver upgrade in which it has not cordoned the node.
_NO_UPGRADE: t.Final = ("", "upgrade-required", "upgrade-done")
_MOST: t.Final = 5


def more(seen: Seen) -> dict[str, Query]:
    """Return the query of the lease if a run cordoned a node."""
    return {LEASE: LEASE_QUERY} if any(map(_is_held, seen.of("nodes"))) else {}


def works(run_id: str, seen: Seen) -> bool:
    """Return whether the run probably works: nobody may read the lease, or it renewed it of late."""
    held = at(next(iter(seen.of(LEASE)), {}), "spec") or {}
    age = seconds_since(str(held.get("renewTime") or ""), seen.now)
    return LEASE in seen.unread or (held.get("holderIdentity") == run_id and age <= _SILENT)


def judge(seen: Seen) -> t.Iterator[Trouble]:
    nodes, strays = seen.of("nodes"), seen.of(machines.STRAYS)
    pools = {name(one): pool["name"] for pool in reversed(seen.pools) for one in nodes_of(nodes, pool)}
    owners = {node_name(one): one for one in seen.of("machines")}
    workers = [one for one in seen.of("nfd_daemonsets") if "worker" in name(one)]
    given = [each for one in workers for each in operands.tolerations(one)]
    labelled = {name(one) for one in nodes}
    for node in [*nodes, *(one for one in strays if name(one) not in labelled)]:
        found = [_not_ready(node, owners.get(name(node)), seen), *_pressures(node), _left(node, seen)]
        if workers:
            found.append(_without_features(node, given, name(node) not in labelled, seen.now))
        yield from (replace(one, pool=pools.get(name(node), "")) for one in found if one)


def _not_ready(node: KubeObject, machine: KubeObject | None, seen: Seen) -> Trouble | None:
    """Return the trouble of a node that is not Ready. A new one, or one of a run that works, is busy."""
    if is_ready(node):
        return None
    ready, made = conditions.find(node, "Ready"), str(node["metadata"].get("creationTimestamp") or "")
    found = _at(NODE, "GPU-NODE-NOT-READY", node, since=str(ready.get("lastTransitionTime") or ""))
    is_silent = machine is not None and ready.get("status") == "Unknown"
    more = f" If its kubelet stays silent, read {reasons.console(machine or {})}." if is_silent else ""
    line = f"Node {name(node)}: the kubelet was last heard at {ready.get('lastHeartbeatTime')}"
    return replace(
        found,
        message=f"Node {name(node)} is {why_not_ready(node).removesuffix('.')}.",
        remedy=found.remedy + more,
        evidence=(line,) if ready.get("lastHeartbeatTime") else (),
        is_busy=0 < seconds_since(made, seen.now) < _STARTS or (_is_held(node) and not _is_left(node, seen)),
    )


def _at(
    layer: str, code: str, node: KubeObject, facts: t.Mapping[str, str] | None = None, **more: t.Any
) -> Trouble:
    own = name(node)
    return trouble(layer, code, f"Node {own}", {"node": own, **(facts or {})}, node=own, **more)


def _pressures(node: KubeObject) -> t.Iterator[Trouble]:
    for kind in _PRESSURES:
        found = conditions.find(node, kind)
        if found.get("status") == "True":
            why = str(found.get("message") or found.get("reason") or "no reason given").removesuffix(".")
            since = str(found.get("lastTransitionTime") or "")
            one = _at(NODE, "GPU-NODE-PRESSURE", node, {"kind": kind, "why": why}, since=since)
            disk = text_of("GPU-NODE-DISK", node=name(node))
            yield replace(one, code=disk.code, remedy=disk.remedy) if kind == "DiskPressure" else one


def _is_held(node: KubeObject) -> bool:
    """Return whether a run cordoned the node for a while."""
    return is_cordoned(node) and bool(cordons.goes_on(node))


def _is_left(node: KubeObject, seen: Seen) -> bool:
    return _is_held(node) and not works(cordons.run(node), seen)


def _left(node: KubeObject, seen: Seen) -> Trouble | None:
    if not _is_left(node, seen):
        return None
    since, run = cordons.since(node), runs.shown(cordons.run(node))
    told = {"since": f" since {since}" if since else "", "run": run, "command": f"`{cordons.goes_on(node)}`"}
    return _at(NODE, "NODE-LEFT", node, told, since=since, is_alone=True)


def _without_features(
    node: KubeObject, given: list[KubeObject], is_stray: bool, now: float
) -> Trouble | None:
    """Return the trouble of a node on which NFD found nothing. given: what its workers tolerate."""
    away = [one for one in untolerated(node, given) if one.endswith(":NoExecute")]
    if away and not any(key.startswith(FEATURE) for key in labels(node)):
        told = {"labels": "Node Feature Discovery found nothing", "taints": ", ".join(away)}
        return _at(NODE, "NFD-TAINT", node, told)
    if has_nvidia_pci(labels(node)) or not is_stray:
        return None
    age = seconds_since(str(node["metadata"].get("creationTimestamp") or ""), now)
    return _at(NFD, "GPU-NFD-EMPTY", node, is_busy=0 < age < _STARTS)


def notes(seen: Seen) -> t.Iterator[str]:
    """Yield who cordoned which nodes, where that is no fault. An update or upgrade is said elsewhere."""
    if out := reads.left_out(seen):
        names = ", ".join(map(name, out[:_MOST])) + (", …" if out[_MOST:] else "")
        yield f"{number_of(len(out), 'GPU node')} left out of the stack by its labels: {names}."
    who: dict[str, list[KubeObject]] = {}
    for node in seen.of("nodes"):
        is_said = update(node).under_way or upgrade.state(node) not in _NO_UPGRADE
        if is_cordoned(node) and not is_said and not _is_left(node, seen):
            who.setdefault(_by(node), []).append(node)
    for by, nodes in who.items():
        times = sorted(filter(None, (cordons.since(one) or setter(one, "unschedulable")[1] for one in nodes)))
        since = f" since {times[0]}" if times else ""
        names = ", ".join(map(name, nodes[:_MOST])) + (", …" if nodes[_MOST:] else "")
        yield f"{number_of(len(nodes), 'GPU node')} cordoned by {by}{since}: {names}."


def _by(node: KubeObject) -> str:
    """Return who cordoned the node, as far as its marks and the managers of its fields say."""
    if cordons.run(node):
        return f"the run of {runs.shown(cordons.run(node))}"
    if held := sentinel.held(node):
        return f"NVSentinel ({held})"
    if any(one.get("key") in _GOING for one in taints(node)):
        return "the cluster autoscaler, which removes the node"
    return setter(node, "unschedulable")[0] or "somebody whom the node does not name"


LAYER: t.Final = Layer(NODE, ("nodes",), judge, notes, more)
