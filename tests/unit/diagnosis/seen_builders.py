# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk has read of a cluster whose GPU stack works, and small objects to change it."""

from __future__ import annotations

import copy
import typing as t

from unit.stack.builders import FIXTURE

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Seen
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine import moment

Object = dict[str, t.Any]
GPU, NFD = "nvidia-gpu-operator", "openshift-nfd"
CSV = "gpu-operator-certified.v26.7.1"
NFD_CSV = "nfd.v4.22.0"
LONG_AGO, NOW = "2026-11-20T08:00:00Z", "2026-11-28T12:00:00Z"


def obj(name: str, namespace: str = "", **parts: t.Any) -> Object:
    meta: Object = {"name": name, "uid": name, "creationTimestamp": LONG_AGO}
    return {"metadata": meta | ({"namespace": namespace} if namespace else {}), **parts}


def pod(name: str, namespace: str, ready: bool = True, since: str = LONG_AGO, **status: t.Any) -> Object:
    conditions = [{"type": "Ready", "status": str(ready), "lastTransitionTime": since}]
    return obj(name, namespace, spec={"nodeName": "gpu-0"}, status={"conditions": conditions, **status})


def crashing(reason: str, code: int, restarts: int = 7) -> list[Object]:
    """Return the states of a container that crashes again and again."""
    ended = {"reason": reason, "exitCode": code, "finishedAt": "2026-11-28T11:58:00Z"}
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}
    return [{"name": "main", "restartCount": restarts, "state": state, "lastState": {"terminated": ended}}]


def subscription(package: str, namespace: str, csv: str = "", **status: t.Any) -> Object:
    known = {"installedCSV": csv, "currentCSV": csv, "state": "AtLatestKnown"} if csv else {}
    spec = {"name": package, "source": "redhat-operators", "sourceNamespace": "openshift-marketplace"}
    return obj(package, namespace, spec=spec, status=known | status)


def csv(name: str, namespace: str, phase: str = "Succeeded", **status: t.Any) -> Object:
    return obj(name, namespace, status={"phase": phase, **status})


def catalog(state: str = "READY", name: str = "redhat-operators") -> Object:
    return obj(name, "openshift-marketplace", status={"connectionState": {"lastObservedState": state}})


def condition(kind: str, reason: str = "", message: str = "", since: str = LONG_AGO) -> Object:
    found = {"type": kind, "status": "True", "reason": reason, "message": message}
    return found | {"lastTransitionTime": since}


def seen(**objects: list[Object]) -> Seen:
    """Return a cluster with OLM, NFD and a ClusterPolicy, all in order. objects: other answers to queries."""
    usual = copy.deepcopy(FIXTURE)
    usual["policies"][0]["metadata"]["creationTimestamp"] = LONG_AGO
    usual["nodes"][0]["metadata"]["creationTimestamp"] = LONG_AGO
    usual["pods"].append(pod("gpu-operator-6fbf-l9jmt", GPU))
    available = {"conditions": [condition("Available")]}
    usual |= {
        "subscriptions": [
            subscription("gpu-operator-certified", GPU, CSV),
            subscription("nfd", NFD, NFD_CSV),
        ],
        "catalogs": [catalog()],
        "namespaces": [obj(GPU)],
        "nfd": [obj("nfd-instance", NFD, spec={}, status=available)],
        "csvs": [csv(CSV, GPU), csv(NFD_CSV, NFD)],
    }
    usual["namespaces"][0]["metadata"]["labels"] = {"openshift.io/cluster-monitoring": "true"}
    usual["monitors"] = [obj("nvidia-dcgm-exporter", GPU)]
    found = {**usual, **objects}
    for key, kind in (("csvs", "CSV"), ("plans", "InstallPlan")):
        every = found.pop(key, [])
        found |= {f"{kind} {one['metadata']['namespace']}/{one['metadata']['name']}": [one] for one in every}
    for group in found.pop("groups", []):
        found.setdefault(f"groups of {group['metadata']['namespace']}", []).append(group)
    return Seen(objects=found, now=moment(NOW))


def without(found: Seen, *names: str) -> Seen:
    """Return what was read without the answers to the queries whose names begin like this."""
    found.objects = {key: one for key, one in found.objects.items() if not key.startswith(names)}
    return found
