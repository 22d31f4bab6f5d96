# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operands that still run images of the release before: the new operator has not brought its own to them."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, name
from .._olm.busy import env


def left_behind(before: KubeObject | None, after: KubeObject | None) -> frozenset[str]:
    """Return the images that only the older of two CSVs of an operator names for its operands."""
    return _images(before) - _images(after) if before and after else frozenset()


def late(
    old: t.Collection[str], workloads: t.Iterable[KubeObject], owners: t.Iterable[KubeObject]
) -> list[str]:
    """Return the names of DaemonSets and Deployments whose template has one of the old images, sorted.

    owners: custom resources that may name an image themselves; the operator then keeps that one.
    """
    outdated = set(old) - {one for owner in owners for one in chosen(owner.get("spec"))}
    return sorted(name(one) for one in workloads if outdated & _templated(one))


def _images(csv: KubeObject | None) -> frozenset[str]:
    return frozenset(value for key, value in env(csv).items() if key.endswith("IMAGE") and value)


def _templated(workload: KubeObject) -> set[str]:
    spec = ((workload.get("spec") or {}).get("template") or {}).get("spec") or {}
    containers = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
    return {str(one.get("image")) for one in containers}


def chosen(part: t.Any) -> t.Iterator[str]:
    """Yield the images that a spec names by repository, image and version, at any depth."""
    if isinstance(part, list):
        for one in part:
            yield from chosen(one)
    if not isinstance(part, dict):
        return
    version = str(part.get("version") or "")
    if part.get("image") and version:
        path = "/".join(str(one) for one in (part.get("repository"), part["image"]) if one)
        yield f"{path}{'@' if version.startswith('sha256:') else ':'}{version}"
    for one in part.values():
        yield from chosen(one)
