# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The walk: read every layer once, judge it, and read logs and events where something is not ready."""

from __future__ import annotations

import time
import typing as t
from dataclasses import replace

from .._core.errors import AcceleratorError, KindNotServedError
from .._core.objects import KubeObject, Snapshot, name
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._stack import diagnose
from .._stack.judge import StackJudge
from . import layers, model, report, seen as reads, stack
from .model import Seen, Trouble
from .options import GpuDiagnoseParams

# So many troubles are explained by logs and events.
_MOST_EXPLAINED: t.Final = 4


def look(api: Api, params: GpuDiagnoseParams) -> dict[str, t.Any]:
    """Walk over all layers, and return the module's result. Writes nothing."""
    gpu = params["namespace"] or reads.GPU
    seen = read(api, params, gpu)
    found = [one for layer in layers.EVERY for one in layer.judge(seen)]
    stacks = stack.stacks(seen, gpu, _of_nics(api, seen), api.clock)
    found += [one for each in stacks for one in stack.troubles(each)]
    every = model.with_causes(found)
    return report.result(seen, explained(api, every, stacks), layers.EVERY)


def read(api: Api, params: GpuDiagnoseParams, gpu: str) -> Seen:
    """Return what every layer judges. What may not be read is named, and hides no other layer."""
    seen = Seen(now=time.time())
    for key, query in reads.queries(gpu).items():
        _read(api, seen, key, query)
    nodes: dict[str, KubeObject] = {}
    given = params["pools"] or []
    for labels in reads.node_selectors(given):
        _read(api, seen, "nodes", Query(known("Node"), labels=labels))
        nodes |= {name(one): one for one in seen.of("nodes")}
    seen.objects["nodes"] = list(nodes.values())
    seen.pools = given or reads.pools_of(nodes.values())
    return seen


def _read(api: Api, seen: Seen, key: str, query: Query) -> None:
    try:
        if query.name:
            one = api.get(query.kind, query.name, query.namespace)
            found = [one] if one else []
        else:
            found = api.list(query.kind, query.namespace, query.labels, query.fields)
    except KindNotServedError:
        seen.served[key] = False
    except AcceleratorError as why:
        seen.unread[key] = f"{why.code}: {why.message}"
    else:
        seen.objects[key], seen.served[key] = found, True


def _of_nics(api: Api, seen: Seen) -> Snapshot:
    """Return what the judge of a NIC stack reads more; nothing without one."""
    if not seen.of("nics"):
        return {}
    more = Seen()
    for key, kind in (("daemonsets", "DaemonSet"), ("pods", "Pod"), ("revisions", "ControllerRevision")):
        _read(api, more, key, Query(known(kind), reads.NIC))
    seen.unread |= more.unread
    return {key: more.of(key) for key in ("daemonsets", "pods", "revisions")}


def explained(api: Api, every: t.Sequence[Trouble], stacks: t.Sequence[stack.Stack]) -> list[Trouble]:
    """Return the troubles; the first root causes in a stack say what pointers, logs and events tell."""
    done: list[Trouble] = []
    kinds: set[tuple[str, str]] = set()
    for one in every:
        is_root = not one.cause and not one.is_busy and (one.layer, one.code) not in kinds
        own = next((each for each in stacks if is_root and _found_by(one, each)), None)
        if own is None or len(kinds) == _MOST_EXPLAINED:
            done.append(one)
            continue
        kinds.add((one.layer, one.code))
        done.append(_explain(api, one, own))
    return done


def _found_by(one: Trouble, of: stack.Stack) -> bool:
    return any(each.message == one.message and each.code == one.code for each in of.judge.findings)


def _explain(api: Api, one: Trouble, of: stack.Stack) -> Trouble:
    """Return the trouble with its cause as pointers, logs and events show it."""
    error = AcceleratorError(one.code, one.message, one.remedy, one.evidence)
    judge = StackJudge(lambda _snapshot: (), of.judge.chain, of.judge._patience)
    judge.seen = of.judge.seen
    judge.findings = [each for each in of.judge.findings if each.node == one.node]
    diagnose.find_cause(api, judge, error, of.pods, of.namespace)
    evidence = tuple(dict.fromkeys(error.evidence))
    return replace(one, code=error.code, message=error.message, remedy=error.remedy, evidence=evidence)
