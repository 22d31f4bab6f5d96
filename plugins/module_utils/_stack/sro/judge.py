# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A SpecialResource of the Special Resource Operator: the pattern of 2019, what it runs, and what takes its place."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot, merge
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
    worst,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import (
    judge_devices,
    judge_size,
    summarize_nodes,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
    result as custom_result,
)

Data = dict[str, t.Any]
API_VERSION: t.Final = "sro.openshift.io/v1beta1"
HISTORY: t.Final = (
    "The Special Resource Operator rendered Helm charts into driver DaemonSets; its last release was for OpenShift 4.11, and its first API, v1alpha1, cannot"
    " exist on Kubernetes 1.22 or newer. Kernel Module Management (backend kmm) and the NVIDIA GPU Operator (backend clusterpolicy) do that today."
)
_CONDITIONS: t.Final = {"Errored": "GPU-SRO-ERRORED", "Progressing": "GPU-SRO-NOTREADY"}


def old_name(params: Data) -> str:
    return str((params["sro"] or {}).get("special_resource") or params["name"] or "")


def target(params: Data) -> str:
    """The backend that takes over; empty without a migration."""
    return str((params["sro"] or {}).get("migrate_to") or "")


def check(params: Data) -> None:
    sro = params["sro"] or {}
    if not old_name(params):
        raise InputError(
            "INPUT-REQUIRED",
            "name is missing: a SpecialResource has no usual name.",
            "Give name, or sro.special_resource.",
        )
    if target(params) and sro.get("chart"):
        raise InputError(
            "INPUT-OPTION", "sro.chart and sro.migrate_to exclude each other.", "Keep one of the two."
        )
    if sro.get("chart") and not params["namespace"]:
        raise InputError(
            "INPUT-REQUIRED", "namespace is missing: the chart is installed there.", "Give the namespace."
        )


def build(params: Data) -> Data:
    sro = params["sro"]
    spec = {
        "chart": sro["chart"],
        "namespace": params["namespace"],
        "set": {"apiVersion": API_VERSION, "kind": "Values", **sro["set"]} if sro.get("set") else None,
        "nodeSelector": sro.get("node_selector"),
        "managementState": sro.get("management_state"),
    }
    spec = {key: value for key, value in spec.items() if value}
    return {
        "apiVersion": API_VERSION,
        "kind": "SpecialResource",
        "metadata": {"name": old_name(params)},
        "spec": merge(spec, params["spec"]),
    }


def judge(live: Data) -> Readiness:
    name, status = live["metadata"]["name"], live.get("status") or {}
    conditions = {one["type"]: one for one in status.get("conditions") or []}
    for kind, code in _CONDITIONS.items():
        if (conditions.get(kind) or {}).get("status") == "True":
            said = conditions[kind].get("message") or conditions[kind].get("reason") or ""
            line = f"{kind}: {said}" if said else kind
            remedy = "Look at the log of the Special Resource Operator, or migrate: sro.migrate_to."
            return pending(
                kind, f"SpecialResource {name} is {line}.", code=code, remedy=remedy, details=(line,)
            )
    if (conditions.get("Ready") or {}).get("status") == "True":
        return ready("Ready", "The Special Resource Operator says so.")
    line = f"state {status.get('state') or 'unknown'}"
    return pending(
        "NotReady",
        f"SpecialResource {name}: {line}.",
        code="GPU-SRO-NOTREADY",
        remedy="See whether its operator runs.",
        details=(line,),
    )


class Judge:
    """The object, then what the nodes of the pools offer."""

    def __init__(self, params: Data, clock: t.Callable[[], float]) -> None:
        self._pools = params["pools"]
        self._patience = Grace(clock, params["grace"], ("GPU-SRO-ERRORED", "GPU-ALLOC"))
        self.seen: Snapshot = {}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        if not snapshot["specials"]:
            return pending(
                "Missing",
                "The SpecialResource is not there.",
                code="GPU-SRO-NOTREADY",
                remedy="See who deletes it.",
            )
        own, nodes = judge(snapshot["specials"][0]), snapshot.get("nodes", ())
        others = [judge_size(nodes, pool) for pool in self._pools] + [
            part for pool in self._pools for part in judge_devices(nodes, pool)
        ]
        return worst(
            self._patience.harden([own, *others])
            if own.is_ready
            else [*self._patience.harden([own]), *others]
        )

    def summarize(
        self, name: str, snapshot: Snapshot, daemonsets: t.Iterable[Data], failed: str = ""
    ) -> Data:
        """failed: the code that ended the wait."""
        live = next(iter(snapshot.get("specials") or []), None)
        verdict = judge(live) if live else pending("Missing")
        nodes = summarize_nodes(snapshot.get("nodes", ()), self._pools)
        told = custom_result.summarize(live, verdict, snapshot.get("nodes", ()), self._pools, failed)
        return {
            "name": name,
            "state": verdict.verdict,
            "reason": verdict.reason,
            "nodes": nodes,
            **told,
            "runs": runs(live, name, daemonsets),
        }


def owned_by(name: str, daemonsets: t.Iterable[Data]) -> list[Data]:
    """By the owner's kind and name, so that what is left of one that is gone is found, too."""
    owners = [(one, owner) for one in daemonsets for owner in one["metadata"].get("ownerReferences") or []]
    return [one for one, owner in owners if owner["kind"] == "SpecialResource" and owner["name"] == name]


def runs(live: Data | None, name: str, daemonsets: t.Iterable[Data]) -> Data:
    """What a migration takes away."""
    spec = (live or {}).get("spec") or {}
    chart = spec.get("chart") or {}
    sets = [
        {
            "name": f"{one['metadata']['namespace']}/{one['metadata']['name']}",
            "images": [container["image"] for container in one["spec"]["template"]["spec"]["containers"]],
            "pods": (one.get("status") or {}).get("numberReady", 0),
        }
        for one in owned_by(name, daemonsets)
    ]
    return {
        "chart": f"{chart['name']} {chart['version']}" if chart else "",
        "namespace": spec.get("namespace", ""),
        "daemonsets": sets,
    }


def needs(params: Data, is_served: t.Callable[[str], bool]) -> list[Data]:
    """What the backend that takes over wants to find."""
    kind, package = {
        "kmm": ("Module", "kernel-module-management"),
        "clusterpolicy": ("ClusterPolicy", "gpu-operator-certified"),
    }[target(params)]
    return [{"what": f"{kind} is served (olm_operator with name={package})", "met": is_served(kind)}]
