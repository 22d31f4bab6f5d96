# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The MIG manager's file of configurations: the lines of this collection in it, beside those of others."""

from __future__ import annotations

import json
import re
import typing as t

from .._core.errors import AcceleratorError
from . import mig_name
from .partitions import Entry

# The key of the ConfigMap that the MIG manager reads.
KEY: t.Final = "config.yaml"
WHOLE: t.Final = "all-disabled"
# The end of each line that this collection wrote.
_MARK: t.Final = "  # accelerators.openshift"
_HEAD: t.Final = re.compile(r"^mig-configs:\s*(#.*)?$")
_ENTRY: t.Final = re.compile(r"""^(\s+)["']?([^\s"':#]+)["']?\s*:""")
_OWN_FILE: t.Final = (
    "version: v1\n"
    "mig-configs:\n"
    f'  {WHOLE}: [{{"devices": "all", "mig-enabled": false}}]\n'
    '  all-enabled: [{"devices": "all", "mig-enabled": true, "mig-devices": {}}]\n'
)
_WHOLE: t.Final[list[Entry]] = [{"devices": "all", "mig-enabled": False}]
_USUAL: t.Final = "  "


def ours(text: str) -> dict[str, list[Entry]]:
    """Return the configurations that this collection wrote."""
    found = {}
    for line in text.splitlines():
        if line.endswith(_MARK) and (entry := _ENTRY.match(line)) and entry[2] != WHOLE:
            found[entry[2]] = json.loads(line.removesuffix(_MARK).partition(": ")[2])
    return found


def theirs(text: str) -> set[str]:
    """Return the names of the configurations of others."""
    lines = _theirs(text)
    place = next((index for index, line in enumerate(lines) if _HEAD.match(line)), len(lines))
    below = lines[place + 1 :]
    inset = _inset(below)
    found = (_ENTRY.match(line) for line in below)
    return {match[2] for match in found if match is not None and match[1] == inset}


def has_others(text: str) -> bool:
    """Return True if the file has more than what this collection writes into a file of its own."""
    return bool(text) and "\n".join(_theirs(text)).strip() != _OWN_FILE.strip()


def written(text: str, wanted: t.Mapping[str, t.Sequence[Entry]], object_name: str) -> str:
    """Return the file with these configurations in place of those that this collection wrote before.

    text: the file as it is, empty if there is none. object_name: the ConfigMap's, for messages. Raises
    AcceleratorError if the place for them cannot be found.
    """
    lines = _theirs(text or _OWN_FILE)
    place = next((index for index, line in enumerate(lines) if _HEAD.match(line)), None)
    if place is None:
        if not wanted:
            return text
        raise AcceleratorError("GPU-MIG-FILE", config_map=object_name)
    inset, taken = _inset(lines[place + 1 :]), theirs(text or _OWN_FILE)
    # A node gets whole GPUs by this name.
    wanted = {**wanted, WHOLE: _WHOLE} if wanted else wanted
    own = [
        f"{inset}{name}: {mig_name.text(entries)}{_MARK}"
        for name, entries in sorted(wanted.items())
        if name not in taken
    ]
    return "\n".join([*lines[: place + 1], *own, *lines[place + 1 :]]) + "\n"


def _theirs(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.endswith(_MARK)]


def _inset(lines: t.Iterable[str]) -> str:
    found = (_ENTRY.match(line) for line in lines)
    return next((match[1] for match in found if match is not None), _USUAL)
