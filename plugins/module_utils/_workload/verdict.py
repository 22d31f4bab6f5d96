# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Judge of validation pods: have they all ended, or is there a problem that lasts?"""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, Snapshot
from .._core.readiness import Grace, Readiness, failed, pending, ready, worst
from .._stack.pods import trouble
from .pods import HOSTNAME, has_ended, phase

# A device plugin that restarts makes pods unschedulable for a moment, and a registry may fail once.
PASSING: t.Final = ("WORK-UNSCHEDULABLE", "WORK-IMAGE", "WORK-CONTAINER")


class Judge:
    """Judge the pods of one run.

    wanted: number of pods that must end. grace: seconds that a problem may last.
    """

    def __init__(self, wanted: int, grace: float, clock: t.Callable[[], float]) -> None:
        self._wanted = wanted
        self._grace = Grace(clock, grace, PASSING)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        return judge(snapshot["pods"], self._wanted, self._grace)


def judge(pods: t.Sequence[KubeObject], wanted: int, grace: Grace) -> Readiness:
    """Return ready when every pod has ended, also with a failure: the results are read afterwards."""
    parts = [_judge_pod(pod) for pod in sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))]
    verdict = worst(grace.harden(parts))
    what = f"{sum(map(has_ended, pods))} of {wanted} pods have ended"
    if not verdict.is_failed and sum(map(has_ended, pods)) >= wanted:
        return ready("Ended", f"{what}.")
    phases = {phase(pod) for pod in pods}
    if "Failed" in phases and "Running" not in phases and not verdict.is_failed:
        return ready("Failed", "A pod failed and no other one runs.")
    make = failed if verdict.is_failed else pending
    return make(
        verdict.reason or "Running",
        f"{what}; {verdict.message}" if verdict.message else f"{what}.",
        code=verdict.code or "WORK-RUNNING",
        remedy=verdict.remedy or "Look at the pods in the validation namespace.",
        details=verdict.details,
    )


def _judge_pod(pod: KubeObject) -> Readiness:
    if has_ended(pod):
        return ready()
    name, where = pod["metadata"]["name"], pod["spec"].get("nodeSelector", {}).get(HOSTNAME, "")
    if refusal := _refusal(pod):
        what = f"pod {name} for node {where} cannot be scheduled: {refusal[0]}"
        remedy = "Give gpu_workload the tolerations that the message asks for, or free the devices."
        code, reason = "WORK-UNSCHEDULABLE", f"Unschedulable:{name}"
        return pending(reason, what, code=code, remedy=remedy, details=(what,))
    found = trouble(pod)
    if found is None:
        return pending("Running", "", code="WORK-RUNNING")
    what = f"pod {name} on node {where}: {found.reason}{': ' + found.message if found.message else ''}"
    code, remedy = "WORK-CONTAINER", "Set option image to an image that runs as an ordinary user."
    if "Image" in found.reason:
        code, remedy = "WORK-IMAGE", "Mirror the image, or set option image."
    return pending(f"{found.reason}:{name}", what, code=code, remedy=remedy, details=(what,))


def _refusal(pod: KubeObject) -> list[str]:
    """Return the scheduler's reasons why no node fits; an empty list if it did not refuse the pod."""
    return [
        entry.get("message", "")
        for entry in pod.get("status", {}).get("conditions") or []
        if entry["type"] == "PodScheduled" and entry.get("reason") == "Unschedulable"
    ]


def judge_account(snapshot: Snapshot) -> Readiness:
    """Return ready once the service account exists: without it a new namespace takes no pod."""
    if snapshot["accounts"]:
        return ready()
    message, remedy = (
        "The service account default does not exist yet.",
        "Look at the kube-controller-manager.",
    )
    return pending("NoAccount", message, code="WORK-NO-ACCOUNT", remedy=remedy)
