# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The GPU limits of the cluster's only ClusterAutoscaler: read them, and find who manages them."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._core.ownership import MANAGER

NAME: t.Final = "default"
# Key of a label or annotation -> the manager of the object.
_MANAGERS: t.Final = {
    "argocd.argoproj.io/tracking-id": "Argo CD",
    "argocd.argoproj.io/instance": "Argo CD",
    "kustomize.toolkit.fluxcd.io/name": "Flux",
    "helm.toolkit.fluxcd.io/name": "Flux",
    "meta.helm.sh/release-name": "Helm",
}


def limits(live: KubeObject) -> list[dict[str, t.Any]]:
    """Return the limits of a ClusterAutoscaler, each with type, min and max."""
    return list(((live.get("spec") or {}).get("resourceLimits") or {}).get("gpus") or [])


def manager(live: KubeObject) -> str:
    """Return the other manager that would revert a change of the limits, or ""."""
    metadata = live["metadata"]
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    if named := next((name for key, name in _MANAGERS.items() if key in marks), ""):
        return named
    for entry in metadata.get("managedFields") or ():
        fields = (entry.get("fieldsV1") or {}).get("f:spec", {}).get("f:resourceLimits", {})
        if entry.get("operation") == "Apply" and entry.get("manager") != MANAGER and "f:gpus" in fields:
            return str(entry["manager"])
    return ""


def fixed_types(live: KubeObject | None) -> list[str] | None:
    """Return the types of the limits if another manager has them, or None if limits can be added."""
    return [one["type"] for one in limits(live)] if live is not None and manager(live) else None
