# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The verdict on validation pods: do they end, how, and what do their logs say."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Patience
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    failed,
    pending,
    ready,
    worst,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices as node_devices
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.pods import trouble
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.signatures import recognise
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.benchmarks.registry import (
    BENCHMARKS,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.pods import (
    HOSTNAME,
    geometry_of,
    host_of,
)

Manifest = dict[str, t.Any]
TAIL: t.Final = 20
# A device plugin that restarts makes pods unschedulable for a moment, and a registry may hiccup.
PASSING: t.Final = ("WORK-UNSCHEDULABLE", "WORK-IMAGE", "WORK-CONTAINER")
_ENDED: t.Final = ("Succeeded", "Failed")


def phase(pod: Manifest) -> str:
    return str(pod.get("status", {}).get("phase") or "Pending")


class Judge:
    """Looks at the pods of one run; `wanted` of them have to end."""

    def __init__(self, wanted: int, grace: float, clock: t.Callable[[], float]) -> None:
        self._wanted = wanted
        self._patience = Patience(clock, grace, PASSING)

    def __call__(self, snapshot: t.Mapping[str, t.Sequence[Manifest]]) -> Readiness:
        return judge(snapshot["pods"], self._wanted, self._patience)


def has_log(pod: Manifest) -> bool:
    """A pod that the node refused, or that never started, has none."""
    return phase(pod) in _ENDED and bool(pod.get("status", {}).get("containerStatuses"))


def judge(pods: t.Sequence[Manifest], wanted: int, patience: Patience) -> Readiness:
    """Ready when every pod has ended, however it ended: results are looked at afterwards, all together."""
    parts = [_judge_pod(pod) for pod in sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))]
    verdict = worst(patience.harden(parts))
    ended = sum(phase(pod) in _ENDED for pod in pods)
    if verdict.is_failed or ended < wanted:
        broken = [pod for pod in pods if phase(pod) == "Failed"]
        if broken and not verdict.is_failed and not any(phase(pod) == "Running" for pod in pods):
            return ready("Failed", "A pod failed and no other one runs.")
        what = f"{ended} of {wanted} pods have ended"
        message = f"{what}; {verdict.message}" if verdict.message else f"{what}."
        make = failed if verdict.is_failed else pending
        remedy = verdict.remedy or "Look at the pods in the validation namespace."
        return make(
            verdict.reason or "Running",
            message,
            code=verdict.code or "WORK-RUNNING",
            remedy=remedy,
            details=verdict.details,
        )
    return ready("Ended", f"{ended} of {wanted} pods have ended.")


def _judge_pod(pod: Manifest) -> Readiness:
    name, where = pod["metadata"]["name"], pod["spec"].get("nodeSelector", {}).get(HOSTNAME, "")
    if phase(pod) in _ENDED:
        return ready()
    conditions = pod.get("status", {}).get("conditions") or []
    refusals = [
        entry.get("message", "")
        for entry in conditions
        if entry["type"] == "PodScheduled" and entry.get("reason") == "Unschedulable"
    ]
    if refusals:
        what = f"pod {name} for node {where} cannot be scheduled: {refusals[0]}"
        remedy = "Give gpu_workload the tolerations that the message asks for, or free the devices."
        return pending(
            f"Unschedulable:{name}", what, code="WORK-UNSCHEDULABLE", remedy=remedy, details=(what,)
        )
    found = trouble(pod)
    if found:
        what = f"pod {name} on node {where}: {found.reason}{': ' + found.message if found.message else ''}"
        code = "WORK-IMAGE" if "Image" in found.reason else "WORK-CONTAINER"
        remedy = (
            "Mirror the image, or set option image."
            if code == "WORK-IMAGE"
            else "Use an image that runs as an ordinary user, by option image."
        )
        return pending(f"{found.reason}:{name}", what, code=code, remedy=remedy, details=(what,))
    return pending("Running", "", code="WORK-RUNNING")


def judge_account(snapshot: t.Mapping[str, t.Sequence[Manifest]]) -> Readiness:
    """A fresh namespace takes no pod before its service account is there."""
    if snapshot["accounts"]:
        return ready()
    return pending(
        "NoAccount",
        "The service account default is not there yet.",
        code="WORK-NO-ACCOUNT",
        remedy="Look at the kube-controller-manager.",
    )


