# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""An object that somebody else made: who keeps it, how it differs from what was asked, and what a failure owes to that."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.other_manager import other_manager
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGER

Data = dict[str, t.Any]
OPTION: t.Final[Data] = {"adopt": {"type": "str", "choices": ["report", "take"], "default": "report"}}


class Foreign(t.NamedTuple):
    """What is told of an object that is not ours. differs: maps with path, asked and live."""

    title: str
    manager: str
    differs: list[Data]

    @property
    def warning(self) -> str:
        """One sentence, empty when it is as asked."""
        if not self.differs:
            return ""
        paths = [one["path"] for one in self.differs]
        shown = ", ".join(paths[:4]) + (f" and {len(paths) - 4} more" if len(paths) > 4 else "")
        return f"{self.title} was made by {self.manager} and is left as it is (adopt: report); it differs from what is asked in {shown}."

    def blame(self, error: AcceleratorError, causes: t.Mapping[str, t.Sequence[str]]) -> None:
        """A failure that a difference explains gets the remedy that ends it. causes: start of a code -> starts of paths."""
        starts = tuple(
            path for code, paths in causes.items() if error.code.startswith(code) for path in paths
        )
        guilty = [one for one in self.differs if starts and one["path"].startswith(starts)]
        error.evidence += [
            f"{one['path']}: {one['live']!r} (asked: {one['asked']!r})" for one in self.differs[:10]
        ]
        if guilty:
            paths = ", ".join(one["path"] for one in guilty)
            error.remedy = f"Set adopt: take, so that {paths} of {self.title} becomes what is asked, or have {self.manager} change it."


def foreign(live: Data, wanted: t.Mapping[str, t.Any], title: str) -> Foreign:
    held = live.get("spec") or {}
    return Foreign(title, keeper(live), list(_leaves(difference(wanted, held), held, "spec")))


def difference(wanted: t.Mapping[str, t.Any], live: t.Mapping[str, t.Any]) -> Data:
    """The merge patch of only what is wanted and not so."""
    changes: Data = {}
    for key, value in wanted.items():
        there = live.get(key)
        if isinstance(value, dict):
            inner = difference(value, there if isinstance(there, dict) else {})
            if inner:
                changes[key] = inner
        elif value != there:
            changes[key] = value
    return changes


def _leaves(changes: Data, live: t.Mapping[str, t.Any], path: str) -> t.Iterator[Data]:
    for key, value in changes.items():
        there, here = live.get(key), f"{path}.{key}"
        if isinstance(value, dict):
            yield from _leaves(value, there if isinstance(there, dict) else {}, here)
        else:
            yield {"path": here, "asked": value, "live": there}


def keeper(live: Data) -> str:
    """The tool that looks after it, else the last client that wrote it otherwise than as a status."""
    if tool := other_manager(live):
        return tool
    entries = (live.get("metadata") or {}).get("managedFields") or []
    writers = [
        entry
        for entry in entries
        if entry.get("manager") not in (None, MANAGER) and not entry.get("subresource")
    ]
    last = max(writers, key=lambda entry: str(entry.get("time") or ""), default=None)
    return f"somebody else (field manager {last['manager']})" if last else "somebody else"
