# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Twelve steps of the modules that need no other: create, again, modify, again, delete, again."""

from __future__ import annotations

import typing as t

import pytest
from integration.twelve_steps import Case, Walks, comparable, task

Data = dict[str, t.Any]


def manifest(kind: str, name: str, api_version: str = "v1", **more: t.Any) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


SPACE = manifest("Namespace", "it-objects")
MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "it-objects"},
}
CLASS = manifest("PriorityClass", "it-high", "scheduling.k8s.io/v1", value=1000)
SRIOV = {"name": "sriov-network-operator", "namespace": "it-sriov", "channel": "stable"}
QUOTA = {"namespace": "it-quota"}
POOL = {"name": "it-pool", "instance_type": "g4dn.xlarge", "zones": ["us-east-2a"], "replicas": 1}

SHARED: t.Final = {"namespace": "default", "config_map": "it-shared"}
APART: t.Final = {"spare_namespace": "it-spare"}
TUNED = {"name": "it-tuned"}
NETWORK = {"name": "it-network", "kind": "macvlan", "namespaces": ["it-network"]}
SCALED = {
    "name": "it-scaled",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "accelerator": "it-gpu",
}

CASES = [
    Case(
        "gpu_quota",
        before=[task("manifests", objects=[manifest("Namespace", "it-quota")])],
        create=QUOTA | {"gpus": 2, "prove": True},
        modify=QUOTA | {"hard": {"requests.nvidia.com/gpu": 4, "requests.cpu": "1000m"}},
        delete={"namespace": "it-quota", "state": "absent"},
    ),
    Case(
        "manifests",
        create={"objects": [MAP | {"data": {"a": "1"}}, CLASS, SPACE]},
        modify={"objects": [MAP | {"data": {"a": "2"}}, CLASS, SPACE]},
        delete={"objects": [MAP, CLASS, SPACE], "state": "absent"},
    ),
    Case(
        "olm_operator",
        create=SRIOV,
        modify=SRIOV | {"channel": "4.22"},
        delete=SRIOV | {"state": "absent"},
    ),
    Case(
        "gpu_machineset",
        create=POOL,
        modify=POOL | {"replicas": 2},
        delete={"name": "it-pool", "state": "absent"},
    ),
    Case(
        "node_tuning",
        create={"pools": [TUNED | {"tuning": {"profile": "accelerator"}}]},
        modify={"pools": [TUNED | {"tuning": {"profile": "accelerator", "sysctl": {"vm.swappiness": 1}}}]},
        delete={"pools": [TUNED], "state": "absent"},
    ),
    Case(
        "gpu_sharing",
        create={**SHARED, "pools": [{"name": "it-shared", "sharing": {"time_slicing": {"replicas": 4}}}]},
        modify={**SHARED, "pools": [{"name": "it-shared", "sharing": {"mps": {"replicas": 4}}}]},
        delete={**SHARED, "pools": [{"name": "it-shared"}], "state": "absent"},
    ),
    Case(
        "gpu_network",
        before=[task("manifests", objects=[manifest("Namespace", "it-network")])],
        create={"networks": [NETWORK | {"macvlan": {"mode": "bridge"}}]},
        modify={"networks": [NETWORK | {"macvlan": {"mode": "private"}}]},
        delete={"networks": [NETWORK], "state": "absent"},
    ),
    Case(
        "gpu_admission",
        create={**APART, "pools": [{"name": "it-apart", "spare": 1}]},
        modify={**APART, "pools": [{"name": "it-apart", "spare": 2}]},
        delete={**APART, "pools": [{"name": "it-apart"}], "state": "absent"},
    ),
    Case(
        "gpu_machineset",
        create={"pool": SCALED | {"autoscale": {"min": 0, "max": 2}, "health": True}},
        modify={"pool": SCALED | {"autoscale": {"min": 0, "max": 4}, "health": {"paused": True}}},
        delete={"pool": SCALED, "state": "absent"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module)
def test_twelve_steps(case: Case, walks: Walks) -> None:
    walks.check(case)


def test_an_ordinary_module_returns_the_same(walks: Walks) -> None:
    """It is the same code in another process."""
    quota = CASES[0]
    inside, outside = ([one.result for one in walks.check(quota, way)] for way in (True, False))
    assert comparable(inside) == comparable(outside)
