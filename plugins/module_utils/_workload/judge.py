# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge of validation pods: have they all ended, what did each return, and what is wrong with a node?"""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.errors import NotReadyError, WaitTimeoutError, text_of
from .._core.objects import KubeObject, Snapshot, number_of
from .._core.readiness import Grace, Readiness, failed, pending, ready, worst
from .._nodes import devices as node_devices
from .._stack.known_texts import PULLS, WORKLOAD
from .._stack.pods import trouble
from .._stack.signatures import recognise, spoken, telling
from . import idle
from .options import GpuWorkloadParams
from .pods import CHANNEL, HOSTNAME, geometry_of, has_claim, has_ended, host_of, phase
from .programs import compute_domain
from .programs.program import Settings
from .programs.registry import PROGRAMS

# A device plugin that restarts makes pods unschedulable for a moment, and a registry may fail once.
PASSING: t.Final = ("WORK-UNSCHEDULABLE", "WORK-IMAGE", "WORK-CONTAINER")
# A pod's result, as the module returns it.
PodResult = dict[str, t.Any]
TAIL: t.Final = 20
# What CUDA says if the image has no code for the architecture of the GPU.
NO_KERNEL_IMAGE: t.Final = "no kernel image is available"
# What the vendor asks for -> the remedy, the gravest last.
_REPAIR: t.Final = "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node={node}`"
_REMEDIES: t.Final = {
    "": "",
    "reset": f"{_REPAIR} to reset the GPU: it drains, reboots and validates the node, and pods there end.",
    "reboot": f"{_REPAIR}: it drains, reboots and validates the node, and pods there end.",
    "replace": f"{_REPAIR} once, which ends the pods there; if the fault comes back, have the GPU replaced.",
}
_ACTIONS: t.Final = tuple(_REMEDIES)


class Judge:
    """Judge the pods of one validation.

    made: names of the pods that must end. grace: seconds that a problem may last.
    """

    def __init__(self, made: t.Sequence[str], grace: float, clock: t.Callable[[], float]) -> None:
        self._made = made
        self._grace = Grace(clock, grace, PASSING)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        return self.of(snapshot["pods"], self._made)

    def of(self, pods: t.Sequence[KubeObject], made: t.Sequence[str]) -> Readiness:
        """Return the verdict on these pods of the validation alone."""
        return judge(pods, made, self._grace)


class Judges:
    """Judge the pods of several jobs in one wait: a job that fails keeps no other from its end.

    made: names of the pods of each job. ended: the pods of each job as the wait saw them last. errors: why
    a job of several has failed. gives_way: a pod that others push out, or that finds no place, ends as well;
    away: the names of these pods of each job.
    """

    def __init__(
        self,
        made: t.Sequence[t.Sequence[str]],
        grace: float,
        clock: t.Callable[[], float],
        gives_way: bool = False,
    ) -> None:
        self._made, self._gives_way = made, gives_way
        self.away: list[set[str]] = [set() for _names in made]
        self._judges = [Judge(names, grace, clock) for names in made]
        self._verdicts: list[Readiness] = [pending()] * len(made)
        self.ended: list[list[KubeObject]] = [[] for _names in made]
        self.errors: list[NotReadyError | None] = [None] * len(made)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        for index, names in enumerate(self._made):
            if self.errors[index] is None:
                self.ended[index] = [pod for pod in snapshot["pods"] if pod["metadata"]["name"] in names]
                self._verdicts[index] = self._verdict(index)
        if len(self._made) == 1:
            return self._verdicts[0]
        for index, verdict in enumerate(self._verdicts):
            if verdict.is_failed and self.errors[index] is None:
                self.errors[index] = _error_of(f"validation: {verdict.message}", verdict)
        return self._together()

    def _verdict(self, index: int) -> Readiness:
        """Return the verdict on a job. It does not wait for pods that made room for work."""
        pods, made, away = self.ended[index], self._made[index], self.away[index]
        if not self._gives_way:
            return self._judges[index]({"pods": pods})
        away |= idle.gone(made, pods)
        while left := [name for name in made if name not in away]:
            staying = [pod for pod in pods if pod["metadata"]["name"] in left]
            verdict = self._judges[index].of(staying, left)
            if not verdict.is_failed or verdict.code != "WORK-UNSCHEDULABLE":
                return verdict
            away.add(verdict.reason.partition(":")[2])
        return ready("Ended", "No pod is left.")

    def _together(self) -> Readiness:
        """Return ready once each job has ended or failed, else how many pods have ended."""
        open_now = [
            one for one, error in zip(self._verdicts, self.errors, strict=True) if not (one.is_ready or error)
        ]
        total = sum(map(len, self._made))
        done = sum(has_ended(pod) for pods in self.ended for pod in pods)
        what = f"{done} of {number_of(total, 'pod')} have ended"
        if not open_now:
            return ready("Ended", f"{what}.")
        first = worst(open_now)
        return pending(
            first.reason,
            f"{what}.",
            code=first.code,
            remedy=first.remedy,
            details=(f"{what}.", *first.details),
        )

    def give_up(self, timeout: WaitTimeoutError) -> None:
        """Fail the jobs that have not ended when the time is over."""
        for index, verdict in enumerate(self._verdicts):
            if not verdict.is_ready and self.errors[index] is None:
                message = f"{timeout.message.partition('; last seen')[0]}; last seen: {verdict.message}"
                self.errors[index] = _error_of(message, verdict)


