# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidates of a pool: find the facts of their instance types, and check them."""

from __future__ import annotations

import re
import typing as t

from .._catalogue.instance_types import CLOUDS, Catalogue, InstanceType
from .._catalogue.overrides import FACTS, described
from .._core.input import Problems
from .._core.objects import number_of
from .._platforms.registry import BY_KEY, OTHER, of_cloud
from .._sharing import mig_name
from .._sharing.partitions import CHOICES, GeometryError
from .._sharing.schema import MIG, conflict
from . import programs
from .geometry import geometry, mig_entries
from .model import PATCH, Candidate, Market

# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]
# Vendor -> the resource name of its devices.
_RESOURCES: t.Final = {"amd": "amd.com/gpu", "intel": "habana.ai/gaudi", "aws": "aws.amazon.com/neuron"}
_N1: t.Final = re.compile(r"(n1|custom)-\S+")


def resolve(
    candidate: Description,
    cloud: str | None,
    path: str,
    problems: Problems,
    accelerator: str,
    catalogue: Catalogue,
) -> InstanceType | None:
    """Return the instance type from the catalogue and the candidate's facts, or None after adding a problem.

    accelerator: the pool's option. Devices of another vendor than NVIDIA are allowed only if it names
    that vendor.
    """
    name = _full_name(candidate)
    if not name:
        return None
    where = cloud or next(iter(catalogue.clouds_with(name)), None)
    found = catalogue.find(where, name) if where else None
    facts = {key: candidate[key] for key in FACTS if candidate.get(key) is not None}
    if cloud and found and facts.get("gpus", found.gpus) != found.gpus:
        given = number_of(facts["gpus"], "GPU")
        problems.add("POOL-GPUS", f"{path}.gpus", given=given, type=found.name, gpus=found.gpus)
        return None
    if facts and (found is None or _differ(facts, found)) and (found is not None or "gpus" in facts):
        entry = {
            "platform": cloud or "",
            "instance_type": found.name if found else name,
            **({} if found else {"gpu_model": "gpu"}),
            **facts,
        }
        found = described(entry, found, path, problems)
        if found is None:
            return None
    if found is None:
        if not _refuse_attached(candidate, cloud, path, catalogue, problems):
            _unknown(name, cloud, path, catalogue, problems)
        return None
    if found.gpu.vendor != "nvidia" and not accelerator.startswith(f"{found.gpu.vendor}-"):
        _foreign(found, cloud, path, catalogue, problems)
        return None
    return found


def _differ(facts: Description, found: InstanceType) -> bool:
    known = {**found.to_dict(), "driver": found.driver}
    return any(known[key] != value for key, value in facts.items())


def _foreign(
    found: InstanceType, cloud: str | None, path: str, catalogue: Catalogue, problems: Problems
) -> None:
    sized = [
        kind
        for kind in catalogue.everything(cloud or found.cloud)
        if kind.gpu.vendor == "nvidia" and not kind.attachable
    ]
    near = sorted(
        sized,
        key=lambda kind: (
            abs(kind.gpus - found.gpus),
            abs(kind.gpu_memory_gib - found.gpu_memory_gib),
            kind.order,
        ),
    )[:3]
    others = ", ".join(kind.name for kind in near) or "one with NVIDIA GPUs"
    problems.add(
        "POOL-VENDOR",
        f"{path}.instance_type",
        type=found.name,
        model=found.gpu.model,
        vendor=found.gpu.vendor,
        others=others,
        accelerator=found.accelerator,
    )


def _unknown(name: str, cloud: str | None, path: str, catalogue: Catalogue, problems: Problems) -> None:
    if cloud and cloud not in CLOUDS:
        what = (of_cloud(cloud) or OTHER).OWN_TYPE
        also = f" on {cloud}: {name} is {what}, and no catalogue has its GPUs"
        remedy = f"Set {path}.gpus and {path}.gpu_model."
        problems.add("POOL-REQUIRED", f"{path}.gpus", remedy=remedy, also=also)
        return
    elsewhere = catalogue.clouds_with(name)
    where = f" on {cloud}" if cloud else ""
    what = (
        f"a type of {', '.join(elsewhere)}, not{where}"
        if elsewhere
        else f"not a known GPU instance type{where}"
    )
    near = (
        catalogue.nearest(name, cloud if cloud in CLOUDS else None)
        or [entry.name for entry in catalogue.everything(cloud)][:3]
    )
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    problems.add("POOL-INSTANCE-TYPE", f"{path}.instance_type", name=name, what=what, also=hint)


def describe(
    candidate: Description,
    kind: InstanceType,
    sharing: Description,
    path: str,
    problems: Problems,
    pool: str,
) -> Candidate:
    """Return the candidate with the facts of its type. Add problems of its geometry to the pool's sharing."""
    market = candidate.get("market")
    expected = _expected(kind, sharing, path, problems)
    entries = mig_entries(sharing, kind.name, kind.gpus, kind.gpu) if MIG in sharing and expected else []
    return Candidate(
        instance_type=kind.name,
        zones=tuple(candidate.get("zones") or ()),
        arch=kind.arch,
        vendor=kind.gpu.vendor,
        gpus_per_node=kind.gpus,
        gpu_model=kind.gpu.model,
        gpu_memory_gib=kind.gpu.memory_gib or None,
        gpu_share=kind.share,
        driver=kind.driver or None,
        vcpus=kind.vcpus or None,
        memory_gib=kind.memory_gib or None,
        mig_capable=kind.gpu.mig_capable,
        accelerator=kind.accelerator,
        expected=expected,
        market=Market(**market) if market and "type" in market else None,
        options={key: candidate[key] for key in BY_KEY if candidate.get(key)},
        patch=candidate.get(PATCH) or {},
        mig_config=mig_name.name(pool, entries) if entries else "",
    )


