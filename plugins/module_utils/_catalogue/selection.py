# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Select instance types of a catalogue: by their names, by filters, and by how near they come to a wish."""

from __future__ import annotations

import typing as t

from .._core.errors import InputError
from .instance_types import BUILT_IN, Catalogue, InstanceType
from .query import known_model, nearest_to, read_wish

Options = t.Mapping[str, t.Any]

_MOST_NEAREST: t.Final = 5


def entries(names: list[str], options: Options, catalogue: Catalogue = BUILT_IN) -> list[dict[str, t.Any]]:
    """Return the named types, or all, that pass the options; the nearest ones first with option nearest.

    Raise InputError for an unknown name or a wrong option.
    """
    kinds = selected(names, options, catalogue)
    wish, most = options.get("nearest"), options.get("most")
    if most is not None and most < 1:
        raise InputError("INPUT-OPTION", f"most: {most} is out of range.", "Allowed: at least 1.")
    if wish is None:
        return [kind.to_dict() for kind in kinds[:most]]
    fits = nearest_to(read_wish(wish, catalogue.everything()), kinds)
    return [fit.to_dict() for fit in fits[: most or _MOST_NEAREST]]


def selected(names: list[str], options: Options, catalogue: Catalogue) -> list[InstanceType]:
    """Return the named types, or all in order, that pass every filter option."""
    cloud, model = options.get("platform"), options.get("gpu_model")
    wanted = (
        {**options, "gpu_model": known_model(model, catalogue.everything(), "gpu_model")}
        if model
        else options
    )
    kinds = (
        [kind for name in names for kind in named(name, cloud, catalogue)]
        if names
        else sorted(catalogue.everything(cloud), key=_order)
    )
    return [
        kind
        for kind in kinds
        if all(
            test(kind, wanted[option]) for option, test in _TESTS.items() if wanted.get(option) is not None
        )
    ]


def named(name: str, cloud: str | None, catalogue: Catalogue) -> list[InstanceType]:
    """Return the types with this name, one per cloud at most; raise InputError if there is none."""
    found = [
        kind for cloud in ([cloud] if cloud else catalogue.types) if (kind := catalogue.find(cloud, name))
    ]
    if not found:
        near = ", ".join(catalogue.nearest(name, cloud)) or "none is near"
        raise InputError(
            "POOL-INSTANCE-TYPE",
            remedy=f"Nearest: {near}. Describe a type that is newer than the catalogue with the option "
            "catalogue.",
            path="instance_type",
            name=name,
            what=f"not a known GPU instance type{f' on {cloud}' if cloud else ''}",
        )
    return found


def _order(kind: InstanceType) -> tuple[t.Any, ...]:
    return (kind.cloud, *kind.order)


_TESTS: t.Final[dict[str, t.Callable[[InstanceType, t.Any], bool]]] = {
    "vendor": lambda kind, value: kind.gpu.vendor == value,
    "gpu_model": lambda kind, value: kind.gpu.model == value,
    "gpus": lambda kind, value: kind.gpus == value,
    "min_gpus": lambda kind, value: kind.gpus >= value,
    "min_gpu_memory_gib": lambda kind, value: kind.gpu.memory_gib >= value,
    "min_gpu_memory_total_gib": lambda kind, value: kind.gpu_memory_gib >= value,
    "arch": lambda kind, value: kind.arch == value,
    "mig": lambda kind, value: kind.gpu.mig_capable == value,
    "rdma": lambda kind, value: kind.rdma == value,
    "confidential": lambda kind, value: kind.confidential == value,
    "fractional": lambda kind, value: (kind.share != "1") == value,
}
