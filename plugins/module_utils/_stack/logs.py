# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Choose the logs that say why a stack does not come up, and add them to the error."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from . import stages
from .finding import Finding
from .operands import pod_is_ready
from .pods import add, explain, trouble
from .signatures import advice, recognise, reported_xids

MOST: t.Final = 4
TAIL: t.Final = 60
# Codes of findings that no log explains further.
_NOT_IN_LOGS: t.Final = (
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
    """A container whose log is worth reading. decides: its pod belongs to the decisive finding."""

    namespace: str
    pod: str
    container: str
    decides: bool


def sources(
    findings: t.Sequence[Finding],
    pods: t.Sequence[KubeObject],
    decisive: Finding | None,
    known: t.Mapping[str, t.Sequence[str]],
) -> list[Source]:
    """Return the containers to read: those in trouble, then those of the decisive finding's stage.

    The decisive finding's node comes first; nodes without a finding are left out. known: stage -> prefixes of
    pod names.
    """
    if decisive is None or decisive.code in _NOT_IN_LOGS:
        return []
    nodes = {one.node for one in findings if one.node and not one.is_ready}
    names = known.get(decisive.stage, ())
    if decisive.stage in (stages.CRD, stages.LABELS):
        wanted = [pod for pod in pods if _rank(pod, names) < len(names)]
    else:
        here = [pod for pod in pods if pod["spec"].get("nodeName") in nodes]
        broken = [pod for pod in here if trouble(pod)]
        knowing = [pod for pod in here if pod not in broken and _rank(pod, names) < len(names)]
        wanted = broken + [pod for pod in knowing if _decides(pod, decisive) or not pod_is_ready(pod)]
    wanted.sort(
        key=lambda pod: (not _decides(pod, decisive), _rank(pod, names), trouble(pod) is None, name(pod))
    )
    return [
        Source(pod["metadata"]["namespace"], name(pod), container, _decides(pod, decisive))
        for pod in wanted
        for container in _containers(pod)
    ][:MOST]


def _decides(pod: KubeObject, decisive: Finding) -> bool:
    return not decisive.node or pod["spec"].get("nodeName") == decisive.node


def _rank(pod: KubeObject, names: t.Sequence[str]) -> int:
    return next((index for index, start in enumerate(names) if name(pod).startswith(start)), len(names))


def _containers(pod: KubeObject) -> list[str]:
    """Return the container in trouble, else a running init container, else those that are not Ready."""
    found = trouble(pod)
    if found is not None:
        return [found.container] if found.container else []
    status = pod.get("status", {})
    init = status.get("initContainerStatuses") or []
    running = [one["name"] for one in init if not (one.get("state") or {}).get("terminated")]
    if running:
        return running[:1]
    states = status.get("containerStatuses") or []
    late = [one["name"] for one in states if not one.get("ready")]
    return (late or [one["name"] for one in pod["spec"].get("containers") or states][:1])[:2]


def unreadable(error: AcceleratorError, source: Source, why: AcceleratorError) -> None:
    """Add to the error that a log could not be read."""
    said = f"its log could not be read: {why.code}: {why.message}"
    error.evidence.append(f"{source.pod}/{source.container}: {said}")


def read(error: AcceleratorError, source: Source, log: str) -> None:
    """Add a log to the error; a known text of a deciding container sets code and remedy."""
    found = reported_xids(log)
    if found and source.decides and error.code == "GPU-ALLOC":
        said, remedy = advice(found)
        error.code, error.remedy = "GPU-HW-XID", remedy
        add(error, f"The device plugin took it out of service: {said}.")
        lines = [line.strip() for line in log.splitlines() if "XidCriticalError" in line]
        error.evidence += [f"{source.pod}/{source.container}: {line}" for line in lines[-5:]]
    elif source.decides:
        explain(error, source.pod, source.container, log)
    else:
        other = AcceleratorError("", "")
        explain(other, source.pod, source.container, log)
        error.evidence += other.evidence[-3:]


def read_events(error: AcceleratorError, pod: str, events: t.Iterable[KubeObject]) -> None:
    """Add the first event with a known text; a failure before a container starts is in no log."""
    for event in events:
        text = str(event.get("message") or "")
        if recognise(text) and event.get("type") != "Normal":
            explain(error, pod, str(event.get("reason") or "event"), text)
            return
