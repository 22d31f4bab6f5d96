# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests that the collection really sent, cut out of the API server's audit log by time."""

from __future__ import annotations

import collections
import datetime
import time
import typing as t
from dataclasses import dataclass
from pathlib import Path

from integration.patience import until
from integration.playbook import TaskResult

from openshift_sandbox import audit
from openshift_sandbox.client import Client

OURS: t.Final = "accelerators.openshift/"
LEASES: t.Final = "leases.coordination.k8s.io"


@dataclass
class Audit:
    """The audit log of a sandbox.

    log is None on a real cluster, whose audit log a test cannot read: then `of` and `writes` return nothing.
    """

    log: Path | None
    client: Client

    def of(self, *tasks: TaskResult) -> list[audit.Request]:
        """Return the collection's requests while these tasks ran."""
        if self.log is None or not tasks:
            return []
        self.flush()
        spans = [(task.start, task.end) for task in tasks]
        ours = audit.read(self.log, user_agent=OURS)
        return [request for request in ours if any(start <= received(request) <= end for start, end in spans)]

    def writes(self, *tasks: TaskResult) -> list[str]:
        """Return what these tasks changed or tried to change, one line per write, without dry runs.

        The lease of the run is left out: troubles/test_one_run.py looks at it.
        """
        return [
            f"{one.verb} {one.resource} {one.namespace or ''}/{one.name or ''}"
            for one in audit.writes(self.of(*tasks))
            if one.resource != LEASES
        ]

    def counted(self, *tasks: TaskResult) -> dict[str, int]:
        """Return how often each verb was sent for each resource. The log has two events for a watch."""
        once = {one.event["auditID"]: one for one in self.of(*tasks)}
        return dict(collections.Counter(f"{one.verb} {one.resource}" for one in once.values()))

    def position(self) -> int:
        """Return the place in the log behind all that has happened until now."""
        assert self.log is not None, "a real cluster's audit log cannot be read"
        self.flush()
        return audit.position(self.log)

    def written(self, since: int) -> list[str]:
        """Return verb and resource of each write of the collection since that place, without leases.

        A write of the last moment may be missing: `flush` first.
        """
        assert self.log is not None, "a real cluster's audit log cannot be read"
        ours = audit.writes(audit.read(self.log, since, OURS))
        return [f"{one.verb} {one.resource}" for one in ours if one.resource != LEASES]

    def flush(self) -> None:
        """Wait until a request of this method is in the log: the server writes an event after its answer."""
        log = self.log
        if log is None:
            return
        agent, offset = f"audit-flush-{time.monotonic_ns()}", audit.position(log)
        with_agent = dict(self.client._headers) | {"User-Agent": agent}
        self.client._pool.request(
            "GET", f"{self.client.server}/api/v1/namespaces/default", headers=with_agent
        )
        until(lambda: audit.read(log, offset, agent), f"an audit event in {log}", pause=0.02)


def received(request: audit.Request) -> datetime.datetime:
    """Return the time when the API server received a request."""
    return datetime.datetime.fromisoformat(str(request.event["requestReceivedTimestamp"]))
