# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a repair on its node, so that the next run goes on where a killed one ended."""

from __future__ import annotations

import json
import typing as t

from .._core.objects import KubeObject
from .._nodes import cordons

KEY: t.Final = "accelerators.openshift/repair"


class Record(t.NamedTuple):
    """What a run wrote before it asked for the reboot.

    boot: the boot id at that time. expected: the devices of the node. asked: when the reboot was asked for,
    in epoch seconds. xids: number and device. failed: the node was as broken after the reboot.
    """

    boot: str
    expected: dict[str, int]
    asked: int
    xids: tuple[tuple[int, str], ...] = ()
    failed: bool = False

    def text(self) -> str:
        """Return the value of the annotation."""
        return json.dumps(self._asdict(), sort_keys=True)

    def body(self) -> dict[str, t.Any]:
        """Return the merge patch that writes the record."""
        return {"metadata": {"annotations": {KEY: self.text()}}}


def read(node: KubeObject) -> Record | None:
    """Return the record on the node; None if there is none that can be read."""
    try:
        found = json.loads((node["metadata"].get("annotations") or {}).get(KEY, ""))
        return Record(
            str(found["boot"]),
            {str(key): int(number) for key, number in found["expected"].items()},
            int(found["asked"]),
            tuple((int(number), str(device)) for number, device in found["xids"]),
            bool(found["failed"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def boot_of(node: KubeObject) -> str:
    """Return the id of the node's boot, which each start of its kernel makes anew."""
    return str(((node.get("status") or {}).get("nodeInfo") or {}).get("bootID") or "")


def is_cordoned_here(node: KubeObject) -> bool:
    """Return True if a repair cordoned the node."""
    return cordons.is_for(node, cordons.FOR_REPAIR)


def ended(node: KubeObject, is_held: bool = False) -> dict[str, t.Any]:
    """Return the merge patch that removes the record, and uncordons what a repair cordoned.

    is_held: somebody else keeps the node cordoned.
    """
    notes: dict[str, None] = {KEY: None}
    if not is_cordoned_here(node):
        return {"metadata": {"annotations": notes}}
    notes |= cordons.REMOVED
    body: dict[str, t.Any] = {"metadata": {"annotations": notes}}
    return body if is_held else {**body, "spec": {"unschedulable": None}}
