# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that made validation pods: is a run over, so that its pods are left over?"""

from __future__ import annotations

import datetime
import typing as t

from .._core.objects import KubeObject
from .._core.run import Run, parse

# The annotation of a validation pod that names the run of ansible-playbook.
ANNOTATION: t.Final = "accelerators.openshift/run-id"
# Two clocks differ by less than this many seconds.
_SKEW: t.Final = 30.0
_TIME: t.Final = "%Y-%m-%dT%H:%M:%SZ"


class Runs(t.NamedTuple):
    """What is known about runs now.

    own: the run of this task. is_gone: tells whether a run on this machine has ended. lease: the cluster's
    Lease, None without one. has_let_go: tells whether the run that holds it has ended.
    """

    own: Run
    is_gone: t.Callable[[Run], bool]
    lease: KubeObject | None
    now: datetime.datetime
    has_let_go: t.Callable[[str], bool]

    def is_over(self, pod: KubeObject) -> bool:
        """Return True if the run that made the pod has ended, or if the pod must have ended long ago."""
        named = id_of(pod)
        run = parse(named)
        if run is None or run == self.own or self.is_gone(run):
            return True
        spec = (self.lease or {}).get("spec") or {}
        if spec.get("holderIdentity") == named:
            return self.has_let_go(named)
        age = self._since(pod["metadata"].get("creationTimestamp"))
        return age > float(pod["spec"].get("activeDeadlineSeconds") or 0) + _SKEW

    def _since(self, text: str | None) -> float:
        """Return the seconds since then; a large number if the text is no time."""
        try:
            then = datetime.datetime.strptime(str(text), _TIME)
        except ValueError:
            return 1e9
        return (self.now - then.replace(tzinfo=datetime.UTC)).total_seconds()


def id_of(pod: KubeObject) -> str:
    """Return the id of the run that made the pod, or an empty text."""
    return str((pod["metadata"].get("annotations") or {}).get(ANNOTATION) or "")


def shown(pod: KubeObject) -> str:
    """Return the run that made the pod, for people."""
    run = parse(id_of(pod))
    return f"the validation of {run.shown}" if run else "another validation"
