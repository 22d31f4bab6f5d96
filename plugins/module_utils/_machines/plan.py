# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan of a pool's machine sets: which to apply, from which worker set to copy them, and which to remove."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

from .._core.errors import InputError
from .._core.objects import KubeObject
from .._core.ownership import owned, pool_of
from .._nodes.taints import STARTUP
from .._platforms import registry as platforms
from .._platforms.infrastructure import Infrastructure
from .._platforms.platform import Platform
from .._pools import platform_options
from .._pools.autoscale import capacity_annotations
from .._pools.model import Pool
from . import drift, machine, machine_set, source_set
from .candidates import Held, Share, is_of
from .machine import MachineError
from .propagation import of_template

# How many Elastic Fabric Adapters an instance type has, from the EFA page of the EC2 user guide.
_EFAS: t.Final = {
    **dict.fromkeys(("p4d.24xlarge", "p4de.24xlarge"), 4),
    **dict.fromkeys(("p5.48xlarge", "p5e.48xlarge"), 32),
    **dict.fromkeys(("g6.8xlarge", "g6.12xlarge", "g6.16xlarge", "g6.24xlarge", "g6.48xlarge"), 1),
}


@dataclass(frozen=True)
class MachinePlan:
    """The machine sets of one pool. surplus: names of sets that it no longer uses.

    wanted: the manifests with the pool's template, even where on_change keeps the live one.
    """

    pool: Pool
    manifests: dict[str, KubeObject]
    shares: dict[str, Share]
    surplus: list[str]
    warnings: list[str]
    wanted: dict[str, KubeObject] = field(default_factory=dict)

    @property
    def replicas(self) -> dict[str, int]:
        return {name: machine_set.replicas_of(manifest) for name, manifest in self.manifests.items()}

    def node_labels(self, name: str) -> dict[str, str]:
        return of_template(self.manifests[name]).labels

    def taints(self, name: str) -> list[KubeObject]:
        """Return the taints that every node of the set keeps."""
        return [one for one in of_template(self.manifests[name]).taints if one["key"] != STARTUP]

    def place(self, name: str) -> str:
        share = self.shares[name]
        return (
            f"{share.candidate.instance_type} in {share.zone}"
            if share.zone
            else share.candidate.instance_type
        )


