# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that several modules about machines share: how to drain nodes, and how new nodes join."""

from __future__ import annotations

import typing as t

from .._frame.argspec import ArgumentSpec

DRAIN: t.Final = ArgumentSpec(
    options={
        "on_busy": {"type": "str", "choices": ["fail", "drain", "wait"], "default": "fail"},
        "delete_emptydir": {"type": "bool", "default": False},
        "evict_unmanaged": {"type": "bool", "default": False},
    }
)
JOINING: t.Final = ArgumentSpec(
    options={
        "capacity_timeout": {"type": "int", "default": 120},
        "approve_csrs": {"type": "bool", "default": False},
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


class DrainParams(t.TypedDict):
    """The options of `DRAIN`."""

    on_busy: t.Literal["fail", "drain", "wait"]
    delete_emptydir: bool
    evict_unmanaged: bool


class JoiningParams(t.TypedDict):
    """The options of `JOINING`. capacity_timeout: seconds for which a provider may refuse an instance."""

    capacity_timeout: int
    approve_csrs: bool


class ChangeParams(DrainParams):
    """The options of `CHANGES`. max_surge: number of machines beyond the replicas during a replacement."""

    on_change: t.Literal["report", "new_machines", "replace"]
    max_surge: int
