# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge pods of operands that are not Ready, and explain them by their logs."""

from __future__ import annotations

import re
import typing as t

from .._core import conditions
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, at, name
from .._core.readiness import PENDING, about_node
from .known_texts import PULLS, Signature
from .operands import COMPONENTS, NAMESPACE, OUTDATED, UNWANTED, Operand
from .signatures import last_words, recognise, spoken, telling
from .stages import Finding, on_node
from .upgrade import judge_outdated

IMAGE_REASONS: t.Final = ("ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull")
# Between two crashes a container runs for a while; one or two restarts are no pattern yet.
# Lines of a log that are shown.
_MOST_LINES: t.Final = 10
_OFTEN: t.Final = 3
_CRASH: t.Final = (
    "CrashLoopBackOff",
    "RunContainerError",
    "CreateContainerError",
    "CreateContainerConfigError",
    "StartError",
)
# With these a container never ran, so it has no log.
_NEVER_RAN: t.Final = (
    *IMAGE_REASONS,
    "ContainerCannotRun",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "StartError",
)
OOM: t.Final = "OOMKilled"
# How the reason of a finding about a broken container begins.
BROKEN: t.Final = "Operand:"
# Ends that say no more than their exit code.
_PLAIN_ENDS: t.Final = ("", "Error", "Completed")

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
    "GPU-CP-NOT-READY",
    "GPU-CP-OPERAND",
    "GPU-DRA-NOT-READY",
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
# Codes that a known text replaces, and codes about images that cannot be pulled.
EXPLAINED: t.Final = (*_CAUSE_IN_LOG, *_HINT_IN_LOG)
IMAGES: t.Final = ("GPU-IMAGE", "NIC-IMAGE")
# Codes about devices that a running program does not offer: an error in its log is quoted.
_ERROR_IN_LOG: t.Final = ("GPU-ALLOC", "GPU-DRA-SLICES", "GPU-MIG-FAILED", "NIC-ALLOC")


class Trouble(t.NamedTuple):
    """A container that does not run, with the API's reason and message.

    container: empty if the kubelet refused the pod. end: how it ended last, empty if that is not known.
    """

    container: str
    reason: str
    message: str
    restarts: int
    end: str = ""

    @property
    def has_log(self) -> bool:
        return bool(self.container) and not {self.reason, self.end} & set(_NEVER_RAN)

    @property
    def is_out_of_memory(self) -> bool:
        return OOM in (self.reason, self.end)


def trouble(pod: KubeObject) -> Trouble | None:
    """Return the first container that does not run, or None; the others wait for init containers."""
    status = pod.get("status", {})
    for entry in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        restarts, state = entry.get("restartCount", 0), entry.get("state") or {}
        waiting = state.get("waiting") or {}
        last = (entry.get("lastState") or {}).get("terminated") or {}
        if waiting.get("reason") in (*IMAGE_REASONS, *_CRASH):
            return _waits(entry, waiting, last)
        ended = state.get("terminated") or {}
        if not ended and not entry.get("ready") and restarts >= _OFTEN:
            ended = last
        if ended.get("exitCode"):
            message = ended.get("message") or f"exit code {ended['exitCode']}"
            return Trouble(entry["name"], ended.get("reason") or "Error", message, restarts)
    return None


def _waits(entry: KubeObject, waiting: KubeObject, last: KubeObject) -> Trouble:
    """Return the trouble of a container that waits for its next start; how it ended last says more."""
    reason, end, code = waiting["reason"], str(last.get("reason") or ""), last.get("exitCode")
    said = [f"exit code {code}" if code else "", last.get("message") or waiting.get("message") or ""]
    if reason != "CrashLoopBackOff":
        said, end = [waiting.get("message") or last.get("message") or ""], ""
    elif end not in _PLAIN_ENDS:
        said = [f"it ended as {end}", *said]
    return Trouble(entry["name"], reason, "; ".join(filter(None, said)), entry.get("restartCount", 0), end)


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
    text = about_node("GPU-OPERAND-UNWANTED", node=name(node), daemonset=operand.daemonset)
    return on_node(PENDING, node, f"Unwanted:{operand.component}", *text, stage=operand.stage)


def _waiting(
    node: KubeObject,
    waiting: t.Sequence[tuple[Operand, KubeObject | None]],
    lacking: t.Sequence[str],
) -> Finding:
    first, pod = waiting[0]
    others = [operand.component for operand, _pod in waiting[1:]]
    number = len([one for one in [*others, *lacking] if one not in INDEPENDENT])
    what = f"{first.component} {first.note}{unscheduled(pod)}"
    if first.component in AWAITED and number:
        what += f", {number} operand{'s wait' if number > 1 else ' waits'} for it"
    remedy = f"Run `{how_to_describe(pod, first.daemonset, NAMESPACE)}`."
    more: dict[str, t.Any] = {"stage": first.stage, "since": first.since, "waits": True}
    return on_node(PENDING, node, "Operands", what, "GPU-OPERAND", remedy, ".", **more)


