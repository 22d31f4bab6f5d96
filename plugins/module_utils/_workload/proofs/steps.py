# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the module gpu_workload: validate nodes, then prove priorities, sharing and consumers."""

from __future__ import annotations

import typing as t

from ..._core.errors import AcceleratorError
from ..._kube.client import Api
from .. import steps
from ..options import GpuWorkloadParams, ProveParams
from . import consumer_steps, preemption_steps, sharing_proof_steps


def present(api: Api, params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Validate the nodes and run the proofs, each with its own wait_timeout. Return all results.

    Raises the first error, with the results until then as facts.
    """
    prove = params.prove or ProveParams([], [])
    preemption_steps.check(prove.preemption)
    sharing_proof_steps.check(params, prove.sharing)
    found: dict[str, t.Any] = {}
    try:
        if params.pools is not None or params.node_selector is not None:
            found |= steps.present(api, params)
        if prove.preemption:
            _renew(api, params)
            found |= preemption_steps.prove(api, params, prove.preemption)
        if prove.sharing:
            _renew(api, params)
            found |= sharing_proof_steps.prove(api, params, prove.sharing)
        if prove.consumers:
            _renew(api, params)
            found |= consumer_steps.prove(api, params, prove.consumers)
    except AcceleratorError as exc:
        exc.facts = found | exc.facts
        raise
    return found


def _renew(api: Api, params: GpuWorkloadParams) -> None:
    api.deadline.grow(api.deadline.elapsed() + params.wait_timeout)
