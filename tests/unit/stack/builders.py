# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A GPU stack that is ready, and what tests change in it."""

from __future__ import annotations

import copy
import typing as t
from pathlib import Path

import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import (
    StackParams,
    StackPool,
)

Data = dict[str, t.Any]


Snapshot = dict[str, list[Data]]


FIXTURE = yaml.safe_load((Path(__file__).parents[1] / "fixtures/stack_ready.yml").read_text())


POOL: t.Final = t.cast(
    StackPool,
    {
        "name": "training",
        "node_selector": {"accelerators.openshift/pool": "training"},
        "replicas": 1,
        "expected": {"nvidia.com/gpu": 4},
    },
)


OTHER: t.Final = t.cast(
    StackPool,
    {
        "name": "other",
        "node_selector": {"accelerators.openshift/pool": "other"},
        "replicas": 1,
        "expected": {"nvidia.com/gpu": 4},
    },
)


NINE, TEN = "2026-11-21T21:03:00Z", "2026-11-21T22:00:00Z"


def some_params(**given: t.Any) -> StackParams:
    """Return parameters of special_resource. given: those that a test is about."""
    usual = {
        "backend": "clusterpolicy",
        "state": "present",
        "name": "gpu-cluster-policy",
        "namespace": "nvidia-gpu-operator",
        "pools": [],
        "tolerations": [],
        "spec": {},
        "adopt": "report",
        "remove_labels": False,
        "on_busy": "fail",
        "grace": 60.0,
        "slow_grace": given.get("grace", 60.0),
        "node_timeout": 600,
    }
    return StackParams(**(usual | given))


def node(seen: Snapshot) -> Data:
    return seen["nodes"][0]


def pod(seen: Snapshot, prefix: str) -> Data:
    return next(one for one in seen["pods"] if one["metadata"]["name"].startswith(prefix))


def unready(one: Data, since: str = NINE) -> None:
    one["status"]["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": since}]


def table(seen: Snapshot, *pools: StackPool) -> dict[str, Data]:
    return {
        one["name"]: one
        for one in clusterpolicy_result.summarize(seen, "gpu-cluster-policy", list(pools) or [POOL])["stages"]
    }


def verdicts(found: dict[str, Data]) -> dict[str, str]:
    return {name: stage["verdict"] for name, stage in found.items() if stage["verdict"] != "ready"}


def second_node(seen: Snapshot, pool: str = "other") -> Data:
    """Another node that runs everything, in a pool of its own."""
    other = copy.deepcopy(node(seen))
    other["metadata"]["name"] = "gpu-1"
    other["metadata"]["labels"]["accelerators.openshift/pool"] = pool
    seen["nodes"].append(other)
    for one in list(seen["pods"]):
        twin = copy.deepcopy(one)
        twin["metadata"]["name"] += "-twin"
        twin["spec"]["nodeName"] = "gpu-1"
        seen["pods"].append(twin)
    return other
