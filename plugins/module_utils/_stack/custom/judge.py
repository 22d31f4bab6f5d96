# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge of backend custom: what the user's expressions say about the object, and what the nodes offer.

summarize() is the result of every object that only speaks for itself, also of backend sro.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name
from ..._core.readiness import FAILED, Grace, Readiness, first_own, pending, ready, worst
from ..._nodes import pool_nodes
from .. import stages, table
from ..params import StackParams, StackPool
from ..stages import Finding, as_finding
from .manifest import Expressions, expressions, pools


def judge(live: KubeObject, asked: Expressions) -> Readiness:
    """Return what the object says of itself, unless its status is about an older generation."""
    object_name, status = f"{live['kind']} {name(live)}", live.get("status") or {}
    said = asked.says.ask(live) if asked.says else None
    text = f": {said}" if said else ""
    seen, now = status.get("observedGeneration"), live["metadata"].get("generation", 0)
    is_old = isinstance(seen, int) and seen < now
    where = f" -n {live['metadata']['namespace']}" if live["metadata"].get("namespace") else ""
    resource = f"{live['kind'].lower()} {name(live)}{where}"
    if asked.failed and asked.failed.holds(live) and not is_old:
        failure = text_of("GPU-CR-FAILED", object=object_name, resource=resource, also=text)
        return pending("Failed", **failure._asdict(), details=(f"failed{text}",))
    if not is_old and asked.ready.holds(live):
        return ready("Ready", str(said or ""))
    line = f"its operator has seen generation {seen} of {now}" if is_old else f"not ready{text}"
    why = f": {line}" if is_old else text
    late = text_of("GPU-CR-NOT-READY", object=object_name, resource=resource, also=why)
    return pending("Unobserved" if is_old else "NotReady", **late._asdict(), details=(line,))


class Judge:
    """Judge the object, then the nodes. seen: the last snapshot.

    A failure may pass by itself, and devices appear a moment after the object is ready.
    """

    def __init__(self, params: StackParams, clock: t.Callable[[], float]) -> None:
        self._params, self._pools, self._asked = params, pools(params), expressions(params)
        self._grace = Grace(clock, params.grace, ("GPU-CR-FAILED", "GPU-ALLOC"))
        self.seen: Snapshot = {}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        own, others = self._findings(snapshot)
        return first_own(self._grace, [own], others)

    def _findings(self, snapshot: Snapshot) -> tuple[Readiness, list[Readiness]]:
        objects, nodes = snapshot.get("objects"), snapshot.get("nodes", ())
        if not objects:
            text = text_of("GPU-DELETED", object=self._params.name)
            return pending("Missing", **text._asdict()), []
        others = [pool_nodes.judge_size(nodes, pool) for pool in self._pools]
        others += [one for pool in self._pools for one in pool_nodes.judge_devices(nodes, pool)]
        return judge(objects[0], self._asked), others

    def summarize(self, snapshot: Snapshot, failed: str = "") -> dict[str, t.Any]:
        """Return the result. failed: the code that ended the wait."""
        own, others = self._findings(snapshot)
        verdict, nodes = worst([own, *others]), snapshot.get("nodes", ())
        live: KubeObject | None = next(iter(snapshot.get("objects") or ()), None)
        return {
            "name": self._params.name,
            "state": "failed" if own.code == "GPU-CR-FAILED" else verdict.verdict,
            "reason": verdict.reason or own.reason,
            "message": own.message if own.is_ready else verdict.message,
            "nodes": pool_nodes.summarize_nodes(nodes, self._pools),
            **summarize(live, own, nodes, self._pools, failed),
        }


NODES: t.Final = "nodes"
CHAIN: t.Final = stages.chain({NODES: (), stages.ALLOCATABLE: (stages.CRD, NODES)})


def summarize(
    live: KubeObject | None,
    own: Readiness,
    nodes: t.Sequence[KubeObject],
    pools: t.Sequence[StackPool],
    failed: str = "",
) -> dict[str, t.Any]:
    """Return pools, stages and lines. own: what the object says. failed: the code that lasted too long."""
    findings = [_finding(own, stages.CRD)] if not own.is_ready else []
    for pool in pools:
        findings.append(_finding(pool_nodes.judge_size(nodes, pool), NODES, pool["name"]))
        for node in pool_nodes.nodes_of(nodes, pool):
            for one in pool_nodes.judge_devices([node], pool):
                stage = stages.ALLOCATABLE if one.code == "GPU-ALLOC" else NODES
                findings.append(_finding(one, stage, pool["name"], name(node)))
    findings = [replace(one, verdict=FAILED) if failed and one.code == failed else one for one in findings]
    return table.summarize(CHAIN, {"nodes": nodes}, live or {}, pools, findings)


def _finding(one: Readiness, stage: str, pool: str = "", node: str = "") -> Finding:
    return as_finding(one, stage, pool, node, waits=stage == stages.ALLOCATABLE)
