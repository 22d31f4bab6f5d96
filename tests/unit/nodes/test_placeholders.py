# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Placeholder pods hold devices, and neither a drain nor a validation waits for them."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.placeholders import is_placeholder
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import obstacles, options

LABEL: t.Final = {"accelerators.openshift/spare": "training"}
NODE: t.Final = {"metadata": {"name": "n", "labels": {}}, "status": {"allocatable": {"nvidia.com/gpu": "2"}}}


def pod(labels: dict[str, str], priority: int | None) -> KubeObject:
    resources = {"limits": {"nvidia.com/gpu": "1"}}
    spec = {"nodeName": "n", "priority": priority, "containers": [{"name": "c", "resources": resources}]}
    return {"metadata": {"name": "p", "namespace": "x", "labels": labels}, "spec": spec}


@pytest.mark.parametrize(
    ("labels", "priority", "is_one"),
    [(LABEL, -10, True), (LABEL, 0, False), (LABEL, None, False), ({}, -10, False)],
)
def test_only_the_label_and_a_negative_priority_make_one(
    labels: dict[str, str], priority: int | None, is_one: bool
) -> None:
    found = pod(labels, priority)
    assert is_placeholder(found) is is_one
    assert (drain.busy([found]) == []) is is_one


def test_a_drain_evicts_it_like_a_pod_without_devices() -> None:
    assert drain.leaving([pod(LABEL, -10)]) == [pod(LABEL, -10)]


def test_its_devices_are_free_for_a_validation() -> None:
    params = options.GpuWorkloadParams.of({"wait_timeout": 60})
    found = obstacles.held_by_others(NODE, [pod(LABEL, -10)], params)
    assert obstacles.busy([NODE], {"n": found}, params) == {}
    found = obstacles.held_by_others(NODE, [pod({}, 0)], params)
    assert "held by x/p (1)" in obstacles.busy([NODE], {"n": found}, params)["n"]
