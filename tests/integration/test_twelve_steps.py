# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every module's twelve steps: create, again, modify, again, delete, again; each in check mode and for real; both ways."""

from __future__ import annotations

import typing as t

import pytest
from integration.playbook import Playbook
from integration.twelve_steps import Case, Walks, task
from integration.wire import Audit

Data = dict[str, t.Any]


def manifest(kind: str, name: str, api_version: str = "v1", **more: t.Any) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


SPACE = manifest("Namespace", "it-{way}-objects")
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "it-{way}-objects"}}
CLASS = manifest("PriorityClass", "it-{way}-high", "scheduling.k8s.io/v1", value=1000)
SRIOV = {"name": "sriov-network-operator", "namespace": "it-{way}-sriov", "channel": "stable"}
QUOTA = {"namespace": "it-{way}-quota", "create_namespace": True}
POOL = {"name": "it-{way}-pool", "instance_type": "g4dn.xlarge", "zones": ["us-east-2a"], "replicas": 1}

SCALED = {"name": "it-{way}-scaled", "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}], "accelerator": "it-{way}-gpu"}

# What the later modules stand on; made once, found unchanged after that.
NFD_OPERATOR = task("olm_operator", name="nfd", namespace="openshift-nfd")
GPU_OPERATOR = task("olm_operator", name="gpu-operator-certified", namespace="nvidia-gpu-operator")
NODES = task("gpu_machineset", name="it-chain", instance_type="g4dn.xlarge", zones=["us-east-2b"], replicas=1)
LABELS = task("nfd_labels")
CHAIN = {"node_selector": {"accelerators.openshift/pool": "it-chain"}}
STACK = {"pools": [CHAIN | {"name": "it-chain", "expected": {"nvidia.com/gpu": 1}}]}
RULES = [
    {"name": "it-rule", "rules": [{"name": "it", "labels": {"example.com/it": "true"}, "matchFeatures": [{"feature": "cpu.model", "matchExpressions": {}}]}]}
]

CASES = [
    Case(
        "gpu_quota",
        create=QUOTA | {"gpus": 2, "prove": True},
        modify=QUOTA | {"hard": {"requests.nvidia.com/gpu": 4, "requests.cpu": "1000m"}},
        delete={"namespace": "it-{way}-quota", "state": "absent"},
        varies=frozenset({"warnings"}),  # whether a GPU node is there yet
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
        varies=frozenset({"diff"}),  # OLM writes names and uids of its own into it
    ),
    Case(
        "gpu_machineset",
        create=POOL,
        modify=POOL | {"replicas": 2},
        delete={"name": "it-{way}-pool", "state": "absent"},
        varies=frozenset({"diff", "foreseen"}),  # they name the nodes that are drained
    ),
    Case(
        "gpu_autoscaler",
        before=[task("gpu_machineset", pool=SCALED | {"autoscale": {"min": 0, "max": 2}})],
        create={"pools": [SCALED | {"autoscale": {"min": 0, "max": 2}}]},
        modify={"pools": [SCALED | {"autoscale": {"min": 0, "max": 4}}]},
        delete={"pools": [SCALED], "state": "absent"},
    ),
    Case(
        "gpu_workload",
        before=[NFD_OPERATOR, LABELS, NODES, GPU_OPERATOR, task("special_resource", **STACK)],
        create=CHAIN | {"namespace": "it-{way}-validation"},
        modify=CHAIN | {"namespace": "it-{way}-validation", "benchmark": "nvidia_smi"},
        delete={"namespace": "it-{way}-validation", "state": "absent"},
        varies=frozenset({"diff"}),  # it holds a time and what was measured
    ),
    Case(
        "special_resource",
        before=[NFD_OPERATOR, LABELS, NODES, GPU_OPERATOR, task("special_resource", state="absent")],
        create=STACK,
        modify=STACK | {"mig": {"strategy": "mixed"}},
        delete={"state": "absent"},
        varies=frozenset({"driver_version"}),  # read from labels that outlive the stack for a while
    ),
    Case(
        "nfd_labels",
        before=[NFD_OPERATOR, task("nfd_labels", state="absent")],
        create={"rules": []},
        modify={"rules": RULES},
        delete={"state": "absent"},
    ),
]


@pytest.fixture(scope="module")
def walks(playbook: Playbook, audit: Audit) -> Walks:
    return Walks(playbook, audit)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module)
def test_twelve_steps(case: Case, in_process: bool, walks: Walks) -> None:
    walks.check(case, in_process)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module)
def test_both_ways_say_the_same(case: Case, walks: Walks) -> None:
    walks.compare(case)
