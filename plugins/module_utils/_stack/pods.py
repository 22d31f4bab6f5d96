# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge pods of operands that are not Ready, and explain them by their logs."""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from .._core.readiness import PENDING
from .operands import NAMESPACE, OUTDATED, UNWANTED, Operand
from .signatures import recognise, remedy_for
from .stages import Finding, on_node
from .upgrade import judge_outdated

IMAGE_REASONS: t.Final = ("ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull")
# Between two crashes a container runs for a while; one or two restarts are no pattern yet.
_OFTEN: t.Final = 3
_CRASH: t.Final = (
    "CrashLoopBackOff",
    "RunContainerError",
    "CreateContainerError",
    "CreateContainerConfigError",
    "StartError",
)

# AWAITED: operands whose files other operands of the node need. INDEPENDENT: operands that need none.
AWAITED: t.Final = ("driver", "container-toolkit", "dra-driver")
INDEPENDENT: t.Final = ("node-status-exporter",)

# Codes whose cause is in the log of the broken container, and codes that a log may explain.
_CAUSE_IN_LOG: t.Final = (
    "GPU-DRV-CRASH",
    "GPU-OPERAND-CRASH",
    "GPU-OPERAND",
    "NIC-DRV-CRASH",
    "NIC-OPERAND-CRASH",
)
_HINT_IN_LOG: t.Final = (
    "GPU-ALLOC",
    "GPU-CP-NOTREADY",
    "GPU-CP-OPERAND",
    "GPU-DRA-NOTREADY",
    "GPU-DRA-SLICES",
    "GPU-DRV-OUTDATED",
    "GPU-MIG-FAILED",
    "GPU-MIG-RUNNING",
    "GPU-UPG-FAILED",
    "GPU-UPG-RUNNING",
    "NIC-ALLOC",
    "NIC-DRV",
    "NIC-STATE",
    "NIC-UPG",
)


class Trouble(t.NamedTuple):
    """A container that does not run, with the API's reason and message.

    container: empty if the kubelet refused the pod.
    """

    container: str
    reason: str
    message: str
    restarts: int


def trouble(pod: KubeObject) -> Trouble | None:
    """Return the first container that does not run, or None; the others wait for init containers."""
    status = pod.get("status", {})
    for entry in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        restarts, state = entry.get("restartCount", 0), entry.get("state") or {}
        waiting = state.get("waiting") or {}
        last = (entry.get("lastState") or {}).get("terminated") or {}
        if waiting.get("reason") in (*IMAGE_REASONS, *_CRASH):
            message = waiting.get("message") or last.get("message") or ""
            return Trouble(entry["name"], waiting["reason"], message, restarts)
        ended = state.get("terminated") or {}
        if not ended and not entry.get("ready") and restarts >= _OFTEN:
            ended = last
        if ended.get("exitCode"):
            message = ended.get("message") or f"exit code {ended['exitCode']}"
            return Trouble(entry["name"], ended.get("reason") or "Error", message, restarts)
    return None


def refused(pod: KubeObject) -> Trouble | None:
    """Return why the kubelet refused the pod, or None; such a pod never started a container."""
    status = pod.get("status", {})
    if status.get("phase") != "Failed" or not status.get("reason"):
        return None
    return Trouble("", status["reason"], status.get("message") or "", 0)


def judge_pods(
    node: KubeObject,
    late: t.Sequence[tuple[Operand, KubeObject | None]],
    lacking: t.Sequence[str] = (),
    *,
    is_automatic: bool = False,
) -> list[Finding]:
    """Return findings about operands of one node that are not Ready.

    Each broken pod has a finding; those that only wait share one. late: operands with their pods. lacking:
    components without a DaemonSet yet. is_automatic: the operator upgrades drivers by itself.
    """
    findings, waiting = [], []
    for operand, pod in late:
        found = (trouble(pod) or refused(pod)) if pod else None
        if pod is not None and found is not None:
            findings.append(_broken(node, operand, pod, found))
        elif operand.component == "driver" and operand.note == OUTDATED:
            old = judge_outdated(node, operand, is_automatic=is_automatic)
            findings += [old] if old else []
        elif operand.note == UNWANTED:
            findings.append(_unwanted(node, operand))
        else:
            waiting.append((operand, pod))
    if waiting:
        findings.append(_waiting(node, waiting, lacking))
    return findings


