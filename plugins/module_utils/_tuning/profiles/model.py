# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a shipped profile is made of: settings of TuneD, and settings that reboot nodes."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

ANY: t.Final = ("amd64", "arm64")


@dataclass(frozen=True)
class Setting:
    """A setting that TuneD makes on a running node.

    section, key, value: as in a TuneD profile. A value that begins with C(>) only raises what is there.
    does: what it is good for. hardware: on which nodes. source: who recommends it.
    """

    section: str
    key: str
    value: str
    does: str
    hardware: str
    source: str


@dataclass(frozen=True)
class Argument:
    """A kernel argument that the profile advises. A node reboots for it."""

    text: str
    does: str
    hardware: str
    source: str


@dataclass(frozen=True)
class Profile:
    """A profile that the collection ships.

    base: its settings come first; this profile replaces those with the same section and key.
    architectures: of the nodes that it is for. arguments, isolates, huge_pages: what it advises, and what
    reboots nodes; only `reboot: planned` brings it into effect. isolates: CPUs of pods and system are apart.
    huge_pages: size and count.
    """

    name: str
    summary: str
    own: tuple[Setting, ...]
    base: Profile | None = None
    architectures: tuple[str, ...] = ANY
    arguments: tuple[Argument, ...] = ()
    isolates: bool = False
    huge_pages: tuple[tuple[str, int], ...] = ()

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Return all settings, those of the base too, each section and key once."""
        before = self.base.settings if self.base else ()
        found = {(one.section, one.key): one for one in (*before, *self.own)}
        return tuple(found.values())
