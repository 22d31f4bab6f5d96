# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Find GPU models by the names that people write: C(H100 NVL), C(rtx pro 6000), C(Tesla-T4)."""

from __future__ import annotations

import difflib
import re
import typing as t

from .._core.errors import InputError
from .types import InstanceType

_MAKERS: t.Final = re.compile(r"\b(nvidia|tesla|amd|intel)\b")


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
        raise InputError(
            "INPUT-GPU-MODEL",
            f"{option}: no instance type of the catalogue has GPUs called {name!r}.",
            f"Did you mean {' or '.join(near)}?"
            if near
            else f"Known: {', '.join(sorted({kind.gpu.model for kind in kinds}))}.",
        )
    return model
