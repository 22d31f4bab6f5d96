# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Result of a validation: what each pod and each node returned, and what is wrong with a node."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._core.readiness import Readiness, failed
from .._nodes import devices as node_devices
from .._stack.signatures import recognise
from .benchmarks.registry import BENCHMARKS
from .params import GpuWorkloadParams
from .pods import HOSTNAME, geometry_of, has_ended, host_of, phase

# A pod's result, as the module returns it.
PodResult = dict[str, t.Any]
TAIL: t.Final = 20


def has_log(pod: KubeObject) -> bool:
    """Return whether the pod has a log: one that the node refused, or that never started, has none."""
    return has_ended(pod) and bool(pod.get("status", {}).get("containerStatuses"))


def by_node(
    nodes: t.Iterable[KubeObject], pods: t.Sequence[KubeObject], logs: t.Sequence[str], benchmark: str
) -> dict[str, list[PodResult]]:
    """Return the results of the pods by the names of their nodes.

    logs: one for each pod, in the same order.
    """
    results = [
        (pod["spec"]["nodeSelector"][HOSTNAME], result(pod, benchmark, log))
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


def result(pod: KubeObject, benchmark: str, log: str) -> PodResult:
    """Return one pod's result: how it ended, the figures in its log, and the end of the log."""
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
    nodes: t.Iterable[KubeObject],
    due: t.Iterable[KubeObject],
    ran: t.Mapping[str, list[PodResult]],
    params: GpuWorkloadParams,
) -> dict[str, t.Any]:
    """Return the module's result.

    A node whose fingerprint is unchanged counts as validated with what it offers.
    """
    waiting = [node["metadata"]["name"] for node in due]
    entries = []
    for node in nodes:
        name, devices = node["metadata"]["name"], geometry_of(node, params["resources"])
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
    parts = [_failure(name, one) for one in results if not one["passed"]]
    uuids = [uuid for one in results if one["passed"] for uuid in one["result"]["uuids"][:1]]
    twice = sorted({uuid for uuid in uuids if uuids.count(uuid) > 1})
    if twice and not node_devices.is_shared(node):
        message = (
            f"Node {name}: several pods were given the same device {', '.join(twice)}, "
            "although the node does not share its devices."
        )
        remedy = "Look at the device plugin's log and at CDI settings on this node."
        parts.append(failed("SameDevice", message, code="WORK-SAME-DEVICE", remedy=remedy))
    return parts


def _failure(node: str, one: PodResult) -> Readiness:
    known, last = recognise("\n".join(one["log_tail"])), one["log_tail"][-1] if one["log_tail"] else "no log"
    remedy = "Read the log tail; then look at the node's driver pod and at its kernel log for Xid lines."
    message = f"Node {node}: pod {one['name']} {_ending(one)}{f' ({known.meaning})' if known else ''}: {last}"
    details = tuple(f"{node}/{one['name']}: {line}" for line in one["log_tail"])
    remedy = known.remedy if known else remedy
    return failed("Failed", message, code="WORK-FAILED", remedy=remedy, details=details)


def _ending(one: PodResult) -> str:
    if one["phase"] != "Failed" and one["exit_code"] is None:
        return f"was still {one['phase']} when another one failed"
    if one["exit_code"]:
        return f"ended with exit code {one['exit_code']}"
    if one["reason"]:
        return f"was refused by the node ({one['reason']})"
    return "ended, but its log does not say that the test passed"
