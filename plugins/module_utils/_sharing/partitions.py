# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Partitions of GPUs by MIG: what `sharing.mig` asks for, whether a GPU has it, and what nodes then offer."""

from __future__ import annotations

import typing as t

from .._catalogue.gpus import ALL_MEDIA, GPUS, MEDIA, MIG_AS_OF, NO_MEDIA, Gpu, Profile
from .._catalogue.well_known import GPU, PARTITION

SINGLE: t.Final = "single"
MIXED: t.Final = "mixed"
ALL: t.Final = "all"
# The options of which a pool has one: what to cut its GPUs into.
CHOICES: t.Final = ("slices", "profile", "layout", "config")
# Stands for the number of GPUs of a node where it is not known.
MOST_GPUS: t.Final = 1024
_DEVICES, _ENABLED, _PARTS = "devices", "mig-enabled", "mig-devices"
Mig = t.Mapping[str, t.Any]
# One entry of a configuration of mig-parted: GPUs and their partitions.
Entry = dict[str, t.Any]
# The partitions of one GPU, by profile; None for a whole GPU.
Cut: t.TypeAlias = "t.Mapping[str, int] | None"


class GeometryError(ValueError):
    """The GPU does not support this sharing. where: the wrong option below C(sharing)."""

    def __init__(self, where: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.where = where
        self.message = message
        self.remedy = remedy


class Node(t.NamedTuple):
    """A kind of node. kind: its instance type, or words for it. gpu: None if its model is not known."""

    kind: str
    gpus: int
    gpu: Gpu | None = None


def gpu_of(model: str, memory_gib: float | None) -> Gpu | None:
    """Return the GPU of the catalogue with this model and memory."""
    return next(
        (gpu for gpu in GPUS.values() if (gpu.model, gpu.memory_gib, gpu.part) == (model, memory_gib, False)),
        None,
    )


def strategy(mig: Mig) -> str:
    """Return how nodes offer the partitions: as C(nvidia.com/gpu), or each profile under its own name."""
    return mig.get("strategy") or (MIXED if {"layout", "config"} & set(mig) else SINGLE)


def entries(mig: Mig, node: Node) -> list[Entry]:
    """Return the entries of the node's configuration. Raises GeometryError."""
    if node.gpu is not None and not node.gpu.mig_capable:
        raise GeometryError(
            "mig",
            f"{node.kind} has {node.gpu.model} GPUs, which cannot be partitioned.",
            "Use time_slicing or mps, or an instance type with A100, H100 or later.",
        )
    if "config" in mig:
        return [_custom(index, entry, node) for index, entry in enumerate(mig["config"])]
    return [{_DEVICES: ALL, _ENABLED: True, _PARTS: _layout(mig, node)}]


def resources(mig: Mig, node: Node) -> dict[str, int]:
    """Return what a node offers. Raises GeometryError."""
    cuts = _cuts(entries(mig, node), node)
    if strategy(mig) == MIXED:
        found = {GPU: cuts.count(None)} if None in cuts else {}
        for cut in cuts:
            for profile, number in (cut or {}).items():
                found[resource(profile)] = found.get(resource(profile), 0) + number
        return found
    if len({profile for cut in cuts for profile in cut or {"": 1}}) > 1:
        raise GeometryError(
            "mig.strategy",
            f"is single, but the GPUs of {node.kind} get partitions of several sizes.",
            "Set strategy: mixed, or cut all GPUs into partitions of one size.",
        )
    return {GPU: sum(number for cut in cuts for number in (cut or {"": 1}).values())}


def names(mig: Mig, found: t.Iterable[Entry]) -> set[str]:
    """Return the names of the devices that a configuration makes. found: its entries."""
    if strategy(mig) == SINGLE:
        return {GPU}
    parts = [entry[_PARTS] if entry[_ENABLED] else None for entry in found]
    return {name for cut in parts for name in (map(resource, cut) if cut else [GPU])}


def resource(profile: str) -> str:
    """Return the resource of a profile with the strategy mixed."""
    return PARTITION + profile.replace("+", ".")


def _cuts(found: t.Iterable[Entry], node: Node) -> list[Cut]:
    """Return the partitions of each GPU of the node; a later entry wins."""
    cuts: dict[int, Cut] = {}
    for entry in found:
        chosen = range(node.gpus) if entry[_DEVICES] == ALL else entry[_DEVICES]
        cuts |= dict.fromkeys(chosen, entry[_PARTS] if entry[_ENABLED] else None)
    lacking = [index for index in range(node.gpus) if index not in cuts]
    if lacking:
        raise GeometryError(
            "mig.config",
            f"no entry names GPU {lacking[0]} of {node.kind}, which has {node.gpus}.",
            "Give each GPU an entry; devices: all names all of them, and a later entry wins.",
        )
    return [cuts[index] for index in range(node.gpus)]


def _custom(index: int, entry: Mig, node: Node) -> Entry:
    """Return an entry of C(config) as mig-parted reads it."""
    where = f"mig.config[{index}]"
    chosen, parts = entry.get(_DEVICES), dict(entry.get(_PARTS) or {})
    is_list = isinstance(chosen, list) and bool(chosen)
    wrong = not is_list or any(
        not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < node.gpus
        for number in chosen or []
    )
    if chosen != ALL and wrong:
        raise GeometryError(
            f"{where}.{_DEVICES}",
            f"{chosen!r} is neither all nor a list of GPUs of {node.kind}, which has {node.gpus}.",
            f"Count from 0 to {node.gpus - 1}.",
        )
    is_cut = bool(entry.get(_ENABLED))
    if is_cut != bool(parts):
        raise GeometryError(
            f"{where}.{_PARTS}",
            "is required with mig-enabled: true, and only there.",
            "For example mig-devices: {1g.5gb: 7}.",
        )
    _check(parts, node, f"{where}.{_PARTS}")
    return {_DEVICES: chosen, _ENABLED: is_cut, **({_PARTS: parts} if is_cut else {})}


def _layout(mig: Mig, node: Node) -> dict[str, int]:
    """Return the partitions of each GPU, by profile."""
    if "slices" in mig:
        return _equal(mig["slices"], node)
    if "layout" in mig:
        _check(mig["layout"], node, "mig.layout")
        return dict(mig["layout"])
    profile = mig["profile"]
    if isinstance(profile, t.Mapping):
        if node.kind not in profile:
            raise GeometryError(
                "mig.profile",
                f"no profile is given for the candidate {node.kind}.",
                f"Add {node.kind}: one of {', '.join(node.gpu.profiles if node.gpu else ())}.",
            )
        profile = profile[node.kind]
    _known(profile, node, "mig.profile")
    most = {gpu.profiles[profile].most for gpu in _models(node, [profile])}
    if len(most) > 1:
        raise GeometryError(
            "mig.profile",
            f"some GPUs have {' and some '.join(map(str, sorted(most)))} partitions {profile}, and the model "
            f"of {node.kind} is not known.",
            "Use layout, which gives the number.",
        )
    return {profile: most.pop()}


def _equal(slices: int, node: Node) -> dict[str, int]:
    if node.gpu is None:
        raise GeometryError(
            "mig.slices",
            f"the GPU model of {node.kind} is not known, and so is the name of its profile.",
            "Use profile or layout.",
        )
    for name, profile in node.gpu.profiles.items():
        if profile.most == slices:
            return {name: slices}
    counts = sorted({profile.most for profile in node.gpu.profiles.values()})
    raise GeometryError(
        "mig.slices",
        f"{node.gpu.model} of {node.kind} cannot be cut into {slices} equal parts.",
        f"Possible: {', '.join(map(str, counts))}.",
    )


def _check(layout: t.Mapping[str, int], node: Node, where: str) -> None:
    """Raise GeometryError if no GPU of the node has these partitions together."""
    for name in layout:
        _known(name, node, f"{where}.{name}")
    problems = [_misfit(gpu, layout) for gpu in _models(node, layout)]
    if not problems or all(problems):
        text = ", ".join(f"{count} x {name}" for name, count in layout.items())
        why = problems[0] if problems else "no GPU has all of these profiles"
        model = f"{node.gpu.model} of {node.kind}" if node.gpu else f"GPU of {node.kind}"
        raise GeometryError(
            where,
            f"{text} does not fit on one {model}: {why}.",
            "Use fewer or smaller partitions.",
        )


def _known(profile: str, node: Node, where: str) -> None:
    """Raise GeometryError if the GPU of the node, or any GPU if its model is not known, lacks the profile."""
    if _models(node, [profile]):
        return
    if node.gpu is None:
        names = {name for gpu in GPUS.values() for name in gpu.profiles}
        message = f"this collection knows no GPU with a MIG profile {profile!r} (as of {MIG_AS_OF})."
    else:
        names = set(node.gpu.profiles)
        message = (
            f"{node.gpu.model} {node.gpu.memory_gib} GB of {node.kind} has no MIG profile {profile!r} "
            f"(NVIDIA's table of {MIG_AS_OF})."
        )
    raise GeometryError(
        where,
        message,
        f"Possible: {', '.join(sorted(names))}; or give slices, a fraction that fits every candidate.",
    )


def _models(node: Node, profiles: t.Iterable[str]) -> list[Gpu]:
    """Return the GPUs that the node may have, and that have all of these profiles."""
    models = [node.gpu] if node.gpu is not None else [model for model in GPUS.values() if model.mig_capable]
    wanted = list(profiles)
    return [gpu for gpu in models if all(name in gpu.profiles for name in wanted)]


def _slices(gpu: Gpu) -> tuple[int, int]:
    """Return the slices of compute and of memory of the whole GPU."""
    found = gpu.profiles.values()
    return max(profile.compute for profile in found), max(profile.memory for profile in found)


def _misfit(gpu: Gpu, layout: t.Mapping[str, int]) -> str:
    """Return why these partitions cannot be on one GPU together, or ""."""
    compute, memory = _slices(gpu)
    wanted = {name: gpu.profiles[name] for name in layout}
    needed = sum(profile.compute * layout[name] for name, profile in wanted.items())
    held = sum(profile.memory * layout[name] for name, profile in wanted.items())
    if needed > compute or held > memory:
        return f"it needs {needed} of {compute} compute and {held} of {memory} memory slices"
    for name, profile in wanted.items():
        if layout[name] > profile.most:
            return f"{profile.most} of {name} fit"
    if sum(layout[name] for name in layout if name.endswith((MEDIA, ALL_MEDIA))) > 1:
        return "one partition of a GPU can have the media engines"
    others = [name for name in layout if not name.endswith((ALL_MEDIA, NO_MEDIA))]
    if others and any(name.endswith(ALL_MEDIA) for name in layout):
        return f"a partition {ALL_MEDIA} takes all media engines, and {others[0]} needs one"
    parts = [profile for name, profile in wanted.items() for _number in range(layout[name])]
    if not _placed(sorted(parts, key=lambda profile: -profile.memory), frozenset(), compute, memory):
        return "no order of the partitions puts each at a slice where it can begin"
    return ""


def _placed(parts: t.Sequence[Profile], taken: frozenset[int], compute: int, memory: int) -> bool:
    """Return True if there is a place for each part.

    A part begins at a multiple of its memory slices, and its compute slices follow from there.
    """
    if not parts:
        return True
    first, *others = parts
    for start in range(0, memory - first.memory + 1, first.memory):
        place = frozenset(range(start, start + first.memory))
        is_free = start + first.compute <= compute and not place & taken
        if is_free and _placed(others, taken | place, compute, memory):
            return True
    return False