def _error_of(message: str, verdict: Readiness) -> NotReadyError:
    return NotReadyError(verdict.code, message, verdict.remedy, verdict.details)


def judge(pods: t.Sequence[KubeObject], made: t.Sequence[str], grace: Grace) -> Readiness:
    """Return ready when every pod has ended, also with a failure: the results are read afterwards.

    A pod that was made and does not exist any more ends the wait: it has no result, and never gets one.
    """
    wanted = len(made)
    if lost := sorted(set(made) - {str(pod["metadata"]["name"]) for pod in pods}):
        gone = f"{len(lost)} of {number_of(wanted, 'pod')}"
        text = text_of("WORK-GONE", number=gone, names=", ".join(lost[:3]))
        return failed("Gone", **text._asdict(), details=tuple(lost))
    parts = [judge_pod(pod) for pod in sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))]
    verdict = worst(grace.harden(parts))
    verb = "has" if wanted == 1 else "have"
    what = f"{sum(map(has_ended, pods))} of {number_of(wanted, 'pod')} {verb} ended"
    if not verdict.is_failed and sum(map(has_ended, pods)) >= wanted:
        return ready("Ended", f"{what}.")
    phases = {phase(pod) for pod in pods}
    if "Failed" in phases and "Running" not in phases and not verdict.is_failed:
        return ready("Failed", "A pod failed, and no other pod runs.")
    make = failed if verdict.is_failed else pending
    text = text_of("WORK-RUNNING", namespace=pods[0]["metadata"]["namespace"])
    return make(
        verdict.reason or "Running",
        f"{what}; {verdict.message}" if verdict.message else f"{what}.",
        code=verdict.code or text.code,
        remedy=verdict.remedy or text.remedy,
        details=verdict.details,
    )


def judge_pod(pod: KubeObject) -> Readiness:
    """Return ready for a pod that has ended, else pending, with a code if something keeps it from running."""
    if has_ended(pod):
        return ready()
    name, where = pod["metadata"]["name"], pod["spec"].get("nodeSelector", {}).get(HOSTNAME, "")
    if refusal := refusals(pod):
        text = text_of("WORK-UNSCHEDULABLE", pod=f"pod {name}", node=where, answer=refusal[0])
        return pending(f"Unschedulable:{name}", **text._asdict(), details=(text.message,))
    found = trouble(pod)
    if found is None and phase(pod) == "Pending" and has_claim(pod, CHANNEL):
        why = f"pod {name} has not started, and a pod starts when the node has its channel"
        text = text_of(compute_domain.CHANNEL, node=where, why=why)
        return pending(f"Channel:{name}", **text._asdict(), details=(text.message,))
    if found is None:
        return pending("Running", "", code="WORK-RUNNING")
    code, answer = "WORK-CONTAINER", f"{found.reason}{': ' + found.message if found.message else ''}"
    if "Image" in found.reason:
        known = recognise(f"{found.reason}: {found.message}", PULLS)
        code, answer = "WORK-IMAGE", f"{answer} ({known.meaning})" if known else answer
    text = text_of(code, pod=name, node=where, answer=answer)
    return pending(f"{found.reason}:{name}", **text._asdict(), details=(text.message,))


