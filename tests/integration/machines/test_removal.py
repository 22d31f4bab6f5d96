# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal on a cluster that two files of pools share: nothing goes unasked, and shared parts stay."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook, Run
from integration.wire import Audit

Data = dict[str, t.Any]
pytestmark = [
    pytest.mark.story("two files of pools come, and go one after the other"),
    pytest.mark.long("the whole chain twice: the unit tests of the package _removal have the same decisions"),
]

POOL: t.Final = "accelerators.openshift/pool"
SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets")
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
INSTANCES: t.Final = ("nfd.openshift.io/v1", "nodefeaturediscoveries")
RULE: t.Final[Data] = {
    "apiVersion": "nfd.openshift.io/v1alpha1",
    "kind": "NodeFeatureRule",
    "metadata": {"name": "theirs", "namespace": "openshift-nfd"},
    "spec": {"rules": [{"name": "theirs", "labels": {"vendor.example/theirs": "true"}}]},
}


def file(name: str) -> list[Data]:
    """Return a gpu_pools with one pool."""
    candidates = [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}]
    return [{"name": name, "candidates": candidates, "replicas": 1}]


FIRST, SECOND = file("first"), file("second")


def left(cluster: Cluster) -> Data:
    """Return the names of what the removals are about."""
    client = cluster.client
    return {
        "pools": sorted(
            one["metadata"]["labels"][POOL]
            for one in client.list(*SETS)
            if POOL in (one["metadata"].get("labels") or {})
        ),
        "policies": len(client.list(*POLICIES)),
        "nfd": len(client.list(*INSTANCES)),
    }


def said(run: Run) -> str:
    return run.output.replace("\n", " ")


def test_a_busy_pool_is_refused_and_nothing_is_written(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    cluster.needs_sandbox()
    for pools in (FIRST, SECOND):
        run = playbook.playbook("enable_gpus", "--skip-tags gpu_validation", gpu_pools=pools)
        assert run.rc == 0, run.output[-3000:]
    # The run of the second file names what only the first file has.
    assert "remove_pool -e gpu_pool=first" in run.output
    (node,) = cluster.client.list("v1", "nodes", labels=f"{POOL}=first")
    limits = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
    spec = {
        "nodeName": node["metadata"]["name"],
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "job", "image": "job", "resources": limits}],
    }
    metadata = {"name": "busy", "namespace": "default"}
    cluster.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    for name, given in (("remove_gpus", {"gpu_pools": FIRST}), ("remove_pool", {"gpu_pool": "first"})):
        for arguments in ("", "--check"):
            refused = playbook.playbook(name, arguments, **given)
            assert refused.failure["code"] == "NODE-BUSY"
            assert "default/busy" in refused.failure["msg"]
            assert audit.writes(*refused.tasks) == []
    asked = playbook.module("gpu_removal", pools=[{"name": "second"}])
    assert (asked["ends"], audit.writes(asked)) == ([], [])


def test_with_consent_the_pool_goes_and_the_stack_stays_for_the_second_file(
    cluster: Cluster, playbook: Playbook
) -> None:
    consent = {"gpu_on_busy": "drain", "gpu_evict_unmanaged": True}
    run = playbook.playbook("remove_gpus", gpu_pools=FIRST, **consent)
    assert run.rc == 0, run.output[-3000:]
    assert cluster.client.get("v1", "pods", "busy", "default") is None
    assert left(cluster) == {"pools": ["second"], "policies": 1, "nfd": 1}
    assert "The GPU operator with its stack stays. It is needed by pool second" in said(run)


def test_a_rule_of_others_keeps_nfd(cluster: Cluster, playbook: Playbook) -> None:
    cluster.client.create(RULE, "openshift-nfd")
    run = playbook.playbook("remove_gpus", gpu_pools=SECOND)
    assert run.rc == 0, run.output[-3000:]
    assert left(cluster) == {"pools": [], "policies": 0, "nfd": 1}
    assert "needed by NodeFeatureRule openshift-nfd/theirs" in said(run)


def test_at_the_end_nothing_is_left_and_another_run_writes_nothing(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    kind = ("nfd.openshift.io/v1alpha1", "nodefeaturerules", "theirs")
    assert cluster.client.delete(*kind, "openshift-nfd")
    last, again = (playbook.playbook("remove_gpus", gpu_pools=SECOND) for _turn in range(2))
    assert (last.rc, again.rc) == (0, 0), last.output[-3000:]
    assert left(cluster) == {"pools": [], "policies": 0, "nfd": 0}
    assert audit.writes(*again.tasks) == []
