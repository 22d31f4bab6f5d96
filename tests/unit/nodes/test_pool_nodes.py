# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told to do about too few nodes of a pool, and about a node that offers too few devices."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import (
    judge_devices,
    judge_size,
)


@pytest.mark.parametrize(
    ("marks", "remedy"),
    [
        ({}, "Run `oc get pods -A --field-selector spec.nodeName=a`, and read the log of the device plugin."),
        (
            {"nvidia.com/device-plugin.config": "gpu-infer"},
            "Run `oc delete pod -n nvidia-gpu-operator -l 'app in "
            "(nvidia-device-plugin-daemonset,gpu-feature-discovery)' --field-selector spec.nodeName=a`: the "
            "device plugin reads its profile when it starts. Pods that run do not end, except those that "
            "share by MPS. If that does not help, read its log.",
        ),
    ],
)
def test_a_node_whose_plugin_reads_a_profile_has_a_remedy_of_its_own(
    marks: dict[str, str], remedy: str
) -> None:
    node = {
        "metadata": {"name": "a", "labels": {"pool": "infer", **marks}},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": {"nvidia.com/gpu": "1"},
        },
    }
    pool = {"name": "infer", "node_selector": {"pool": "infer"}, "expected": {"nvidia.com/gpu": 4}}
    (found,) = judge_devices([node], pool)
    assert (found.code, found.remedy) == ("GPU-ALLOC", remedy)


@pytest.mark.parametrize(
    ("label", "remedy"),
    [
        (
            "accelerators.openshift/pool",
            ", and check the pool's Machines: `oc get machines -n openshift-machine-api`.",
        ),
        ("gpu-pool", ", and add nodes with this label with the tool that makes them."),
    ],
)
def test_only_a_pool_of_the_collection_has_machines(label: str, remedy: str) -> None:
    found = judge_size([], {"name": "infer", "node_selector": {label: "infer"}, "min_nodes": 1})
    assert (found.code, found.remedy) == ("GPU-NODES", f"Run `oc get nodes -l {label}=infer`{remedy}")
