# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""A platform: its protocol, the machine that a pool wants, the shape of provider values, common refusals."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._catalogue.instance_types import InstanceType
from .._core.input import Field, Problems

Provider = t.Mapping[str, t.Any]
# all: processors, memory, GPUs and architecture of a machine. size: processors and memory.
Reports = t.Literal["all", "size", "nothing"]


@dataclass(frozen=True)
class Wanted:
    """A machine of one candidate in one zone. zone: empty if there is none or it is not chosen yet.

    disk: size_gib, type, iops, throughput_mib. market: its type and fields. image: replaces the reference's.
    options: the candidate's, merged into the pool's, of the platform's key (C(aws), C(gcp)...). patch:
    provider_spec_patch, RFC 7386. is_new: the machine set does not exist yet. Only for checks: zones, all
    of the candidate's; kind: the instance type, None if unknown.
    """

    instance_type: str
    zone: str = ""
    disk: t.Mapping[str, t.Any] = field(default_factory=dict)
    market: t.Mapping[str, t.Any] = field(default_factory=lambda: {"type": "on_demand"})
    image: str = ""
    options: t.Mapping[str, t.Any] = field(default_factory=dict)
    patch: t.Mapping[str, t.Any] = field(default_factory=dict)
    is_new: bool = True
    zones: tuple[str, ...] = ()
    kind: InstanceType | None = None

    @property
    def known(self) -> InstanceType | None:
        """Return the catalogue's type, or None for a user's type, which lacks facts that checks need."""
        return self.kind if self.kind and self.kind.as_of else None


@dataclass(frozen=True)
class Paths:
    """The paths of the user's options, for the messages of checks."""

    candidate: str
    market: str
    disk: str
    options: str
    patch: str = ""

    def of(self, field: str, option: str, patch: t.Mapping[str, t.Any]) -> str:
        """Return the path of the field in the patch if the patch sets it, else the option."""
        return f"{self.patch}.{field}" if field in patch else option


class Platform(t.Protocol):
    """The facts and functions of a platform. provider: the value of a template's providerSpec.

    NAME: in the Infrastructure object. KEY: the key of the platform's options in a pool, and the catalogue's
    name of the cloud. OPTIONS: the platform's own. SHAPE: the known fields of the provider's value: field ->
    a nested shape, a list with one nested shape, or None. ZONED: every machine set has a zone. OWN_TYPE: the
    meaning of instance_type if the catalogue lacks the cloud. HAS_TYPE_LABEL: nodes have their instance type
    as a label. IMAGE: the field of the boot image. NO_IMAGE: the remedy if a text cannot name an image, or
    empty. CHOSEN: field that only an option sets -> the option. REPORTS: facts of a machine that the
    machine-set controller gives the autoscaler.
    """

    NAME: str
    KEY: str
    OPTIONS: t.Mapping[str, Field]
    SHAPE: dict[str, t.Any]
    ZONED: bool
    OWN_TYPE: str
    HAS_TYPE_LABEL: bool
    IMAGE: str
    NO_IMAGE: str
    CHOSEN: t.Mapping[str, str]
    REPORTS: Reports

    def zone(self, provider: Provider) -> str:
        """Return the zone of a machine set, or "" if it has none."""

    def instance_type(self, provider: Provider) -> str:
        """Return the instance type in the provider's value, or "" if it has none."""

    def check(self, wanted: Wanted, paths: Paths, problems: Problems) -> None:
        """Add a problem for each thing that this platform does not support. Send no request."""

    def build(self, source: Provider, wanted: Wanted) -> dict[str, t.Any]:
        """Return a copy of the source's known fields with the wanted machine's values.

        Keep the source's boot image unless `wanted` has one.
        """


def known_fields(value: t.Any, shape: t.Any) -> t.Any:
    """Return a copy of the value with only the fields of the shape."""
    if isinstance(shape, dict) and isinstance(value, dict):
        return {key: known_fields(inner, shape[key]) for key, inner in value.items() if key in shape}
    if isinstance(shape, list) and isinstance(value, list):
        return [known_fields(item, shape[0]) for item in value]
    return value


def unknown_paths(value: t.Any, shape: t.Any) -> list[str]:
    """Return the sorted paths of the fields that are not in the shape."""
    return sorted(_unknown(value, shape, ""))


def _unknown(value: t.Any, shape: t.Any, path: str) -> t.Iterator[str]:
    if isinstance(shape, dict) and isinstance(value, dict):
        for key, inner in value.items():
            where = f"{path}.{key}" if path else str(key)
            if key not in shape:
                yield where
            else:
                yield from _unknown(inner, shape[key], where)
    elif isinstance(shape, list) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(item, shape[0], f"{path}[{index}]")


def merged(value: t.Any, patch: t.Any) -> t.Any:
    """Return the value with the patch merged (RFC 7386): merge mappings, remove null, replace the rest."""
    if not isinstance(patch, dict):
        return patch
    base = dict(value) if isinstance(value, dict) else {}
    for key, inner in patch.items():
        if inner is None:
            base.pop(key, None)
        else:
            base[key] = merged(base.get(key), inner)
    return base


def refuse_markets(wanted: Wanted, name: str, paths: Paths, problems: Problems) -> None:
    """Add a problem for a market other than on_demand, or a reservation. name: the platform's."""
    kind = wanted.market.get("type", "on_demand")
    if kind != "on_demand":
        what, option = f"market {kind}", "type"
    elif wanted.market.get("reservation"):
        what, option = "a capacity reservation", "reservation"
    else:
        return
    where, allowed = f"on {name}", "remove market"
    problems.add("POOL-MARKET", f"{paths.market}.{option}", what=what, where=where, allowed=allowed)


def refuse_zones(wanted: Wanted, why: str, remedy: str, paths: Paths, problems: Problems) -> None:
    """Add a problem if the candidate has zones."""
    if wanted.zones:
        problems.add("POOL-ZONE", f"{paths.candidate}.zones", why, remedy)


def refuse_sockets(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    """Add a problem if the CPUs are not a multiple of cores_per_socket."""
    cpus, cores = wanted.options.get("cpus"), wanted.options.get("cores_per_socket")
    if cpus and cores and cpus % cores:
        where, also = f"{paths.options}.cores_per_socket", f", which are not a multiple of {cores}"
        remedy = "Set it to a divisor of cpus."
        problems.add("POOL-CONFLICT", where, remedy=remedy, other=f"{cpus} cpus", also=also)


def refuse_disk(
    wanted: Wanted, known: t.Collection[str], name: str, paths: Paths, problems: Problems
) -> None:
    """Add a problem for each option of the disk that is not in C(known)."""
    for key in sorted(set(wanted.disk) - set(known)):
        allowed = f"only {' and '.join(known)} can be set" if known else "remove disk"
        where = f"for a disk of {name}"
        problems.add("POOL-DISK", f"{paths.disk}.{key}", what=key, where=where, allowed=allowed)
