# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A disruption budget keeps a node of one pool from its reboot: the other pool gets its GPUs."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.troubles.demo import QUICK
from integration.tuning.kept_pod import budget
from integration.tuning.two_pools import assert_that_inference_is_validated, failed_stack, pool

pytestmark = [
    pytest.mark.long("a drain has 90 seconds; unit/stack tests the same"),
]

SCENARIO: t.Final = "node-tuning"
# A wait for the pool that was given up would take all of this.
PATIENT: t.Final = {**QUICK, "node_tuning_wait_timeout": 90, "gpu_operator_wait_timeout": 500}


def test_no_later_role_waits_for_the_node_that_is_kept(cluster: Cluster, playbook: Playbook) -> None:
    with budget(cluster):
        run = playbook.playbook("enable_gpus", gpu_pools=[pool("training"), pool("inference")], **PATIENT)
    assert run.rc != 0
    said = str(run.failure.result.get("msg"))
    assert said.startswith("REBOOT-DRAIN: 1 of 2 pools are not ready. training: ")
    assert "default/keeper" in said
    stack = failed_stack(run)
    assert stack["code"] == "GPU-NODE-UPDATING"
    assert "not ready after" not in stack["msg"]
    assert_that_inference_is_validated(run)
