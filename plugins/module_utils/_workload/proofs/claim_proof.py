# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof of a shared claim: two pods that name one claim run at the same time, and see the same devices."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject, name
from ..._core.ownership import MANAGED_BY
from ..._nodes import claims as gpu_claims, dra
from ..._nodes.node import is_ready
from ..._sharing.claims import Devices
from .. import pods as workload_pods
from ..options import GpuWorkloadParams, SharingProofParams
from ..pods import Mark
from ..programs.devices import uuids
from . import sharing_proof
from .sharing_proof import Stop

DEVICE: t.Final = "WORK-CLAIM-DEVICE"
# Pods that use the claim together.
PODS: t.Final = 2


class Offer(t.NamedTuple):
    """A node, and what its ResourceSlices offer. model, driver: of its first device."""

    node: KubeObject
    offered: dict[str, int]
    model: str
    driver: str

    def lacks(self, wanted: Devices) -> str:
        """Return why the node cannot serve a claim, as a clause, or ""."""
        if (self.node.get("spec") or {}).get("unschedulable") or not is_ready(self.node):
            return f"node {name(self.node)} is not ready or not schedulable"
        number = self.offered.get(wanted.resource, 0)
        if number >= wanted.count:
            return ""
        return (
            f"the ResourceSlices of node {name(self.node)} offer {number} of {wanted.count} {wanted.resource}"
        )


def offer(node: KubeObject, slices: t.Sequence[KubeObject]) -> Offer:
    """Return the node with what the DRA driver offers on it."""
    found = dra.offer(name(node), slices)
    first: KubeObject = found.devices[0] if found.devices else {}
    offered = dra.resources(found.devices) if found.complete else {}
    model, driver = (dra.attribute(first, key) for key in ("productName", "driverVersion"))
    return Offer(gpu_claims.offering(node, slices), offered, model, driver)


def key(wanted: t.Iterable[Devices], place: Offer) -> str:
    """Return what a proof holds for: the claims of the pool, and the driver and the model of its node."""
    titles = ",".join(sorted(one.object_name.replace(" ", "/") for one in wanted))
    return f"claims={titles} product={place.model or 'unknown'} driver={place.driver or 'unknown'}"


def workload(
    params: GpuWorkloadParams, pool: SharingProofParams, wanted: Devices, seconds: int
) -> GpuWorkloadParams:
    """Return the parameters of the pods, which run until they are deleted or for so many seconds."""
    return sharing_proof.workload(params, pool, {wanted.resource: wanted.count}, seconds, claims=True)


def object_name(mark: str) -> str:
    """Return the name of the claim of a proof."""
    return f"shared-{mark}"


def claim(given: GpuWorkloadParams, wanted: Devices, mark: Mark) -> KubeObject:
    """Return the claim that the pods of the proof use."""
    marks = {**MANAGED_BY, workload_pods.RUN_LABEL: mark.name}
    metadata = {"name": object_name(mark.name), "namespace": given.namespace, "labels": marks}
    return {
        "apiVersion": gpu_claims.API_VERSION,
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": wanted.spec,
    }


def pods(given: GpuWorkloadParams, place: Offer, mark: Mark) -> list[KubeObject]:
    """Return the pods that use the claim together."""
    host = workload_pods.host_of(place.node)
    made = [
        workload_pods.pod(given, {}, f"shared-claim-{mark.name}-{index}", mark, host) for index in range(PODS)
    ]
    for one in made:
        one["spec"]["resourceClaims"] = [
            {"name": gpu_claims.CLAIM_NAME, "resourceClaimName": object_name(mark.name)}
        ]
    return made


def judged(wanted: Devices, place: Offer, logs: t.Mapping[str, str]) -> list[str] | Stop:
    """Return the devices that all pods saw; why the claim is not shared, otherwise. logs: by pod."""
    seen = {pod: sorted(uuids(log)) for pod, log in sorted(logs.items())}
    first = next(iter(seen.values()))
    if len(first) == wanted.count and all(found == first for found in seen.values()):
        return first
    shown = "; ".join(f"{pod}: {', '.join(found) or 'none'}" for pod, found in seen.items())
    return Stop(
        DEVICE,
        f"{len(seen)} pods with one claim of {wanted.object_name} on node {name(place.node)} should have "
        f"seen the same {wanted.count}, and saw {shown}",
    )
