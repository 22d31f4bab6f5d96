# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Twelve steps of the driver stack's modules, each on the result of the one before.

The objects go with the cluster.
"""

from __future__ import annotations

import typing as t

import pytest
from integration.twelve_steps import Case, Walks, task

SCENARIO: t.Final = "aws"

# The later modules need these objects; only the first of their tasks changes something.
NFD_OPERATOR = task("olm_operator", name="nfd", namespace="openshift-nfd")
GPU_OPERATOR = task("olm_operator", name="gpu-operator-certified", namespace="nvidia-gpu-operator")
NODES = task("gpu_machineset", name="it-chain", instance_type="g4dn.xlarge", zones=["us-east-2b"], replicas=1)
LABELS = task("nfd_labels")
CHAIN = {"node_selector": {"accelerators.openshift/pool": "it-chain"}}
STACK = {"pools": [CHAIN | {"name": "it-chain", "expected": {"nvidia.com/gpu": 1}}]}
RULES = [
    {
        "name": "it-rule",
        "rules": [
            {
                "name": "it",
                "labels": {"example.com/it": "true"},
                "matchFeatures": [{"feature": "cpu.model", "matchExpressions": {}}],
            }
        ],
    }
]

CASES = [
    Case(
        "gpu_workload",
        before=[NFD_OPERATOR, LABELS, NODES, GPU_OPERATOR, task("special_resource", **STACK)],
        create=CHAIN | {"namespace": "it-validation"},
        modify=CHAIN | {"namespace": "it-validation", "benchmark": "nvidia_smi"},
        delete={"namespace": "it-validation", "state": "absent"},
    ),
    Case(
        "special_resource",
        before=[NFD_OPERATOR, LABELS, NODES, GPU_OPERATOR, task("special_resource", state="absent")],
        create=STACK,
        modify=STACK | {"mig": {"strategy": "mixed"}},
        delete={"state": "absent"},
    ),
    Case(
        "nfd_labels",
        before=[NFD_OPERATOR, task("nfd_labels", state="absent")],
        create={"rules": []},
        modify={"rules": RULES},
        delete={"state": "absent"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module)
def test_twelve_steps(case: Case, walks: Walks) -> None:
    walks.check(case)
