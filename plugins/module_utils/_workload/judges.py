# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge of the pods of several pools in one wait: each pool ends or fails by itself."""

from __future__ import annotations

import typing as t

from .._core.errors import NotReadyError, WaitTimeoutError
from .._core.objects import KubeObject, Snapshot, number_of
from .._core.readiness import Readiness, pending, ready, worst
from . import judge
from .pods import has_ended


class Judges:
    """Judge the pods of several jobs in one wait: a job that fails keeps no other from its end.

    made: names of the pods of each job. ended: the pods of each job as the wait saw them last. errors: why
    a job of several has failed.
    """

    def __init__(self, made: t.Sequence[t.Sequence[str]], grace: float, clock: t.Callable[[], float]) -> None:
        self._made = made
        self._judges = [judge.Judge(names, grace, clock) for names in made]
        self._verdicts: list[Readiness] = [pending()] * len(made)
        self.ended: list[list[KubeObject]] = [[] for _names in made]
        self.errors: list[NotReadyError | None] = [None] * len(made)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        for index, names in enumerate(self._made):
            if self.errors[index] is None:
                self.ended[index] = [pod for pod in snapshot["pods"] if pod["metadata"]["name"] in names]
                self._verdicts[index] = self._judges[index]({"pods": self.ended[index]})
        if len(self._made) == 1:
            return self._verdicts[0]
        for index, verdict in enumerate(self._verdicts):
            if verdict.is_failed and self.errors[index] is None:
                self.errors[index] = _error(f"validation: {verdict.message}", verdict)
        return self._together()

    def _together(self) -> Readiness:
        """Return ready once each job has ended or failed, else how many pods have ended."""
        open_now = [
            one for one, error in zip(self._verdicts, self.errors, strict=True) if not (one.is_ready or error)
        ]
        total = sum(map(len, self._made))
        done = sum(has_ended(pod) for pods in self.ended for pod in pods)
        what = f"{done} of {number_of(total, 'pod')} have ended"
        if not open_now:
            return ready("Ended", f"{what}.")
        first = worst(open_now)
        return pending(
            first.reason,
            f"{what}.",
            code=first.code,
            remedy=first.remedy,
            details=(f"{what}.", *first.details),
        )

    def give_up(self, timeout: WaitTimeoutError) -> None:
        """Fail the jobs that have not ended when the time is over."""
        for index, verdict in enumerate(self._verdicts):
            if not verdict.is_ready and self.errors[index] is None:
                message = f"{timeout.message.partition('; last seen')[0]}; last seen: {verdict.message}"
                self.errors[index] = _error(message, verdict)


def _error(message: str, verdict: Readiness) -> NotReadyError:
    return NotReadyError(verdict.code, message, verdict.remedy, verdict.details)
