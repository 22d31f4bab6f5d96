# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that keep the gate for new nodes in the cluster, take it away, and open nodes that passed."""

from __future__ import annotations

import contextlib
import time
import typing as t

from .._catalogue.well_known import GPU
from .._core.errors import ConflictError, ForbiddenError, NotReadyError
from .._core.objects import KubeObject, name
from .._core.ownership import POOL, owned, pool_of, validation_namespace
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes import startup
from . import gate, namespace, quarantine
from .options import GpuWorkloadParams
from .pods import geometry_of
from .turns import Turn

_STREAM, _MAP, _NODE = known("ImageStream"), known("ConfigMap"), known("Node")
_MACHINE: t.Final = known("Machine")
# How many times a node is patched if others write it at the same time.
_RACES: t.Final = 5
Groups = dict[str, list[tuple[GpuWorkloadParams, dict[str, int]]]]


def install(api: Api, params: GpuWorkloadParams, turns: t.Sequence[Turn]) -> None:
    """Bring the gate for the pools of these turns, before their machines come, and keep that of other pools.

    Raises NotReadyError if the cluster does not say which image has `oc`.
    """
    gated = _groups(turn for turn in turns if turn.is_gated)
    if not gated and not (params.joining is None and any(map(_has_machines, turns))):
        return
    live = api.get(_MAP, gate.NAME, params.namespace)
    others = _living(api, params, gate.of_others(_data(live), {turn.pool for turn in turns}))
    if gated:
        place = api.get(known("Namespace"), params.namespace)
        if place is None or namespace.is_made_for_validation(place):
            api.apply(validation_namespace(params.namespace, place))
        _apply(api, params, {**others, **gate.entries(gated)})
    elif live is not None and others != gate.of_others(_data(live), ()):
        _leave(api, params, others)


def remove(api: Api, params: GpuWorkloadParams, turns: t.Sequence[Turn]) -> None:
    """Take these pools out of the gate, all without turns that name one. Delete a gate without pools."""
    live = api.get(_MAP, gate.NAME, params.namespace)
    if owned(live):
        named = {turn.pool for turn in turns if turn.pool}
        _leave(api, params, gate.of_others(_data(live), named) if named else {})


def open_node(api: Api, node: KubeObject) -> None:
    """Take our marks from a node that passed, and the startup taint from its Machine before.

    The nodelink controller gives the taints of Machines to nodes again and again.
    """
    if startup.is_closed(node):
        place, machine = startup.machine_of(node)
        if machine:
            _patch(api, _MACHINE, machine, place, startup.open_machine)
    _patch(api, _NODE, name(node), None, quarantine.open_again)
    if not startup.is_closed(node):
        return
    with contextlib.suppress(ForbiddenError):  # the gate says it within a minute
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        _patch(api, _NODE, name(node), None, lambda one: startup.passed(one, now), "status")


def _patch(
    api: Api,
    kind: t.Any,
    object_name: str,
    place: str | None,
    make: t.Callable[[KubeObject], KubeObject | None],
    subresource: str | None = None,
) -> None:
    """Send the patch that `make` returns for the object as it is now, again if others write it meanwhile."""
    for tries in range(_RACES):
        live = api.get(kind, object_name, place)
        body = make(live) if live else None
        if not body:
            return
        try:
            api.merge_patch(kind, object_name, place, body, subresource)
        except ConflictError:
            if tries == _RACES - 1:
                raise
        else:
            return


def _living(api: Api, params: GpuWorkloadParams, others: dict[str, str]) -> dict[str, str]:
    """Return the entries of those pools that still have a machine set: remove_pool leaves the entry."""
    if not others:
        return {}
    sets = api.list(known("MachineSet"), params.machine_namespace, labels=POOL, metadata_only=True)
    pools = {pool_of(one) for one in sets}
    return {key: value for key, value in others.items() if key.partition(".")[0] in pools}


def _has_machines(turn: Turn) -> bool:
    return POOL in (turn.params.node_selector or {})


def _groups(turns: t.Iterable[Turn]) -> Groups:
    """Return parameters and devices of each group of equal nodes, by pool; a group has a turn per program."""
    found: Groups = {}
    for turn in turns:
        groups = found.setdefault(turn.pool, [])
        if all(params.node_selector != turn.params.node_selector for params, _devices in groups):
            groups.append((turn.params, geometry_of({}, turn.params.expected) or {GPU: 1}))
    return found


def _data(live: KubeObject | None) -> dict[str, str]:
    return dict((live or {}).get("data") or {})


def _apply(api: Api, params: GpuWorkloadParams, data: t.Mapping[str, str]) -> None:
    image = params.gate_image or _image(api)
    for manifest in gate.manifests(params.namespace, params.machine_namespace, data, image):
        api.apply(manifest)


def _leave(api: Api, params: GpuWorkloadParams, data: t.Mapping[str, str]) -> None:
    """Keep the gate for the pools that are left, or delete it."""
    made = gate.manifests(params.namespace, params.machine_namespace, data, "none")
    for manifest in reversed(made):
        if not data:
            api.delete(known(manifest["kind"]), name(manifest), manifest["metadata"].get("namespace"))
        elif manifest["kind"] == _MAP.kind:
            api.apply(manifest)


def _image(api: Api) -> str:
    """Return the image of `oc` that came with the cluster's own release, which every mirror has."""
    stream = api.get(_STREAM, "cli", "openshift") or {}
    for tag in (stream.get("status") or {}).get("tags") or []:
        if tag.get("tag") == "latest" and tag.get("items"):
            return str(tag["items"][0]["dockerImageReference"])
    raise NotReadyError("WORK-GATE-IMAGE")