def by_node(
    nodes: t.Iterable[Manifest], pods: t.Sequence[Manifest], logs: t.Sequence[str], benchmark: str
) -> dict[str, list[dict[str, t.Any]]]:
    results = [
        (pod["spec"]["nodeSelector"][HOSTNAME], result(pod, benchmark, log))
        for pod, log in zip(pods, logs, strict=True)
    ]
    return {
        node["metadata"]["name"]: [entry for host, entry in results if host == host_of(node)]
        for node in nodes
    }


def exit_code(pod: Manifest) -> int | None:
    for entry in pod.get("status", {}).get("containerStatuses") or []:
        ended = (entry.get("state") or {}).get("terminated")
        if ended:
            return int(ended.get("exitCode", 0))
    return 0 if phase(pod) == "Succeeded" else None


def result(pod: Manifest, benchmark: str, log: str) -> dict[str, t.Any]:
    parsed = BENCHMARKS[benchmark].parse(log)
    return {
        "name": pod["metadata"]["name"],
        "phase": phase(pod),
        "reason": pod.get("status", {}).get("reason", ""),
        "exit_code": exit_code(pod),
        "passed": phase(pod) == "Succeeded" and parsed["passed"],
        "result": parsed,
        "log_tail": log.splitlines()[-TAIL:],
    }


def summarize(
    nodes: t.Iterable[Manifest],
    due: t.Iterable[Manifest],
    ran: t.Mapping[str, list[dict[str, t.Any]]],
    params: dict[str, t.Any],
) -> dict[str, t.Any]:
    """One entry a node. A node whose fingerprint is unchanged counts as validated with what it offers."""
    waiting = [node["metadata"]["name"] for node in due]
    entries = []
    for node in nodes:
        name, devices = node["metadata"]["name"], geometry_of(node, params.get("resources"))
        pods = ran.get(name, [])
        entries.append(
            {
                "name": name,
                "ran": name in ran,
                "validated": sum(one["passed"] for one in pods) if name in waiting else sum(devices.values()),
                "resources": devices,
                "driver_version": node_devices.driver_version(node),
                "pods": pods,
            }
        )
    return {
        "namespace": params["namespace"],
        "benchmark": params["benchmark"],
        "due": waiting,
        "nodes": entries,
    }


def complaints_by_node(
    nodes: t.Iterable[Manifest], ran: t.Mapping[str, list[dict[str, t.Any]]]
) -> dict[str, list[Readiness]]:
    found = {
        node["metadata"]["name"]: complaints(node, ran.get(node["metadata"]["name"], [])) for node in nodes
    }
    return {name: parts for name, parts in found.items() if parts}


def complaints(node: Manifest, results: list[dict[str, t.Any]]) -> list[Readiness]:
    """What is wrong with a node whose pods have all ended."""
    name = node["metadata"]["name"]
    parts = []
    for one in results:
        if one["passed"]:
            continue
        tail = tuple(f"{name}/{one['name']}: {line}" for line in one["log_tail"])
        known = recognise("\n".join(one["log_tail"]))
        if one["phase"] != "Failed" and one["exit_code"] is None:
            what = f"Node {name}: pod {one['name']} was still {one['phase']} when another one failed"
        elif one["exit_code"]:
            what = f"Node {name}: pod {one['name']} ended with exit code {one['exit_code']}"
        elif one["reason"]:
            what = f"Node {name}: pod {one['name']} was refused by the node ({one['reason']})"
        else:
            what = f"Node {name}: pod {one['name']} ended, but its log does not say that the test passed"
        remedy = (
            known.remedy
            if known
            else "Read the log tail; then look at the node's driver pod and at its kernel log for Xid lines."
        )
        message = f"{what}{f' ({known.meaning})' if known else ''}: {one['log_tail'][-1] if one['log_tail'] else 'no log'}"
        parts.append(failed("Failed", message, code="WORK-FAILED", remedy=remedy, details=tail))
    uuids = [uuid for one in results if one["passed"] for uuid in one["result"]["uuids"][:1]]
    twice = sorted({uuid for uuid in uuids if uuids.count(uuid) > 1})
    if twice and not node_devices.is_shared(node):
        message = f"Node {name}: several pods were given the same device {', '.join(twice)}, although nothing is shared there."
        parts.append(
            failed(
                "SameDevice",
                message,
                code="WORK-SAME-DEVICE",
                remedy="Look at the device plugin's log and at CDI settings on this node.",
            )
        )
    return parts
