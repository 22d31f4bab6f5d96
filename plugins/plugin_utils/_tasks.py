# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""Where a task stands: in which file's play, step and tags, and whether a rescue handles its failure."""

from __future__ import annotations

import typing as t


def playbook_of(task: t.Any) -> str:
    """Return the path of the playbook that the task belongs to, or an empty text."""
    play = _play_of(task)
    return "" if play is None else str(play.get_path() or "").rpartition(":")[0]


def tags_beside(task: t.Any) -> frozenset[str]:
    """Return the tags of all tasks of the task's play. A task that the run includes later has none yet."""
    play = _play_of(task)
    parts = [] if play is None else list(play.compile())
    found: set[str] = set()
    while parts:
        part = parts.pop()
        found.update(part.tags)
        for section in ("block", "rescue", "always"):
            parts += getattr(part, section, ())
    return frozenset(found)


def _play_of(task: t.Any) -> t.Any:
    part = task
    while part is not None and getattr(part, "_play", None) is None:
        part = getattr(part, "_parent", None)
    return part and part._play


def is_rescued(task: t.Any) -> bool:
    """Return whether the task stands in a block that has a rescue, and not in the rescue itself."""
    child, parent = task, getattr(task, "_parent", None)
    while parent is not None:
        if getattr(parent, "rescue", None) and any(one._uuid == child._uuid for one in parent.block):
            return True
        child, parent = parent, getattr(parent, "_parent", None)
    return False


def step_of(task: t.Any) -> tuple[str, str]:
    """Return key and name of the outermost role or file that the playbook includes, or else of the task."""
    step, role, parent = task, getattr(task, "_role", None), getattr(task, "_parent", None)
    while parent is not None:
        # A block is no step, and neither is a file that is only imported, or that a role includes.
        action = str(getattr(parent, "action", "")).rpartition(".")[2]
        if action.endswith("_role") or (action == "include_tasks" and getattr(parent, "_role", None) is None):
            step = parent
        parent = getattr(parent, "_parent", None)
    if step is task and role is not None:
        return str(role), f"Role {role.get_name().rpartition('.')[2]}"
    # The name of a task may begin with its file.
    return str(step._uuid), str(step.name or step.get_name()).rpartition(" | ")[2]