def refusals(pod: KubeObject) -> list[str]:
    """Return the scheduler's reasons why no node fits; an empty list if it did not refuse the pod."""
    scheduled = conditions.find(pod, "PodScheduled")
    return [scheduled.get("message", "")] if scheduled.get("reason") == "Unschedulable" else []


def judge_account(snapshot: Snapshot) -> Readiness:
    """Return ready once the service account exists: without it a new namespace takes no pod."""
    if snapshot["accounts"]:
        return ready()
    return pending("NoAccount", **text_of("WORK-NO-ACCOUNT")._asdict())


def has_log(pod: KubeObject) -> bool:
    """Return whether the pod has a log: one that the node refused, or that never started, has none."""
    return has_ended(pod) and bool(pod.get("status", {}).get("containerStatuses"))


def by_node(
    nodes: t.Iterable[KubeObject], pods: t.Sequence[KubeObject], logs: t.Sequence[str], settings: Settings
) -> dict[str, list[PodResult]]:
    """Return the results of the pods by the names of their nodes.

    logs: one for each pod, in the same order.
    """
    results = [
        (pod["spec"]["nodeSelector"][HOSTNAME], pod_result(pod, settings, log))
        for pod, log in zip(pods, logs, strict=True)
    ]
    return {
        node["metadata"]["name"]: [entry for host, entry in results if host == host_of(node)]
        for node in nodes
    }


def exit_code(pod: KubeObject) -> int | None:
    """Return the exit code of the pod's container, or None if it has not ended."""
    for entry in pod.get("status", {}).get("containerStatuses") or []:
        ended = (entry.get("state") or {}).get("terminated")
        if ended:
            return int(ended.get("exitCode", 0))
    return 0 if phase(pod) == "Succeeded" else None


def pod_result(pod: KubeObject, settings: Settings, log: str) -> PodResult:
    """Return one pod's result: how it ended, the figures in its log, and the end of the log."""
    parsed = PROGRAMS[settings.program].parse(log, settings)
    return {
        "name": pod["metadata"]["name"],
        "phase": phase(pod),
        "reason": pod.get("status", {}).get("reason", ""),
        "exit_code": exit_code(pod),
        "passed": phase(pod) == "Succeeded" and parsed.passed,
        "result": parsed.as_result(),
        "image": (pod["spec"].get("containers") or [{}])[0].get("image", ""),
        "no_kernel_image": NO_KERNEL_IMAGE in log,
        "log_tail": log.splitlines()[-TAIL:],
    }


def summarize(
    nodes: t.Iterable[KubeObject],
    due: t.Iterable[KubeObject],
    ran: t.Mapping[str, list[PodResult]],
    params: GpuWorkloadParams,
    busy: t.Mapping[str, str] | None = None,
) -> dict[str, t.Any]:
    """Return the module's result.

    A node whose fingerprint is unchanged counts as validated with what it offers. busy: who holds the devices
    of a node that was due and was left out, by the name of the node.
    """
    waiting, busy = [node["metadata"]["name"] for node in due], busy or {}
    program = PROGRAMS[params.program.program]
    entries = []
    for node in nodes:
        name, devices = node["metadata"]["name"], geometry_of(node, params.expected)
        pods = ran.get(name, [])
        passed = sum(one["passed"] for one in pods)
        if program.spread != "device" and not node_devices.is_shared(node):
            passed *= sum(devices.values())
        entries.append(
            {
                "name": name,
                "ran": name in ran,
                "validated": passed if name in waiting or name in busy else sum(devices.values()),
                "busy": busy.get(name, ""),
                "resources": devices,
                "driver_version": node_devices.driver_version(node),
                "pods": pods,
            }
        )
    return {
        "namespace": params.namespace,
        "benchmark": params.benchmark,
        "due": waiting,
        "nodes": entries,
    }


