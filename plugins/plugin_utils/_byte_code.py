# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""Byte code of our own files is kept from run to run, as Ansible has it kept for its action plugins and for itself.

Ansible's loader of collections compiles what it imports, in every run and again in every worker that imports something: 30 ms of a short playbook. Python's own
loader does that once, keeps the result in `__pycache__` where it may write, and compiles anew what has changed. Nothing else differs.
"""

from __future__ import annotations

import sys
import typing as t
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader

_PLUGINS = __name__.rpartition(".plugin_utils.")[0]
_OURS = (f"{_PLUGINS}.module_utils.", f"{_PLUGINS}.modules.")


class _Finder:
    """Asked before Ansible's; knows the files of this collection's packages, and nothing of anybody else."""

    def __init__(self) -> None:
        self._folders: dict[str, FileFinder] = {}

    def find_spec(self, name: str, path: t.Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        if not path or not name.startswith(_OURS):
            return None
        folder = path[0]
        if folder not in self._folders:
            self._folders[folder] = FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))
        found = self._folders[folder].find_spec(name)
        return found if found and found.loader else None


def keep() -> None:
    """From now on, for what has not been imported yet."""
    if not any(isinstance(one, _Finder) for one in sys.meta_path):
        sys.meta_path.insert(0, t.cast(t.Any, _Finder()))