def _expected(kind: InstanceType, sharing: Description, path: str, problems: Problems) -> Description:
    if kind.gpu.vendor == "nvidia":
        try:
            return geometry(kind.name, kind.gpus, kind.gpu, sharing)
        except GeometryError as exc:
            problems.add("POOL-GEOMETRY", f"{path}.sharing.{exc.where}", exc.message, exc.remedy)
            return {}
    for way in sharing:
        other, also = f"{kind.gpu.model} devices ({kind.gpu.vendor})", ": NVIDIA's operator cannot share them"
        problems.add("POOL-CONFLICT", f"{path}.sharing.{way}", remedy="Remove it.", other=other, also=also)
    return {_RESOURCES[kind.gpu.vendor]: kind.gpus} if kind.gpu.vendor in _RESOURCES else {}


def describe_all(
    pool: Description, kinds: t.Sequence[InstanceType | None], path: str, problems: Problems
) -> list[Candidate]:
    """Return the candidates with a known type. Add problems of their geometry to the pool's sharing."""
    sharing = pool.get("sharing") or {}
    is_clear = not problems.at(f"{path}.sharing") and not (sharing and conflict(sharing))
    is_sound = is_clear and _one_way(sharing)
    return [
        describe(candidate, kind, sharing if is_sound else {}, path, problems, pool.get("name") or "")
        for candidate, kind in zip(pool.get("candidates") or [], kinds, strict=True)
        if kind is not None
    ]


def _one_way(sharing: Description) -> bool:
    mig = sharing.get("mig")
    return mig is None or (
        len(set(CHOICES) & set(mig)) == 1 and isinstance(mig.get("profile", ""), (str, dict))
    )


def check_alike(pool: Description, path: str, problems: Problems) -> None:
    """Add a problem if candidates differ in vendor or architecture, or one type in its devices."""
    vendors = {candidate.vendor for candidate in pool["resolved"]}
    if len(vendors) > 1:
        found = f"devices of {' and '.join(sorted(vendors))}"
        problems.add("POOL-MIXED", f"{path}.candidates", found=found, kind="vendor")
    offers: dict[str, t.Mapping[str, int]] = {}
    for candidate in pool["resolved"]:
        machine = candidate.instance_type.partition("+")[0]
        if offers.setdefault(machine, candidate.expected) != candidate.expected:
            found = f"different devices of {machine}, which no label of a node tells apart,"
            problems.add("POOL-MIXED", f"{path}.candidates", found=found, kind="candidate")
    archs = {candidate.arch for candidate in pool["resolved"]}
    if len(archs) > 1:
        found = f"{' and '.join(sorted(archs))} instance types"
        problems.add("POOL-MIXED", f"{path}.candidates", found=found, kind="architecture")
    programs.check_pool(pool, path, problems)
    allowed: list[str] = (pool.get("validate") or {}).get("image_archs") or []
    for arch in sorted(archs - set(allowed)) if allowed else ():
        problems.add(
            "POOL-ARCH",
            f"{path}.validate.image",
            allowed=", ".join(allowed),
            type=pool["resolved"][0].instance_type,
            arch=arch,
        )


def _full_name(candidate: Description) -> str:
    """Return the catalogue's name of the machine with the GPUs of gcp.gpus."""
    name, gpus = str(candidate.get("instance_type") or ""), _gpus(candidate)
    if _N1.fullmatch(name) and "+" not in name and gpus.get("type"):
        return f"{name}+{gpus['type']}:{gpus.get('count') or 1}"
    return name


def _refuse_attached(
    candidate: Description, cloud: str | None, path: str, catalogue: Catalogue, problems: Problems
) -> bool:
    """Add the problem of an N1 machine with no or wrong GPUs. Return True if it is an N1 machine."""
    name = _full_name(candidate)
    if cloud not in (None, "gcp") or not _N1.fullmatch(name):
        return False
    machine, _plus, gpus = name.partition("+")
    offers: dict[str, list[int]] = {}
    for kind in catalogue.everything("gcp"):
        if kind.attachable:
            offers.setdefault(kind.accelerator_type, []).append(kind.gpus)
    accelerator, _colon, count = gpus.partition(":")
    where = f"{path}.gcp.gpus" if _gpus(candidate) else f"{path}.instance_type"
    if not gpus:
        problems.add("POOL-NO-GPUS", where, machine=machine)
    elif accelerator in offers:
        counts = ", ".join(map(str, sorted(offers[accelerator])))
        gpus = f"{count} {accelerator}"
        problems.add("POOL-ATTACHED", where, gpus=gpus, machine=machine, allowed=counts)
    else:
        allowed = ", ".join(sorted(offers))
        problems.add("POOL-ATTACHED", where, gpus=accelerator, machine="a machine", allowed=allowed)
    return True


def check_attached(candidate: Description, path: str, problems: Problems) -> None:
    """Add a problem if the name of the instance type and gcp.gpus attach different GPUs."""
    gpus, attached = _gpus(candidate), str(candidate.get("instance_type") or "").partition("+")[2]
    if attached and gpus and attached != f"{gpus.get('type')}:{gpus.get('count') or 1}":
        other = f"the name of the instance type, which attaches {attached} already"
        problems.add("POOL-CONFLICT", f"{path}.gcp.gpus", other=other)


def _gpus(candidate: Description) -> Description:
    return ((candidate.get("gcp") or {}).get("gpus")) or {}
