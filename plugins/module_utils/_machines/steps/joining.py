# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for machines to become nodes; read their certificate requests, and approve those that fit."""

from __future__ import annotations

import dataclasses
import time
import typing as t
from dataclasses import dataclass, field

from ..._core.errors import AcceleratorError, ConflictError, ForbiddenError, NotReadyError, WaitTimeoutError
from ..._core.objects import KubeObject, name
from ..._core.readiness import Readiness, failed, pending
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes import sentinel_steps
from .. import csr, machine as machine_facts, trouble

Snapshot = dict[str, list[KubeObject]]
Waiting = list[tuple[csr.Request, KubeObject]]

CODE: t.Final = "MACH-CSR-PENDING"
# Seconds that an instance may take to join before its requests are read; most clusters approve them soon.
NOTICE: t.Final = 60.0
# Values of Joined.wants. With a failed verdict, the judge asks its caller to read the requests (LOOK) or to
# approve them (APPROVE).
LOOK, APPROVE = "look", "approve"
_KIND: t.Final = "CertificateSigningRequest"


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
        machines = [machine for machine in snapshot["machines"] if self.mine(machine)]
        if verdict.is_failed:
            return verdict
        if "requests" not in snapshot:
            return self._unseen(verdict, machines)
        self.waiting = csr.newest(snapshot["requests"], machines)
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
            for one in (csr.judge(request, machines) for request in requests)
            if one.signer == csr.SERVING
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
        "RequestsWait",
        f"{verdict.message}; {pending_requests(ours)}",
        code=CODE,
        remedy=remedy(ours),
        details=details,
    )


def pending_requests(ours: t.Sequence[csr.Request]) -> str:
    return "; ".join(
        f"{request.machine} waits for the approval of its certificate request {request.name}"
        for request in ours
    )


def remedy(ours: t.Sequence[csr.Request]) -> str:
    return (
        f"Run `oc adm certificate approve {' '.join(request.name for request in ours)}`, or set "
        "gpu_node_pool_approve_csrs: true (gpu_approve_csrs: true for resize_pool.yml, replace_node.yml and "
        "repair_node.yml; module option approve_csrs)."
    )


@dataclass
class Joining:
    """A wait for machines to become nodes.

    approve: whether to approve requests that fit. is_looking: whether requests are watched because a node is
    overdue. is_blind: whether they cannot be read.
    """

    api: Api
    approve: bool = False
    is_looking: bool = False
    is_blind: bool = False
    done: set[str] = field(default_factory=set)
    welcome: set[str] = field(default_factory=set)

    def wait(
        self,
        queries: t.Mapping[str, Query],
        judge: t.Callable[[Snapshot], Readiness],
        mine: t.Callable[[KubeObject], bool],
        stage: str,
    ) -> Snapshot:
        """Return the first snapshot that judge calls ready. Raise NotReadyError or WaitTimeoutError.

        mine: whether a Machine is one of those waited for; requests of other Machines are ignored. NVSentinel
        leaves nodes that join meanwhile alone, until a validation finds their devices.
        """
        before: list[set[str]] = []

        def noting(snapshot: Snapshot) -> Readiness:
            if not before:
                before.append({name(node) for node in snapshot.get("nodes", ())})
            return judge(snapshot)

        snapshot = self._wait(queries, noting, mine, stage)
        made = {machine_facts.node_name(machine) for machine in snapshot["machines"] if mine(machine)}
        new = [
            node
            for node in snapshot.get("nodes", ())
            if name(node) in made and before and name(node) not in before[0]
        ]
        if new and not self.api.check_mode and sentinel_steps.is_there(self.api):
            sentinel_steps.opt_out(self.api, new)
        return snapshot

    def _wait(
        self,
        queries: t.Mapping[str, Query],
        judge: t.Callable[[Snapshot], Readiness],
        mine: t.Callable[[KubeObject], bool],
        stage: str,
    ) -> Snapshot:
        while True:
            joined = Joined(judge, mine, time.time, self.approve, self.is_blind, self.done, self.welcome)
            watched = {"requests": Query(known(_KIND))} if self.approve or self.is_looking else {}
            try:
                return self.api.wait({**queries, **watched}, joined, stage)
            except NotReadyError:
                if joined.wants == LOOK:
                    self._look()
                elif joined.wants == APPROVE:
                    self._approve(joined)
                else:
                    raise
            except WaitTimeoutError as exc:
                self._explain(exc, queries, mine, bool(watched))
                raise

    def _look(self) -> None:
        if not csr.can_read():
            self.is_blind = True
            self.api.warn(
                "This task cannot see whether certificate requests are pending: the Python package "
                "cryptography is missing."
            )
            return
        try:
            self.api.list(known(_KIND))
            self.is_looking = True
        except ForbiddenError as exc:
            self.is_blind = True
            self.api.warn(f"This task cannot see whether certificate requests are pending: {exc.message}")

    def _approve(self, joined: Joined) -> None:
        for request, live in joined.ripe():
            self.done.add(request.name)
            if request.signer == csr.CLIENT and self.api.get(known("Node"), request.node) is not None:
                self.api.warn(
                    f"Certificate request {request.name} was not approved: it asks for the node "
                    f"{request.node}, which already exists."
                )
                continue
            try:
                self.api.merge_patch(known(_KIND), request.name, None, csr.approval(live), "approval")
            except ConflictError:
                # Another client changed the request first; the next snapshot shows the result.
                self.done.discard(request.name)
                continue
            self.api.progress(f"approved certificate request {request.name} of {request.machine}")
            if request.signer == csr.CLIENT:
                self.welcome.add(request.node)

    def _explain(
        self,
        exc: WaitTimeoutError,
        queries: t.Mapping[str, Query],
        mine: t.Callable[[KubeObject], bool],
        is_watched: bool,
    ) -> None:
        """Add pending requests to the error of a timeout if they were not watched before."""
        if is_watched or self.is_blind or not csr.can_read() or exc.code != "MACH-NO-NODE":
            return
        try:
            query = queries["machines"]
            machines = [
                one
                for one in self.api.list(query.kind, query.namespace, labels=query.labels)
                if mine(one) and machine_facts.awaits_node(one)
            ]
            waiting = csr.newest(self.api.list(known(_KIND)), machines)
        except AcceleratorError:
            return
        exc.evidence += [request.line for request, _live in waiting]
        if ours := [request for request, _live in waiting if request.machine]:
            exc.code, exc.remedy = CODE, remedy(ours)
            exc.message += f"; {pending_requests(ours)}"
