# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The options that describe a pool's machines."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.names import name_fault
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import ArgumentSpec
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.registry import BY_KEY
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.platform_options import PATCH

JOINING: t.Final = ArgumentSpec(
    options={
        "capacity_timeout": {"type": "int", "default": 120},
        "approve_csrs": {"type": "bool", "default": False},
    }
)
MACHINES: t.Final = ArgumentSpec(
    options={
        "name": {"type": "str"},
        "pool": {"type": "dict"},
        "candidates": {"type": "list", "elements": "dict"},
        "instance_type": {"type": "str"},
        "zones": {"type": "list", "elements": "str"},
        "replicas": {"type": "int", "default": 1},
        "min_replicas": {"type": "int"},
        "mixed": {"type": "bool", "default": False},
        "reselect": {"type": "bool", "default": False},
        "labels": {"type": "dict", "default": {}},
        "taints": {"type": "list", "elements": "dict", "default": []},
        "accelerator": {"type": "str"},
        "disk": {"type": "dict", "default": {}},
        "market": {"type": "raw", "default": "on_demand"},
        **{key: {"type": "dict"} for key in (*BY_KEY, PATCH)},
        "image": {"type": "str"},
        "reference": {"type": "str"},
        "namespace": {"type": "str", "default": "openshift-machine-api"},
    },
    required_one_of=[["name", "pool"]],
    mutually_exclusive=[["candidates", "instance_type", "pool"], ["name", "pool"]],
    required_by={"zones": "instance_type"},
    required_if=[["state", "present", ["candidates", "instance_type", "pool"], True]],
).merge(JOINING)
# What a pool says of itself, so that the task's own word beside it would be lost.
_OF_A_POOL: t.Final = (
    "replicas",
    "min_replicas",
    "mixed",
    "labels",
    "taints",
    "accelerator",
    "disk",
    "market",
    *BY_KEY,
    PATCH,
)
_LEAST: t.Final = {"capacity_timeout": 0, "max_surge": 1}


def check(params: t.Mapping[str, t.Any], name: str) -> None:
    """What the table of options cannot refuse, and no description of a pool either. name: the pool's."""
    if params["state"] == "absent":
        if fault := name_fault(name):
            raise InputError("POOL-VALUE", f"The pool's name {name!r} {fault}.", "Give the name of a pool.")
        return
    for key, least in _LEAST.items():
        if params[key] < least:
            raise InputError(
                "INPUT-VALUE",
                f"{key} is {params[key]}, and the least is {least}.",
                f"Raise {key}, or leave it out.",
            )
    pool = params.get("pool")
    if not pool:
        return
    if lost := [key for key in _OF_A_POOL if params.get(key) != MACHINES.options[key].get("default")]:
        raise InputError(
            "POOL-CONFLICT",
            f"{', '.join(lost)} beside pool: a pool says this itself, and nothing here would be read.",
            "Say it in the pool.",
        )
    if pool.get("existing"):
        message = f"Pool {pool.get('name')} consists of existing nodes: there are no machine sets to make."
        raise InputError(
            "POOL-CONFLICT",
            message,
            "Leave the pool out of this task, or give it candidates instead of existing.",
        )
