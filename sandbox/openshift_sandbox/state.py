# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sandbox remembers: its ports and processes, in one JSON file that several processes may change."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import typing as t
from pathlib import Path

Data = dict[str, t.Any]

FILE: t.Final = "state.json"


class State:
    """state.json of one sandbox directory. Every change locks the file and reads it again."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self) -> Data:
        """Return the whole state."""
        try:
            state: Data = json.loads((self._directory / FILE).read_text())
        except FileNotFoundError:
            return {"processes": {}, "ports": {}}
        return state

    @contextlib.contextmanager
    def change(self) -> t.Iterator[Data]:
        """Lock the file, yield the state, and write it back."""
        with (self._directory / "state.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self.read()
            yield state
            draft = self._directory / f"{FILE}.new"
            draft.write_text(json.dumps(state, indent=2) + "\n")
            os.replace(draft, self._directory / FILE)

    def get(self, key: str, default: t.Any = None) -> t.Any:
        """Return one value of the state."""
        return self.read().get(key, default)

    def set(self, **values: t.Any) -> None:
        """Change values of the state."""
        with self.change() as state:
            state.update(values)
