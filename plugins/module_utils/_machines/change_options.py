# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The options that say what may happen to nodes that exist."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import ArgumentSpec

DRAIN: t.Final = ArgumentSpec(
    options={
        "on_busy": {"type": "str", "choices": ["fail", "drain", "wait"], "default": "fail"},
        "delete_emptydir": {"type": "bool", "default": False},
        "force": {"type": "bool", "default": False},
    }
)
CHANGES: t.Final = ArgumentSpec(
    options={
        "on_change": {
            "type": "str",
            "choices": ["report", "new_machines", "replace"],
            "default": "new_machines",
        },
        "max_surge": {"type": "int", "default": 1},
    }
).merge(DRAIN)
