# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""GPUs that are attached to a machine without GPUs: Google Cloud's N1."""

from __future__ import annotations

import re
import typing as t

from .._catalogue.instance_types import Catalogue
from .._core.input import Problems

# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]
_N1: t.Final = re.compile(r"(n1|custom)-\S+")


def full_name(candidate: Description) -> str:
    """Return the catalogue's name of the machine with the GPUs of gcp.gpus."""
    name, gpus = str(candidate.get("instance_type") or ""), _gpus(candidate)
    if _N1.fullmatch(name) and "+" not in name and gpus.get("type"):
        return f"{name}+{gpus['type']}:{gpus.get('count') or 1}"
    return name


def refuse(
    candidate: Description, cloud: str | None, path: str, catalogue: Catalogue, problems: Problems
) -> bool:
    """Add the problem of an N1 machine with no or wrong GPUs. Return True if it is an N1 machine."""
    name = full_name(candidate)
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
        remedy = "Attach some: gcp: {gpus: {type: nvidia-tesla-t4, count: 1}}."
        problems.add("POOL-GPUS", where, f"{machine} has no GPU of its own.", remedy)
    elif accelerator in offers:
        counts = map(str, sorted(offers[accelerator]))
        problems.add(
            "POOL-GPUS",
            where,
            f"{count} {accelerator} cannot be attached to {machine}.",
            f"Allowed: {', '.join(counts)}.",
        )
    else:
        problems.add(
            "POOL-GPUS",
            where,
            f"{accelerator} cannot be attached to a machine.",
            f"Allowed: {', '.join(sorted(offers))}.",
        )
    return True


def conflict(candidate: Description, path: str, problems: Problems) -> None:
    """Add a problem if the name of the instance type and gcp.gpus attach different GPUs."""
    gpus, attached = _gpus(candidate), str(candidate.get("instance_type") or "").partition("+")[2]
    if attached and gpus and attached != f"{gpus.get('type')}:{gpus.get('count') or 1}":
        problems.add(
            "POOL-CONFLICT",
            f"{path}.gcp.gpus",
            f"the name of the instance type attaches {attached} already.",
            "Keep one of them.",
        )


def _gpus(candidate: Description) -> Description:
    return ((candidate.get("gcp") or {}).get("gpus")) or {}
