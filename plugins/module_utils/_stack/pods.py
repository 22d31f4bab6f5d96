# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Pods of operands that are not Ready: what is wrong, and which log would tell more."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import PENDING
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part, on_node, part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.operands import (
    OUTDATED,
    UNWANTED,
    Operand,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.signatures import recognise

IMAGE_REASONS: t.Final = ("ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull")
# Between two crashes a container runs for a while; once or twice is no pattern yet.
_OFTEN: t.Final = 3
_CRASH: t.Final = (
    "CrashLoopBackOff",
    "RunContainerError",
    "CreateContainerError",
    "CreateContainerConfigError",
    "StartError",
)


# Operands whose files others wait for on the node, and one that waits for nobody.
AWAITED: t.Final = ("driver", "container-toolkit", "dra-driver")
INDEPENDENT: t.Final = ("node-status-exporter",)

# Failures whose cause is in the log of that container, and others of which it may know more.
_TOLD_BY_LOGS: t.Final = (
    "GPU-DRV-CRASH",
    "GPU-OPERAND-CRASH",
    "GPU-OPERAND",
    "NIC-DRV-CRASH",
    "NIC-OPERAND-CRASH",
)
_HINTED_BY_LOGS: t.Final = (
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
    """A container that does not run, in the API's words."""

    container: str
    reason: str
    message: str
    restarts: int


def trouble(pod: dict[str, t.Any]) -> Trouble | None:
    """Init containers come first: what follows waits for them."""
    status = pod.get("status", {})
    for entry in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waiting = (entry.get("state") or {}).get("waiting") or {}
        last = (entry.get("lastState") or {}).get("terminated") or {}
        if waiting.get("reason") in (*IMAGE_REASONS, *_CRASH):
            return Trouble(
                entry["name"],
                waiting["reason"],
                waiting.get("message") or last.get("message") or "",
                entry.get("restartCount", 0),
            )
        ended = (entry.get("state") or {}).get("terminated") or {}
        if not ended and not entry.get("ready") and entry.get("restartCount", 0) >= _OFTEN:
            ended = last
        if ended.get("exitCode"):
            text = ended.get("message") or f"exit code {ended['exitCode']}"
            return Trouble(entry["name"], ended.get("reason") or "Error", text, entry.get("restartCount", 0))
    return None


def refused(pod: dict[str, t.Any]) -> Trouble | None:
    """By the kubelet: no container was ever started."""
    status = pod.get("status", {})
    return (
        Trouble("", status["reason"], status.get("message") or "", 0)
        if status.get("phase") == "Failed" and status.get("reason")
        else None
    )


def judge_pods(
    node: dict[str, t.Any],
    late: t.Sequence[tuple[Operand, dict[str, t.Any] | None]],
    lacking: t.Sequence[str] = (),
) -> list[Part]:
    """Operands of one node that are not Ready: each broken pod by itself, those that only wait in one line. lacking: those without a DaemonSet yet."""
    parts, waiting = [], []
    for operand, pod in late:
        found = (trouble(pod) or refused(pod)) if pod else None
        if pod is not None and found is not None:
            parts.append(_broken(node, operand, pod, found))
        elif operand.component == "driver" and operand.note == OUTDATED:
            parts.append(_outdated(node, operand))
        elif operand.note == UNWANTED:
            what = f"DaemonSet {operand.daemonset} selects it and wants no pod anywhere (0 desired)"
            remedy = f"Look for an affinity or a taint: `oc describe daemonset {operand.daemonset}`; the operator counts such a DaemonSet as ready."
            parts.append(
                on_node(
                    PENDING,
                    node,
                    f"Unwanted:{operand.component}",
                    what,
                    "GPU-OPERAND-LACKING",
                    remedy,
                    stage=_stage(operand),
                )
            )
        else:
            waiting.append((operand, pod))
    if waiting:
        name, (first, pod) = node["metadata"]["name"], waiting[0]
        behind = [
            one
            for one in [*(operand.component for operand, _pod in waiting[1:]), *lacking]
            if one not in INDEPENDENT
        ]
        what = f"{name}: {first.component} {first.note}{_unscheduled(pod)}"
        if first.component in AWAITED and behind:
            what += f", {len(behind)} operand{'s wait' if len(behind) > 1 else ' waits'} for it"
        remedy = "Look at the events of that pod."
        more: dict[str, t.Any] = {"stage": _stage(first), "node": name, "since": first.since, "waits": True}
        parts.append(
            part(
                PENDING,
                f"Operands:{name}",
                f"Node {what}.",
                code="GPU-OPERAND",
                remedy=remedy,
                details=(what,),
                **more,
            )
        )
    return parts


def _stage(operand: Operand) -> str:
    return stages.OF_COMPONENT.get(operand.component, stages.PLUGIN)


def _outdated(node: dict[str, t.Any], operand: Operand) -> Part:
    """Driver pods are replaced only by the operator's upgrade controller (their DaemonSet is OnDelete)."""
    name = node["metadata"]["name"]
    what = f"pod {operand.pod} of the driver is of an older revision"
    remedy = f"Set driver.upgrade_policy.auto_upgrade, or `oc label node {name} nvidia.com/gpu-driver-upgrade-state=upgrade-required --overwrite`."
    return on_node(PENDING, node, "Outdated", what, "GPU-DRV-OUTDATED", remedy, stage=stages.DRIVER)


def _broken(node: dict[str, t.Any], operand: Operand, pod: dict[str, t.Any], found: Trouble) -> Part:
    name, namespace = node["metadata"]["name"], pod["metadata"]["namespace"]
    line = f"{name}: {operand.component} is in {found.reason} (pod {operand.pod})"
    if found.container:
        what = f"{name}: {operand.component}: container {found.container} of pod {operand.pod} is in {found.reason} ({found.restarts} restarts)"
    else:
        what = f"{name}: {operand.component}: pod {operand.pod} was refused by the node ({found.reason})"
    what += f": {found.message}" if found.message else ""
    code = (
        "GPU-IMAGE"
        if found.reason in IMAGE_REASONS
        else "GPU-DRV-CRASH"
        if operand.component == "driver"
        else "GPU-OPERAND-CRASH"
    )
    known = recognise(found.message)
    remedy = (
        known.remedy
        if known
        else f"oc logs -n {namespace} {operand.pod} -c {found.container} --previous"
        if found.container
        else _describe(pod)
    )
    if known and not found.container:
        code = known.code
    more: dict[str, t.Any] = {"stage": _stage(operand), "node": name, "since": operand.since}
    return part(
        PENDING,
        f"Operand:{name}:{operand.component}",
        f"Node {what}.",
        code=code,
        remedy=remedy,
        details=(line,),
        **more,
    )


def _describe(pod: dict[str, t.Any]) -> str:
    return f"oc describe pod -n {pod['metadata']['namespace']} {pod['metadata']['name']}"


def _unscheduled(pod: dict[str, t.Any] | None) -> str:
    conditions = (pod or {}).get("status", {}).get("conditions") or []
    texts = [
        entry.get("message", "")
        for entry in conditions
        if entry["type"] == "PodScheduled" and entry["status"] == "False"
    ]
    return f" ({texts[0]})" if texts and texts[0] else ""


def explain(error: AcceleratorError, pod: str, container: str, log: str) -> None:
    """Adds to a failure what the log of a broken container says; a known text brings its own code and remedy."""
    lines = [line for line in log.splitlines() if line.strip()]
    error.evidence += [f"{pod}/{container}: {line}" for line in lines[-10:]]
    if error.code not in (*_TOLD_BY_LOGS, *_HINTED_BY_LOGS) or not lines:
        return
    known = recognise(log)
    if known:
        said = next((line for line in lines if recognise(line) is known), lines[-1])
        add(error, f"Its log says that {known.meaning}: {said.strip()}")
        error.code, error.remedy = known.code, known.remedy
    elif error.code in _TOLD_BY_LOGS and " The log of " not in error.message:
        add(error, f"The log of {pod} ends with: {lines[-1].strip()}")


def add(error: AcceleratorError, sentence: str) -> None:
    error.message = f"{error.message.removesuffix('.')}. {sentence}"
