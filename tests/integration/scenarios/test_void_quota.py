# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A quota that somebody edits so that it counts no pod: what a run says, and how the quota counts again."""

from __future__ import annotations

import typing as t

import own_cluster
import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

pytestmark = [
    pytest.mark.long("the unit tests of quotas hold the same on a server in memory"),
    pytest.mark.story("a quota is made, voided by a colleague, found and taken back"),
]
SCENARIO: t.Final = "quota-voids-itself"
cluster = own_cluster.cluster
OPTIONS: t.Final[dict[str, t.Any]] = {
    "namespace": "team-a",
    "gpus": 1,
    "create_namespace": True,
    "nodes_exist": False,
}


def scopes(cluster: Cluster) -> t.Any:
    return must_get(cluster.client, "v1", "resourcequotas", "gpu-quota", "team-a")["spec"].get(
        "scopeSelector"
    )


def test_a_colleague_voids_the_quota(cluster: Cluster, playbook: Playbook) -> None:
    task = playbook.module("gpu_quota", **OPTIONS)
    assert not task.failed, task.result
    until(lambda: scopes(cluster), "the quota has scopes")


def test_the_next_run_names_the_field_and_its_manager(playbook: Playbook, audit: Audit) -> None:
    task = playbook.module("gpu_quota", **OPTIONS)
    assert not task.failed, task.result
    assert [(one["path"], one["manager"]) for one in task["quota"]["kept"]] == [
        ("spec.scopeSelector", "kubectl-edit")
    ]
    (found,) = task["quota"]["findings"]
    assert (found["code"], found["ours"]) == ("QUOTA-COUNTS-NOTHING", True)
    assert audit.writes(task) == []


def test_a_proof_fails_with_the_setting_that_helps(playbook: Playbook) -> None:
    task = playbook.module("gpu_quota", **OPTIONS, prove=True)
    assert task["code"] == "QUOTA-COUNTS-NOTHING"
    assert "gpu_policy_adopt: take" in task["remedy"]


def test_the_quota_counts_again_when_it_is_taken(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    task = playbook.module("gpu_quota", **OPTIONS, prove=True, adopt="take")
    assert not task.failed, task.result
    assert "exceeded quota: gpu-quota" in task["quota"]["proof"]
    assert not scopes(cluster)
    again = playbook.module("gpu_quota", **OPTIONS, prove=True)
    assert audit.writes(again) == []
    assert again["quota"]["findings"] == []
