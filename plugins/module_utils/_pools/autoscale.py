# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Check a pool that the autoscaler scales."""

from __future__ import annotations

import typing as t

from .._core.input import Problems
from .._platforms.registry import reports
from .._platforms.scale_from_zero import BOOKED, lacks_size
from .geometry import renames

# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]


def check(
    pool: Description, path: str, problems: Problems, limits: t.Collection[str] | None, cloud: str | None
) -> None:
    """Add the problems of a pool with autoscale.

    limits: accelerator labels with a GPU limit; None if missing limits can be added or are not known.
    cloud: the catalogue's name of the platform.
    """
    scale = pool.get("autoscale") or {}
    if "min" not in scale or "max" not in scale:
        return
    _bounds(pool, scale, path, problems)
    if scale["min"] == 0:
        _from_zero(pool, path, problems, cloud)
    label = pool.get("accelerator") or next((one.accelerator for one in pool.get("resolved", [])), None)
    if limits is not None and label and label not in limits:
        problems.add(
            "POOL-ACCELERATOR",
            f"{path}.accelerator",
            f"no GPU limit of the ClusterAutoscaler has type {label!r}: it would not count these nodes as "
            "GPU nodes.",
            f"Add {{type: {label}, min: 0, max: N}} to its resourceLimits.gpus, "
            f"or set accelerator to one of {', '.join(sorted(limits)) or 'those (there is none)'}.",
        )


def _bounds(pool: Description, scale: t.Mapping[str, int], path: str, problems: Problems) -> None:
    """Add a problem for bounds that contradict each other or another option."""
    where = f"{path}.autoscale"
    if scale["min"] > scale["max"]:
        problems.add(
            "POOL-CONFLICT",
            f"{where}.min",
            f"{scale['min']} is more than max {scale['max']}.",
            "Set min to at most max.",
        )
    if "min_replicas" in pool:
        problems.add(
            "POOL-CONFLICT",
            f"{path}.min_replicas",
            "cannot be combined with autoscale: its min says it.",
            "Remove min_replicas.",
        )
    if pool.get("mixed"):
        message = (
            "cannot be combined with mixed: the autoscaler would choose among the instance types by its "
            "own rules."
        )
        problems.add("POOL-CONFLICT", where, message, "Make a pool of each instance type, or remove mixed.")


def _from_zero(pool: Description, path: str, problems: Problems, cloud: str | None) -> None:
    """Add a problem for facts that the autoscaler needs about a node that does not exist yet."""
    where = f"{path}.autoscale.min"
    books = f"the autoscaler books only {BOOKED} for a node that does not exist yet"
    if not problems.at(f"{path}.sharing") and renames(pool.get("sharing") or {}):
        problems.add(
            "POOL-AUTOSCALE-ZERO",
            where,
            f"{books}; with renamed or mixed resources it would never scale up from 0.",
            "Set min to at least 1, or use sharing that keeps the name.",
        )
    for index, one in enumerate(pool.get("resolved", [])):
        if one.vendor != "nvidia":
            message = (
                f"{books}; the devices of {one.instance_type} have another name ({one.vendor}), so it "
                "would never scale up from 0."
            )
            problems.add("POOL-AUTOSCALE-ZERO", where, message, "Set min to at least 1.")
        elif missing := lacks_size(reports(cloud), one):
            keys = " and ".join(missing)
            message = (
                f"is required to scale up from 0: nothing on {cloud} tells the autoscaler what "
                f"{one.instance_type} is made of."
            )
            problems.add(
                "POOL-AUTOSCALE-ZERO",
                f"{path}.candidates[{index}].{missing[0]}",
                message,
                f"Set {keys} on the candidate, or min to at least 1.",
            )
