# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer scheduling: the pod of the option, and all others that wait for devices."""

from __future__ import annotations

import datetime
import json
import re
import typing as t
from dataclasses import replace

from .._catalogue.well_known import WORKLOAD
from .._core import conditions
from .._core.objects import KubeObject, at, name, number_of
from .._kube.kinds import known
from .._kube.session import Query
from .._nodes.labels import labels
from .._nodes.placeholders import is_placeholder
from .._stack import virtual_machines
from .._stack.clusterpolicy.node import CONTAINER
from . import model, placement, pod as own
from .model import Layer, Seen, Trouble

# So many kinds of waiting pods are judged, those with the most pods.
_MOST: t.Final = 3
_PERMITS: t.Final = "permits"
# Troubles of a waiting pod that are no fault of the cluster or of the pod.
_NO_FAULT: t.Final = (placement.FULL, placement.CLOSED, "SCHED-UNPLACED")


def judge(seen: Seen) -> t.Iterator[Trouble]:
    asked = own.judge(seen)
    yield from [asked] if asked and asked.layer == model.SCHEDULING else []
    # A pod that asks for what nobody has is its author's business, until somebody asks for it.
    yield from (found for found in _waiting(seen) if _is_ours(found))
    for live in seen.of(_PERMITS)[:1]:
        for node, text in virtual_machines.unpermitted(seen.of("nodes"), live).items():
            yield Trouble(layer=model.SCHEDULING, about=f"Node {node}", node=node, **text._asdict())


def more(seen: Seen) -> dict[str, Query]:
    """Return what says which devices virtual machines may have, if nodes offer some."""
    is_asked = any(labels(node).get(WORKLOAD, CONTAINER) != CONTAINER for node in seen.of("nodes"))
    return {_PERMITS: Query(known("HyperConverged"))} if is_asked else {}


def notes(seen: Seen) -> t.Iterator[str]:
    yield from own.notes(seen)
    for found in _waiting(seen):
        if not _is_ours(found):
            more = "" if found.code in _NO_FAULT else f" {found.code}: {found.remedy}"
            yield f"A pod waits: {found.message}{more}"
    gated = [_title(pod) for pod in _asking(seen) if pod["spec"].get("schedulingGates")]
    if gated:
        yield f"{number_of(len(gated), 'pod')} with devices wait behind scheduling gates, such as {gated[0]}."


def _is_ours(found: Trouble) -> bool:
    """Return whether a node, not the pod, is the reason, or what is going on."""
    return found.is_busy or (bool(found.node) and found.code not in _NO_FAULT)


def waiting(seen: Seen) -> list[KubeObject]:
    """Return the pods that wait for a node with devices, the oldest first; none if one pod was asked for."""
    late = datetime.datetime.fromtimestamp(seen.now - own.GRACE, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = [pod for pod in _asking(seen) if not pod["spec"].get("schedulingGates") and _since(pod) < late]
    return sorted(found, key=_since)


def _asking(seen: Seen) -> t.Iterator[KubeObject]:
    for pod in seen.of("pending"):
        is_free = not seen.pod and not pod["spec"].get("nodeName") and not is_placeholder(pod)
        if is_free and placement.asked(pod):
            yield pod


def _waiting(seen: Seen) -> t.Iterator[Trouble]:
    """Yield why pods wait, once for those that ask for the same and hear the same from the scheduler."""
    kinds: dict[str, list[KubeObject]] = {}
    for pod in waiting(seen):
        told = re.sub(r"\d+", "", str(conditions.find(pod, "PodScheduled").get("message")))
        wants = [pod["spec"].get(key) for key in ("nodeSelector", "affinity", "tolerations")]
        kinds.setdefault(json.dumps([placement.asked(pod), wants, told], sort_keys=True), []).append(pod)
    for pods in sorted(kinds.values(), key=len, reverse=True)[:_MOST]:
        names = {_title(pod) for pod in pods}
        events = [
            event for event in seen.of("scaled") if _title({"metadata": event["involvedObject"]}) in names
        ]
        objects = {**seen.objects, "pod": pods[:1], "events": events}
        found = own.unplaced(pods[0], replace(seen, pod=_title(pods[0]), objects=objects))
        comes = found.code == placement.NAME and any(
            at(one, "status.phase") != "Running" for one in seen.of("machines")
        )
        more = f" {len(pods)} pods wait like it, the youngest ({_title(pods[-1])}) since {_since(pods[-1])}."
        message = found.message + (more if pods[1:] else "")
        yield replace(found, message=message, is_busy=found.is_busy or comes)


def _title(pod: KubeObject) -> str:
    return f"{pod['metadata'].get('namespace')}/{name(pod)}"


def _since(pod: KubeObject) -> str:
    return str(pod["metadata"].get("creationTimestamp") or "")


LAYER: t.Final = Layer(model.SCHEDULING, ("pending",), judge, notes, more)