def _broken(node: KubeObject, operand: Operand, pod: KubeObject, found: Trouble) -> Finding:
    what = f"{operand.component}: {as_words(found, operand.pod)}"
    what += f": {found.message.removesuffix('.')}" if found.message else ""
    code = "GPU-DRV-CRASH" if operand.component == "driver" else "GPU-OPERAND-CRASH"
    if found.reason in IMAGE_REASONS:
        code = "GPU-IMAGE"
    known = known_of(found)
    if found.is_out_of_memory:
        code = "GPU-OPERAND-OOM"
    elif known and not found.has_log:
        code = known.code
    return Finding(
        PENDING,
        f"{BROKEN}{name(node)}:{operand.component}",
        f"Node {name(node)}: {what}{f' ({known.meaning})' if known else ''}.",
        code,
        how_to_cure(pod, found, COMPONENTS.get(operand.component, "")),
        (f"{name(node)}: {operand.component} is in {found.reason} (pod {operand.pod})",),
        operand.stage,
        node=name(node),
        since=operand.since,
    )


def known_of(found: Trouble) -> Signature | None:
    """Return the known text in the trouble's message: for a pull a reason of registries."""
    if found.reason in IMAGE_REASONS:
        return recognise(f"{found.reason}: {found.message}", PULLS)
    return recognise(found.message)


def how_to_cure(pod: KubeObject, found: Trouble, part: str = "") -> str:
    """Return the remedy for the trouble, or the command that shows more of it.

    part: the key of the ClusterPolicy's spec that the pod belongs to.
    """
    if found.is_out_of_memory:
        return _more_memory(pod, found, part)
    look, known = f"Run `{how_to_look(pod, found)}`.", known_of(found)
    return known.advice(look, **names_of(pod)) if known else look


def names_of(pod: KubeObject) -> dict[str, str]:
    """Return the names that the remedy of a known text may need."""
    meta = pod["metadata"]
    return {"node": pod["spec"].get("nodeName") or "", "pod": name(pod), "namespace": meta["namespace"]}


def _more_memory(pod: KubeObject, found: Trouble, part: str) -> str:
    every = [*(pod["spec"].get("initContainers") or []), *(pod["spec"].get("containers") or [])]
    own: KubeObject = next((one for one in every if one["name"] == found.container), {})
    limit = at(own, "resources.limits.memory")
    if not limit:
        where = pod["spec"].get("nodeName") or ""
        return f"Run `oc describe node {where}`: the container has no memory limit, so its node lacks memory."
    if part:
        more = re.sub(r"^\d+", lambda found: str(2 * int(found[0])), str(limit))
        setting = f"gpu_operator_spec: {{{part}: {{resources: {{limits: {{memory: {more}}}}}}}}}"
        return f"Set {setting} (now {limit}); the operator then starts these pods anew."
    return f"Raise the memory limit of container {found.container}, which is {limit}."


def as_words(found: Trouble, pod: str) -> str:
    """Return the trouble of a pod as part of a sentence, without its message."""
    if not found.container:
        return f"pod {pod} was refused by the node ({found.reason})"
    return f"container {found.container} of pod {pod} is in {found.reason} (restarts: {found.restarts})"


def how_to_look(pod: KubeObject, found: Trouble) -> str:
    """Return the command that shows more of the trouble."""
    where = f"-n {pod['metadata']['namespace']} {name(pod)}"
    if not found.has_log:
        return f"oc describe pod {where}"
    return f"oc logs {where} -c {found.container}{' --previous' if found.restarts else ''}"


def how_to_describe(pod: KubeObject | None, daemonset: str, namespace: str) -> str:
    """Return the command that shows the events of the pod, or those of its DaemonSet without a pod."""
    if pod is None:
        return f"oc describe daemonset -n {namespace} {daemonset}"
    return f"oc describe pod -n {pod['metadata']['namespace']} {name(pod)}"


def how_to_list(node: str, namespace: str) -> str:
    return f"oc get pods -n {namespace} -o wide --field-selector spec.nodeName={node}"


def unscheduled(pod: KubeObject | None) -> str:
    found = conditions.find(pod, "PodScheduled")
    message = found.get("message", "") if found.get("status") == "False" else ""
    return f" ({message})" if message else ""


def add_log_end(error: AcceleratorError, pod: str, container: str, log: str, **names: str) -> None:
    """Add the log of a container to the error; a known text sets the error's code and remedy.

    names: of the node and the namespace, for the remedy.
    """
    lines = last_words(log, _MOST_LINES)
    error.evidence += [f"{pod}/{container}: {line}" for line in lines]
    if error.code not in EXPLAINED or not lines:
        return
    who, known = f"container {container} of pod {pod}", recognise(log)
    line, is_error = (spoken(known, log), True) if known else telling(log)
    if line and line not in lines:
        error.evidence.append(f"{pod}/{container}: {line}")
    if known:
        add(error, f"The log of {who} says that {known.meaning}: {line}")
        error.code, error.remedy = known.code, known.advice(error.remedy, pod=pod, **names)
        return
    is_quoted = error.code in (*_CAUSE_IN_LOG, *(_ERROR_IN_LOG if is_error else ()))
    if line and is_quoted and "The log of container " not in error.message:
        add(error, f"The log of {who} {'says' if is_error else 'ends with'}: {line}")


def add(error: AcceleratorError, sentence: str) -> None:
    error.message = f"{error.message.removesuffix('.')}. {sentence}"
