# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Which logs tell why the stack does not come up, and what they say. Only of nodes that matter, few of them, and their ends."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import stages, xids
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.operands import pod_is_ready
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.pods import add, explain, trouble
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.signatures import recognise

Data = dict[str, t.Any]
MOST: t.Final = 4
TAIL: t.Final = 60
# Stage of the part that decided -> beginning of the names of the pods that know why, the likeliest first.
PODS: t.Final = {
    stages.CRD: ("gpu-operator-",),
    stages.LABELS: ("gpu-operator-",),
    stages.DRIVER: ("nvidia-driver-", "nvidia-gpu-driver-", "nvidia-vgpu-"),
    stages.TOOLKIT: ("nvidia-container-toolkit-",),
    stages.PLUGIN: ("nvidia-device-plugin-",),
    stages.VALIDATOR: ("nvidia-operator-validator-", "nvidia-device-plugin-"),
    stages.METRICS: ("nvidia-dcgm-",),
    stages.ALLOCATABLE: ("nvidia-mig-manager-", "nvidia-device-plugin-", "nvidia-vgpu-device-manager-"),
}
_CALM: t.Final = (
    "GPU-CP-CONFLICT",
    "GPU-CP-IGNORED",
    "GPU-MODE",
    "GPU-NODES",
    "GPU-NODE-NOTREADY",
    "GPU-NODE-UPDATING",
    "GPU-OPTED-OUT",
    "GPU-PAUSED",
    "GPU-TAINT",
    "NIC-IGNORED",
    "NIC-TAINT",
)


class Source(t.NamedTuple):
    """A container whose log is worth reading. decides: it belongs to what made the task fail."""

    namespace: str
    pod: str
    container: str
    decides: bool


def sources(
    parts: t.Sequence[Part],
    pods: t.Sequence[Data],
    decisive: Part | None,
    known: t.Mapping[str, t.Sequence[str]],
) -> list[Source]:
    """Containers in trouble, then those that know of the stage in question, of the node in question first; nodes outside the pools are never asked."""
    if decisive is None or decisive.code in _CALM:
        return []
    nodes = {one.node for one in parts if one.node and not one.is_ready}
    names = known.get(decisive.stage, ())
    if decisive.stage in (stages.CRD, stages.LABELS):
        wanted = [pod for pod in pods if _rank(pod, names) < len(names)]
    else:
        here = [pod for pod in pods if pod["spec"].get("nodeName") in nodes]
        broken = [pod for pod in here if trouble(pod)]
        wanted = broken + [
            pod
            for pod in here
            if pod not in broken
            and _rank(pod, names) < len(names)
            and (_decides(pod, decisive) or not pod_is_ready(pod))
        ]
    ranked = sorted(
        wanted,
        key=lambda pod: (
            not _decides(pod, decisive),
            _rank(pod, names),
            trouble(pod) is None,
            str(pod["metadata"]["name"]),
        ),
    )
    return [
        Source(pod["metadata"]["namespace"], pod["metadata"]["name"], container, _decides(pod, decisive))
        for pod in ranked
        for container in _containers(pod)
    ][:MOST]


def _decides(pod: Data, decisive: Part) -> bool:
    return not decisive.node or pod["spec"].get("nodeName") == decisive.node


def _rank(pod: Data, names: t.Sequence[str]) -> int:
    return next(
        (index for index, name in enumerate(names) if pod["metadata"]["name"].startswith(name)), len(names)
    )


def _containers(pod: Data) -> list[str]:
    """The one in trouble; else those that are not Ready, the first init container that has not ended hiding all others."""
    found = trouble(pod)
    if found is not None:
        return [found.container] if found.container else []
    status = pod.get("status", {})
    running = [
        one["name"]
        for one in status.get("initContainerStatuses") or []
        if not (one.get("state") or {}).get("terminated")
    ]
    if running:
        return running[:1]
    states = status.get("containerStatuses") or []
    late = [one["name"] for one in states if not one.get("ready")]
    return (late or [one["name"] for one in pod["spec"].get("containers") or states][:1])[:2]


def unreadable(error: AcceleratorError, source: Source, why: AcceleratorError) -> None:
    error.evidence.append(
        f"{source.pod}/{source.container}: its log could not be read: {why.code}: {why.message}"
    )


def read(error: AcceleratorError, source: Source, log: str) -> None:
    """What is known of a text becomes the failure's code and remedy when the container belongs to what failed; else it is evidence."""
    found = xids.reported(log)
    if found and source.decides and error.code == "GPU-ALLOC":
        said, remedy = xids.advice(found)
        error.code, error.remedy = "GPU-HW-XID", remedy
        add(error, f"The device plugin took it out of service: {said}.")
        error.evidence += [
            f"{source.pod}/{source.container}: {line.strip()}"
            for line in log.splitlines()
            if "XidCriticalError" in line
        ][-5:]
    elif source.decides:
        explain(error, source.pod, source.container, log)
    else:
        other = AcceleratorError("", "")
        explain(other, source.pod, source.container, log)
        error.evidence += other.evidence[-3:]


def read_events(error: AcceleratorError, pod: str, events: t.Iterable[Data]) -> None:
    """Some failures are told in no log, since no container was ever started."""
    for event in events:
        text = str(event.get("message") or "")
        known = recognise(text)
        if known and event.get("type") != "Normal":
            explain(error, pod, str(event.get("reason") or "event"), text)
            return
