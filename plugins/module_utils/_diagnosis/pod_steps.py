# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that read what says why a pod does not run: only for the pod of the option, or if pods wait."""

from __future__ import annotations

import contextlib
import typing as t

from .._catalogue.kueue import GROUP
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, at, event_time, name
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes import devices
from .._queue import served
from .._stack import pods
from . import placement, pod as own, scheduling
from .model import Seen

Read = t.Callable[[Api, Seen, str, Query], None]
# Lines of a log.
_LOG: t.Final = 200
# Of fewer nodes than these all pods are kept, of more only those with devices.
_FEW: t.Final = 500


def read(api: Api, seen: Seen, asked: str, query: Read) -> None:
    """Read what pod.py and scheduling.py judge. asked: the pod of the option, or empty."""
    seen.pod, wait = asked, scheduling.waiting(seen)
    try:
        if asked:
            _of_option(api, seen, query)
        elif wait:
            query(api, seen, "scaled", Query(known("Event"), fields="reason=TriggeredScaleUp"))
            seen.places = placement.places(seen.of("nodes"), _pods(api, seen.of("nodes")))
    except AcceleratorError as why:
        seen.unread["nodes with their pods"] = f"{why.code}: {why.message}"


def _of_option(api: Api, seen: Seen, query: Read) -> None:
    space, _slash, title = seen.pod.partition("/")
    query(api, seen, "pod", Query(known("Pod"), space, title))
    nodes = _of_pod(api, seen, query) if seen.of("pod") else _of_makers(api, seen, space, query)
    if not seen.of("pod") and (made := own.of_maker(seen)):
        seen.pod, seen.objects["pod"] = f"{space}/{name(made)}", [made]
        nodes = _of_pod(api, seen, query)
    seen.objects["events"] = sorted(seen.of("events"), key=event_time)
    near = [] if seen.of("pod") else seen.of("neighbours")
    seen.places = placement.places(nodes, near or _pods(api, nodes))


def _of_pod(api: Api, seen: Seen, query: Read) -> list[KubeObject]:
    """Read what concerns the pod, and return the nodes that could have what it asks for."""
    (pod,) = seen.of("pod")
    space, spec = pod["metadata"]["namespace"], pod["spec"]
    query(api, seen, "events", Query(known("Event"), space, fields=f"involvedObject.name={name(pod)}"))
    if spec.get("schedulingGates"):
        _queues(api, seen, space, query)
    if spec.get("resourceClaims"):
        query(api, seen, "slices", Query(known("ResourceSlice")))
    found, wanted = pods.trouble(pod), placement.asked(pod)
    if spec.get("nodeName") and (not found or found.has_log):
        most = max(
            spec["containers"], key=lambda one: bool(wanted.keys() & (at(one, "resources.limits") or {}))
        )
        container = found.container if found else most["name"]
        with contextlib.suppress(AcceleratorError):
            seen.log = api.log(space, name(pod), container, _LOG, bool(found and found.restarts))

    def keep(node: KubeObject) -> KubeObject | None:
        is_one = devices.is_gpu_node(node) or any(devices.offered(node, key) for key in wanted)
        return node if is_one or name(node) == spec.get("nodeName") else None

    return api.list(known("Node"), keep=keep)


def _of_makers(api: Api, seen: Seen, space: str, query: Read) -> list[KubeObject]:
    query(api, seen, "events", Query(known("Event"), space, fields="reason=FailedCreate"))
    seen.objects["events"] = sorted(seen.of("events"), key=event_time)
    query(api, seen, "jobs", Query(known("Job"), space))
    query(api, seen, "neighbours", Query(known("Pod"), space))
    if any(f"{GROUP}/queue-name" in (job["metadata"].get("labels") or {}) for job in seen.of("jobs")):
        _queues(api, seen, space, query)
    return seen.of("nodes")


def _queues(api: Api, seen: Seen, space: str, query: Read) -> None:
    if kinds := served.kinds(api):
        query(api, seen, "workloads", Query(kinds.workload, space))
        query(api, seen, "local_queues", Query(kinds.local_queue, space))
        query(api, seen, "cluster_queues", Query(kinds.cluster_queue))


def _pods(api: Api, nodes: t.Sequence[KubeObject]) -> list[KubeObject]:
    """Return the pods on the nodes; on many nodes only those with devices."""
    there = {name(node) for node in nodes}

    def keep(pod: KubeObject) -> KubeObject | None:
        is_here = pod["spec"].get("nodeName") in there and (len(there) < _FEW or placement.asked(pod))
        return {"metadata": pod["metadata"], "spec": pod["spec"]} if is_here else None

    return api.list(known("Pod"), fields="status.phase!=Succeeded,status.phase!=Failed", keep=keep)
