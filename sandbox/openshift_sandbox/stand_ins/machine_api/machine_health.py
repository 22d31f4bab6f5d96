# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the MachineHealthCheck controller.

Unlike the real one it leaves remediation to nobody else, and writes fewer events.
"""

from __future__ import annotations

import math
import typing as t
from datetime import UTC, datetime

from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.conditions import condition, find, merged
from openshift_sandbox.stand_ins.core.durations import age, seconds
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches

COMPONENT: t.Final = "machinehealthcheck-controller"
PAUSED: t.Final = "cluster.x-k8s.io/paused"
STARTUP_SECONDS: t.Final = 600.0

Verdict = t.Literal["healthy", "unsure", "unhealthy"]


class MachineHealthChecks(Reconciler):
    kinds = ("MachineHealthCheck", "Machine", "Node")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        checks = [
            one
            for one in cluster.objects("MachineHealthCheck")
            if PAUSED not in (one["metadata"].get("annotations") or {})
        ]
        if not checks:
            return
        nodes, moment = (
            {node["metadata"]["name"]: node for node in cluster.objects("Node")},
            datetime.now(UTC),
        )
        for check in checks:
            selector = check["spec"].get("selector") or {}
            machines = [
                one
                for one in cluster.objects("Machine", check["metadata"]["namespace"])
                if matches(selector, one["metadata"].get("labels") or {})
            ]
            verdicts = [(machine, verdict(check, machine, nodes, moment)) for machine in machines]
            wanted = status(check, [known for _machine, known in verdicts])
            self._report(cluster, check, wanted)
            if wanted["conditions"][0]["status"] == "True":
                for machine, known in verdicts:
                    if known == "unhealthy":
                        self._remediate(cluster, check, machine)

    def _report(self, cluster: Cluster, check: Object, wanted: Object) -> None:
        known = check.get("status") or {}
        fields = wanted | {"conditions": merged(known.get("conditions") or [], wanted["conditions"])}
        if any(known.get(key) != value for key, value in fields.items()):
            cluster.patch(
                "MachineHealthCheck",
                check["metadata"]["name"],
                check["metadata"]["namespace"],
                {"status": fields},
                "status",
            )

    def _remediate(self, cluster: Cluster, check: Object, machine: Object) -> None:
        metadata = machine["metadata"]
        is_owned = any(one.get("controller") for one in metadata.get("ownerReferences") or [])
        if not is_owned or metadata.get("deletionTimestamp"):
            return
        name = f"{metadata['namespace']}/{check['metadata']['name']}/{metadata['name']}/{_node_name(machine)}"
        if cluster.delete("Machine", metadata["name"], metadata["namespace"]):
            text = f"Machine {name} has been remediated by requesting to delete Machine object"
            events.record(cluster, machine, COMPONENT, "MachineDeleted", text)


def verdict(check: Object, machine: Object, nodes: t.Mapping[str, Object], now: datetime) -> Verdict:
    """Return the health of a Machine.

    `unsure` may become unhealthy, and does not count as healthy: the Machine starts, or ends, or a
    condition's time is not over.
    """
    if _phase(machine) == "Failed":
        return "unhealthy"
    if not (machine.get("status") or {}).get("nodeRef"):
        patience = seconds(check["spec"].get("nodeStartupTimeout"), STARTUP_SECONDS)
        return (
            "unhealthy"
            if patience and age((machine.get("status") or {}).get("lastUpdated"), now) > patience
            else "unsure"
        )
    node = nodes.get(_node_name(machine))
    if node is None:
        return "unhealthy"
    doubts = [
        one
        for one in check["spec"].get("unhealthyConditions") or []
        if find(node, one["type"]).get("status") == one["status"]
    ]
    if any(
        age(find(node, one["type"]).get("lastTransitionTime"), now) > seconds(one.get("timeout"), 0.0)
        for one in doubts
    ):
        return "unhealthy"
    return "unsure" if doubts or machine["metadata"].get("deletionTimestamp") else "healthy"


def status(check: Object, verdicts: t.Sequence[Verdict]) -> Object:
    """Return the status of a MachineHealthCheck."""
    total, healthy = len(verdicts), verdicts.count("healthy")
    allowed = tolerated(check["spec"].get("maxUnhealthy", "100%"), total)
    counts = {"expectedMachines": total, "currentHealthy": healthy}
    if allowed is not None and total - healthy <= allowed:
        return counts | {
            "remediationsAllowed": allowed - (total - healthy),
            "conditions": [condition("RemediationAllowed", True)],
        }
    text = "Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy"
    message = f"{text} ({_numbers(check, counts)})"
    refused = condition("RemediationAllowed", False, "TooManyUnhealthy", message, severity="Warning")
    return counts | {"remediationsAllowed": 0, "conditions": [refused]}


def tolerated(limit: int | str, total: int) -> int | None:
    """Return maxUnhealthy as a number of Machines, rounded down; None when it cannot be read."""
    if isinstance(limit, int):
        return max(0, limit)
    digits = limit.removesuffix("%")
    if not digits.lstrip("-").isdigit():
        return None
    return max(0, math.floor(int(digits) * total / 100) if limit.endswith("%") else int(digits))


def _numbers(check: Object, counts: Object) -> str:
    total = counts["expectedMachines"]
    return (
        f"total: {total}, unhealthy: {total - counts['currentHealthy']}, maxUnhealthy: "
        f"{check['spec'].get('maxUnhealthy', '100%')}"
    )


def _phase(machine: Object) -> str:
    return str((machine.get("status") or {}).get("phase") or "")


def _node_name(machine: Object) -> str:
    return str(((machine.get("status") or {}).get("nodeRef") or {}).get("name") or "")
