# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Lease of the cluster: one run at a time changes nodes and the stack.

A task takes it before its first write, and renews it while it writes and waits. Nobody gives it back at the
end of a run: it expires, and a run on the same machine sees at once that the holder has ended. On another
machine a task watches the lease: a holder whose lease does not change here for a whole duration has ended. No
time of another machine's clock proves that, since clocks differ.
"""

from __future__ import annotations

import datetime
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, at
from .._core.ownership import MANAGED_BY
from .._core.run import Run, parse, shown
from .._kube import reads
from .._kube.http import Response
from .._kube.kinds import known
from .._kube.session import Session

NAME: t.Final = "accelerators-openshift"
NAMESPACE: t.Final = "default"
# Seconds that a lease holds after its last renewal, and between two renewals.
DURATION: t.Final = 30.0
RENEWAL: t.Final = 10.0
# A holder that renewed its lease within these seconds probably works.
_FRESH: t.Final = RENEWAL * 1.5
_PAUSE: t.Final = 1.0
_SAY_EVERY: t.Final = 15.0
_LEASE: t.Final = known("Lease")
_TIME: t.Final = "%Y-%m-%dT%H:%M:%S.%fZ"


class Lease:
    """The lease as one task sees it.

    run: the run that the task belongs to. is_gone: tells whether a run on this machine has ended.
    takes: the task takes the lease before its first write; otherwise it only renews the lease of its run.
    lock_timeout: seconds to wait for another run. now: the time of day.
    """

    def __init__(
        self,
        session: Session,
        run: Run,
        is_gone: t.Callable[[Run], bool],
        takes: bool,
        lock_timeout: float,
        now: t.Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self._session, self._run, self._is_gone, self._now = session, run, is_gone, now
        self._takes, self._lock_timeout = takes, lock_timeout
        self._renewed: float | None = None
        self._looked = session.clock()
        # The version of the lease that this task saw last, since when, and whether it replaced another one.
        self._version, self._since, self._is_renewed = "", session.clock(), False

    def before_write(self) -> None:
        """Hold the lease. Raise RUN-ORPHANED, RUN-LOCKED or RUN-LOST if the task may not write."""
        self._check_parent()
        if self._takes and (self._renewed is None or self._session.clock() - self._renewed >= RENEWAL):
            self._hold()

    def on_wait(self) -> None:
        """Renew the lease of this run while a task waits; an answer that does not come is no failure.

        Raise RUN-ORPHANED if ansible-playbook has ended.
        """
        self._check_parent()
        now = self._session.clock()
        if now - self._looked < RENEWAL:
            return
        self._looked = now
        if lease := self._own():
            self._send(lease)

    def is_over(self, run_id: str) -> bool:
        """Return True for this run and for a run that does not hold the lease, or has ended.

        Watch a holder on another machine until it renews its lease, or has let it expire.
        """
        if run_id == self._run.id:
            return True
        while True:
            lease = reads.get(self._session, _LEASE, NAME, NAMESPACE)
            if _holder(lease) != run_id or self._is_free(lease) or self._silence(lease) >= DURATION:
                return True
            if self._is_renewed or self._session.deadline.passed:
                return False
            self._session.deadline.sleep(_PAUSE)

    def other_holder(self) -> str:
        """Return who probably changes this cluster now, or "" if no other run does; this writes nothing."""
        lease = reads.get(self._session, _LEASE, NAME, NAMESPACE)
        is_held = not self._is_free(lease) and lease is not None and self._age(lease) <= DURATION
        return _shown(lease) if is_held else ""

    def ask(self) -> None:
        """Return when no other run holds the lease; take it only from a run that has ended.

        Raise RUN-LOCKED if another run keeps it.
        """
        self._hold(takes=False)

    def let_go(self) -> None:
        """Give the lease back if this task took it, so that another run need not wait until it expires."""
        if self._renewed is not None and (lease := self._own()):
            self._session.http.once("PUT", _path(NAME), _of("", lease, self._now()))
        self._renewed = None

    def _own(self) -> KubeObject | None:
        """Return the lease if this run holds it; None if it does not, or if no answer came."""
        found = self._session.http.once("GET", _path(NAME))
        is_ours = found is not None and found.status == 200 and _holder(found.body) == self._run.id
        return t.cast(KubeObject, found.body) if found is not None and is_ours else None

    def _check_parent(self) -> None:
        if self._is_gone(self._run):
            raise AcceleratorError("RUN-ORPHANED", pid=self._run.pid)

    def _hold(self, takes: bool = True) -> None:
        """Wait for another run as long as the task may, then take or renew the lease.

        takes: whether to take one that is free.
        """
        started = shown_at = self._session.clock()
        while True:
            lease = reads.get(self._session, _LEASE, NAME, NAMESPACE)
            now = self._session.clock()
            is_free = self._is_free(lease)
            # A run that lost its lease does not take it again: another run has changed the cluster since.
            if is_free or (self._renewed is None and self._silence(lease) >= DURATION):
                if (is_free and not takes) or self._is_written(lease, now - started):
                    return
                self._session.deadline.sleep(_PAUSE / 10)
                continue
            self._refuse(t.cast(KubeObject, lease), now - started)
            if now - shown_at >= _SAY_EVERY:
                shown_at = now
                self._session.progress(f"waiting for the run of {_shown(lease)}, which holds the lease")
            self._session.deadline.sleep(_PAUSE)

    def _is_free(self, lease: KubeObject | None) -> bool:
        """Return whether nobody else holds the lease, or its holder has ended on this machine."""
        holder = _holder(lease)
        other = parse(holder)
        return holder in ("", self._run.id) or (other is not None and self._is_gone(other))

    def _silence(self, lease: KubeObject | None) -> float:
        """Return for how many seconds this task has seen no change of the lease."""
        version, now = str(at(lease, "metadata.resourceVersion")), self._session.clock()
        if version != self._version:
            self._version, self._since, self._is_renewed = version, now, bool(self._version)
        return now - self._since

    def _refuse(self, lease: KubeObject, waited: float) -> None:
        """Raise RUN-LOST if another run took our lease, RUN-LOCKED if it holds it and the time is over."""
        if self._renewed is not None:
            raise AcceleratorError("RUN-LOST", seconds=f"{DURATION:.0f}", holder=_shown(lease))
        silence = self._silence(lease)
        # A clock only tells whether it is worth while to watch longer; it never proves that a run has ended.
        quiet = silence if self._is_renewed else max(silence, self._age(lease))
        is_late = self._session.deadline.passed
        if is_late or (waited >= self._lock_timeout and quiet < _FRESH):
            raise AcceleratorError(
                "RUN-LOCKED",
                holder=_shown(lease),
                watched=self._watched(waited, silence),
                limit="the task's timeout (module option wait_timeout)" if is_late else "gpu_lock_timeout",
                seconds=f"{DURATION:.0f}",
                twice=f"{2 * DURATION:.0f}",
                evidence=[f"Lease {NAMESPACE}/{NAME}: holder {_holder(lease)}, watched for {waited:.0f} s"],
            )

    def _watched(self, waited: float, silence: float) -> str:
        """Return what this task saw of the holder, as the end of a sentence."""
        if self._is_renewed:
            return f"and this task saw that run renew it {silence:.0f} s ago."
        return (
            f"and this task watched it for {waited:.0f} s only: a run that does not renew it for "
            f"{DURATION:.0f} s has ended."
        )

    def _age(self, lease: KubeObject) -> float:
        """Return the seconds since the last renewal; a large number if there is no readable time."""
        try:
            renewed = datetime.datetime.strptime(str(lease["spec"]["renewTime"]), _TIME)
        except (KeyError, ValueError):
            return 1e9
        return (self._now() - renewed.replace(tzinfo=datetime.UTC)).total_seconds()

    def _is_written(self, lease: KubeObject | None, waited: float) -> bool:
        """Write the lease; return False if another write was faster. Raise ApiError for another refusal."""
        answer = self._send(lease)
        if answer is None or answer.status < 300:
            return answer is not None
        is_over = self._session.deadline.passed or waited >= self._session.http.limits.outage
        if answer.status in (400, 403, 422) or is_over:
            raise self._error(answer, "POST" if lease is None else "PUT")
        return False

    def _send(self, lease: KubeObject | None) -> Response | None:
        body = _of(self._run.id, lease, self._now())
        method, path = ("POST", _path()) if lease is None else ("PUT", _path(NAME))
        answer = self._session.http.once(method, path, body)
        if answer is not None and answer.status < 300:
            self._renewed = self._looked = self._session.clock()
        return answer

    def _error(self, answer: Response, method: str) -> AcceleratorError:
        name = None if method == "POST" else NAME
        problem = reads.error(answer, method, _path(name or ""), _LEASE, name, NAMESPACE)
        problem.message += f" Runs that change nodes or the stack hold the Lease {NAMESPACE}/{NAME}."
        return problem


def _path(name: str = "") -> str:
    return _LEASE.path(NAMESPACE, name or None)


def _holder(lease: KubeObject | None) -> str:
    return str(at(lease, "spec.holderIdentity") or "")


def _shown(lease: KubeObject | None) -> str:
    return shown(_holder(lease))


def _of(holder: str, live: KubeObject | None, now: datetime.datetime) -> KubeObject:
    """Return the lease to write: of this holder, renewed now. live: the lease that it replaces."""
    before = dict((live or {}).get("spec") or {})
    time = now.strftime(_TIME)
    is_same = before.get("holderIdentity") == holder
    metadata: KubeObject = {"name": NAME, "namespace": NAMESPACE, "labels": dict(MANAGED_BY)}
    if live is not None:
        metadata["resourceVersion"] = live["metadata"]["resourceVersion"]
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata,
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": int(DURATION),
            "acquireTime": before.get("acquireTime", time) if is_same else time,
            "renewTime": time,
            "leaseTransitions": int(before.get("leaseTransitions") or 0) + (0 if is_same else 1),
        },
    }
