# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of bare metal: which a hostSelector matches, and which of them are free."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

Host = t.Mapping[str, t.Any]
_FREE: t.Final = ("available", "ready")
# A host leaves these states without help and becomes free.
_COMING: t.Final = ("registering", "match profile", "inspecting", "preparing", "deprovisioning")
_MOST_LINES: t.Final = 10


@dataclass(frozen=True)
class Supply:
    """Hosts that a selector matches, and how many are free.

    coming: hosts that become free without help. lines: why the others are not free.
    """

    matching: int
    free: int
    coming: int
    lines: tuple[str, ...]

    def summary(self, selector: Host) -> str:
        return (
            f"{self.free} of {self.matching} hosts that match {described(selector)} are "
            f"free{f', {self.coming} soon' if self.coming else ''}"
        )


def supply_of(hosts: t.Iterable[Host], selector: Host) -> Supply:
    """Return the supply of hosts for a hostSelector."""
    matching = [host for host in hosts if selects(selector, host)]
    why = {host["metadata"]["name"]: _obstacle(host) for host in matching}
    coming = sum(1 for text in why.values() if text in _COMING)
    lines = [f"host {name}: {text}" for name, text in sorted(why.items()) if text]
    return Supply(len(matching), len(matching) - len(lines), coming, tuple(lines[:_MOST_LINES]))


def selects(selector: Host, host: Host) -> bool:
    """Return whether a hostSelector matches a host, by the same rules as the machine provider."""
    labels = host["metadata"].get("labels") or {}
    exact = selector.get("matchLabels") or {}
    return exact.items() <= labels.items() and all(
        _fulfils(expression, labels) for expression in selector.get("matchExpressions") or []
    )


def described(selector: Host) -> str:
    """Return a hostSelector as text."""
    exact = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    more = [
        " ".join([expression["key"], str(expression["operator"]), *(expression.get("values") or [])])
        for expression in selector.get("matchExpressions") or []
    ]
    return ", ".join([*exact, *more]) or "any labels"


def _fulfils(expression: Host, labels: t.Mapping[str, str]) -> bool:
    key, operator, values = (
        expression["key"],
        str(expression["operator"]).lower(),
        expression.get("values") or [],
    )
    if operator in ("exists", "!", "doesnotexist"):
        return (key in labels) == (operator == "exists")
    return (labels.get(key) in values) == (operator in ("in", "=", "=="))


def _obstacle(host: Host) -> str:
    """Return why no Machine can take the host; empty if a Machine can."""
    spec, status = host.get("spec") or {}, host.get("status") or {}
    if spec.get("consumerRef"):
        return f"taken by {spec['consumerRef'].get('name', 'an unknown consumer')}"
    if spec.get("externallyProvisioned"):
        return "provisioned outside this cluster"
    if status.get("errorMessage"):
        return f"{status.get('errorType') or 'error'}: {' '.join(str(status['errorMessage']).split())}"
    if host["metadata"].get("deletionTimestamp"):
        return "being deleted"
    state = str((status.get("provisioning") or {}).get("state") or "")
    return "" if state in _FREE else state or "registering"
