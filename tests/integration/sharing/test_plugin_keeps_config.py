# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A device plugin that keeps its old profile: the run names its node, and the remedy makes it read again."""

from __future__ import annotations

import re
import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.sharing.mig_pool import offers, play, pool
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("one pool shares its GPUs, then the other one, whose first node does not notice"),
    pytest.mark.long("the whole chain four times: the unit tests of gpu_sharing judge such a node"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "plugin-keeps-config"
SPACE: t.Final = "nvidia-gpu-operator"
DEAF, OTHER = "t4-0", "t4-1"
TWO: t.Final = {"time_slicing": {"replicas": 2}}
FOUR: t.Final = {"time_slicing": {"replicas": 4}}
GPU: t.Final = "nvidia.com/gpu"
BEFORE: t.Final = [pool("train", "training", 8, TWO), pool("infer", "inference", 1)]
AFTER: t.Final = [pool("train", "training", 8, TWO), pool("infer", "inference", 1, FOUR)]
COMMAND: t.Final = re.compile(
    r"oc delete pod -n (\S+) -l '([^']+)' --field-selector spec\.nodeName=([\w.-]+)"
)


def test_the_plugins_read_a_config_map(cluster: Cluster, playbook: Playbook) -> None:
    run = play(playbook, "enable_gpus", BEFORE)
    assert run.rc == 0, run.output[-4000:]
    assert [offers(cluster, one) for one in (DEAF, OTHER, "a100-0")] == [{GPU: "1"}, {GPU: "1"}, {GPU: "16"}]


def test_a_run_names_the_node_whose_plugin_did_not_notice(cluster: Cluster, playbook: Playbook) -> None:
    run = play(playbook, "enable_gpus", AFTER, gpu_operator_wait_timeout=30)
    told = str(run.failure.result)
    assert run.rc != 0
    for words in ("GPU-ALLOC", DEAF, f"offers {GPU} 1 of 4", f"spec.nodeName={DEAF}"):
        assert words in told, told
    assert [offers(cluster, one) for one in (DEAF, OTHER)] == [{GPU: "1"}, {GPU: "4"}]


def test_the_module_alone_says_the_same_and_its_remedy_helps(cluster: Cluster, playbook: Playbook) -> None:
    chosen = {"node_selector": {"accelerators.openshift/pool": "inference"}, "sharing": FOUR}
    task = playbook.module("gpu_sharing", pools=[{"name": "infer", **chosen}], wait_timeout=10)
    assert task["code"] == "GPU-SHARING-SHARES", task.result
    assert f"node {DEAF} of pool infer offers {GPU} 1 of 4" in task["msg"]
    command = COMMAND.search(task["remedy"])
    assert command, task["remedy"]
    space, selector, name = command.groups()
    assert (space, name) == (SPACE, DEAF)
    found = [
        one["metadata"]["name"]
        for one in cluster.client.list("v1", "pods", space, labels=selector)
        if one["spec"].get("nodeName") == name
    ]
    assert len(found) == 2, found
    for pod in found:
        cluster.client.delete("v1", "pods", pod, space)
    until(lambda: offers(cluster, DEAF) == {GPU: "4"}, "the plugin has read its profile")


def test_then_the_chain_ends_and_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    run = play(playbook, "enable_gpus", AFTER)
    assert run.rc == 0, run.output[-4000:]
    since = audit.position()
    assert play(playbook, "enable_gpus", AFTER).changed == 0
    audit.flush()
    assert audit.written(since) == []
