# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources that an operator owns."""

from __future__ import annotations

from .._core.objects import KubeObject


def owned_kinds(csv: KubeObject) -> list[tuple[str, str, str]]:
    """Return (API version, kind, plural) of each custom resource that the operator owns."""
    found = []
    for crd in ((csv.get("spec") or {}).get("customresourcedefinitions") or {}).get("owned") or []:
        plural, _dot, group = str(crd["name"]).partition(".")
        found.append((f"{group}/{crd['version']}", str(crd["kind"]), plural))
    return found
