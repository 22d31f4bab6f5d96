# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Wait for machines to become nodes; read their certificate requests, and approve those that fit."""

from __future__ import annotations

import time
import typing as t
from dataclasses import dataclass, field

from ..._core.errors import AcceleratorError, ConflictError, ForbiddenError, NotReadyError, WaitTimeoutError
from ..._core.objects import KubeObject
from ..._core.readiness import Readiness
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from .. import machine as machine_facts
from . import requests, subject, wait as csr_wait
from .wait import Joined, Snapshot

_KIND: t.Final = "CertificateSigningRequest"


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

        mine: whether a Machine is one of those waited for; requests of other Machines are ignored.
        """
        while True:
            joined = Joined(judge, mine, time.time, self.approve, self.is_blind, self.done, self.welcome)
            watched = {"requests": Query(known(_KIND))} if self.approve or self.is_looking else {}
            try:
                return self.api.wait({**queries, **watched}, joined, stage)
            except NotReadyError:
                if joined.wants == csr_wait.LOOK:
                    self._look()
                elif joined.wants == csr_wait.APPROVE:
                    self._approve(joined)
                else:
                    raise
            except WaitTimeoutError as exc:
                self._explain(exc, queries, mine, bool(watched))
                raise

    def _look(self) -> None:
        if not subject.can_read():
            self.is_blind = True
            self.api.warn(
                "Whether certificate requests of the machines wait is not known: the Python package "
                "cryptography is missing."
            )
            return
        try:
            self.api.list(known(_KIND))
            self.is_looking = True
        except ForbiddenError as exc:
            self.is_blind = True
            self.api.warn(f"Whether certificate requests of the machines wait is not known: {exc.message}")

    def _approve(self, joined: Joined) -> None:
        for request, live in joined.ripe():
            self.done.add(request.name)
            if request.signer == requests.CLIENT and self.api.get(known("Node"), request.node) is not None:
                self.api.warn(
                    f"Certificate request {request.name} asks for a node {request.node} that exists "
                    "already, and was not approved."
                )
                continue
            try:
                self.api.merge_patch(known(_KIND), request.name, None, requests.approval(live), "approval")
            except ConflictError:
                # Another client changed the request first; the next snapshot shows the result.
                self.done.discard(request.name)
                continue
            self.api.progress(f"approved certificate request {request.name} of {request.machine}")
            if request.signer == requests.CLIENT:
                self.welcome.add(request.node)

    def _explain(
        self,
        exc: WaitTimeoutError,
        queries: t.Mapping[str, Query],
        mine: t.Callable[[KubeObject], bool],
        is_watched: bool,
    ) -> None:
        """Add pending requests to the error of a timeout if they were not watched before."""
        if is_watched or self.is_blind or not subject.can_read() or exc.code != "MACH-NO-NODE":
            return
        try:
            query = queries["machines"]
            machines = [
                one
                for one in self.api.list(query.kind, query.namespace, labels=query.labels)
                if mine(one) and machine_facts.awaits_node(one)
            ]
            waiting = requests.newest(self.api.list(known(_KIND)), machines)
        except AcceleratorError:
            return
        exc.evidence += [request.line for request, _live in waiting]
        if ours := [request for request, _live in waiting if request.machine]:
            exc.code, exc.remedy = csr_wait.CODE, csr_wait.remedy(ours)
            exc.message += f"; {csr_wait.said(ours)}"
