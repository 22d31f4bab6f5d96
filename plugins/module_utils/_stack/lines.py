# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is shown of the stack while it comes up: one line a node, which changes only when something did."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.node import short

_OFFERED: t.Final = ("GPU-ALLOC", "GPU-MIG-RUNNING")


def one_line_each(parts: t.Iterable[Readiness]) -> tuple[str, ...]:
    """For each node the first thing that is wrong, since causes come first, and the devices that it lacks."""
    causes: dict[str, str] = {}
    devices: dict[str, str] = {}
    for part in parts:
        for line in part.details:
            name, _colon, phrase = line.partition(": ")
            (devices if part.code in _OFFERED else causes).setdefault(name, phrase)
    names = list(dict.fromkeys([*causes, *devices]))
    return tuple(
        f"{short(name)}: {'; '.join(_phrases(causes.get(name), devices.get(name)))}" for name in names
    )


def _phrases(cause: str | None, device: str | None) -> t.Iterator[str]:
    if cause:
        yield cause
    if device:
        yield device.removeprefix("offers ")
