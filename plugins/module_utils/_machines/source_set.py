# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine set to copy from: one that is named, or a plain Linux worker set of zone and architecture."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._core.ownership import owned
from .._platforms.platform import Platform
from .._pools.model import ACCELERATOR
from . import machine_set
from .machine import MachineError

_ROLE: t.Final = "machine.openshift.io/cluster-api-machine-role"
_OS: t.Final = "machine.openshift.io/os-id"
_GPUS: t.Final = ("machine.openshift.io/GPU", "capacity.cluster-autoscaler.kubernetes.io/gpu-count")
_NODE_ROLE: t.Final = "node-role.kubernetes.io/"
_WINDOWS_DATA: t.Final = "windows-user-data"


class Source(t.NamedTuple):
    """The machine set to copy from. warning: which sets of the zone were not taken, and why; or ""."""

    machine_set: KubeObject
    warning: str


def find(
    machine_sets: t.Iterable[KubeObject],
    platform: Platform,
    zone: str,
    arch: str,
    named: t.Collection[str] = (),
    zones: t.Collection[str] = (),
) -> Source:
    """Return the set of the zone that is named, or else the first fitting worker set of the zone by name.

    arch: of the wanted machines. A set of another architecture is taken if there is no other: its image can
    be replaced. zones: of the pool; a named set that is in another one of them is for that zone. Raise
    MachineError.
    """
    sets = sorted(machine_sets, key=machine_set.name_of)
    here = [worker_set for worker_set in sets if zone_of(platform, worker_set) == zone]
    if chosen := next((worker_set for worker_set in here if machine_set.name_of(worker_set) in named), None):
        return Source(chosen, "")
    fitting = [worker_set for worker_set in here if not unfit(worker_set)]
    _check_named(sets, platform, zone, named, zones, fitting)
    if not fitting:
        lines = [f"{machine_set.name_of(one)} {why}" for one in here if (why := unfit(one))]
        also = f" Not taken: {'; '.join(lines)}." if lines else ""
        found, evidence = _workers(sets, platform)
        where = _where(zone)
        raise MachineError("MACH-NO-REFERENCE", evidence=evidence, where=where, zones=found, also=also)
    best = next((one for one in fitting if machine_set.arch_of(one) in ("", arch)), fitting[0])
    others = [
        f"{machine_set.name_of(one)} {why}"
        for one in here
        if one is not best and not owned(one) and (why := unfit(one) or _other_arch(one, arch))
    ]
    if not others:
        return Source(best, "")
    return Source(
        best,
        f"The pool's machine set {_where(zone)} is a copy of {machine_set.name_of(best)}. Not taken: "
        f"{'; '.join(others)}. To take another one, set gpu_node_pool_source_machine_set.",
    )


def unfit(worker_set: t.Mapping[str, t.Any]) -> str:
    """Return why a pool's set cannot be copied from this set, such as `has taints`; "" if it can."""
    template = worker_set["spec"]["template"]
    labels = (template.get("metadata") or {}).get("labels") or {}
    given = (template["spec"].get("metadata") or {}).get("labels") or {}
    annotations = worker_set["metadata"].get("annotations") or {}
    data = (machine_set.provider_of(worker_set).get("userDataSecret") or {}).get("name")
    roles = [key.removeprefix(_NODE_ROLE) for key in given if key.startswith(_NODE_ROLE)]
    others = sorted({labels.get(_ROLE, "worker"), *roles} - {"worker"})
    reasons = {
        "belongs to a pool of this collection": owned(worker_set),
        "is being deleted": bool(worker_set["metadata"].get("deletionTimestamp")),
        "makes Windows machines": labels.get(_OS) == "Windows" or data == _WINDOWS_DATA,
        f"makes machines of the role {', '.join(others)}": bool(others),
        "makes machines with GPUs": ACCELERATOR in given
        or any(annotations.get(key, "0") not in ("", "0") for key in _GPUS),
        "gives its machines taints": bool(template["spec"].get("taints")),
    }
    return next((text for text, is_so in reasons.items() if is_so), "")


def check_arch(source: KubeObject, instance_type: str, arch: str, image: str) -> None:
    """Raise MachineError if the source's boot image is for another architecture."""
    has = machine_set.arch_of(source)
    if has and has != arch and not image:
        raise MachineError(
            "MACH-ARCH",
            type=instance_type,
            arch=arch,
            other=has,
            machine_set=machine_set.name_of(source),
        )


def zone_of(platform: Platform, worker_set: KubeObject) -> str:
    """Return the zone in which a set makes its machines; "" without zones."""
    return platform.zone(machine_set.provider_of(worker_set))


def _other_arch(worker_set: KubeObject, arch: str) -> str:
    has = machine_set.arch_of(worker_set)
    return f"makes {has} machines" if has not in ("", arch) else ""


def _check_named(
    sets: t.Sequence[KubeObject],
    platform: Platform,
    zone: str,
    named: t.Collection[str],
    zones: t.Collection[str],
    fitting: t.Sequence[KubeObject],
) -> None:
    """Raise MachineError if a named set does not exist, or if none of them is in a zone of the pool."""
    found = {machine_set.name_of(worker_set): zone_of(platform, worker_set) for worker_set in sets}
    if not named or (set(named) <= found.keys() and {found[one] for one in named} & set(zones)):
        return
    name = next((one for one in named if one not in found), next(iter(named)))
    why = f"is {_where(found[name])}" if name in found else "does not exist"
    names = ", ".join(map(machine_set.name_of, fitting))
    others, evidence = _workers(sets, platform)
    raise MachineError(
        "MACH-SOURCE",
        evidence=evidence,
        name=name,
        why=why,
        where=_where(zone),
        fitting=names or f"there is none, but in {others}",
    )


def _where(zone: str) -> str:
    return f"in zone {zone}" if zone else "without a zone (the candidate has none)"


def _workers(sets: t.Iterable[KubeObject], platform: Platform) -> tuple[str, list[str]]:
    """Return the zones that have a worker machine set to copy, and a line for each of these sets."""
    found = {machine_set.name_of(one): zone_of(platform, one) for one in sets if not unfit(one)}
    lines = [f"worker machine set {name}: zone {zone or 'unknown'}" for name, zone in found.items()]
    return ", ".join(sorted({*found.values()} - {""})) or "no zone", lines
