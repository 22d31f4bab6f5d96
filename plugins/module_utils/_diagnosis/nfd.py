# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layer nfd: why nodes lack labels, or have old ones: no instance, a taint, the worker, the master.

The judge of the stack says which labels are wrong; a trouble here is its cause.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import replace

from .._catalogue.well_known import NVIDIA_PCI
from .._core import conditions
from .._core.objects import KubeObject, name
from .._kube.kinds import known
from .._kube.session import Query
from .._monitoring.judge import object_name, stack
from .._nfd import features, instance as nfd_instance
from .._nodes.labels import has_nvidia_pci, labels
from .._stack import operands, pods
from . import machines, model
from .model import Layer, Seen, Trouble

# Seconds in which an instance becomes available, and a new node or a new master brings the labels.
_STARTS: t.Final = 300.0
_MOST: t.Final = 3
_ABOVE: t.Final = model.above(model.NFD)
_WORKER: t.Final = "nfd-worker"


def _late(seen: Seen) -> dict[str, KubeObject]:
    """Return by name the nodes without the label of their GPUs, and those with labels of another kernel."""
    if not stack(seen.of("policies"), seen.of("clusters")) or not seen.of("nfd"):
        return {}
    every = [*seen.of("nodes"), *seen.of(machines.STRAYS)]
    return {name(one): one for one in every if not has_nvidia_pci(labels(one)) or features.outdated(one)}


def _is_absent(seen: Seen) -> bool:
    return "nfd" not in seen.unread and not seen.of("nfd")


def more(seen: Seen) -> dict[str, Query]:
    """Return the pods of NFD where something is not as it should be, and what it knows of the first nodes."""
    if _is_absent(seen) and stack(seen.of("policies"), seen.of("clusters")):
        label = ",".join("=".join(one) for one in nfd_instance.UPSTREAM.items())
        return {"upstream": Query(known("Deployment"), labels=label)}
    late = [*_late(seen)][:_MOST]
    query, label = known("NodeFeature"), features.NODE_NAME
    found = {f"NodeFeatures of {one}": Query(query, labels=f"{label}={one}") for one in late}
    if late or not all(map(nfd_instance.is_available, seen.of("nfd"))):
        found["nfd_pods"] = Query(known("Pod"), seen.of("nfd")[0]["metadata"]["namespace"])
    return found


def judge(seen: Seen) -> t.Iterator[Trouble]:
    """Yield a trouble for a missing instance, for each that is not available, and for each late node."""
    live = stack(seen.of("policies"), seen.of("clusters"))
    if live and _is_absent(seen) and seen.objects.get("upstream") == []:
        about, is_busy = object_name(live), seen.is_recent(_made(live), _STARTS)
        facts = {"stack": about}
        yield model.trouble(model.NFD, "NFD-ABSENT", about, facts, explains=(model.NFD,), is_busy=is_busy)
    for one in seen.of("nfd"):
        state = nfd_instance.judge(one, name(one))
        if not state.is_ready:
            since = conditions.since(one, state.reason) or conditions.since(one, "Available")
            is_busy = seen.is_recent(since, _STARTS) or seen.is_recent(_made(one), _STARTS)
            more = {"explains": _ABOVE, "since": since, "is_busy": is_busy}
            more["evidence"] = (*state.details, *_ill(seen))
            about = f"NodeFeatureDiscovery {one['metadata']['namespace']}/{name(one)}"
            yield model.of_verdict(model.NFD, about, state, **more)
    workers = operands.by_node(one for one in seen.of("nfd_pods") if name(one).startswith(_WORKER))
    for key, node in _late(seen).items():
        if found := _of_node(node, next(iter(workers.get(key, [])), None), seen):
            yield found


def _ill(seen: Seen) -> t.Iterator[str]:
    """Yield a line for each pod of NFD that does not run."""
    for one in seen.of("nfd_pods"):
        if ill := pods.trouble(one) or pods.refused(one):
            where = f"Pod {one['metadata']['namespace']}/{name(one)}, container {ill.container}"
            yield f"{where}: {ill.reason}, {ill.restarts} restarts: {ill.message}"


def _made(obj: KubeObject) -> object:
    return obj["metadata"].get("creationTimestamp")


def _of_node(node: KubeObject, worker: KubeObject | None, seen: Seen) -> Trouble | None:
    """Return why the node's labels are late; None if only the stack can tell."""
    stale, key = features.outdated(node), name(node)
    what = stale.message if stale else f"it has no label {NVIDIA_PCI}"
    more: dict[str, t.Any] = {
        "node": key,
        "explains": _ABOVE,
        "is_busy": seen.is_recent(_made(node), _STARTS),
    }
    if "nfd_pods" not in seen.objects or not (why := _why(node, worker, seen)):
        return None
    masters = [one for one in seen.of("nfd_pods") if name(one).startswith("nfd-master")]
    if worker and any(seen.is_recent(operands.ready_since(one), _STARTS) for one in masters):
        more["is_busy"] = True
    facts = {"node": key, "labels": f"{what}: {why[0]}"}
    found = model.trouble(model.NFD, "NFD-LABEL-MISSING", f"Node {key}", facts, **more)
    return replace(found, remedy=why[1], evidence=tuple(_ill(seen)))


def _why(node: KubeObject, worker: KubeObject | None, seen: Seen) -> tuple[str, str] | None:
    """Return why NFD has not labelled the node, and what to do; None if its pods and features do not tell."""
    place = str(seen.of("nfd")[0]["metadata"]["namespace"])
    if worker is None:
        return f"no {_WORKER} pod is on it", f"Run `oc describe daemonset {_WORKER} -n {place}`."
    if ill := pods.trouble(worker):
        said = f"pod {name(worker)}, container {ill.container}: {ill.reason}: {ill.message}"
        return said, f"Run `oc logs {name(worker)} -n {place} --previous`."
    own = seen.of(f"NodeFeatures of {name(node)}")
    if not own or features.outdated(node):
        return None
    why = features.cause(node, NVIDIA_PCI, own)
    hidden = re.findall(r"\b[0-9a-f]{4}\b", why) if "deviceClassWhitelist" in why else []
    let_through = tuple(nfd_instance.pci_classes(seen.of("nfd")[0]))
    if any(one.startswith(let_through) for one in hidden if let_through):
        why = f"the device is there, its PCI class {hidden[0]} is let through, and nfd-worker gives no label"
    elif hidden:
        return why, f"Add class 03 to node_feature_discovery_pci_classes, and run `{model.INSTALL}`."
    pod = "deployment/nfd-master" if "nfd-master" in why else name(worker)
    return why, f"Run `oc logs {pod} -n {place} --tail=50`."


LAYER: t.Final = Layer(model.NFD, ("nfd", "nfd_daemonsets"), judge, more=more)
