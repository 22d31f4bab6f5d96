# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_plan on a cluster: the same result or error in both ways to run it, one read and no write."""

from __future__ import annotations

import typing as t

import pytest
from integration.playbook import Playbook, TaskResult
from integration.wire import Audit

GOOD = {
    "name": "a",
    "candidates": [{"instance_type": "g4dn.12xlarge", "zones": ["us-east-2a"]}],
    "replicas": 2,
    "quota": [{"namespace": "team-a", "gpus": 8}],
}
BAD = [{**GOOD, "replica": 2}, {**GOOD, "name": "B"}]


def both(playbook: Playbook, pools: list[t.Any]) -> list[TaskResult]:
    tasks = {"accelerators.openshift.gpu_plan": {"pools": pools}, "ignore_errors": True}
    return [playbook.tasks(tasks, in_process=in_process).tasks[-1] for in_process in (True, False)]


def test_a_good_list_both_ways(playbook: Playbook, audit: Audit) -> None:
    here, there = both(playbook, [GOOD])
    assert here["plan"] == there["plan"]
    assert [pool["expected"] for pool in here["plan"]["pools"]] == [{"nvidia.com/gpu": 4}]
    assert here["plan"]["quotas"][0]["hard"] == {"requests.nvidia.com/gpu": "8"}
    for task in (here, there):
        assert task.changed is False
        if audit.log is not None:
            assert [(one.verb, one.resource) for one in audit.of(task)] == [
                ("get", "infrastructures.config.openshift.io")
            ]


def test_a_bad_list_both_ways_and_not_one_request(playbook: Playbook, audit: Audit) -> None:
    here, there = both(playbook, BAD)
    assert (here["code"], here["msg"], here["evidence"]) == (there["code"], there["msg"], there["evidence"])
    assert "gpu_pools[0].replica" in here["msg"]
    assert "gpu_pools[1].name" in here["msg"]
    assert audit.of(here, there) == []


@pytest.mark.parametrize("in_process", [True, False])
def test_a_misspelt_option(playbook: Playbook, in_process: bool) -> None:
    run = playbook.tasks({"accelerators.openshift.gpu_plan": {"pool": []}}, in_process=in_process)
    assert run.failure["code"] == "INPUT-OPTION"
    assert "pool (did you mean pools?)" in run.failure["msg"]
