# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases of operators and the releases of OpenShift that their makers support."""

from __future__ import annotations

import re
import typing as t

from .._catalogue import driver_branches, driver_modules
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject

# A minor release: major and minor number.
Release = tuple[int, int]
# The day on which the makers' bundles and support pages said so; what came out later is not in here.
AS_OF: t.Final = "2026-08-31"
# Package -> release of the operator -> first and last release of OpenShift.
SUPPORT: t.Final[dict[str, dict[Release, tuple[Release, Release]]]] = {
    "gpu-operator-certified": {
        (25, 10): ((4, 14), (4, 20)),
        (26, 3): ((4, 14), (4, 22)),
        (26, 7): ((4, 18), (4, 22)),
    },
    # NVIDIA's page ends at 4.20; the certified catalogues offer these two up to 4.22.
    "nvidia-network-operator": {(26, 4): ((4, 17), (4, 22)), (26, 7): ((4, 17), (4, 22))},
}
_VERSION: t.Final = re.compile(r"(\d+)\.(\d+)")


def release_of(text: str) -> Release | None:
    """Return major and minor of a version, or None for a text that has neither."""
    found = _VERSION.match(text.removeprefix("v"))
    return (int(found[1]), int(found[2])) if found else None


def span(package: str, version: str) -> tuple[Release, Release] | None:
    """Return the first and the last release of OpenShift for this version, or None if it is not known."""
    release = release_of(version)
    return SUPPORT.get(package, {}).get(release) if release else None


def write(release: Release) -> str:
    """Return the release as people write it: 4.22."""
    return f"{release[0]}.{release[1]}"


def cluster_release(cluster: KubeObject | None) -> Release | None:
    """Return the release of OpenShift that a ClusterVersion runs, or None."""
    history = ((cluster or {}).get("status") or {}).get("history") or []
    done = next((str(update["version"]) for update in history if update.get("state") == "Completed"), "")
    return release_of(done)


def check(package: str, csv: str, cluster: KubeObject | None, setting: str) -> str:
    """Return a warning about a CSV that is not yet known to support the cluster's release, or "".

    setting: what chooses the release, for the remedy.
    Raise AcceleratorError (OLM-SUPPORT) if the operator needs a newer release of OpenShift.
    """
    known, runs = span(package, csv.partition(".")[2]), cluster_release(cluster)
    if not known or not runs or known[0] <= runs <= known[1]:
        return ""
    first, last = map(write, known)
    is_newer = runs > known[1]
    error = AcceleratorError(
        "OLM-SUPPORT",
        csv=csv,
        first=first,
        last=last,
        date=AS_OF,
        release=write(runs),
        setting=setting,
        also=" Ask its maker whether it supports that release by now."
        if is_newer
        else " Nothing was changed.",
    )
    if is_newer:
        return error.message
    raise error


def refuse_driver(csv: str, models: t.Iterable[str]) -> None:
    """Raise AcceleratorError if the driver that this GPU operator brings no longer supports these GPUs."""
    branch = driver_modules.default_branch(release_of(csv.partition(".")[2]) or ())
    if wrong := driver_modules.outgrown(branch, models):
        option = driver_branches.as_option(driver_modules.LAST_FOR_OLD)
        raise AcceleratorError(
            "GPU-DRV-BRANCH",
            f"{csv} brings a driver of branch {branch}, and {wrong}. Nothing was changed.",
            f"Set driver of these pools in gpu_pools to {option}.",
        )
