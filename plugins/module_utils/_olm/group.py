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
    able = [mode_name for mode_name in MODES if mode_name in supported] if supported else list(MODES)
    if wanted in able or (wanted is None and able):
        return wanted or able[0]
    raise AcceleratorError(
        "OLM-INSTALL-MODE",
        package=package,
        mode=wanted or " or ".join(MODES),
        modes=", ".join(sorted(supported)),
        remedy="" if able else "Install this operator by hand.",
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
        listed = ", ".join(sorted(group["metadata"]["name"] for group in groups))
        why = f"there are {len(groups)} ({listed}), and OLM fails every CSV there (TooManyOperatorGroups)"
        raise _unsuitable(groups, package, namespace, why)
    (group,) = groups
    held = targets(group)
    if install_mode in (None, OWN) and held == [namespace]:
        return group
    if install_mode in (None, ALL) and held == []:
        return group
    wanted = "all namespaces" if install_mode == ALL else f"namespace {namespace}"
    why = f"{_line(group)}, not {wanted}; a second group would fail every CSV"
    raise _unsuitable(groups, package, namespace, why)


def check_supported(group: KubeObject, supported: t.Collection[str], package: str) -> None:
    """Raise OLM-GROUP if the package does not support the group's targets (UnsupportedOperatorGroup)."""
    held = install_mode_of(group)
    if not supported or held in supported:
        return
    able = ", ".join(sorted(supported))
    why = f"{_line(group)} ({held}), and the package supports only {able}; OLM would fail its CSV"
    place = "openshift-operators, or to another namespace" if ALL in supported else "another namespace"
    raise _unsuitable([group], package, group["metadata"]["namespace"], why, place)


def _unsuitable(
    groups: t.Iterable[KubeObject], package: str, namespace: str, why: str, place: str = "another namespace"
) -> AcceleratorError:
    return AcceleratorError(
        "OLM-GROUP",
        package=package,
        namespace=namespace,
        why=why,
        place=place,
        setting=variable(package, "namespace"),
        evidence=[_line(group) for group in groups],
    )


def targets(group: KubeObject) -> list[str]:
    """Return the target namespaces; an empty list means all. Those of a selector are in the status."""
    spec = group.get("spec") or {}
    if spec.get("selector"):
        return sorted(str(name) for name in (group.get("status") or {}).get("namespaces") or [] if name) or [
            "(selector)"
        ]
    return sorted(str(name) for name in spec.get("targetNamespaces") or [] if name)


def install_mode_of(group: KubeObject) -> str:
    """Return the install mode that a CSV must support in this group."""
    return OWN if targets(group) else ALL


def _line(group: KubeObject) -> str:
    return (
        f"OperatorGroup {group['metadata']['name']}: targets {', '.join(targets(group)) or 'all namespaces'}"
    )
