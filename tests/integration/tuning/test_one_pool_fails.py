# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One of two pools whose nodes reboot has a degraded node: the other pool gets its GPUs in the same run."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.troubles.demo import QUICK
from integration.tuning.two_pools import assert_that_inference_is_validated, failed_stack, pool

from openshift_sandbox import faults

pytestmark = [
    pytest.mark.long("a node may be degraded for two minutes; unit/tuning/tuned tests the same"),
]

SCENARIO: t.Final = "node-tuning"


def test_the_other_pool_is_tuned_and_validated(cluster: Cluster, playbook: Playbook) -> None:
    faults.add(cluster.needs_sandbox(), "node_degraded", {"node": "gpu-0", "reason": "no space left"})
    run = playbook.playbook("enable_gpus", gpu_pools=[pool("training"), pool("inference")], **QUICK)
    assert run.rc != 0
    said = str(run.failure.result.get("msg"))
    assert said.startswith("REBOOT-DEGRADED: 1 of 2 pools are not ready. training: ")
    assert "Node gpu-0 is degraded in the rollout of gpu-training" in said
    profiles = cluster.client.list("tuned.openshift.io/v1", "profiles")
    active = {one["metadata"]["name"]: one["status"]["tunedProfile"] for one in profiles}
    assert active["gpu-2"] == "gpu-inference"
    assert active["gpu-0"] != "gpu-training"
    assert "not ready after" not in failed_stack(run)["msg"]
    assert_that_inference_is_validated(run)