def _unwanted(node: KubeObject, operand: Operand) -> Finding:
    what = f"DaemonSet {operand.daemonset} selects it and wants no pod anywhere (0 desired)"
    remedy = (
        f"Run `oc describe daemonset -n {NAMESPACE} {operand.daemonset}` to find an affinity or a taint; "
        "the operator counts such a DaemonSet as ready."
    )
    reason = f"Unwanted:{operand.component}"
    return on_node(PENDING, node, reason, what, "GPU-OPERAND-LACKING", remedy, stage=operand.stage)


def _waiting(
    node: KubeObject,
    waiting: t.Sequence[tuple[Operand, KubeObject | None]],
    lacking: t.Sequence[str],
) -> Finding:
    first, pod = waiting[0]
    others = [operand.component for operand, _pod in waiting[1:]]
    number = len([one for one in [*others, *lacking] if one not in INDEPENDENT])
    what = f"{first.component} {first.note}{_unscheduled(pod)}"
    if first.component in AWAITED and number:
        what += f", {number} operand{'s wait' if number > 1 else ' waits'} for it"
    remedy = f"Run `{how_to_describe(pod, first.daemonset, NAMESPACE)}`."
    more: dict[str, t.Any] = {"stage": first.stage, "since": first.since, "waits": True}
    return on_node(PENDING, node, "Operands", what, "GPU-OPERAND", remedy, ".", **more)


def _broken(node: KubeObject, operand: Operand, pod: KubeObject, found: Trouble) -> Finding:
    what = f"{operand.component}: {as_words(found, operand.pod)}"
    what += f": {found.message}" if found.message else ""
    code = "GPU-DRV-CRASH" if operand.component == "driver" else "GPU-OPERAND-CRASH"
    if found.reason in IMAGE_REASONS:
        code = "GPU-IMAGE"
    known = recognise(found.message)
    if known and not found.container:
        code = known.code
    return Finding(
        PENDING,
        f"Operand:{name(node)}:{operand.component}",
        f"Node {name(node)}: {what}.",
        code,
        remedy_for(found.message, how_to_look(pod, found)),
        (f"{name(node)}: {operand.component} is in {found.reason} (pod {operand.pod})",),
        operand.stage,
        node=name(node),
        since=operand.since,
    )


def as_words(found: Trouble, pod: str) -> str:
    """Return the trouble of a pod as part of a sentence, without its message."""
    if not found.container:
        return f"pod {pod} was refused by the node ({found.reason})"
    return f"container {found.container} of pod {pod} is in {found.reason} (restarts: {found.restarts})"


def how_to_look(pod: KubeObject, found: Trouble) -> str:
    """Return the command that shows more of the trouble."""
    where = f"-n {pod['metadata']['namespace']} {name(pod)}"
    return (
        f"oc logs {where} -c {found.container} --previous" if found.container else f"oc describe pod {where}"
    )


def how_to_describe(pod: KubeObject | None, daemonset: str, namespace: str) -> str:
    """Return the command that shows the events of the pod, or those of its DaemonSet without a pod."""
    if pod is None:
        return f"oc describe daemonset -n {namespace} {daemonset}"
    return f"oc describe pod -n {pod['metadata']['namespace']} {name(pod)}"


def how_to_list(node: str, namespace: str) -> str:
    return f"oc get pods -n {namespace} -o wide --field-selector spec.nodeName={node}"


def _unscheduled(pod: KubeObject | None) -> str:
    found = conditions.find(pod, "PodScheduled")
    message = found.get("message", "") if found.get("status") == "False" else ""
    return f" ({message})" if message else ""


def add_log_end(error: AcceleratorError, pod: str, container: str, log: str) -> None:
    """Add the log of a container to the error; a known text sets the error's code and remedy."""
    lines = [line for line in log.splitlines() if line.strip()]
    error.evidence += [f"{pod}/{container}: {line}" for line in lines[-10:]]
    if error.code not in (*_CAUSE_IN_LOG, *_HINT_IN_LOG) or not lines:
        return
    known = recognise(log)
    if known:
        said = next((line for line in lines if recognise(line) is known), lines[-1])
        add(error, f"Its log says that {known.meaning}: {said.strip()}")
        error.code, error.remedy = known.code, known.remedy
    elif error.code in _CAUSE_IN_LOG and " The log of " not in error.message:
        add(error, f"The log of {pod} ends with: {lines[-1].strip()}")


def add(error: AcceleratorError, sentence: str) -> None:
    error.message = f"{error.message.removesuffix('.')}. {sentence}"
