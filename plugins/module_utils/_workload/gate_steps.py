# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that keep the gate for new nodes in the cluster, and take it away."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU
from .._core.errors import NotReadyError
from .._core.objects import name
from .._kube.client import Api
from .._kube.kinds import known
from . import gate, namespace
from .options import GpuWorkloadParams
from .pods import geometry_of
from .turns import Turn

_STREAM: t.Final = known("ImageStream")


def install(api: Api, params: GpuWorkloadParams, turns: t.Sequence[Turn]) -> None:
    """Bring the gate for the pools of these turns, before their machines come. Nothing without a gated pool.

    Raises NotReadyError if the cluster does not say which image has `oc`.
    """
    gated = {turn.pool: turn for turn in turns if turn.is_gated}
    if not gated:
        return
    place = api.get(known("Namespace"), params.namespace)
    if place is None or namespace.is_made_for_validation(place):
        api.apply(namespace.build(params.namespace))
    pools = {pool: (turn.params, _devices(turn)) for pool, turn in gated.items()}
    for one in gate.manifests(params, pools, params.gate_image or _image(api)):
        api.apply(one)


def _devices(turn: Turn) -> dict[str, int]:
    return geometry_of({}, turn.params.resources) or {GPU: 1}


def _image(api: Api) -> str:
    """Return the image of `oc` that came with the cluster's own release, which every mirror has."""
    stream = api.get(_STREAM, "cli", "openshift") or {}
    for tag in (stream.get("status") or {}).get("tags") or []:
        if tag.get("tag") == "latest" and tag.get("items"):
            return str(tag["items"][0]["dockerImageReference"])
    raise NotReadyError("WORK-GATE-IMAGE")


def remove(api: Api, params: GpuWorkloadParams) -> None:
    """Delete what the gate is made of, if there is one."""
    if api.get(known("CronJob"), gate.NAME, params.namespace) is None:
        return
    for one in reversed(gate.manifests(params, {}, "none")):
        api.delete(known(one["kind"]), name(one), one["metadata"].get("namespace"))
