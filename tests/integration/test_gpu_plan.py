# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_plan on a cluster: one read and no write; a misspelt option in both ways to run a module."""

from __future__ import annotations

import pytest
from integration.playbook import Playbook
from integration.wire import Audit

GOOD = {
    "name": "a",
    "candidates": [{"instance_type": "g4dn.12xlarge", "zones": ["us-east-2a"]}],
    "replicas": 2,
    "quota": [{"namespace": "team-a", "gpus": 8}],
}


def test_a_good_list(playbook: Playbook, audit: Audit) -> None:
    task = playbook.module("gpu_plan", pools=[GOOD])
    assert [pool["expected"] for pool in task["plan"]["pools"]] == [{"nvidia.com/gpu": 4}]
    assert task["plan"]["quotas"][0]["hard"] == {"requests.nvidia.com/gpu": "8"}
    assert task.changed is False
    if audit.log is not None:
        assert [(one.verb, one.resource) for one in audit.of(task)] == [
            ("get", "infrastructures.config.openshift.io")
        ]


@pytest.mark.parametrize("in_process", [True, False])
def test_a_misspelt_option(playbook: Playbook, in_process: bool) -> None:
    run = playbook.tasks({"accelerators.openshift.gpu_plan": {"pool": []}}, in_process=in_process)
    assert run.failure["code"] == "INPUT-OPTION"
    assert "pool (did you mean pools?)" in run.failure["msg"]
