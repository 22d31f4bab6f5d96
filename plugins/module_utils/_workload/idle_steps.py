# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of a validation of idle nodes: its priority class, and a last look before each batch of nodes."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import ForbiddenError
from .._core.objects import name, number_of
from .._core.ownership import owned
from .._kube.client import Api
from .._kube.kinds import known
from .._policy import priority_class
from .._policy.schema import IDLE
from . import idle
from .options import GpuWorkloadParams
from .run_steps import look
from .turns import Job

_CLASS: t.Final = known("PriorityClass")


def bring_class(api: Api, params: GpuWorkloadParams) -> None:
    """Bring our priority class. Raise AcceleratorError (POOL-PRIORITY) if another one has its name."""
    if params.priority_class == IDLE["name"]:
        live = api.get(_CLASS, IDLE["name"])
        priority_class.refuse(priority_class.clashes([IDLE], [live] if live else []))
        api.apply(idle.priority_class(), live=live)


def remove_class(api: Api) -> None:
    """Delete our priority class. An identity that may not read it has never made one."""
    with contextlib.suppress(ForbiddenError):
        if owned(api.get(_CLASS, IDLE["name"])):
            api.delete(_CLASS, IDLE["name"])


def still_idle(api: Api, jobs: t.Sequence[Job]) -> list[Job]:
    """Return the jobs without the nodes that work has taken since the first look; their turns get these."""
    found = []
    for job in jobs:
        _left, busy = look(api, job.turn.params, job.nodes)
        job.turn.busy |= busy
        found.append(Job(job.turn, [node for node in job.nodes if name(node) not in busy]))
    if taken := sum(map(len, (job.nodes for job in jobs))) - sum(map(len, (job.nodes for job in found))):
        api.progress(f"validation: work has taken {number_of(taken, 'node')} meanwhile; these are left out")
    return [job for job in found if job.nodes]
