# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example of a hard partition with a spare GPU: enabled, again without a write, and taken away."""

from __future__ import annotations

import typing as t

import own_cluster
import pytest
import yaml
from cluster import Cluster
from integration.patience import until
from integration.playbook import ROOT, Playbook, Run
from integration.troubles.demo import PATIENT
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("one pool is enabled, enabled again and removed"),
    pytest.mark.long("the whole chain three times: the unit tests of gpu_partition hold each of its steps"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "aws"
cluster = own_cluster.cluster
GROUP: t.Final = "admissionregistration.k8s.io/v1"
NAME: t.Final = "accelerators-openshift-gpu-pods"
EXAMPLE: t.Final = yaml.safe_load((ROOT / "examples/partition-hard.yml").read_text())
POOLS: t.Final = [one | {"spare": 1} for one in EXAMPLE["gpu_pools"]]


def play(playbook: Playbook, name: str) -> Run:
    run = playbook.playbook(name, **{**EXAMPLE, "gpu_pools": POOLS, **PATIENT})
    assert run.rc == 0, run.output[-4000:]
    return run


def placeholder(cluster: Cluster) -> Data | None:
    """Return the placeholder pod that has a node, if there is one."""
    pods = cluster.client.list("v1", "pods", "gpu-spare")
    return next((one for one in pods if one["spec"].get("nodeName")), None)


def test_the_validation_takes_the_spare_gpu_and_gives_it_back(cluster: Cluster, playbook: Playbook) -> None:
    play(playbook, "enable_gpus")
    (node,) = cluster.client.list("v1", "nodes", labels="accelerators.openshift/pool=training")
    assert {"key": "nvidia.com/gpu", "effect": "NoSchedule"} in node["spec"]["taints"]
    found = until(lambda: placeholder(cluster), "the placeholder pod has its GPU")
    assert found["spec"]["nodeName"] == node["metadata"]["name"]
    assert found["spec"]["priority"] == -10
    for plural in ("validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"):
        assert cluster.client.get(GROUP, plural, NAME) is not None


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    again = play(playbook, "enable_gpus")
    assert again.changed == 0
    audit.flush()
    assert audit.written(since) == []


def test_a_removal_asks_nobody_about_the_placeholder_and_leaves_nothing(
    cluster: Cluster, playbook: Playbook
) -> None:
    play(playbook, "remove_gpus")
    for kind in ("validating", "mutating"):
        for plural in ("policies", "policybindings"):
            assert cluster.client.list(GROUP, f"{kind}admission{plural}") == []
    assert cluster.client.get("v1", "namespaces", "gpu-spare") is None
    classes = cluster.client.list("scheduling.k8s.io/v1", "priorityclasses")
    assert "gpu-spare" not in [one["metadata"]["name"] for one in classes]
