# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices that `nvidia-smi -L` lists: one line for each GPU, and below it one for each of its MIG devices."""

from __future__ import annotations

import re
import typing as t

_LINE = re.compile(
    r"^[ \t]*(?P<kind>GPU|MIG)[ \t]+(?P<name>.+?)[ \t]*\(UUID:[ \t]*(?P<uuid>(?:GPU|MIG)-[0-9A-Za-z/-]+)\)",
    re.MULTILINE,
)
LIST = "nvidia-smi -L"
# The same in a Python program of ours, with its imports: it leaves the devices in `uuids`.
IN_PYTHON = """\
import os, re, subprocess, sys
listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
found = re.findall(r"(GPU|MIG) .*?UUID: ([^)]+)", listed)
uuids = [uuid for kind, uuid in found if kind == "MIG"] or [uuid for _, uuid in found]
"""


def uuids(log: str) -> list[str]:
    """Return the devices that the container could use: its MIG devices if it has any, else whole GPUs."""
    found = [(match["kind"], match["uuid"]) for match in _LINE.finditer(log)]
    parts = [uuid for kind, uuid in found if kind == "MIG"]
    return list(dict.fromkeys(parts or [uuid for _kind, uuid in found]))


def at(uuids: t.Sequence[str], number: int) -> str:
    """Return the UUID of the device with this number, an empty text if the list is shorter."""
    return uuids[number] if number < len(uuids) else ""
