# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry: the devices that a node should offer, given its GPUs and how they are shared."""

from __future__ import annotations

import typing as t

from .._catalogue.gpus import Gpu
from .._catalogue.well_known import GPU
from .._sharing import claims as shared_claims, partitions, profile
from .._sharing.schema import CLAIMS, MIG
from .model import JsonObject, Pool

_EXISTING: t.Final = "existing nodes"


def geometry(instance_type: str, gpus: int, gpu: Gpu, sharing: t.Mapping[str, t.Any]) -> dict[str, int]:
    """Return what one node should have allocatable, by resource. Raises GeometryError."""
    if MIG in sharing:
        parts = partitions.resources(sharing[MIG], partitions.Node(instance_type, gpus, gpu))
        return profile.shared(parts, sharing)
    return {profile.resource(sharing): gpus * profile.replicas(sharing)}


def offered(gpus: t.Mapping[str, int], sharing: t.Mapping[str, t.Any]) -> t.Mapping[str, int]:
    """Return what an existing node offers. gpus: its devices before they are shared."""
    if MIG in sharing:
        parts = partitions.resources(sharing[MIG], partitions.Node(_EXISTING, gpus[GPU]))
        return profile.shared(parts, sharing)
    return profile.offered(gpus, sharing)


def counted(sharing: t.Mapping[str, t.Any], offers: t.Iterable[t.Mapping[str, int]] = ()) -> str:
    """Return the resource by which a quota counts the devices of a pool; "" if they have several names.

    offers: what the nodes offer, for partitions that have one name of their own.
    """
    if MIG not in sharing or partitions.strategy(sharing[MIG]) != partitions.MIXED:
        return profile.resource(sharing)
    names = {name for one in offers for name in one}
    return names.pop() if len(names) == 1 else ""


def counted_by(pool: Pool) -> str:
    """Return the resource by which a quota counts the devices of a planned pool, or ""."""
    return counted(pool.sharing, [candidate.expected for candidate in pool.candidates] or [pool.expected])


def renames(sharing: t.Mapping[str, t.Any]) -> bool:
    """Return True if pods must request another resource than nvidia.com/gpu."""
    return counted(sharing) != GPU


def mig_entries(
    sharing: t.Mapping[str, t.Any], kind: str, gpus: int, gpu: Gpu | None
) -> list[partitions.Entry]:
    """Return the MIG configuration of nodes; empty for whole GPUs. Raises GeometryError."""
    if MIG not in sharing:
        return []
    return partitions.entries(sharing[MIG], partitions.Node(kind, gpus, gpu))


def _settled(sharing: t.Mapping[str, t.Any]) -> JsonObject:
    """Return how a pool is shared, with the strategy of MIG."""
    if MIG not in sharing:
        return dict(sharing)
    return {**sharing, MIG: {**sharing[MIG], "strategy": partitions.strategy(sharing[MIG])}}


def _partitions(pool: Pool) -> list[JsonObject]:
    """Return the MIG configuration of each kind of node. instance_type: empty for every kind."""
    if pool.existing:
        config = mig_entries(pool.sharing, _EXISTING, partitions.MOST_GPUS, None)
        return [{"instance_type": "", "config": config, "expected": dict(pool.expected)}]
    return [
        {
            "instance_type": candidate.instance_type.partition("+")[0],
            "config": mig_entries(
                pool.sharing,
                candidate.instance_type,
                candidate.gpus_per_node,
                partitions.gpu_of(candidate.gpu_model, candidate.gpu_memory_gib),
            ),
            "expected": dict(candidate.expected),
        }
        for candidate in pool.candidates
    ]


def inputs(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return an entry for every pool, as gpu_sharing's option C(pools) takes it.

    A pool of whole GPUs is in the list too: what it had before has to go.
    """
    found = []
    for pool in pools:
        is_known = all(candidate.expected == pool.expected for candidate in pool.candidates)
        found.append(
            {
                "name": pool.name,
                "node_selector": dict(pool.node_selector),
                "sharing": _settled(pool.sharing),
                "expected": dict(pool.expected) if pool.sharing and is_known else {},
                **({"partitions": _partitions(pool)} if MIG in pool.sharing else {}),
            }
        )
    return found


def proofs(pools: t.Iterable[Pool], validations: t.Sequence[JsonObject]) -> list[JsonObject]:
    """Return the input of the proof of each pool that shares its GPUs. validations: of the pools.

    A partition is a device of its own, so its replicas are 1 if it is not shared. Two pods prove a claim.
    """
    found = []
    for pool in (one for one in pools if one.sharing):
        mine = [validation for validation in validations if validation["name"] == pool.name]
        claimed = claims_of(pool)
        found.append(
            {
                "name": pool.name,
                "node_selector": dict(pool.node_selector),
                "tolerations": mine[0]["tolerations"],
                "resources": sorted({resource for one in mine for resource in one["expected"]}),
                "replicas": 2 if claimed else profile.replicas(pool.sharing),
                "image": mine[0]["image"],
                **({"claims": claimed} if claimed else {}),
            }
        )
    return found


def claims(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return an entry for every pool whose devices pods claim, as gpu_sharing's option C(pools) takes it."""
    return [{"name": pool.name, "sharing": dict(pool.sharing)} for pool in pools]


def claims_of(pool: Pool) -> list[JsonObject]:
    """Return what the shared claims of a pool request, each kind once."""
    found = dict.fromkeys(shared_claims.devices_of(one) for one in pool.sharing.get(CLAIMS) or [])
    return [one.as_result() for one in found]
