# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the files of the collection's roles and playbooks before a run asks for them.

Ansible parses each of them in each run, and copies the result for each use: a quarter of the processor time
of a play. A run tells here what it loaded. The process from which all runs are forked then parses that, once
for each use in a run, and the next run takes it away. A file that has changed is parsed by the run.
"""

from __future__ import annotations

import contextlib
import json
import os
import typing as t
from dataclasses import dataclass, field
from pathlib import Path

from ansible.parsing.dataloader import DataLoader

HERE: t.Final = f"{Path(__file__).resolve().parents[3]}{os.sep}"


@dataclass
class _Parsed:
    """What was made of one file, once for each use. stamp: which content of the file."""

    stamp: tuple[int, ...]
    uses: list[t.Any] = field(default_factory=list)


class Files:
    """The parsed files of all runs, by the arguments with which a run loads them."""

    def __init__(self) -> None:
        self._parse = DataLoader.load_from_file
        self._parsed: dict[tuple[t.Any, ...], _Parsed] = {}
        self._told, self._tell = os.pipe()
        for end in (self._told, self._tell):
            os.set_blocking(end, False)

    def share(self) -> None:
        """Let Ansible ask here first."""
        files = self

        def load_from_file(
            self: DataLoader, file_name: str, cache: str = "all", unsafe: bool = False, **how: bool
        ) -> t.Any:
            path = self.path_dwim(file_name)
            if path.startswith(HERE) and (found := files.take(path, how)) is not None:
                return found
            return files._parse(self, file_name, cache, unsafe, **how)

        DataLoader.load_from_file = load_from_file

    def take(self, path: str, how: dict[str, bool]) -> t.Any:
        """Return what was made of a file; None where that was not done, so that the next run has it."""
        parsed = self._parsed.get(_key(path, how))
        if parsed and parsed.uses and parsed.stamp == _stamp(path):
            return parsed.uses.pop()
        # A full pipe: the next run has it later.
        with contextlib.suppress(BlockingIOError):
            os.write(self._tell, f"{json.dumps([path, how])}\n".encode())
        return None

    def fill(self) -> None:
        """Parse what runs had to parse themselves. Call this where the next run is forked."""
        told = b""
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self._told, 1 << 16):
                told += part
        for line in told.splitlines():
            path, how = json.loads(line)
            # The run said what is wrong with the file.
            with contextlib.suppress(Exception):
                self._add(path, how)

    def _add(self, path: str, how: dict[str, bool]) -> None:
        stamp = _stamp(path)
        parsed = self._parsed.get(_key(path, how))
        if not parsed or parsed.stamp != stamp:
            parsed = self._parsed[_key(path, how)] = _Parsed(stamp)
        parsed.uses.append(self._parse(DataLoader(), path, "none", True, **how))


def _key(path: str, how: dict[str, bool]) -> tuple[t.Any, ...]:
    return path, *sorted(how.items())


def _stamp(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns
