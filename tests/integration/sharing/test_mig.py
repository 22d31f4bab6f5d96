# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MIG on nodes that are there: refused by enable_gpus, changed by repartition, removed without a trace."""

from __future__ import annotations

import re
import typing as t

import pytest
from cluster import Cluster, must_get
from integration.playbook import Playbook, Run
from integration.sharing.mig_pool import HALVES, node, offers, play, pool
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("the GPUs of one node get one geometry after the other"),
    pytest.mark.long("the whole chain six times: the unit tests of gpu_repartition hold each of its steps"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
SPACE: t.Final = "nvidia-gpu-operator"
NODE: t.Final = "a100-0"
CONFIG: t.Final = "nvidia.com/mig.config"
MIXED: t.Final = {"mig": {"layout": {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}}}
OF_MIXED: t.Final = {
    "nvidia.com/mig-1g.5gb": "16",
    "nvidia.com/mig-2g.10gb": "8",
    "nvidia.com/mig-3g.20gb": "8",
}


def pools(**sharing: t.Any) -> list[Data]:
    """Return the pool of the node, and that of the others."""
    return [pool("train", "training", 8, sharing or None), pool("infer", "inference", 1)]


def done(run: Run) -> Run:
    assert run.rc == 0, run.output[-4000:]
    return run


def test_the_nodes_have_whole_gpus(cluster: Cluster, playbook: Playbook) -> None:
    done(play(playbook, "enable_gpus", pools()))
    assert offers(cluster, NODE) == {"nvidia.com/gpu": "8"}


def test_enable_gpus_leaves_nodes_that_offer_gpus_alone(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    run = play(playbook, "enable_gpus", pools(**MIXED))
    assert run.rc != 0
    assert "GPU-MIG-CHANGE" in run.output
    assert "accelerators.openshift.repartition" in run.output
    audit.flush()
    assert audit.written(since) == []


def test_a_report_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    run = done(play(playbook, "repartition", pools(**MIXED), gpu_report_only=True))
    assert re.search(rf'\bnode"?: "?{NODE}\b', run.output), "as JSON, or as YAML where ansible.cfg says so"
    audit.flush()
    assert audit.written(since) == []


def test_repartition_gives_the_node_its_partitions(cluster: Cluster, playbook: Playbook) -> None:
    done(play(playbook, "repartition", pools(**MIXED)))
    assert offers(cluster, NODE) == OF_MIXED
    live = node(cluster, NODE)
    assert live["metadata"]["labels"]["nvidia.com/mig.config.state"] == "success"
    assert not live["spec"].get("unschedulable")
    assert not [key for key in live["metadata"].get("annotations") or {} if key.startswith("accelerators")]
    (policy,) = cluster.client.list("nvidia.com/v1", "clusterpolicies")
    assert policy["spec"]["mig"]["strategy"] == "mixed"
    assert policy["spec"]["migManager"]["config"]["name"] == "gpu-mig"


def test_second_runs_write_nothing(playbook: Playbook, audit: Audit) -> None:
    done(play(playbook, "enable_gpus", pools(**MIXED)))
    for name in ("repartition", "enable_gpus"):
        since = audit.position()
        assert done(play(playbook, name, pools(**MIXED))).changed == 0
        audit.flush()
        assert audit.written(since) == []


def test_another_geometry_takes_the_old_configuration_away(cluster: Cluster, playbook: Playbook) -> None:
    done(play(playbook, "repartition", pools(**HALVES)))
    assert offers(cluster, NODE) == {"nvidia.com/mig-3g.20gb": "16"}
    file = must_get(cluster.client, "v1", "configmaps", "gpu-mig", SPACE)["data"]["config.yaml"]
    assert file.count("gpu-train-") == 1


def test_pods_share_partitions_by_time_slicing(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    shared = HALVES | {"time_slicing": {"replicas": 2}}
    done(play(playbook, "enable_gpus", pools(**shared)))
    assert offers(cluster, NODE) == {"nvidia.com/mig-3g.20gb": "32"}
    known = must_get(cluster.client, "v1", "configmaps", "gpu-sharing-proof", "gpu-validation")["data"]
    assert known["train"].startswith("replicas=2 shares=nvidia.com/mig-3g.20gb=32 ")
    since = audit.position()
    for name in ("repartition", "enable_gpus"):
        assert done(play(playbook, name, pools(**shared))).changed == 0
    audit.flush()
    assert audit.written(since) == []


def test_a_removal_gives_whole_gpus_back(cluster: Cluster, playbook: Playbook) -> None:
    done(play(playbook, "remove_gpus", pools(**HALVES)))
    assert cluster.client.get("v1", "configmaps", "gpu-mig", SPACE) is None
    live = node(cluster, NODE)
    assert CONFIG not in live["metadata"]["labels"]
    assert not live["spec"].get("unschedulable")
    assert "1g.5gb" not in str(live["metadata"].get("annotations"))
