# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The options that describe a pool's machines."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._argspec import ArgumentSpec
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import BY_KEY
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_platform import PATCH

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
        "capacity_timeout": {"type": "int", "default": 120},
        "approve_csrs": {"type": "bool", "default": False},
    },
    required_one_of=[["name", "pool"]],
    mutually_exclusive=[["candidates", "instance_type", "pool"], ["name", "pool"]],
    required_by={"zones": "instance_type"},
    required_if=[["state", "present", ["candidates", "instance_type", "pool"], True]],
)
