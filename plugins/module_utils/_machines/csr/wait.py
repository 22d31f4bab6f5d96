# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Judge of machines that join as nodes, with their certificate requests."""

from __future__ import annotations

import dataclasses
import typing as t
from dataclasses import dataclass, field

from ..._core.objects import KubeObject
from ..._core.readiness import Readiness, failed, pending
from .. import machine as machine_facts, trouble
from . import requests as csr_requests

Snapshot = dict[str, list[KubeObject]]
Waiting = list[tuple[csr_requests.Request, KubeObject]]

CODE: t.Final = "MACH-CSR-PENDING"
# Seconds that an instance may take to join before its requests are read; most clusters approve them soon.
NOTICE: t.Final = 60.0
# Values of Joined.wants. With a failed verdict, the judge asks its caller to read the requests (LOOK) or to
# approve them (APPROVE).
LOOK, APPROVE = "look", "approve"


@dataclass
class Joined:
    """Judge like the inner judge, and report pending certificate requests of its Machines.

    mine: whether a Machine is one of those waited for. done: names of handled requests. welcome: nodes whose
    first request was approved.
    """

    inner: t.Callable[[Snapshot], Readiness]
    mine: t.Callable[[KubeObject], bool]
    now: t.Callable[[], float]
    approve: bool = False
    is_blind: bool = False
    done: set[str] = field(default_factory=set)
    welcome: set[str] = field(default_factory=set)
    wants: str = ""
    waiting: Waiting = field(default_factory=list)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        verdict = self.inner(snapshot)
        self.wants = ""
        machines = [one for one in snapshot["machines"] if self.mine(one)]
        if verdict.is_failed:
            return verdict
        if "requests" not in snapshot:
            return self._unseen(verdict, machines)
        self.waiting = csr_requests.newest(snapshot["requests"], machines)
        if self.approve and self.ripe():
            self.wants = APPROVE
            return failed("RequestsWait", verdict.message, code=CODE, details=verdict.details)
        if verdict.is_ready:
            return self._served(verdict, snapshot["requests"], machines)
        return explained(verdict, self.waiting) if any(map(machine_facts.awaits_node, machines)) else verdict

    def ripe(self) -> Waiting:
        """Return the pending requests that fit a Machine and were not handled yet."""
        return [
            (request, live)
            for request, live in self.waiting
            if request.machine and request.name not in self.done
        ]

    def _unseen(self, verdict: Readiness, machines: t.Sequence[KubeObject]) -> Readiness:
        overdue = [one for one in machines if machine_facts.awaits_node(one) and self._age(one) >= NOTICE]
        if self.is_blind or verdict.is_ready or not overdue:
            return verdict
        self.wants = LOOK
        return failed("LookAtRequests", verdict.message, code=CODE, details=verdict.details)

    def _age(self, machine: KubeObject) -> float:
        return machine_facts.seconds_since(trouble.phase_since(machine), self.now())

    def _served(
        self, verdict: Readiness, requests: t.Sequence[KubeObject], machines: t.Sequence[KubeObject]
    ) -> Readiness:
        """Return pending until each admitted node has asked for its serving certificate (for C(oc logs))."""
        asked = {
            one.node
            for one in (csr_requests.judge(request, machines) for request in requests)
            if one.signer == csr_requests.SERVING
        }
        if missing := sorted(self.welcome - asked):
            text = f"node {missing[0]} has not asked for its serving certificate yet"
            return pending(
                "NoServingRequest", text, code=CODE, remedy="`oc get csr`", details=(*verdict.details, text)
            )
        return verdict


def explained(verdict: Readiness, waiting: Waiting) -> Readiness:
    """Return the verdict with the pending requests; with their code and remedy if one fits a Machine."""
    if not waiting:
        return verdict
    details = (*verdict.details, *(request.line for request, _live in waiting))
    ours = [request for request, _live in waiting if request.machine]
    if not ours:
        return dataclasses.replace(verdict, details=details)
    return pending(
        "RequestsWait", f"{verdict.message}; {said(ours)}", code=CODE, remedy=remedy(ours), details=details
    )


def said(ours: t.Sequence[csr_requests.Request]) -> str:
    return "; ".join(
        f"{request.machine} waits for the approval of its certificate request {request.name}"
        for request in ours
    )


def remedy(ours: t.Sequence[csr_requests.Request]) -> str:
    return (
        f"`oc adm certificate approve {' '.join(request.name for request in ours)}`, or approve_csrs: "
        "true; and look why machine-approver does not."
    )
