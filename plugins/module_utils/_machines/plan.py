# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Plan of a pool's machine sets: which to apply, and which to remove."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

from .._core.errors import InputError
from .._core.objects import KubeObject
from .._core.ownership import owned, pool_of
from .._platforms import registry as platforms
from .._platforms.infrastructure import Infrastructure
from .._platforms.platform import Platform
from .._pools import platform_options
from .._pools.autoscale import capacity_annotations
from .._pools.model import Pool
from . import drift, machine, machine_set, source_set
from .candidates import Held, Share, is_of
from .propagation import of_template


@dataclass(frozen=True)
class MachinePlan:
    """The machine sets of one pool. surplus: names of sets that it no longer uses.

    wanted: the manifests with the pool's template, even where on_change keeps the live one.
    """

    pool: Pool
    manifests: dict[str, KubeObject]
    shares: dict[str, Share]
    surplus: list[str]
    remarks: list[str]
    wanted: dict[str, KubeObject] = field(default_factory=dict)

    @property
    def replicas(self) -> dict[str, int]:
        return {name: machine_set.replicas_of(manifest) for name, manifest in self.manifests.items()}

    def node_labels(self, name: str) -> dict[str, str]:
        return of_template(self.manifests[name]).labels

    def taints(self, name: str) -> list[KubeObject]:
        return of_template(self.manifests[name]).taints

    def place(self, name: str) -> str:
        share = self.shares[name]
        return (
            f"{share.candidate.instance_type} in {share.zone}"
            if share.zone
            else share.candidate.instance_type
        )


def held(cluster: Infrastructure, pool: Pool, live: t.Iterable[KubeObject]) -> list[Held]:
    """Return the machine sets that the pool already has, by name."""
    platform = source_set.platform_of(cluster)
    found = []
    for one in live:
        if owned(one) and pool_of(one) == pool.name:
            provider = machine_set.provider_of(one)
            kind = machine_set.candidate_of(one) or platform.instance_type(provider)
            found.append(
                Held(
                    machine_set.name_of(one),
                    kind,
                    platform.zone(provider),
                    machine_set.share_of(one),
                    machine_set.obtained_of(one),
                    machine_set.made(one),
                )
            )
    return sorted(found, key=lambda one: one.name)


def plan(
    cluster: Infrastructure,
    pool: Pool,
    shares: t.Sequence[Share],
    live: t.Sequence[KubeObject],
    params: t.Mapping[str, t.Any],
    record: str = "",
) -> MachinePlan:
    """Return the plan of a pool's machine sets. Raise AcceleratorError for what forbids the pool.

    live: all machine sets of the namespace. record: C(obtained/asked), or "".
    """
    platform = source_set.platform_of(cluster)
    if params.get("image") and platform.NO_IMAGE:
        raise InputError(
            "POOL-PLATFORM",
            f"image: {params['image']} names nothing that machines of this platform boot.",
            platform.NO_IMAGE,
        )
    existing = {machine_set.name_of(one): one for one in live}
    have = held(cluster, pool, live)
    manifests: dict[str, KubeObject] = {}
    wanted: dict[str, KubeObject] = {}
    named: dict[str, Share] = {}
    remarks: list[str] = []
    for share in shares:
        name = _name(cluster.name, pool, share, have, {*named, *(one.name for one in have)})
        source = existing.get(name) or source_set.find(live, platform, share.zone, params.get("reference"))
        provider, remark = _provider(
            platform, source, pool, share, params.get("image") or "", is_new=name not in existing
        )
        manifests[name] = machine_set.build(
            name, cluster.name, pool, share.candidate, share.replicas, params["namespace"], provider
        )
        if record:
            manifests[name]["metadata"]["annotations"][machine_set.OBTAINED] = record
        if pool.autoscale:
            manifests[name]["metadata"]["annotations"] |= capacity_annotations(
                platform.REPORTS, share.candidate
            )
        named[name] = share
        wanted[name] = manifests[name]
        if name in existing:
            drift.check(existing[name])
            manifests[name], remark = drift.settled(
                existing[name], manifests[name], params.get("on_change") or "new_machines"
            )
            manifests[name] = machine_set.surged(manifests[name], machine_set.replacing_of(existing[name]))
        remarks += [remark] if remark else []
    return MachinePlan(
        pool, manifests, named, [one.name for one in have if one.name not in manifests], remarks, wanted
    )


def _name(
    infrastructure: str, pool: Pool, share: Share, have: t.Sequence[Held], taken: t.Collection[str]
) -> str:
    """Return the set's name, with a number if another candidate's set has it."""
    mine = next(
        (one.name for one in have if one.zone == share.zone and is_of(one, share.candidate, pool)), None
    )
    if mine:
        return mine
    name = machine_set.set_name(infrastructure, pool.name, share.zone)
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def _provider(
    platform: Platform, source: KubeObject, pool: Pool, share: Share, image: str, is_new: bool
) -> tuple[KubeObject, str]:
    """Return the providerSpec value, and a remark on unknown fields of the source set."""
    candidate, provider = share.candidate, machine_set.provider_of(source)
    wanted = replace(
        platform_options.wanted(pool, candidate, platform.KEY, share.zone, image if is_new else ""),
        is_new=is_new,
    )
    if not is_new:
        return platforms.build(platform, provider, wanted), ""
    source_set.check_arch(source, candidate.instance_type, candidate.arch, image)
    unknown = platforms.unknown_fields(platform, provider)
    remark = (
        f"Machine set {machine_set.name_of(source)} has fields that are not known and were not copied: "
        f"{', '.join(unknown)}."
        if unknown
        else ""
    )
    if platform is platforms.OTHER:
        remark = (
            f"Machine set {machine_set.name_of(source)} was copied whole: this platform's fields are not "
            "known, and provider_spec_patch was not checked."
        )
    return platforms.build(platform, provider, wanted), remark


def too_many(
    held: t.Iterable[Held], live: t.Iterable[KubeObject], machines: t.Iterable[KubeObject]
) -> list[KubeObject]:
    """Return Machines without an instance in sets that have more replicas than before the search."""
    now = {machine_set.name_of(one): machine_set.replicas_of(one) for one in live}
    larger = {one.name for one in held if now.get(one.name, 0) > one.replicas}
    return [
        one
        for one in machines
        if machine.set_name(one) in larger and machine.phase(one) not in ("Provisioned", "Running")
    ]
