# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool shares its GPUs beside another team, whose profile stays byte for byte from the start to the end."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, Run
from integration.sharing.mig_pool import node, offers, play, pool
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("another team shares its GPUs, then a pool does, then the pool no longer does"),
    pytest.mark.long("the whole chain five times: the unit tests of gpu_sharing hold each of its steps"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
SPACE: t.Final = "nvidia-gpu-operator"
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
MAP: t.Final = "profiles-of-vision"
LABEL: t.Final = "nvidia.com/device-plugin.config"
# As people write it: a comment, spaces that mean nothing, and no end of the last line.
THEIRS: t.Final = (
    "# two pods on each A100\nversion:   v1\n"
    "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 2}]}}  "
)
KEY: t.Final = "vision"
OURS, THEIR_NODE = ("t4-0", "t4-1"), "a100-0"
FOUR: t.Final = {"time_slicing": {"replicas": 4}}
EIGHT: t.Final = {"time_slicing": {"replicas": 8}}


def enable(playbook: Playbook, sharing: Data | None = None) -> Run:
    run = play(playbook, "enable_gpus", [pool("infer", "inference", 1, sharing)])
    assert run.rc == 0, run.output[-4000:]
    return run


def profiles(cluster: Cluster) -> Data:
    found: Data = must_get(cluster.client, "v1", "configmaps", MAP, SPACE)["data"]
    return found


def plugin_on(cluster: Cluster, name: str) -> str:
    """Return the uid of the device plugin's pod on a node."""
    found = cluster.client.list("v1", "pods", SPACE, labels="app=nvidia-device-plugin-daemonset")
    return next(str(one["metadata"]["uid"]) for one in found if one["spec"].get("nodeName") == name)


def gpus(cluster: Cluster) -> dict[str, str]:
    """Return how many GPUs each node offers."""
    return {name: offers(cluster, name).get("nvidia.com/gpu", "0") for name in (*OURS, THEIR_NODE)}


def test_another_team_shares_the_gpus_of_its_node(cluster: Cluster, playbook: Playbook) -> None:
    enable(playbook)
    team = cluster.client.acting("kubectl/v1.36")
    metadata = {"name": MAP, "namespace": SPACE}
    team.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {KEY: THEIRS}})
    (policy,) = team.list(*POLICIES)
    plugin = {"devicePlugin": {"config": {"name": MAP}}}
    team.patch(*POLICIES, policy["metadata"]["name"], None, {"spec": plugin})
    team.patch("v1", "nodes", THEIR_NODE, None, {"metadata": {"labels": {LABEL: KEY}}})
    until(lambda: gpus(cluster) == {"t4-0": "1", "t4-1": "1", THEIR_NODE: "16"}, "their GPUs are shared", 120)


def test_a_pool_gets_its_profile_beside_theirs(cluster: Cluster, playbook: Playbook) -> None:
    enable(playbook, FOUR)
    found = profiles(cluster)
    assert sorted(found) == ["gpu-infer", KEY]
    assert found[KEY] == THEIRS
    assert cluster.client.get("v1", "configmaps", "gpu-sharing", SPACE) is None
    assert gpus(cluster) == {"t4-0": "4", "t4-1": "4", THEIR_NODE: "16"}
    live = must_get(cluster.client, "v1", "configmaps", MAP, SPACE)["metadata"]
    assert "app.kubernetes.io/managed-by" not in (live.get("labels") or {})
    (policy,) = cluster.client.list(*POLICIES)
    assert policy["spec"]["devicePlugin"]["config"]["name"] == MAP


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    assert enable(playbook, FOUR).changed == 0
    audit.flush()
    assert audit.written(since) == []


def test_other_shares_leave_the_plugin_of_their_node_alone(cluster: Cluster, playbook: Playbook) -> None:
    before = plugin_on(cluster, THEIR_NODE)
    enable(playbook, EIGHT)
    assert gpus(cluster) == {"t4-0": "8", "t4-1": "8", THEIR_NODE: "16"}
    assert plugin_on(cluster, THEIR_NODE) == before
    assert profiles(cluster)[KEY] == THEIRS


def test_a_removal_takes_our_profile_alone(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    enable(playbook)
    until(lambda: gpus(cluster) == {"t4-0": "1", "t4-1": "1", THEIR_NODE: "16"}, "whole GPUs of the pool")
    assert profiles(cluster) == {KEY: THEIRS}
    assert [LABEL in node(cluster, name)["metadata"]["labels"] for name in OURS] == [False, False]
    assert node(cluster, THEIR_NODE)["metadata"]["labels"][LABEL] == KEY
    notes = must_get(cluster.client, "v1", "configmaps", MAP, SPACE)["metadata"].get("annotations")
    assert not notes
    since = audit.position()
    entry = {"name": "infer", "node_selector": {"accelerators.openshift/pool": "inference"}}
    gone = playbook.module("gpu_sharing", pools=[entry], state="absent")
    assert not gone.failed, gone.result
    audit.flush()
    assert (gone.changed, audit.written(since)) == (False, [])
