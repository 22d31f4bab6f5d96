# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Credentials that a process has read before it forks: its workers use them for as long as the files that they are from stay the same."""

from __future__ import annotations

import os
import typing as t

Fields = t.Mapping[str, t.Any]
State = tuple[tuple[int, ...], ...]

_kept: list[tuple[Fields, tuple[str, ...], State, t.Any]] = []


def keep(wanted: Fields, files: t.Iterable[str], opening: t.Callable[[], t.Any]) -> None:
    """files: what the opening will read. It is done after their state was taken."""
    paths = tuple(map(os.path.abspath, files))
    state = _state(paths)
    _kept[:] = [(dict(wanted), paths, state, opening())]


def kept(wanted: Fields) -> t.Any:
    """What was opened for the very same options; None when there is nothing, or not any more."""
    for options, paths, state, opened in _kept:
        if options == wanted and _state(paths) == state:
            return opened
    return None


def _state(paths: t.Iterable[str]) -> State:
    """A file that is replaced or written to has another one; one that is gone has none."""
    found: list[tuple[int, ...]] = []
    for path in paths:
        try:
            facts = os.stat(path)
            found.append((facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns))
        except OSError:
            found.append(())
    return tuple(found)
