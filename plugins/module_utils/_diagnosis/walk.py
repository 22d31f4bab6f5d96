# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The walk: read every layer once, judge it, and read logs and events where something is not ready."""

from __future__ import annotations

import copy
import itertools
import time
import typing as t
from dataclasses import replace

from .._core.errors import AcceleratorError, ApiError, KindNotServedError
from .._core.objects import KubeObject, Snapshot, name, number_of
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._stack import diagnose
from .._stack.signatures import telling
from . import layers, model, pod_steps, report, seen as reads, stack
from .model import Seen, Trouble
from .options import GpuDiagnoseParams

# Pointers, logs and events of so many troubles are read.
_MOST_EXPLAINED: t.Final = 6

# No answer, and credentials that nobody accepts: the next list would end the same way.
_OF_ALL: t.Final = (0, 401)


def look(api: Api, params: GpuDiagnoseParams) -> dict[str, t.Any]:
    """Walk over all layers, and return the module's result. Writes nothing."""
    gpu = params["namespace"] or reads.GPU
    seen = read(api, params, gpu)
    pod_steps.read(api, seen, params["pod"] or "", _read)
    found = [one for layer in layers.EVERY for one in layer.judge(seen)]
    stacks = stack.stacks(seen, gpu, _of_nics(api, seen), api.clock)
    found += [*(one for each in stacks for one in stack.troubles(each, seen.now)), *stack.modules(seen)]
    every = model.with_causes(found)
    asked = next((one for one in every if one.about == f"Pod {seen.pod}"), None)
    if asked:
        # The pod, and the causes that keep it from running, come before all others.
        every.sort(key=lambda one: one is not asked and (bool(one.cause) or one.layer != asked.cause))
    return report.result(seen, explained(api, every, stacks), layers.EVERY)


def read(api: Api, params: GpuDiagnoseParams, gpu: str) -> Seen:
    """Return what every layer judges. What may not be read is named, and hides no other layer."""
    seen = Seen(now=time.time())
    for key, query in reads.queries(gpu).items():
        _read(api, seen, key, query)
    has_stack = bool(seen.of("policies") or seen.of("clusters"))
    if not has_stack:
        _read(api, seen, "modules", Query(known("Module")))
    nodes: dict[str, KubeObject] = {}
    given = params["pools"] or []
    for labels in reads.node_selectors(given, has_stack):
        _read(api, seen, "nodes", Query(known("Node"), labels=labels))
        nodes |= {name(one): one for one in seen.of("nodes")}
    seen.objects["nodes"] = list(nodes.values())
    seen.pools = given or reads.pools_of(nodes.values())
    if seen.of("clusters"):
        _read(api, seen, "slices", Query(known("ResourceSlice")))
    for layer in (*layers.EVERY, *layers.EVERY):
        for key, query in layer.more(seen).items():
            if key not in seen.served and key not in seen.unread:
                _read(api, seen, key, query)
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
    except ApiError as why:
        if why.status in _OF_ALL:
            raise
        seen.unread[key] = f"{why.code}: {why.message}"
    else:
        seen.objects[key], seen.served[key] = found, True


def _of_nics(api: Api, seen: Seen) -> Snapshot:
    """Return what the judge of a NIC stack reads more; nothing without one, or if a part is not readable."""
    if not seen.of("nics"):
        return {}
    more = Seen()
    for key, kind in (("daemonsets", "DaemonSet"), ("pods", "Pod"), ("revisions", "ControllerRevision")):
        _read(api, more, key, Query(known(kind), reads.NIC))
    seen.unread |= {f"{key} of {reads.NIC}": why for key, why in more.unread.items()}
    if any(one in more.unread for one in stack.NEEDED):
        return {}
    return {key: more.of(key) for key in ("daemonsets", "pods", "revisions")}


def explained(api: Api, every: t.Sequence[Trouble], stacks: t.Sequence[stack.Stack]) -> list[Trouble]:
    """Return the troubles; root causes in a stack say what pointers, logs and events tell.

    First one node of each kind of trouble is looked at, then more nodes. Where all that were looked at have
    the same cause, the others of the kind are taken to have it too.
    """
    owners = {key: each for each in reversed(stacks) for key in each.found}
    kinds: dict[tuple[str, str], list[tuple[int, stack.Stack]]] = {}
    for place, one in enumerate(every):
        own = owners.get((one.code, one.node, one.message))
        if own is not None and not one.cause and not one.is_busy:
            kinds.setdefault((one.layer, one.code), []).append((place, own))
    turns = [entry for turn in itertools.zip_longest(*kinds.values()) for entry in turn if entry]
    told = {place: _explain(api, every[place], own) for place, own in turns[:_MOST_EXPLAINED]}
    for entries in kinds.values():
        read = [told[place] for place, _own in entries if place in told]
        if len({one.code for one in read}) != 1 or len(read) == len(entries):
            continue
        first = read[0]
        note = f"The logs of {len(read)} of {number_of(len(entries), 'node')} were read."
        told[entries[0][0]] = replace(first, evidence=(*first.evidence, note))
        told |= {
            place: replace(every[place], code=first.code, remedy=first.remedy)
            for place, _own in entries
            if place not in told
        }
    return [told.get(place) or _with_log(api, one) for place, one in enumerate(every)]


def _with_log(api: Api, one: Trouble) -> Trouble:
    """Return the trouble with the line of its container's log that says most likely why it ended."""
    if one.log is None:
        return one
    namespace, pod, container = one.log
    try:
        log = api.log(namespace, pod, container, diagnose.TAIL, previous=True, outage=diagnose.LOG_SECONDS)
        line, _is_error = telling(log)
    except AcceleratorError as why:
        line = f"its log could not be read: {why.code}: {why.message}"
    return replace(one, evidence=(*([f"{pod}/{container}: {line}"] if line else []), *one.evidence))


def _explain(api: Api, one: Trouble, of: stack.Stack) -> Trouble:
    """Return the trouble with its cause as pointers, logs and events show it."""
    error = AcceleratorError(one.code, one.message, one.remedy, one.evidence)
    judge = copy.copy(of.judge)
    judge.findings = [each for each in of.judge.findings if each.node == one.node]
    diagnose.find_cause(api, judge, error, of.pods, of.namespace)
    evidence = tuple(dict.fromkeys(error.evidence))
    return replace(one, code=error.code, message=error.message, remedy=error.remedy, evidence=evidence)
