# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that read what pods and ResourceClaims hold of the devices of nodes."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._kube.client import Api
from .._kube.kinds import known
from . import claims as gpu_claims, devices, free
from .node import name

_NOT_ENDED: t.Final = "status.phase!=Succeeded,status.phase!=Failed"


def offering(api: Api, nodes: t.Sequence[KubeObject]) -> tuple[list[KubeObject], list[KubeObject]]:
    """Return the nodes as a device plugin would present them, and the ResourceSlices.

    Asks for the slices only if a node offers no device.
    """
    if all(devices.resources(node) for node in nodes):
        return list(nodes), []
    slices = [
        one for one in api.list_if_served(known("ResourceSlice")) if (one.get("spec") or {}).get("nodeName")
    ]
    claimed = {str(one["spec"]["nodeName"]) for one in slices}
    return [
        node if devices.resources(node) or name(node) not in claimed else gpu_claims.offering(node, slices)
        for node in nodes
    ], slices


def holders(api: Api, slices: t.Sequence[KubeObject]) -> list[free.Holder]:
    """Return what pods and claims hold in the cluster. slices: empty if nobody claims devices."""

    def keep(pod: KubeObject) -> KubeObject | None:
        found = free.of_pod(pod)
        return None if found is None else found._asdict()

    held = [free.Holder(**one) for one in api.list(known("Pod"), fields=_NOT_ENDED, keep=keep)]
    claims = api.list_if_served(known("ResourceClaim")) if slices else []
    return held + free.of_claims(claims, slices)
