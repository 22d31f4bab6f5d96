# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that a removal ends: who they are, when it refuses, and what it shows."""

from __future__ import annotations

import typing as t

import pytest
from unit.removal.builders import OURS, Data, pod

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.drain_judge import Rules
from ansible_collections.accelerators.openshift.plugins.module_utils._removal import disruption
from ansible_collections.accelerators.openshift.plugins.module_utils._removal.needs import Stay

LOSSES: t.Final = {
    "n-1": disruption.Loss("pool training loses the node", disruption.BY_DRAIN),
    "n-2": disruption.Loss("the node loses its driver", disruption.BY_STACK),
}
DAEMON: t.Final = {"kind": "DaemonSet", "name": "plugin", "uid": "d", "controller": True}


def refused(pods: list[Data], **rules: t.Any) -> AcceleratorError | None:
    drained = [one for one in pods if one["spec"]["nodeName"] == "n-1"]
    return disruption.refusal(
        disruption.ending(pods, LOSSES), drained, Rules(**rules), "The removal of pool training"
    )


def test_only_pods_with_devices_on_nodes_that_lose_something_end() -> None:
    pods = [
        pod("job", "n-1"),
        pod("serve", "n-2"),
        pod("web", "n-1", gpus=0),
        pod("far", "n-9"),
        pod("plugin", "n-1", gpus=0, ownerReferences=[DAEMON]),
        pod("validation", "n-1", labels=OURS),
    ]
    assert disruption.as_result(disruption.ending(pods, LOSSES)) == [
        {
            "node": "n-1",
            "namespace": "team-a",
            "pod": "job",
            "owner": "Job fit",
            "why": "pool training loses the node",
            "by": "drain by this run",
        },
        {
            "node": "n-2",
            "namespace": "team-a",
            "pod": "serve",
            "owner": "Job fit",
            "why": "the node loses its driver",
            "by": "removal of the driver stack",
        },
    ]


def test_busy_nodes_are_refused_with_one_setting_of_the_playbook() -> None:
    problem = refused([pod("job", "n-1"), pod("serve", "n-2", namespace="team-b")])
    assert problem
    assert problem.code == "NODE-BUSY"
    assert problem.message == (
        "The removal of pool training would end 2 pods with GPUs of 2 namespaces: team-a/job on n-1, "
        "team-b/serve on n-2. Nothing was changed."
    )
    assert "-e gpu_on_busy=drain" in problem.remedy


@pytest.mark.parametrize("on_busy", ["drain", "wait"])
def test_with_consent_they_may_end(on_busy: str) -> None:
    assert refused([pod("job", "n-1"), pod("serve", "n-2")], on_busy=on_busy) is None


def test_what_a_drain_would_refuse_is_refused_before_the_first_write() -> None:
    data = pod("db", "n-1", gpus=0)
    data["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}]
    alone = pod("alone", "n-1", gpus=0, ownerReferences=[])
    found = {problem.code: problem.remedy for one in (data, alone) if (problem := refused([one]))}
    assert "-e gpu_delete_emptydir=true" in found["NODE-EMPTYDIR"]
    assert "-e gpu_evict_unmanaged=true" in found["NODE-UNMANAGED"]
    assert refused([data, alone], delete_emptydir=True, evict_unmanaged=True) is None


def test_the_wait_ends_with_the_last_pod() -> None:
    judge = disruption.idle(LOSSES)
    assert judge({"n-2": [pod("web", "n-2", gpus=0)]}).is_ready
    verdict = judge({"n-2": [pod("serve", "n-2")]})
    assert (verdict.is_ready, verdict.is_failed, verdict.code) == (False, False, "NODE-BUSY")
    assert verdict.details == (
        "team-a/serve of Job fit on n-2: the node loses its driver, removal of the driver stack",
    )


def test_the_table() -> None:
    stay = Stay("node_feature_discovery", "all", ["Module kmm/cards", "ClusterPolicy theirs"])
    lone = pod("lone", "n-1", ownerReferences=[])
    assert disruption.table(
        ["pool training (1 machine set, 1 machine)"], [stay], disruption.ending([lone], LOSSES)
    ) == [
        "remove  pool training (1 machine set, 1 machine)",
        "keep    Node Feature Discovery, needed by Module kmm/cards, ClusterPolicy theirs",
        "end     team-a/lone on n-1: pool training loses the node, drain by this run",
    ]
