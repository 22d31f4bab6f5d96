# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a wish for GPUs (C(8x H100 80GB)) and names of models (C(Tesla-T4)), and sort instance types by it."""

from __future__ import annotations

import difflib
import math
import re
import typing as t
from dataclasses import dataclass

from .._core.errors import InputError
from .instance_types import InstanceType

_SHARE: t.Final = re.compile(r"^1\s*/\s*(\d+)\s+(?:of\s+)?(?:an?\s+)?")
_COUNT: t.Final = re.compile(r"^(\d+)\s*x\s*|^(\d+)\s+(?!g(?:i?b)?\b)(?=\S)")
_MEMORY: t.Final = re.compile(r"(?<![a-z0-9])(\d+)\s*g(?:i?b)?\b")
_LINKS: t.Final = {
    "nvlink": True,
    "sxm": True,
    "sxm2": True,
    "sxm3": True,
    "sxm4": True,
    "sxm5": True,
    "sxm6": True,
    "pcie": False,
}
_FILLERS: t.Final = ("gpu", "gpus", "with", "each")
_MAKERS: t.Final = re.compile(r"\b(nvidia|tesla|amd|intel)\b")
# A wish has the vendor's GB; the number of GiB is up to 7 % lower.
_AS_SOLD: t.Final = 0.93


@dataclass(frozen=True)
class Wish:
    """A wish for GPUs; a field has its default if the text lacks it. nvlink: False is PCIe.

    count: number of GPUs or shares. memory_gib: memory of one GPU.
    """

    count: int = 0
    model: str = ""
    memory_gib: int = 0
    share: str = "1"
    nvlink: bool | None = None


@dataclass(frozen=True)
class Fit:
    """How well an instance type meets a wish.

    meets: it has everything that the wish asks for. differs: what it has less or more. nodes: how many
    nodes of this type meet the wish.
    """

    kind: InstanceType
    meets: bool
    differs: tuple[str, ...]
    nodes: int

    def to_dict(self) -> dict[str, t.Any]:
        return {
            **self.kind.to_dict(),
            "meets": self.meets,
            "differs": list(self.differs),
            "nodes": self.nodes,
        }


def read_wish(text: str, kinds: t.Sequence[InstanceType]) -> Wish:
    """Return the wish in a text. kinds: the types whose models are known. Raises InputError."""
    rest = text.lower().replace("\N{MULTIPLICATION SIGN}", "x").strip()
    share, count, memory = "1", 0, 0
    if found := _SHARE.match(rest):
        share, rest = f"1/{found[1]}", rest[found.end() :]
    elif found := _COUNT.match(rest):
        count, rest = int(found[1] or found[2]), rest[found.end() :]
        if not count:
            raise _unreadable(text)
    if found := _MEMORY.search(rest):
        memory, rest = int(found[1]), f"{rest[: found.start()]} {rest[found.end() :]}"
    words = [word for word in re.split(r"[\s,_-]+", rest) if word and word not in _FILLERS]
    nvlink = next((_LINKS[word] for word in words if word in _LINKS), None)
    words = [word for word in words if word not in _LINKS]
    if len(words) > 1 and not memory and words[-1].isdigit() and model_named(" ".join(words), kinds) is None:
        memory = int(words.pop())
    if not (words or memory or count) or (words and all(word.isdigit() for word in words)):
        raise _unreadable(text)
    return Wish(
        count,
        known_model(" ".join(words), kinds, f"the wish {text!r}") if words else "",
        memory,
        share,
        nvlink,
    )


def _unreadable(text: str) -> InputError:
    return InputError("INPUT-WISH", wish=repr(text))


def nearest_to(wish: Wish, kinds: t.Iterable[InstanceType]) -> list[Fit]:
    """Return the types, the best first. Compare the model first, then share, memory, NVLink and number."""
    kinds = list(kinds)
    least = wish.memory_gib or min(
        (kind.gpu.memory_gib for kind in kinds if kind.gpu.model == wish.model and not kind.gpu.part),
        default=0,
    )
    return [
        _fit(wish, kind)
        for kind in sorted(kinds, key=lambda kind: (_distance(wish, kind, least), kind.order))
    ]


def _distance(wish: Wish, kind: InstanceType, least: int) -> tuple[float, ...]:
    count = wish.count or 1
    return (
        kind.gpu.vendor != "nvidia" and kind.gpu.model != wish.model,
        _other_model(wish, kind),
        kind.share != wish.share,
        max(0.0, least * _AS_SOLD - kind.gpu.memory_gib),
        0 if wish.nvlink in (None, kind.nvlink) else 1 if kind.nvlink is None else 2,
        math.ceil(count / kind.gpus),
        abs(kind.gpus - count),
        abs(kind.gpu.memory_gib - least),
    )


def _other_model(wish: Wish, kind: InstanceType) -> int:
    """Return 0 for the wished model, 1 for a variant of it (H100 and H100-NVL), 2 for another model."""
    if not wish.model or kind.gpu.model == wish.model:
        return 0
    return 1 if kind.gpu.model.split("-")[0] == wish.model.split("-")[0] else 2


def _fit(wish: Wish, kind: InstanceType) -> Fit:
    count = wish.count or 1
    short = []
    if wish.model and kind.gpu.model != wish.model:
        short.append(f"{kind.gpu.model} instead of {wish.model}")
    if kind.share != wish.share:
        short.append("a whole GPU" if kind.share == "1" else f"{kind.share} of a GPU")
    if kind.gpu.memory_gib < wish.memory_gib * _AS_SOLD:
        short.append(f"{kind.gpu.memory_gib} GiB instead of {wish.memory_gib}")
    if wish.nvlink is not None and kind.nvlink != wish.nvlink:
        short.append("NVLink not known" if kind.nvlink is None else "NVLink" if kind.nvlink else "no NVLink")
    if kind.gpus < count:
        short.append(f"{_gpus(count - kind.gpus)} fewer")
    more = [f"{_gpus(kind.gpus - count)} more"] if kind.gpus > count else []
    return Fit(kind, not short, (*short, *more), math.ceil(count / kind.gpus))


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def plain(name: str) -> str:
    """Return the name of a model in lower case, without maker and punctuation."""
    return re.sub(r"[^a-z0-9]", "", _MAKERS.sub("", name.lower()))


def model_named(name: str, kinds: t.Iterable[InstanceType]) -> str | None:
    """Return the model with this name among the models of these types, or None."""
    wanted = plain(name)
    return (
        next((kind.gpu.model for kind in kinds if plain(kind.gpu.model) == wanted), None) if wanted else None
    )


def near_models(name: str, kinds: t.Iterable[InstanceType], most: int = 3) -> list[str]:
    """Return at most C(most) models of these types with a similar name, the best first."""
    models = {plain(kind.gpu.model): kind.gpu.model for kind in kinds}
    return [
        models[match] for match in difflib.get_close_matches(plain(name), sorted(models), n=most, cutoff=0.4)
    ]


def known_model(name: str, kinds: t.Sequence[InstanceType], option: str) -> str:
    """Return the model with this name. Raises InputError if none of the types has it."""
    model = model_named(name, kinds)
    if model is None:
        near = near_models(name, kinds)
        offered = (
            f"Did you mean {' or '.join(near)}?"
            if near
            else f"Known: {', '.join(sorted({kind.gpu.model for kind in kinds}))}."
        )
        raise InputError("INPUT-GPU-MODEL", option=option, name=repr(name), also=f"{offered} ")
    return model