def complaints_by_node(
    nodes: t.Iterable[KubeObject], ran: t.Mapping[str, list[PodResult]]
) -> dict[str, list[Readiness]]:
    """Return the complaints of each node that has any, by its name."""
    found = {
        node["metadata"]["name"]: complaints(node, ran.get(node["metadata"]["name"], [])) for node in nodes
    }
    return {name: parts for name, parts in found.items() if parts}


def complaints(node: KubeObject, results: t.Sequence[PodResult]) -> list[Readiness]:
    """Return what is wrong with a node whose pods have all ended: pods that failed, devices used twice."""
    name = node["metadata"]["name"]
    parts = [_failure(name, one) for one in results if not (one["passed"] or one["result"]["not_applicable"])]
    uuids = [uuid for one in results if one["passed"] for uuid in one["result"]["uuids"][:1]]
    twice = sorted({uuid for uuid in uuids if uuids.count(uuid) > 1})
    if twice and not node_devices.is_shared(node):
        text = text_of("WORK-SAME-DEVICE", node=name, devices=", ".join(twice))
        parts.append(failed("SameDevice", **text._asdict()))
    return parts


def _failure(node: str, one: PodResult) -> Readiness:
    """Return why a pod did not pass: what its program found, else how it ended."""
    details = tuple(f"{node}/{one['name']}: {line}" for line in one["log_tail"])
    faults = [found for found in one["result"]["findings"] if found["status"] == "fail"]
    if one["no_kernel_image"]:
        text = text_of("WORK-ARCH", node=node, pod=one["name"], image=one["image"])
        return failed("Image", text.message, code=text.code, remedy=text.remedy, details=details)
    if faults:
        first = max(faults, key=lambda found: _ACTIONS.index(found["action"]))
        words = "; ".join(
            f"{found['device'] or 'GPU'}: {found['test']}: {found['text']}" for found in faults[:3]
        )
        if code := next((found["code"] for found in faults if found["code"]), ""):
            why = "; ".join(dict.fromkeys(found["text"] for found in faults if found["code"] == code))
            text = text_of(code, node=node, why=why)
            return failed(
                "Fault", text.message, code=text.code, remedy=text.remedy, details=(words, *details)
            )
        text = text_of("WORK-FAULT", node=node, faults=words)
        remedy = _REMEDIES[first["action"]].format(node=node) or text.remedy
        return failed("Fault", text.message, code=text.code, remedy=remedy, details=(words, *details))
    log = "\n".join(one["log_tail"])
    known = recognise(log, place=WORKLOAD)
    last = spoken(known, log) if known else telling(log)[0] or "no log"
    ended = f"{_ending(one)} ({known.meaning})" if known else _ending(one)
    text = text_of("WORK-FAILED", node=node, pod=one["name"], ended=ended, last_line=last)
    remedy = known.advice(text.remedy, node=node, pod=one["name"]) if known else text.remedy
    return failed("Failed", text.message, code=text.code, remedy=remedy, details=details)


def _ending(one: PodResult) -> str:
    if one["phase"] != "Failed" and one["exit_code"] is None:
        return f"was still {one['phase']} when another pod failed"
    if one["exit_code"]:
        return f"ended with exit code {one['exit_code']}"
    if one["reason"] == "DeadlineExceeded":
        return "was ended by the node after its activeDeadlineSeconds"
    if one["reason"]:
        return f"was refused by the node ({one['reason']})"
    return "ended, but its log does not say that the test passed"


def failure(parts: t.Sequence[Readiness], facts: dict[str, t.Any]) -> NotReadyError:
    """Return one error for all complaints: the first one's code and message, the number of the others."""
    first = parts[0]
    more = f" (and {len(parts) - 1} more)" if len(parts) > 1 else ""
    lines = [line for part in parts for line in part.details]
    return NotReadyError(first.code, f"{first.message}{more}", first.remedy, evidence=lines[:40], facts=facts)
