# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layer validation: new nodes that stay closed, nodes that failed, and a validator that finds no free GPU."""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.objects import KubeObject, at, name
from .._kube.kinds import known
from .._kube.session import Query
from .._nodes import cordons, devices, free, startup
from .._nodes.taints import FAILED, taints
from .._workload.gate import PATIENCE
from .._workload.quarantine import FOR_VALIDATION
from . import model
from .model import Layer, Seen, Trouble

# The pods by which the operator's validator tries GPUs, and what is said if no GPU is free.
_VALIDATORS: t.Final = ("nvidia-cuda-validator-", "nvidia-device-plugin-validator-")
_NONE_FREE: t.Final = ("Available: 0", "Insufficient nvidia.com/")
_MOST: t.Final = 3


def _starved(seen: Seen) -> dict[str, tuple[KubeObject, str]]:
    """Return by node the validator's pods that found no free GPU, and what was said."""
    found = {}
    for pod in (one for one in seen.of("pods") if name(one).startswith(_VALIDATORS)):
        said = at(pod, "status.message") or conditions.find(pod, "PodScheduled").get("message") or ""
        if any(one in said for one in _NONE_FREE):
            wanted = pod["spec"].get("nodeSelector") or {}
            found[str(pod["spec"].get("nodeName") or wanted.get("kubernetes.io/hostname"))] = pod, said
    return found


def more(seen: Seen) -> dict[str, Query]:
    """Return the pods of the first nodes that have no free GPU."""
    nodes = [*_starved(seen)][:_MOST]
    return {f"pods on {node}": Query(known("Pod"), fields=f"spec.nodeName={node}") for node in nodes}


def judge(seen: Seen) -> t.Iterator[Trouble]:
    """Yield a trouble for each node that is closed because of its validation, or has only busy GPUs."""
    starved = _starved(seen)
    for node in seen.of("nodes"):
        yield from filter(None, (_gated(node, seen), _quarantined(node)))
        if name(node) in starved:
            yield from _busy(node, *starved[name(node)], seen)


def _gated(node: KubeObject, seen: Seen) -> Trouble | None:
    """Return why the gate keeps the node closed; None while it may still open it."""
    about, made = f"Node {name(node)}", str(node["metadata"].get("creationTimestamp") or "")
    more: dict[str, t.Any] = {"node": name(node), "since": conditions.since(node, startup.CONDITION) or made}
    if text := startup.failure(node):
        return Trouble(layer=model.VALIDATION, about=about, **text._asdict(), **more)
    if not startup.is_closed(node) or seen.is_recent(made, 2 * PATIENCE):
        return None
    return model.trouble(
        model.VALIDATION, "WORK-GATE-DOWN", about, **more, evidence=(f"{about} is closed since {made}",)
    )


def _quarantined(node: KubeObject) -> Trouble | None:
    taint = next((one for one in taints(node) if one.get("key") == FAILED), None)
    if taint is None and not cordons.is_for(node, FOR_VALIDATION):
        return None
    program, by = (taint.get("value"), f"taint {FAILED}") if taint else ("its validation", "a cordon")
    facts, since = {"node": name(node), "program": program, "by": by}, cordons.since(node)
    more = {"node": name(node), "since": str((taint or {}).get("timeAdded") or since)}
    return model.trouble(model.VALIDATION, "NODE-QUARANTINED", f"Node {name(node)}", facts, **more)


def _busy(node: KubeObject, pod: KubeObject, said: str, seen: Seen) -> t.Iterator[Trouble]:
    """Yield a trouble that passes, if other pods hold all GPUs of the node."""
    held = [one for one in map(free.of_pod, seen.of(f"pods on {name(node)}")) if one and not one.spare]
    used, offers = free.total(one.amounts for one in held), devices.resources(node)
    if offers and all(used.get(key, 0) >= number for key, number in offers.items()):
        who = {f"Namespace {one.namespace} holds {one.amounts}": None for one in held[:_MOST]}
        more: dict[str, t.Any] = {"node": name(node), "is_busy": True, "explains": (model.VALIDATION,)}
        lines = (f"Pod {pod['metadata']['namespace']}/{name(pod)}: {said}", *who)
        yield model.trouble(model.VALIDATION, "GPU-VAL-BUSY", f"Node {name(node)}", evidence=lines, **more)


def notes(seen: Seen) -> t.Iterator[str]:
    """Yield the nodes that wait for their validation."""
    closed = [name(one) for one in seen.of("nodes") if startup.is_closed(one) and not _gated(one, seen)]
    if closed:
        yield f"new nodes are closed to pods until their GPUs have passed: {', '.join(closed[:_MOST])}"


LAYER: t.Final = Layer(model.VALIDATION, ("nodes",), judge, notes, more)
