# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Baselines: the first figures of each node, with which later runs compare theirs.

A baseline holds for a program, an image, a driver and a geometry; with another one the figures begin anew.
"""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass, field

from .._core.objects import KubeObject, name
from . import fingerprints
from .programs.program import Figure, Settings

NAME: t.Final = "gpu-validation-baselines"
JsonObject = dict[str, t.Any]


def identity(node: KubeObject, settings: Settings) -> str:
    """Return what a baseline holds for, beside its program."""
    return f"image={settings.image or 'own'} {fingerprints.hardware(node)}"


@dataclass
class Baselines:
    """The stored baselines. memory: the ConfigMaps, node -> JSON. changed: nodes with a new baseline."""

    memory: fingerprints.Memory
    changed: dict[str, str] = field(default_factory=dict)

    def figure(self, node: KubeObject, settings: Settings, figure: Figure) -> float | None:
        """Return the stored figure of this node, program and device; None without one that still holds."""
        entry = self._read(name(node)).get(settings.label) or {}
        if entry.get("of") != identity(node, settings):
            return None
        number = (entry.get("figures") or {}).get(_key(figure))
        return float(number) if isinstance(number, int | float) else None

    def add(self, node: KubeObject, settings: Settings, figures: t.Sequence[Figure]) -> None:
        """Store the figures that have no baseline yet. The first one stays: a slow fall is seen too."""
        entries = self._read(name(node))
        before = entries.get(settings.label) or {}
        holds = before.get("of") == identity(node, settings)
        kept = (before.get("figures") or {}) if holds else {}
        new = {_key(one): round(one.value, 3) for one in figures if _key(one) not in kept}
        if not new:
            return
        entries[settings.label] = {"of": identity(node, settings), "figures": {**kept, **new}}
        self.changed[name(node)] = json.dumps(entries, sort_keys=True)

    def build(self, namespace: str, existing: t.Collection[str]) -> list[KubeObject]:
        """Return the ConfigMaps to write, none if nothing changed. existing: names of all nodes."""
        if not self.changed:
            return []
        data = {key: value for key, value in self.memory.data.items() if key in existing}
        return fingerprints.maps(NAME, namespace, {**data, **self.changed}, self.memory)

    def _read(self, node: str) -> JsonObject:
        text = self.changed.get(node) or self.memory.data.get(node) or "{}"
        try:
            found = json.loads(text)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def _key(figure: Figure) -> str:
    return f"{figure.name} {figure.device}".strip()
