# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""OperatorGroups: a namespace has at most one, which selects the target namespaces of its operators."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .settings import variable

OWN: t.Final = "OwnNamespace"
ALL: t.Final = "AllNamespaces"
MODES: t.Final = (OWN, ALL)


def mode(wanted: str | None, supported: t.Collection[str], package: str) -> str:
    """Return the wanted install mode, or the narrowest supported one. Raise OLM-INSTALL-MODE."""
    able = [one for one in MODES if one in supported] if supported else list(MODES)
    if wanted in able or (wanted is None and able):
        return wanted or able[0]
    listed = ", ".join(sorted(supported))
    asked = wanted or " or ".join(MODES)
    message = f"Package {package} does not support install mode {asked}; it supports {listed}."
    raise AcceleratorError(
        "OLM-INSTALL-MODE",
        message,
        f"Set install_mode to {able[0]}." if able else "Install this operator by hand.",
    )


def build(namespace: str, install_mode: str) -> KubeObject:
    """Return the OperatorGroup to apply."""
    spec = {"targetNamespaces": [namespace]} if install_mode == OWN else {}
    return {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OperatorGroup",
        "metadata": {"name": namespace, "namespace": namespace},
        "spec": spec,
    }


def suitable(
    groups: t.Sequence[KubeObject], namespace: str, install_mode: str | None, package: str
) -> KubeObject | None:
    """Return the namespace's OperatorGroup, or None if it has none.

    Raise OLM-GROUP if it has several or one with other targets: a second group would fail every CSV.
    """
    if not groups:
        return None
    if len(groups) > 1:
        listed = ", ".join(sorted(one["metadata"]["name"] for one in groups))
        message = (
            f"Namespace {namespace} has {len(groups)} OperatorGroups ({listed}); "
            "OLM fails every CSV in it (TooManyOperatorGroups)."
        )
        raise AcceleratorError(
            "OLM-GROUP",
            message,
            f"Delete all but one of them, or set {variable(package, 'namespace')} to another namespace.",
            [_line(one) for one in groups],
        )
    (group,) = groups
    held = targets(group)
    if install_mode in (None, OWN) and held == [namespace]:
        return group
    if install_mode in (None, ALL) and held == []:
        return group
    wanted = "all namespaces" if install_mode == ALL else f"namespace {namespace}"
    message = (
        f"OperatorGroup {group['metadata']['name']} in namespace {namespace} "
        f"targets {', '.join(held) or 'all namespaces'}, not {wanted}; a second group would fail every CSV."
    )
    remedy = (
        f"Change or delete that OperatorGroup, or set {variable(package, 'namespace')} to another namespace."
    )
    raise AcceleratorError("OLM-GROUP", message, remedy, [_line(group)])


def check_supported(group: KubeObject, supported: t.Collection[str], package: str) -> None:
    """Raise OLM-GROUP if the package does not support the group's targets (UnsupportedOperatorGroup)."""
    held = install_mode_of(group)
    if not supported or held in supported:
        return
    metadata = group["metadata"]
    message = (
        f"OperatorGroup {metadata['name']} in namespace {metadata['namespace']} "
        f"targets {', '.join(targets(group)) or 'all namespaces'} ({held}), "
        f"and {package} supports only {', '.join(sorted(supported))}; OLM would fail its CSV."
    )
    place = "openshift-operators, or to another namespace" if ALL in supported else "another namespace"
    remedy = f"Set {variable(package, 'namespace')} to {place}."
    raise AcceleratorError("OLM-GROUP", message, remedy, [_line(group)])


def targets(group: KubeObject) -> list[str]:
    """Return the target namespaces; an empty list means all. Those of a selector are in the status."""
    spec = group.get("spec") or {}
    if spec.get("selector"):
        return sorted(str(one) for one in (group.get("status") or {}).get("namespaces") or [] if one) or [
            "(selector)"
        ]
    return sorted(str(one) for one in spec.get("targetNamespaces") or [] if one)


def install_mode_of(group: KubeObject) -> str:
    """Return the install mode that a CSV must support in this group."""
    return OWN if targets(group) else ALL


def _line(group: KubeObject) -> str:
    return (
        f"OperatorGroup {group['metadata']['name']}: targets {', '.join(targets(group)) or 'all namespaces'}"
    )