def held(cluster: Infrastructure, pool: Pool, live: t.Iterable[KubeObject]) -> list[Held]:
    """Return the machine sets that the pool already has, by name."""
    platform = platform_of(cluster)
    found = []
    for live_set in live:
        if owned(live_set) and pool_of(live_set) == pool.name:
            provider = machine_set.provider_of(live_set)
            kind = machine_set.candidate_of(live_set) or platform.instance_type(provider)
            found.append(
                Held(
                    machine_set.name_of(live_set),
                    kind,
                    platform.zone(provider),
                    machine_set.share_of(live_set),
                    machine_set.obtained_of(live_set),
                    machine_set.made(live_set),
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
    platform = platform_of(cluster)
    _check_image(platform, params.get("image") or "")
    existing = {machine_set.name_of(live_set): live_set for live_set in live}
    have = held(cluster, pool, live)
    manifests: dict[str, KubeObject] = {}
    wanted: dict[str, KubeObject] = {}
    named: dict[str, Share] = {}
    warnings: list[str] = []
    sources = pool.source or params.get("source_machine_set") or ()
    for share in shares:
        name = _name(cluster.name, pool, share, have, {*named, *(held_set.name for held_set in have)})
        source = _source(live, platform, share, sources, existing.get(name))
        provider, warning = _provider(
            platform, source.machine_set, pool, share, params.get("image") or "", is_new=name not in existing
        )
        named[name] = share
        wanted[name] = manifests[name] = machine_set.build(
            name, cluster.name, pool, share.candidate, share.replicas, params["namespace"], provider
        )
        wanted[name]["metadata"]["annotations"] |= _annotations(platform, pool, share, record)
        if name in existing:
            manifests[name], warning = _change(existing[name], wanted[name], params)
        warnings += [text for text in (source.warning, warning) if text]
    return MachinePlan(
        pool, manifests, named, [one.name for one in have if one.name not in manifests], warnings, wanted
    )


def _source(
    live: t.Sequence[KubeObject],
    platform: Platform,
    share: Share,
    named: t.Collection[str],
    own: KubeObject | None,
) -> source_set.Source:
    """Return the share's own set, or else the set to copy a new one from. Raise MachineError.

    named: sets that the user names.
    """
    if own:
        return source_set.Source(own, "")
    candidate = share.candidate
    return source_set.find(live, platform, share.zone, candidate.arch, named, candidate.zones or ("",))


def _check_image(platform: Platform, image: str) -> None:
    if image and platform.NO_IMAGE:
        raise InputError(
            "POOL-CONFLICT",
            remedy=platform.NO_IMAGE,
            path=f"image: {image}",
            other="this platform, whose machines cannot boot from it",
        )


def _annotations(platform: Platform, pool: Pool, share: Share, record: str) -> dict[str, str]:
    """Return the annotations of a set: the record, and what the autoscaler has to know to start at zero."""
    return {
        **({machine_set.OBTAINED: record} if record else {}),
        **(capacity_annotations(platform.REPORTS, share.candidate) if pool.autoscale else {}),
    }


def _change(live: KubeObject, wanted: KubeObject, params: t.Mapping[str, t.Any]) -> tuple[KubeObject, str]:
    """Return the manifest to write over a live set, with the replicas that a replacement adds, and a warning.

    Raise MachineError if the set cannot be changed.
    """
    drift.check(live)
    manifest, warning = drift.to_write(live, wanted, params.get("on_change") or "new_machines")
    return machine_set.surged(manifest, machine_set.replacing_of(live)), warning


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
    """Return the providerSpec value, and a warning on unknown fields of the source set and on EFAs."""
    candidate, provider = share.candidate, machine_set.provider_of(source)
    wanted = replace(
        platform_options.wanted(pool, candidate, platform.KEY, share.zone, image if is_new else ""),
        is_new=is_new,
    )
    if not is_new:
        return platforms.build(platform, provider, wanted), ""
    source_set.check_arch(source, candidate.instance_type, candidate.arch, image)
    unknown = platforms.unknown_fields(platform, provider)
    warning = (
        f"Unknown fields of the machine set {machine_set.name_of(source)} were not copied: "
        f"{', '.join(unknown)}."
        if unknown
        else ""
    )
    if platform is platforms.OTHER:
        warning = (
            f"The machine set {machine_set.name_of(source)} was copied with all its fields, because this "
            "collection does not know this platform. provider_spec_patch was not checked."
        )
    built = platforms.build(platform, provider, wanted)
    return built, " ".join(filter(None, (warning, _fabric_warning(built, candidate.instance_type))))


def _fabric_warning(provider: KubeObject, instance_type: str) -> str:
    """Return a warning if the machines get fewer EFAs than the type has, or ""."""
    if provider.get("networkInterfaceType") != "EFA" or _EFAS.get(instance_type) == 1:
        return ""
    of = f" of {_EFAS[instance_type]}" if instance_type in _EFAS else ""
    return (
        f"Each {instance_type} gets one Elastic Fabric Adapter{of}: the Machine API sets only the primary "
        "network interface."
    )


def too_many(
    held: t.Iterable[Held], live: t.Iterable[KubeObject], machines: t.Iterable[KubeObject]
) -> list[KubeObject]:
    """Return Machines without an instance in sets that have more replicas than before the search."""
    now = {machine_set.name_of(live_set): machine_set.replicas_of(live_set) for live_set in live}
    larger = {held_set.name for held_set in held if now.get(held_set.name, 0) > held_set.replicas}
    return [
        one
        for one in machines
        if machine.set_name(one) in larger and machine.phase(one) not in ("Provisioned", "Running")
    ]


def platform_of(infrastructure: Infrastructure) -> Platform:
    """Return the platform. Raise MachineError if its Machine API makes no machines."""
    if infrastructure.obstacle:
        raise MachineError("MACH-NO-API", remedy=infrastructure.instead, why=infrastructure.obstacle)
    platform = platforms.PLATFORMS.get(infrastructure.platform, platforms.OTHER)
    return platforms.on(platform, infrastructure.failure_domains)
